//! Which file an address of native code is in, and the offset there, as a symbolizer needs them.
//!
//! The linker is not asked (see `loaded`).

use crate::loaded::{MappedElf, elf_at, elf_of};
use crate::sys::maps::{self, Mapping};
use crate::sys::mem;

/// The most bytes of a build id that are kept. As a rule build ids are SHA-1 (20 bytes) or shorter; some have
/// 32.
const MAX_BUILD_ID: usize = 64;

/// A file, or other memory, that is mapped as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeModule {
    /// The path of the file or the name of the memory; `[anonymous]` when it has none.
    pub path: String,
    /// The GNU build id in its mapped notes; empty when there is none.
    pub build_id: Vec<u8>,
    /// The value to subtract from an address in this module.
    base: usize,
}

/// The modules and offsets of a list of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The modules that contain at least one of the addresses.
    pub modules: Vec<CodeModule>,
    /// For each address, in order, the index of its module and the offset there. In an ELF file the offset is
    /// the address that the file itself uses (a tombstone's `pc`). In any other module it is the offset in
    /// the mapped file. `None` for an address that is not in code.
    pub places: Vec<Option<(u32, u64)>>,
}

/// Finds the code that each address is in. Reads the whole memory map, whose size the kernel limits (65,530
/// mappings by default), and waits while another thread changes it.
///
/// # Errors
/// When the memory map cannot be read.
pub fn places(addresses: &[usize]) -> std::io::Result<Places> {
    Ok(find(&maps::table_of_self()?, addresses, elf_at))
}

fn find(table: &str, addresses: &[usize], elf_at: impl Fn(usize) -> Option<MappedElf>) -> Places {
    let mut found = Places { modules: Vec::new(), places: vec![None; addresses.len()] };
    // The mappings of the file that the last lines were of: its code comes after its header. The unnamed
    // memory between the segments of a library does not end them.
    let mut of_file: Vec<Mapping> = Vec::new();
    for mapping in table.lines().filter_map(Mapping::parse) {
        if mapping.path.is_empty() && !mapping.execute {
            continue;
        }
        if of_file.last().is_some_and(|last| (last.inode, &last.path) != (mapping.inode, &mapping.path)) {
            of_file.clear();
        }
        let holds = |address: &usize| mapping.execute && mapping.contains(mem::address(*address));
        let is_wanted = addresses.iter().any(holds);
        let (start, end) = (mapping.start, mapping.end);
        of_file.push(mapping);
        if !is_wanted {
            continue;
        }
        let module = module_of(&of_file, &elf_at);
        let base = module.base;
        let at = known(&mut found.modules, module);
        for (address, place) in addresses.iter().zip(&mut found.places) {
            let address = mem::address(*address);
            if (start..end).contains(&address) {
                *place = Some((at, address.wrapping_sub(base) as u64));
            }
        }
    }
    found
}

/// The index of a module in the list. A new module is added to it.
fn known(modules: &mut Vec<CodeModule>, module: CodeModule) -> u32 {
    let at = modules.iter().position(|known| *known == module).unwrap_or(modules.len());
    if at == modules.len() {
        modules.push(module);
    }
    at as u32
}

/// The module that the last of these mappings belongs to; all of them are of one file.
fn module_of(of_file: &[Mapping], elf_at: impl Fn(usize) -> Option<MappedElf>) -> CodeModule {
    let (path, in_file) = of_file.last().map_or(("", 0), |mapping| {
        (mapping.path.as_str(), mapping.start.wrapping_sub(mapping.offset as usize))
    });
    let path = if path.is_empty() { "[anonymous]" } else { path }.to_owned();
    match elf_of(of_file, elf_at) {
        Some((_, mut elf)) => {
            elf.build_id.truncate(MAX_BUILD_ID);
            CodeModule { path, build_id: elf.build_id, base: elf.load_bias }
        }
        None => CodeModule { path, build_id: Vec::new(), base: in_file },
    }
}

/// The `N` bytes of machine code at an address; `None` unless all of them are readable.
pub fn code_at<const N: usize>(address: usize) -> Option<[u8; N]> {
    let mut code = [0; N];
    (mem::read_into(address, &mut code) == N).then_some(code)
}

