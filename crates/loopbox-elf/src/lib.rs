#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]

mod dynamic;
mod gnu_hash;
mod header;
mod symbol;
mod xz;

use std::fmt::Write;

use goblin::container::{Container, Ctx};
use goblin::elf::program_header::{PT_LOAD, PT_NOTE, ProgramHeader};
use goblin::elf::section_header::{SHT_DYNSYM, SHT_STRTAB, SHT_SYMTAB, SectionHeader};
use goblin::elf::sym::Sym;
use header::Header;
pub use header::is_64;
use symbol::{symbols_in, text_at, usable};

/// Decompressed `.gnu_debugdata` larger than this is refused (libart's is 2 to 6 MB).
const DEBUGDATA_LIMIT: usize = 64 << 20;

/// Which table a symbol came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolSource {
    /// The linker's own answer (`dlsym`).
    Linker,
    /// `.dynsym`, through `DT_GNU_HASH`.
    DynSym,
    /// `.symtab`.
    SymTab,
    /// `.symtab` of the ELF inside `.gnu_debugdata`.
    GnuDebugData,
}

impl SymbolSource {
    /// Short stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            SymbolSource::Linker => "dlsym",
            SymbolSource::DynSym => ".dynsym",
            SymbolSource::SymTab => ".symtab",
            SymbolSource::GnuDebugData => ".gnu_debugdata",
        }
    }
}

/// A symbol's address in the file's own address space, before the load bias is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// `st_value`; on 32-bit arm bit 0 marks Thumb code and belongs to the call address.
    pub value: u64,
    /// `st_size`, in bytes.
    pub size: u64,
    /// Where it was found.
    pub source: SymbolSource,
}

/// An ELF file with parsed headers. It can have any word size and byte order, but in an app only those of the
/// process.
pub struct Image<'a> {
    bytes: &'a [u8],
    header: Header,
    /// Program headers.
    pub segments: Vec<ProgramHeader>,
}

impl<'a> Image<'a> {
    /// Reads the headers. `None` when this is no ELF file or it is damaged.
    pub fn parse(bytes: &'a [u8]) -> Option<Image<'a>> {
        let header = Header::read(bytes)?;
        let offset = usize::try_from(header.segments_at).ok()?;
        let segments = if header.segments == 0 || offset >= bytes.len() {
            // The ELF inside `.gnu_debugdata` may keep headers whose contents are gone.
            Vec::new()
        } else {
            ProgramHeader::parse(bytes, offset, usize::from(header.segments), header.ctx()).ok()?
        };
        Some(Image { bytes, header, segments })
    }

    /// Whether addresses in it are 8 bytes wide.
    pub fn is_64(&self) -> bool {
        self.ctx().container == Container::Big
    }

    /// The machine that its code is for, as `e_machine` has it.
    pub fn machine(&self) -> u16 {
        self.header.machine
    }

    /// The GNU build id, from the note segment.
    pub fn build_id(&self) -> Option<&'a [u8]> {
        let mut notes = self.segments.iter().filter(|s| s.p_type == PT_NOTE);
        notes.find_map(|s| build_id_in_notes(self.part(s.p_offset, s.p_filesz)?))
    }

    /// Finds all names; the results are in the same order.
    ///
    /// `.gnu_debugdata` is only unpacked when a name is neither in `.dynsym` nor in `.symtab`. Unpacking
    /// costs tens of milliseconds and megabytes, so this belongs on a worker thread.
    pub fn find_all(&self, names: &[&str]) -> Vec<Option<Symbol>> {
        let mut found = self.find_dynamic(names);
        if found.iter().all(Option::is_some) {
            return found;
        }
        let sections = self.sections();
        self.scan_symtab(&sections, names, SymbolSource::SymTab, &mut found);
        if found.iter().all(Option::is_some) {
            return found;
        }
        let packed = self.section_named(&sections, ".gnu_debugdata");
        if let Some(plain) = packed.and_then(|p| xz::decompress(p, DEBUGDATA_LIMIT))
            && let Some(inner) = Image::parse(&plain)
        {
            let sections = inner.sections();
            inner.scan_symtab(&sections, names, SymbolSource::GnuDebugData, &mut found);
        }
        found
    }

    /// Finds names in `.dynsym` alone.
    pub fn find_dynamic(&self, names: &[&str]) -> Vec<Option<Symbol>> {
        self.dynamic_table().map_or_else(
            || vec![None; names.len()],
            |table| names.iter().map(|n| table.find(n).map(|s| symbol(&s, SymbolSource::DynSym))).collect(),
        )
    }

