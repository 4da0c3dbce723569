//! Removes what only debuggers read: the symbol and debug sections.
//!
//! Debian's linker package has no `strip`, and the one of binutils supports only the architecture that it
//! runs on. What remains is everything up to the end of the last loaded section, and a section table for it,
//! which loaders since API 24 read.

use anyhow::{Context, Result, ensure};
use goblin::elf::Elf;
use goblin::elf::section_header::{
    SHF_ALLOC, SHF_INFO_LINK, SHT_NOBITS, SHT_NULL, SHT_REL, SHT_RELA, SectionHeader,
};

/// The type of the section that says which instructions and calling convention a 32-bit Arm file uses (ABI
/// for the Arm Architecture, aaelf32).
const SHT_ARM_ATTRIBUTES: u32 = 0x7000_0003;

/// Offsets of fields in the file header and in a section header, for one word size.
struct Fields {
    e_shoff: usize,
    e_shnum: usize,
    e_shstrndx: usize,
    sh_offset: usize,
    sh_size: usize,
    sh_link: usize,
    sh_info: usize,
    word: usize,
}

const ELF64: Fields = Fields {
    e_shoff: 0x28,
    e_shnum: 0x3c,
    e_shstrndx: 0x3e,
    sh_offset: 24,
    sh_size: 32,
    sh_link: 40,
    sh_info: 44,
    word: 8,
};

const ELF32: Fields = Fields {
    e_shoff: 0x20,
    e_shnum: 0x30,
    e_shstrndx: 0x32,
    sh_offset: 16,
    sh_size: 20,
    sh_link: 24,
    sh_info: 28,
    word: 4,
};

/// The library without its symbol and debug sections; the loaded parts stay byte for byte.
pub(crate) fn strip(bytes: &[u8]) -> Result<Vec<u8>> {
    let elf = Elf::parse(bytes).context("not an ELF file")?;
    ensure!(elf.little_endian, "a big-endian file");
    let fields = if elf.is_64 { &ELF64 } else { &ELF32 };
    let entry = usize::from(elf.header.e_shentsize);
    let names = usize::from(elf.header.e_shstrndx);
    // The table of names goes last: it is known when all others are done.
    let others = (0..elf.section_headers.len()).filter(|&index| index != names && keeps(&elf, index));
    let kept: Vec<usize> = others.chain([names]).collect();
    let new_index = |old: usize| kept.iter().position(|&index| index == old).unwrap_or(0) as u32;

    let loaded_end = elf
        .section_headers
        .iter()
        .filter(|s| loaded(s) && s.sh_type != SHT_NOBITS)
        .map(|s| s.sh_offset + s.sh_size)
        .chain(elf.program_headers.iter().map(|h| h.p_offset + h.p_filesz))
        .max();
    let loaded_end = loaded_end.context("nothing to load")? as usize;
    let mut out = bytes.get(..loaded_end).context("a segment outside the file")?.to_owned();

    let mut name_table = vec![0];
    let mut table = Vec::new();
    for &index in &kept {
        let section = elf.section_headers.get(index).context("a section that is not there")?;
        let start = elf.header.e_shoff as usize + index * entry;
        let mut header =
            bytes.get(start..start + entry).context("a section table outside the file")?.to_owned();
        let name = elf.shdr_strtab.get_at(section.sh_name).unwrap_or_default();
        let name_at = if name.is_empty() { 0 } else { name_table.len() };
        if !name.is_empty() {
            name_table.extend_from_slice(name.as_bytes());
            name_table.push(0);
        }
        put(&mut header, 0, name_at as u64, 4)?;
        put(&mut header, fields.sh_link, new_index(section.sh_link as usize).into(), 4)?;
        if matches!(section.sh_type, SHT_REL | SHT_RELA) || section.sh_flags & u64::from(SHF_INFO_LINK) != 0 {
            put(&mut header, fields.sh_info, new_index(section.sh_info as usize).into(), 4)?;
        }
        if section.sh_type == SHT_ARM_ATTRIBUTES {
            put(&mut header, fields.sh_offset, out.len() as u64, fields.word)?;
            out.extend_from_slice(section_bytes(bytes, section)?);
        }
        table.push(header);
    }
    let last = table.last_mut().context("a section table without names")?;
    put(last, fields.sh_offset, out.len() as u64, fields.word)?;
    put(last, fields.sh_size, name_table.len() as u64, fields.word)?;
    out.extend_from_slice(&name_table);
    out.resize(out.len().next_multiple_of(fields.word), 0);

    let table_at = out.len() as u64;
    put(&mut out, fields.e_shoff, table_at, fields.word)?;
    put(&mut out, fields.e_shnum, table.len() as u64, 2)?;
    put(&mut out, fields.e_shstrndx, table.len() as u64 - 1, 2)?;
    out.extend(table.into_iter().flatten());
    Ok(out)
}

