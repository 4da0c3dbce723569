//! Files that are truncated, forged, or as linkers write them.

use super::*;
use goblin::elf::sym::STT_FUNC;

/// A minimal ELF64 file with a `.symtab` and, if given, a `.gnu_debugdata`.
fn small_elf(symbols: &[(&str, u64)], debugdata: Option<&[u8]>) -> Vec<u8> {
    let mut names = vec![0u8];
    let mut syms = vec![0u8; 24];
    for (name, value) in symbols {
        let mut entry = vec![0u8; 24];
        entry[0..4].copy_from_slice(&(names.len() as u32).to_le_bytes());
        entry[4] = STT_FUNC;
        entry[6] = 1;
        entry[8..16].copy_from_slice(&value.to_le_bytes());
        syms.extend(entry);
        names.extend(name.bytes());
        names.push(0);
    }
    let headings = b"\0.symtab\0.strtab\0.shstrtab\0.gnu_debugdata\0";
    let parts: [(&[u8], u32, u32, u32); 4] = [
        (&syms, 1, SHT_SYMTAB, 2),
        (&names, 9, SHT_STRTAB, 0),
        (headings, 17, SHT_STRTAB, 0),
        (debugdata.unwrap_or(&[]), 27, 1, 0),
    ];
    let mut out = vec![0u8; 64];
    let mut table = vec![0u8; 64];
    for (bytes, name, kind, link) in parts {
        let mut header = vec![0u8; 64];
        header[0..4].copy_from_slice(&name.to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(out.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[40..44].copy_from_slice(&link.to_le_bytes());
        table.extend(header);
        out.extend(bytes);
    }
    let table_at = out.len() as u64;
    out.extend(table);
    out[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    out[16] = 3;
    out[18] = 62;
    out[20] = 1;
    out[40..48].copy_from_slice(&table_at.to_le_bytes());
    out[52] = 64;
    out[54] = 56;
    out[58] = 64;
    out[60] = 5;
    out[62] = 3;
    out
}

#[test]
fn hidden_functions_come_from_gnu_debugdata() {
    let inner = small_elf(&[("_ZN3art6HiddenEv", 0x4567)], None);
    let packed = xz_stored(&inner);
    let outer = small_elf(&[("_ZN3art6PublicEv", 0x1234)], Some(&packed));
    let image = Image::parse(&outer).unwrap();
    let found = image.find_all(&["_ZN3art6PublicEv", "_ZN3art6HiddenEv", "_ZN3art7MissingEv"]);
    assert_eq!(found[0], Some(Symbol { value: 0x1234, size: 0, source: SymbolSource::SymTab }));
    assert_eq!(found[1], Some(Symbol { value: 0x4567, size: 0, source: SymbolSource::GnuDebugData }));
    assert_eq!(found[2], None);
}

/// One block of uncompressed chunks.
fn xz_stored(data: &[u8]) -> Vec<u8> {
    let mut out = b"\xfd7zXZ\0\0\0????".to_vec();
    out.extend([2, 0, 0x21, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (i, chunk) in data.chunks(65536).enumerate() {
        out.push(if i == 0 { 1 } else { 2 });
        out.extend((chunk.len() as u16).wrapping_sub(1).to_be_bytes());
        out.extend(chunk);
    }
    out.push(0);
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend([0, 1, 1, 1]);
    out.extend([0; 14]);
    out.extend(b"YZ");
    out
}

#[test]
fn damaged_files_are_an_answer() {
    let outer = small_elf(&[("a", 1)], Some(b"not xz"));
    for len in 0..outer.len() {
        if let Some(image) = Image::parse(&outer[..len]) {
            assert_eq!(image.find_all(&["b"]), vec![None]);
            assert_eq!(image.build_id(), None);
        }
    }
    for at in 0..outer.len() {
        let mut bad = outer.clone();
        bad[at] = !bad[at];
        if let Some(image) = Image::parse(&bad) {
            assert_eq!(image.find_all(&["b", "c"]).len(), 2);
        }
    }
    assert!(Image::parse(b"").is_none());
    assert!(Image::parse(&[0x7f; 400]).is_none());
}

#[test]
fn the_build_id_is_found_behind_other_notes() {
    let mut notes = Vec::new();
    for (name, kind, desc) in [(&b"Android\0"[..], 1u32, &[9u8; 5][..]), (b"GNU\0", 3, &[1, 2, 3, 4])] {
        notes.extend((name.len() as u32).to_ne_bytes());
        notes.extend((desc.len() as u32).to_ne_bytes());
        notes.extend(kind.to_ne_bytes());
        notes.extend(name);
        notes.extend(desc);
        notes.resize(notes.len().next_multiple_of(4), 0);
    }
    assert_eq!(build_id_in_notes(&notes), Some(&[1u8, 2, 3, 4][..]));
    assert_eq!(build_id_in_notes(&notes[..notes.len() - 1]), None);
    assert_eq!(build_id_in_notes(&[]), None);
}
