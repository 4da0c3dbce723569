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

mod gnu_hash;
mod symbol;
mod xz;

use std::fmt::Write;

use goblin::container::{Container, Ctx};
use goblin::elf::Elf;
use goblin::elf::dynamic::Dynamic;
use goblin::elf::header::Header;
use goblin::elf::program_header::{PT_LOAD, PT_NOTE, ProgramHeader};
use goblin::elf::section_header::{SHT_DYNSYM, SHT_STRTAB, SHT_SYMTAB, SectionHeader};
use goblin::elf::sym::{Sym, Symtab};
use symbol::{text_at, usable};

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

/// An ELF file of either word size, with its headers parsed.
pub struct Image<'a> {
    bytes: &'a [u8],
    ctx: Ctx,
    /// The file header.
    pub header: Header,
    /// Program headers.
    pub segments: Vec<ProgramHeader>,
}

impl<'a> Image<'a> {
    /// Reads the headers. `None` when this is no ELF file or it is damaged.
    pub fn parse(bytes: &'a [u8]) -> Option<Image<'a>> {
        let header = Elf::parse_header(bytes).ok()?;
        let container = header.container().ok()?;
        let ctx = Ctx::new(container, header.endianness().ok()?);
        let offset = usize::try_from(header.e_phoff).ok()?;
        let segments = if header.e_phnum == 0 || offset >= bytes.len() {
            // The ELF inside `.gnu_debugdata` may keep headers whose contents are gone.
            Vec::new()
        } else {
            ProgramHeader::parse(bytes, offset, usize::from(header.e_phnum), ctx).ok()?
        };
        Some(Image { bytes, ctx, header, segments })
    }

    /// Whether addresses in it are 8 bytes wide.
    pub fn is_64(&self) -> bool {
        self.ctx.container == Container::Big
    }

    /// The GNU build id, from the note segment.
    pub fn build_id(&self) -> Option<&'a [u8]> {
        self.segments.iter().filter(|s| s.p_type == PT_NOTE).find_map(|s| {
            let start = usize::try_from(s.p_offset).ok()?;
            let len = usize::try_from(s.p_filesz).ok()?;
            build_id_in_notes(self.bytes.get(start..start.checked_add(len)?)?)
        })
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
        let Ok(Some(dynamic)) = Dynamic::parse(self.bytes, &self.segments, self.ctx) else { return found };
        let info = dynamic.info;
        let Some(text) = self.bytes.get(info.strtab..info.strtab.saturating_add(info.strsz)) else {
            return found;
        };
        let undefined = self.sections().into_iter().find(|s| s.sh_type == SHT_DYNSYM);
        let count = undefined.map_or(0, |s| s.sh_size / Sym::size(self.ctx.container) as u64) as usize;
        let Ok(table) = Symtab::parse(self.bytes, info.symtab, count, self.ctx) else { return found };
        for sym in table.iter().filter(|s| s.st_shndx == 0) {
            let name = text_at(text, sym.st_name);
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
        let start = segment.p_offset.checked_add(address - segment.p_vaddr)?;
        let start = usize::try_from(start).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    fn dynamic_table(&self) -> Option<gnu_hash::Table<'a>> {
        let dynamic = Dynamic::parse(self.bytes, &self.segments, self.ctx).ok()??;
        let info = dynamic.info;
        let hash = self.bytes.get(usize::try_from(info.gnu_hash?).ok()?..)?;
        let names = self.bytes.get(info.strtab..info.strtab.checked_add(info.strsz)?)?;
        let symbols = self.bytes.get(info.symtab..)?;
        Some(gnu_hash::Table { hash, symbols, names, ctx: self.ctx })
    }

    fn sections(&self) -> Vec<SectionHeader> {
        let offset = usize::try_from(self.header.e_shoff).unwrap_or(0);
        SectionHeader::parse(self.bytes, offset, usize::from(self.header.e_shnum), self.ctx)
            .unwrap_or_default()
    }

    fn section_bytes(&self, section: &SectionHeader) -> Option<&'a [u8]> {
        let start = usize::try_from(section.sh_offset).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(section.sh_size).ok()?)?)
    }

    fn section_named(&self, sections: &[SectionHeader], name: &str) -> Option<&'a [u8]> {
        let names = self.section_bytes(sections.get(usize::from(self.header.e_shstrndx))?)?;
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
        let Ok(offset) = usize::try_from(section.sh_offset) else { return };
        let size = Sym::size(self.ctx.container) as u64;
        let Ok(count) = usize::try_from(section.sh_size / size) else { return };
        let Ok(table) = Symtab::parse(self.bytes, offset, count, self.ctx) else { return };
        for sym in &table {
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