fn loaded(section: &SectionHeader) -> bool {
    section.sh_flags & u64::from(SHF_ALLOC) != 0
}

/// Whether a section stays: loaded sections, the empty first one, and Arm's attributes do.
fn keeps(elf: &Elf<'_>, index: usize) -> bool {
    let stays = |s: &SectionHeader| loaded(s) || matches!(s.sh_type, SHT_NULL | SHT_ARM_ATTRIBUTES);
    elf.section_headers.get(index).is_some_and(stays)
}

fn section_bytes<'a>(bytes: &'a [u8], section: &SectionHeader) -> Result<&'a [u8]> {
    let start = section.sh_offset as usize;
    bytes.get(start..start + section.sh_size as usize).context("a section outside the file")
}

/// Writes the lowest `width` bytes of a number, little-endian.
fn put(bytes: &mut [u8], at: usize, value: u64, width: usize) -> Result<()> {
    let target = bytes.get_mut(at..at + width).context("a header that is cut off")?;
    target.copy_from_slice(value.to_le_bytes().get(..width).unwrap_or_default());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_is_loaded_stays_and_what_debuggers_read_goes() {
        let library = sample::library(&["-g"]);
        let stripped = strip(&library).unwrap();
        let (before, after) = (Elf::parse(&library).unwrap(), Elf::parse(&stripped).unwrap());
        assert!(stripped.len() < library.len());
        assert!(!before.syms.is_empty() && after.syms.is_empty());
        assert_eq!(before.dynsyms.len(), after.dynsyms.len());
        assert_eq!(before.program_headers, after.program_headers);
        let end = before.program_headers.iter().map(|h| h.p_offset + h.p_filesz).max().unwrap() as usize;
        // All but the three fields of the file header that describe the section table.
        assert_eq!(library[64..end], stripped[64..end]);
        let names = |elf: &Elf<'_>| -> Vec<String> {
            elf.section_headers
                .iter()
                .map(|s| elf.shdr_strtab.get_at(s.sh_name).unwrap().to_owned())
                .collect()
        };
        let gone: Vec<String> =
            names(&before).into_iter().filter(|name| !names(&after).contains(name)).collect();
        assert!(
            gone.iter().any(|name| name == ".symtab") && gone.iter().any(|name| name == ".debug_info"),
            "{gone:?}"
        );
        let section = |elf: &Elf<'_>, wanted: &str| {
            elf.section_headers
                .iter()
                .position(|s| elf.shdr_strtab.get_at(s.sh_name) == Some(wanted))
                .unwrap()
        };
        let symbols = &after.section_headers[section(&after, ".dynsym")];
        assert_eq!(symbols.sh_link as usize, section(&after, ".dynstr"), "links point to the moved sections");
    }

    #[test]
    fn a_second_time_changes_nothing() {
        let stripped = strip(&sample::library(&["-g"])).unwrap();
        assert_eq!(strip(&stripped).unwrap(), stripped);
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let library = sample::library(&[]);
        for length in (0..library.len()).step_by(97) {
            // A cut file is refused or stripped of what it lost; it must not be read beyond its end.
            let _ = strip(&library[..length]);
        }
        assert!(strip(b"not an ELF file").is_err());
    }
}