    /// For each name, whether the file imports it: uses it and does not define it.
    pub fn find_imported(&self, names: &[&str]) -> Vec<bool> {
        let mut found = vec![false; names.len()];
        let Some(dynamic) = self.dynamic() else { return found };
        let section = self.sections().into_iter().find(|s| s.sh_type == SHT_DYNSYM);
        let len = section.map_or(0, |s| s.sh_size);
        let Some(table) = self.part(dynamic.symbols_at, len) else { return found };
        for sym in symbols_in(table, self.ctx()).filter(|s| s.st_shndx == 0) {
            let name = text_at(dynamic.names, sym.st_name);
            for (wanted, found) in names.iter().zip(found.iter_mut()) {
                *found |= name == Some(wanted.as_bytes());
            }
        }
        found
    }

    /// The bytes of the file that are mapped at an address range of the file's own address space.
    pub fn bytes_at(&self, address: u64, len: u64) -> Option<&'a [u8]> {
        let holds = |s: &&ProgramHeader| {
            s.p_type == PT_LOAD
                && address >= s.p_vaddr
                && address.saturating_add(len) <= s.p_vaddr.saturating_add(s.p_filesz)
        };
        let segment = self.segments.iter().find(holds)?;
        self.part(segment.p_offset.checked_add(address - segment.p_vaddr)?, len)
    }

    fn ctx(&self) -> Ctx {
        self.header.ctx()
    }

    /// A part of the file.
    fn part(&self, offset: u64, len: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(offset).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    fn dynamic_table(&self) -> Option<gnu_hash::Table<'a>> {
        let dynamic = self.dynamic()?;
        let from = |offset: u64| self.bytes.get(usize::try_from(offset).ok()?..);
        let (hash, symbols) = (from(dynamic.hash_at?)?, from(dynamic.symbols_at)?);
        Some(gnu_hash::Table { hash, symbols, names: dynamic.names, ctx: self.ctx() })
    }

    fn sections(&self) -> Vec<SectionHeader> {
        let offset = usize::try_from(self.header.sections_at).unwrap_or(0);
        SectionHeader::parse(self.bytes, offset, usize::from(self.header.sections), self.ctx())
            .unwrap_or_default()
    }

    fn section_bytes(&self, section: &SectionHeader) -> Option<&'a [u8]> {
        self.part(section.sh_offset, section.sh_size)
    }

    fn section_named(&self, sections: &[SectionHeader], name: &str) -> Option<&'a [u8]> {
        let names = self.section_bytes(sections.get(usize::from(self.header.section_names))?)?;
        let is_it = |s: &&SectionHeader| text_at(names, s.sh_name) == Some(name.as_bytes());
        self.section_bytes(sections.iter().find(is_it)?)
    }

    fn scan_symtab(
        &self,
        sections: &[SectionHeader],
        names: &[&str],
        source: SymbolSource,
        found: &mut [Option<Symbol>],
    ) {
        let Some(section) = sections.iter().find(|s| s.sh_type == SHT_SYMTAB) else { return };
        let text = sections.get(section.sh_link as usize).filter(|s| s.sh_type == SHT_STRTAB);
        let Some(text) = text.and_then(|s| self.section_bytes(s)) else { return };
        let Some(table) = self.section_bytes(section) else { return };
        for sym in symbols_in(table, self.ctx()) {
            let Some(name) = Some(&sym).filter(|s| usable(s)).and_then(|s| text_at(text, s.st_name)) else {
                continue;
            };
            for (wanted, slot) in names.iter().zip(found.iter_mut()) {
                if slot.is_none() && wanted.as_bytes() == name {
                    *slot = Some(symbol(&sym, source));
                }
            }
        }
    }
}

fn symbol(sym: &Sym, source: SymbolSource) -> Symbol {
    Symbol { value: sym.st_value, size: sym.st_size, source }
}

/// Bytes as lower-case hex, the way build ids are written.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Finds `NT_GNU_BUILD_ID` in the contents of a note segment.
pub fn build_id_in_notes(mut notes: &[u8]) -> Option<&[u8]> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let word = |b: &[u8], at: usize| Some(u32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?));
    let padded = |n: u32| (n as usize).checked_add(3).map(|n| n & !3);
    loop {
        let name_len = word(notes, 0)?;
        let desc_len = word(notes, 4)?;
        let kind = word(notes, 8)?;
        let rest = notes.get(12..)?;
        let desc_at = padded(name_len)?;
        let desc_end = desc_at.checked_add(desc_len as usize)?;
        if kind == NT_GNU_BUILD_ID && rest.get(..name_len as usize)? == b"GNU\0" {
            return rest.get(desc_at..desc_end);
        }
        notes = rest.get(desc_at.checked_add(padded(desc_len)?)?..)?;
    }
}

#[cfg(test)]
mod tests;
