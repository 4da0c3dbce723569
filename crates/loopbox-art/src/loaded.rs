//! Which ELF file is mapped at an address.
//!
//! Uses only `/proc/self/maps` and the mapped ELF headers, never the linker: a main thread that hangs while
//! it loads a library holds the linker's lock, and a thread that then asks the linker hangs as well. No read
//! can fault.

use crate::sys::maps::Mapping;
use crate::sys::mem;
use goblin::elf::program_header::{PT_LOAD, PT_NOTE};
use loopbox_elf::{Image, build_id_in_notes};

/// The headers of a mapped ELF file are read from this many bytes at its start.
const HEADER_BYTES: usize = 4_096;
const MAX_NOTES: usize = 4_096;

/// What the header of a mapped ELF file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedElf {
    /// What is added to the addresses in the file to get those in memory.
    pub(crate) load_bias: usize,
    /// The GNU build id in its mapped notes; empty when there is none.
    pub(crate) build_id: Vec<u8>,
    /// First address of each loadable segment and the first one after it.
    pub(crate) segments: Vec<(usize, usize)>,
}

impl MappedElf {
    /// Whether an address lies in one of the segments.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.segments.iter().any(|(start, end)| (*start..*end).contains(&address))
    }
}

/// The ELF file that the last of these mappings belongs to, and the mapping that begins with its header. The
/// mappings are all of one file, in order of address. If that file is an archive with several libraries, the
/// header is the last one at or before the last mapping.
pub(crate) fn elf_of<F>(of_file: &[Mapping], elf_at: F) -> Option<(&Mapping, MappedElf)>
where
    F: Fn(usize) -> Option<MappedElf>,
{
    let mut readable = of_file.iter().rev().filter(|mapping| mapping.read);
    readable.find_map(|mapping| Some((mapping, elf_at(mapping.start)?)))
}

/// The ELF file whose header is mapped here, if one is.
pub(crate) fn elf_at(start: usize) -> Option<MappedElf> {
    if mem::read::<[u8; 4]>(start)? != *b"\x7fELF" {
        return None;
    }
    let mut head = vec![0; HEADER_BYTES];
    let n = mem::read_into(start, &mut head);
    let image = Image::parse(head.get(..n)?)?;
    if image.is_64() != cfg!(target_pointer_width = "64") {
        return None;
    }
    let loaded = || image.segments.iter().filter(|s| s.p_type == PT_LOAD);
    let first = loaded().min_by_key(|s| s.p_offset)?;
    let load_bias = start.wrapping_sub(first.p_vaddr.wrapping_sub(first.p_offset) as usize);
    let mut notes = image.segments.iter().filter(|s| s.p_type == PT_NOTE);
    let build_id = notes.find_map(|s| {
        build_id_in_memory(load_bias.wrapping_add(s.p_vaddr as usize), usize::try_from(s.p_memsz).ok()?)
    });
    let range = |vaddr: u64, len: u64| {
        let start = load_bias.wrapping_add(vaddr as usize);
        (start, start.wrapping_add(len as usize))
    };
    let segments = loaded().map(|s| range(s.p_vaddr, s.p_memsz)).collect();
    Some(MappedElf { load_bias, build_id: build_id.unwrap_or_default(), segments })
}

/// The build id in notes that are mapped here.
pub(crate) fn build_id_in_memory(start: usize, len: usize) -> Option<Vec<u8>> {
    let mut notes = vec![0; len.min(MAX_NOTES)];
    let n = mem::read_into(start, &mut notes);
    build_id_in_notes(notes.get(..n)?).map(<[u8]>::to_vec)
}
