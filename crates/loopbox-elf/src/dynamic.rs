//! The dynamic segment, as far as it is used.

use super::Image;
use goblin::elf::dynamic::{DT_GNU_HASH, DT_NULL, DT_STRSZ, DT_STRTAB, DT_SYMTAB, Dyn};
use goblin::elf::program_header::{PT_DYNAMIC, PT_LOAD};
use scroll::Pread;

/// Where the tables of the dynamic symbols are in the file.
pub(super) struct Dynamic<'a> {
    pub(super) hash_at: Option<u64>,
    pub(super) symbols_at: u64,
    /// The dynamic string table.
    pub(super) names: &'a [u8],
}

impl<'a> Image<'a> {
    pub(super) fn dynamic(&self) -> Option<Dynamic<'a>> {
        let segment = self.segments.iter().find(|s| s.p_type == PT_DYNAMIC)?;
        let entries = self.part(segment.p_offset, segment.p_filesz)?;
        let (mut hash_at, mut symbols_at, mut names_at, mut names_len) = (None, 0, 0, 0);
        for entry in entries.chunks_exact(Dyn::size(self.ctx().container)) {
            let Dyn { d_tag, d_val } = entry.pread_with(0, self.ctx()).ok()?;
            match d_tag {
                DT_NULL => break,
                DT_GNU_HASH => hash_at = self.offset_of(d_val),
                DT_SYMTAB => symbols_at = self.offset_of(d_val).unwrap_or(0),
                DT_STRTAB => names_at = self.offset_of(d_val).unwrap_or(0),
                DT_STRSZ => names_len = d_val,
                _ => {}
            }
        }
        Some(Dynamic { hash_at, symbols_at, names: self.part(names_at, names_len)? })
    }

    /// Where in the file an address is mapped from.
    fn offset_of(&self, address: u64) -> Option<u64> {
        let mut loaded = self.segments.iter().filter(|s| s.p_type == PT_LOAD);
        let segment = loaded.find(|s| address.checked_sub(s.p_vaddr).is_some_and(|at| at < s.p_memsz))?;
        segment.p_offset.checked_add(address - segment.p_vaddr)
    }
}
