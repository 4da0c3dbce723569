//! Which file an address of native code lies in, and where in it, as a symbolizer needs it.
//!
//! By `/proc/self/maps` and the mapped ELF headers alone, never by the linker: a main thread that hangs while it loads a
//! library holds the linker's lock, and a thread that asks the linker then hangs as well. All reads are such that cannot fault.

use crate::elf::{Image, build_id_in_notes};
use crate::sys::maps::{self, Mapping};
use crate::sys::mem;
use goblin::elf::program_header::{PT_LOAD, PT_NOTE};

/// The headers of an ELF file, and its notes, are looked for in that many bytes.
const HEADER_BYTES: usize = 4_096;
/// Build ids are SHA-1 (20 bytes) or shorter as a rule; 32 are known.
const MAX_BUILD_ID: usize = 64;

/// A file, or other memory, that is mapped as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeModule {
    /// The path of the file or the name of the memory; `[anonymous]` when it has none.
    pub path: String,
    /// The GNU build id in its mapped notes; empty when there is none.
    pub build_id: Vec<u8>,
    /// What is subtracted from an address of this module.
    base: usize,
}

/// Where a list of addresses lies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The modules that hold at least one of them.
    pub modules: Vec<CodeModule>,
    /// For each address, in order, its module and the offset there: the address that the ELF file itself uses (a
    /// tombstone's `pc`), or for other memory the offset in the file. `None` for an address that is in no code.
    pub places: Vec<Option<(u32, u64)>>,
}

/// Finds the code that each address lies in. Reads the whole memory map, which the kernel bounds (65,530 mappings by
/// default), and waits while another thread changes it.
pub fn places(addresses: &[usize]) -> Places {
    let table = maps::table_of_self().unwrap_or_default();
    find(&table, addresses, elf_at)
}

/// What is read from the header of a mapped ELF file.
struct MappedElf {
    load_bias: usize,
    build_id: Vec<u8>,
}

fn find(table: &str, addresses: &[usize], elf_at: impl Fn(usize) -> Option<MappedElf>) -> Places {
    let mut found = Places { modules: Vec::new(), places: vec![None; addresses.len()] };
    // The mappings of the file that the last lines were of: its code comes after its header. The unnamed memory between
    // the segments of a library does not end them.
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

/// The index of a module in the list, which gets it when it is new.
fn known(modules: &mut Vec<CodeModule>, module: CodeModule) -> u32 {
    let at = modules.iter().position(|known| *known == module).unwrap_or(modules.len());
    if at == modules.len() {
        modules.push(module);
    }
    at as u32
}

/// The module that the last mapping is of. In an archive that several libraries are mapped from, its header is the last
/// one before it.
fn module_of(of_file: &[Mapping], elf_at: impl Fn(usize) -> Option<MappedElf>) -> CodeModule {
    let elf = of_file.iter().rev().filter(|mapping| mapping.read).find_map(|mapping| elf_at(mapping.start));
    let (path, in_file) = of_file.last().map_or(("", 0), |mapping| {
        (mapping.path.as_str(), mapping.start.wrapping_sub(mapping.offset as usize))
    });
    let path = if path.is_empty() { "[anonymous]" } else { path }.to_owned();
    match elf {
        Some(elf) => CodeModule { path, build_id: elf.build_id, base: elf.load_bias },
        None => CodeModule { path, build_id: Vec::new(), base: in_file },
    }
}

/// The ELF file whose header is mapped here, if one is.
fn elf_at(start: usize) -> Option<MappedElf> {
    if mem::read::<[u8; 4]>(start)? != *b"\x7fELF" {
        return None;
    }
    let mut head = vec![0; HEADER_BYTES];
    let n = mem::read_into(start, &mut head);
    let image = Image::parse(head.get(..n)?)?;
    if image.is_64() != cfg!(target_pointer_width = "64") {
        return None;
    }
    let first = image.segments.iter().filter(|s| s.p_type == PT_LOAD).min_by_key(|s| s.p_offset)?;
    let load_bias = start.wrapping_sub(first.p_vaddr.wrapping_sub(first.p_offset) as usize);
    let build_id = image.segments.iter().filter(|s| s.p_type == PT_NOTE).find_map(|s| {
        let mut notes = vec![0; usize::try_from(s.p_memsz).ok()?.min(HEADER_BYTES)];
        let n = mem::read_into(load_bias.wrapping_add(s.p_vaddr as usize), &mut notes);
        let id = build_id_in_notes(notes.get(..n)?)?;
        id.get(..id.len().min(MAX_BUILD_ID)).map(<[u8]>::to_vec)
    });
    Some(MappedElf { load_bias, build_id: build_id.unwrap_or_default() })
}

/// The machine code at an address, as far as memory can be read there.
pub fn code_at<const N: usize>(address: usize) -> Option<[u8; N]> {
    let mut code = [0; N];
    (mem::read_into(address, &mut code) == N).then_some(code)
}

/// A return address without the signature that pointer authentication put into its upper bits.
///
/// Where the signature begins depends on how wide the kernel made addresses (39, 48 or 52 bits), which the processor knows
/// and a process does not: so the instruction that strips it, in the form that older processors execute as no operation.
#[cfg(target_arch = "aarch64")]
pub fn without_signature(address: usize) -> usize {
    let stripped: usize;
    // SAFETY: XPACLRI changes x30 and nothing else, and a processor that does not have it takes it for a hint to ignore.
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

/// A return address: other processors than those of arm64 do not sign it.
#[cfg(not(target_arch = "aarch64"))]
pub fn without_signature(address: usize) -> usize {
    address
}

#[cfg(test)]
mod tests {
    use super::*;

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
            known.then(|| MappedElf { load_bias: start - 0x1000, build_id: vec![start as u8, 7] })
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
        let found = places(&[here, there, 8]);
        assert_eq!(found.places[2], None);
        for (address, place) in [here, there].into_iter().zip(&found.places) {
            let (module, offset) = place.unwrap();
            let module = &found.modules[module as usize];
            let object = crate::sys::dl::object_at(address).unwrap();
            assert_eq!(offset as usize, address - object.load_bias, "{}", module.path);
            assert!(module.build_id.len() >= 8, "{}", module.path);
            assert_eq!(Some(module.build_id.clone()), crate::module::build_id_at(address));
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
