//! Where an `ArtMethod` keeps the address of its native code.
//!
//! The offset differs between versions of ART, and no later check finds a wrong one. So no table is used: the
//! offset is found from methods whose functions are known. Only at the right offset do all of these methods
//! have their functions.

use std::fmt;

use crate::loaded::{elf_at, elf_of};
use crate::sys::maps::{self, Mapping};
use crate::sys::mem::{self, WORD};

/// How many words of an `ArtMethod` are searched: all words of any known version (40 bytes with 64-bit
/// pointers), and a few more.
const WORDS: usize = 9;

/// Where `e_machine` is in the header of an ELF file of either class.
const MACHINE_AT: usize = 18;

/// A method in ART's memory, given by its address. A `jmethodID` is that address unless ART numbers methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtMethod(pub usize);

/// Why the native code of a method is not known, or must not be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEntry {
    /// The memory of a method cannot be read.
    Unreadable,
    /// The offset was not found: no word, or more than one, matches the functions of all known methods.
    NotCalibrated,
    /// The code is in no library for this process's kind of machine: a native bridge translates it, or an
    /// agent generated it.
    Foreign,
    /// The code is ART's own: the method was not linked yet.
    NotLinked,
}

impl fmt::Display for NoEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "the method cannot be read",
            Self::NotCalibrated => "ART has the function of a native method at no place that is known",
            Self::Foreign => "its function is in no library of this processor's kind",
            Self::NotLinked => "it is not linked yet",
        })
    }
}

/// The offset of the native code's address in an `ArtMethod` of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeEntry {
    offset: usize,
}

impl NativeEntry {
    /// Finds the offset from methods whose functions are known. It needs at least two methods, because a word
    /// may equal an address by chance.
    pub fn find(known: &[(ArtMethod, usize)]) -> Result<Self, NoEntry> {
        let mut words = Vec::new();
        for &(method, function) in known {
            let all = mem::read::<[usize; WORDS]>(method.0).ok_or(NoEntry::Unreadable)?;
            words.push(all.map(|word| mem::same(word, function)));
        }
        let has_all = |&at: &usize| words.iter().all(|of_one| of_one.get(at) == Some(&true));
        let mut found = (0..WORDS).filter(has_all);
        match (found.next(), found.next()) {
            (Some(at), None) if known.len() > 1 => Ok(Self { offset: at * WORD }),
            _ => Err(NoEntry::NotCalibrated),
        }
    }

    /// The address of a native method's code now. Any thread; cannot fault.
    pub fn of(self, method: ArtMethod) -> Option<usize> {
        mem::read(method.0.checked_add(self.offset)?)
    }

    /// The offset of the native code's address in an `ArtMethod`, in bytes.
    pub fn offset(self) -> usize {
        self.offset
    }
}

/// The word at an address. Any thread; cannot fault.
pub fn read_word(at: usize) -> Option<usize> {
    mem::read(at)
}

/// Checks that the code at this address belongs to a library for the same kind of machine as `own` (an
/// address of ours), and not to ART. Reads the whole memory map.
///
/// # Errors
/// [`NoEntry::NotLinked`] for ART's own code, [`NoEntry::Foreign`] for code in no such library,
/// [`NoEntry::Unreadable`] without a memory map.
pub fn is_library_code(address: usize, own: usize) -> Result<(), NoEntry> {
    let table = maps::table_of_self().map_err(|_| NoEntry::Unreadable)?;
    let (_, own_machine) = file_of(&table, own).ok_or(NoEntry::Foreign)?;
    let (path, machine) = file_of(&table, address).ok_or(NoEntry::Foreign)?;
    let name = path.rsplit('/').next().unwrap_or_default();
    if machine != own_machine {
        return Err(NoEntry::Foreign);
    }
    if ["libart.so", "libartd.so"].contains(&name) { Err(NoEntry::NotLinked) } else { Ok(()) }
}

/// The path of the ELF file whose code is at this address, and the machine that its header names.
fn file_of(table: &str, address: usize) -> Option<(String, u16)> {
    let address = mem::address(address);
    let mut of_file: Vec<Mapping> = Vec::new();
    for mapping in table.lines().filter_map(Mapping::parse) {
        if mapping.path.is_empty() && !mapping.execute {
            continue;
        }
        if of_file.last().is_some_and(|last| (last.inode, &last.path) != (mapping.inode, &mapping.path)) {
            of_file.clear();
        }
        let is_there = mapping.execute && mapping.contains(address);
        of_file.push(mapping);
        if is_there {
            let (header, _) = elf_of(&of_file, elf_at)?;
            let machine = mem::read::<[u8; 2]>(header.start.checked_add(MACHINE_AT)?)?;
            return Some((header.path.clone(), u16::from_le_bytes(machine)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(words: &[usize; WORDS]) -> ArtMethod {
        ArtMethod(words.as_ptr().addr())
    }

    #[test]
    fn the_word_that_has_the_function_of_each_known_method_is_found() {
        let (mut one, mut two) = ([7; WORDS], [7; WORDS]);
        (one[3], two[3]) = (0x1000, 0x2000);
        // By chance another word has one of them.
        one[5] = 0x1000;
        let found = NativeEntry::find(&[(method(&one), 0x1000), (method(&two), 0x2000)]).unwrap();
        assert_eq!((found.offset(), found.of(method(&two))), (3 * WORD, Some(0x2000)));
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        let (mut one, mut two) = ([7; WORDS], [7; WORDS]);
        let find = |one: &[usize; WORDS], two: &[usize; WORDS]| {
            NativeEntry::find(&[(method(one), 0x1000), (method(two), 0x2000)])
        };
        assert_eq!(find(&one, &two), Err(NoEntry::NotCalibrated), "nowhere");
        (one[3], two[4]) = (0x1000, 0x2000);
        assert_eq!(find(&one, &two), Err(NoEntry::NotCalibrated), "at different places");
        (one[4], two[3]) = (0x1000, 0x2000);
        assert_eq!(find(&one, &two), Err(NoEntry::NotCalibrated), "at two places");
        assert_eq!(
            NativeEntry::find(&[(method(&one), 0x1000)]),
            Err(NoEntry::NotCalibrated),
            "one is too few"
        );
        let nowhere = ArtMethod(WORD);
        assert_eq!(NativeEntry::find(&[(nowhere, 1), (method(&one), 0x1000)]), Err(NoEntry::Unreadable));
    }

    #[test]
    fn distinguishes_code_of_a_library_from_other_memory() {
        let own = what_is_not_clear_is_refused as *const () as usize;
        let of_libc = libc::getpid as *const () as usize;
        assert_eq!(is_library_code(of_libc, own), Ok(()));
        assert_eq!(is_library_code(own, own), Ok(()));
        let data = Box::new(0_u64);
        assert_eq!(is_library_code(std::ptr::from_ref(&*data).addr(), own), Err(NoEntry::Foreign));
        assert_eq!(is_library_code(0, own), Err(NoEntry::Foreign));
    }

    #[test]
    fn the_machine_and_the_name_of_a_file_are_those_of_its_header() {
        let table = maps::table_of_self().unwrap();
        let own = what_is_not_clear_is_refused as *const () as usize;
        let (path, machine) = file_of(&table, own).unwrap();
        assert_eq!(path, std::env::current_exe().unwrap().to_str().unwrap());
        let header = std::fs::read(&path).unwrap();
        assert_eq!(machine.to_le_bytes(), header[MACHINE_AT..MACHINE_AT + 2]);
    }
}