/// A return address without the signature that pointer authentication puts into its upper bits.
///
/// Where the signature begins depends on the width of the kernel's addresses (39, 48 or 52 bits), which the
/// processor knows and a process does not. So this runs the processor's instruction that strips it, in the
/// encoding that older processors execute as a no-op.
#[cfg(target_arch = "aarch64")]
pub fn without_signature(address: usize) -> usize {
    let stripped: usize;
    // SAFETY: XPACLRI changes x30 and nothing else, and a processor that does not have it takes it for a hint
    // to ignore.
    unsafe {
        std::arch::asm!(
            "mov x30, {address}",
            "hint #7",
            "mov {address}, x30",
            address = inout(reg) address => stripped,
            out("x30") _,
            options(nomem, nostack, preserves_flags),
        );
    }
    stripped
}

/// Returns the address unchanged: only arm64 processors sign return addresses.
#[cfg(not(target_arch = "aarch64"))]
pub fn without_signature(address: usize) -> usize {
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loaded::build_id_in_memory;
    use crate::sys::dl;

    const TABLE: &str = "\
10000-20000 r--p 00000000 07:28 42                             /system/lib64/liba.so
20000-30000 r-xp 0000f000 07:28 42                             /system/lib64/liba.so
30000-40000 ---p 00000000 00:00 0
40000-50000 r--p 00345000 fd:06 7                                /data/app/~~a b==/base.apk
50000-60000 ---p 00000000 00:00 0
60000-70000 r-xp 00355000 fd:06 7                                /data/app/~~a b==/base.apk
70000-80000 r-xp 00002000 00:01 9                                /memfd:jit-cache (deleted)
80000-90000 rw-p 00000000 00:00 0                                [stack]
90000-a0000 r-xp 00000000 00:00 0
nonsense
";

    fn in_table(addresses: &[usize], headers: &[usize]) -> Places {
        let elf = |start: usize| {
            let known = headers.contains(&start);
            let elf = || MappedElf {
                load_bias: start - 0x1000,
                build_id: vec![start as u8, 7],
                segments: Vec::new(),
            };
            known.then(elf)
        };
        find(TABLE, addresses, elf)
    }

    #[test]
    fn an_address_is_where_its_elf_file_says() {
        let found = in_table(&[0x2_0010, 0x6_0004, 0x2_1000], &[0x1_0000, 0x4_0000]);
        let paths: Vec<_> = found.modules.iter().map(|module| module.path.as_str()).collect();
        assert_eq!(paths, ["/system/lib64/liba.so", "/data/app/~~a b==/base.apk"]);
        assert_eq!(found.places, [Some((0, 0x1_1010)), Some((1, 0x2_1004)), Some((0, 0x1_2000))]);
        assert_eq!(found.modules[0].build_id, [0, 7]);
    }

    #[test]
    fn without_a_header_it_is_where_the_file_says() {
        let found = in_table(&[0x7_0010, 0x9_0020], &[]);
        assert_eq!(
            (found.modules[0].path.as_str(), found.modules[1].path.as_str()),
            ("/memfd:jit-cache", "[anonymous]")
        );
        assert_eq!(found.places, [Some((0, 0x2010)), Some((1, 0x20))]);
        assert!(found.modules.iter().all(|module| module.build_id.is_empty()));
    }

    #[test]
    fn what_is_no_code_has_no_place() {
        let found = in_table(&[0, 0x1_0000, 0x3_0000, 0x8_0000, usize::MAX], &[0x1_0000]);
        assert_eq!(found, Places { modules: Vec::new(), places: vec![None; 5] });
    }

    #[test]
    fn this_very_code_and_the_c_library_have_their_build_ids() {
        let here = what_is_no_code_has_no_place as *const () as usize;
        let there = libc::getpid as *const () as usize;
        let found = places(&[here, there, 8]).unwrap();
        assert_eq!(found.places[2], None);
        for (address, place) in [here, there].into_iter().zip(&found.places) {
            let (module, offset) = place.unwrap();
            let module = &found.modules[module as usize];
            let (_, load_bias) = dl::linkers_answer(address);
            assert_eq!(offset as usize, address - load_bias, "{}", module.path);
            assert!(module.build_id.len() >= 8, "{}", module.path);
            let notes = dl::notes_at(address).into_iter();
            let build_id = notes.map(|notes| build_id_in_memory(notes.start, notes.len())).find_map(|id| id);
            assert_eq!(Some(&module.build_id), build_id.as_ref());
        }
        assert_eq!(found.modules.len(), 2);
    }

    #[test]
    fn code_is_read_where_there_is_some() {
        assert!(code_at::<4>(libc::getpid as *const () as usize).is_some());
        assert_eq!(code_at::<4>(8), None);
    }

    #[test]
    fn an_address_without_a_signature_stays_as_it_is() {
        let here = code_is_read_where_there_is_some as *const () as usize;
        assert_eq!(without_signature(here), here);
    }
}
