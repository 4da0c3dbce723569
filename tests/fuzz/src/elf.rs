//! Library files and dex files.

use loopbox_art::{Named, names_of_dex};
use loopbox_elf::{Image, hex};

/// The names to search for. The first three are in seeds. The last one is in no input, so that a search for
/// it never ends early.
const NAMES: [&str; 4] = ["_ZN3art6PublicEv", "getpid", "_ZN3art6HiddenEv", "no_such_name"];

pub(crate) fn elf(input: &[u8]) -> bool {
    let Some(image) = Image::parse(input) else { return false };
    let id = image.build_id().map(hex);
    assert!(id.is_none_or(|id| id.len() <= 2 * input.len()));
    assert_eq!(image.find_dynamic(&NAMES).len(), NAMES.len());
    assert_eq!(image.find_imported(&NAMES).len(), NAMES.len());
    let found = image.find_all(&NAMES);
    for symbol in found.iter().flatten() {
        let code = image.bytes_at(symbol.value, symbol.size);
        assert!(code.is_none_or(|code| code.len() as u64 == symbol.size));
    }
    let _ = image.bytes_at(u64::MAX, u64::MAX);
    found.iter().any(Option::is_some)
}

/// Searches for [`NAMES`] in an otherwise valid library, which has the input as its `.gnu_debugdata`.
pub(crate) fn debugdata(input: &[u8]) -> bool {
    const SECTION_HEADER: usize = 64;
    let names = b"\0.shstrtab\0.gnu_debugdata\0";
    let mut file = vec![0_u8; 64];
    let mut table = vec![0_u8; SECTION_HEADER];
    for (bytes, name, kind) in [(&names[..], 1_u32, 3_u32), (input, 11, 1)] {
        let mut header = [0_u8; SECTION_HEADER];
        header[..4].copy_from_slice(&name.to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(file.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        table.extend(header);
        file.extend(bytes);
    }
    let table_at = file.len() as u64;
    file.extend(table);
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    file[40..48].copy_from_slice(&table_at.to_le_bytes());
    // Sizes of the file's header, of a program header and a section header; three sections, the first names
    // them.
    for (at, value) in [(52, 64_u8), (54, 56), (58, 64), (60, 3), (62, 1)] {
        file[at] = value;
    }
    let image = Image::parse(&file).expect("an ELF file");
    image.find_all(&NAMES).iter().any(Option::is_some)
}

/// Reads the names of a dex file. Checks that no name is longer in UTF-8 than the reader's limit for a text,
/// and that a signature has at most 256 names.
pub(crate) fn dex(input: &[u8]) -> bool {
    const LONGEST: usize = 3 * 4_096;
    let Some(Named { methods, sources, lines }) = names_of_dex(input) else { return false };
    for [class, name, signature] in &methods {
        assert!(class.len() <= LONGEST && name.len() <= LONGEST && signature.len() <= 257 * LONGEST);
    }
    assert!(sources.iter().all(|name| name.len() <= LONGEST));
    for table in &lines {
        // An instruction after the last one has the last one's line.
        assert_eq!(table.line(u32::MAX), table.line(1 << 20));
    }
    !methods.is_empty()
}
