//! Keeps the addresses of the ART functions that only a slow search finds. Later processes with the same ART
//! use them.

use crate::identity::BuildId;
use loopbox_format::container::crc32;
use std::fs;
use std::path::Path;

const NAME: &str = "libart.symbols";

/// The symbols of this libart that are kept in `dir`, as a text; `None` when no complete text is kept for it.
pub fn known_symbols(dir: &Path, libart: BuildId) -> Option<String> {
    let bytes = fs::read(dir.join(NAME)).ok()?;
    let (sum, rest) = bytes.split_first_chunk::<4>()?;
    let text = rest.strip_prefix(&libart.to_raw()[..])?;
    if crc32(rest).to_le_bytes() != *sum {
        return None;
    }
    std::str::from_utf8(text).ok().map(str::to_owned)
}

/// Keeps the symbols of this libart in `dir`, as a text. It replaces the text for any other libart. If the
/// text cannot be written, a later process repeats the search.
pub fn keep_symbols(dir: &Path, libart: BuildId, text: &str) {
    let rest = [&libart.to_raw()[..], text.as_bytes()].concat();
    let _ = fs::write(dir.join(NAME), [&crc32(&rest).to_le_bytes()[..], &rest].concat());
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_kept_for_one_libart_and_given_back_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (BuildId::new(b"one"), BuildId::new(b"other"));
        assert_eq!(known_symbols(dir.path(), one), None);
        keep_symbols(dir.path(), one, "d48 packed\n");
        assert_eq!(known_symbols(dir.path(), one).as_deref(), Some("d48 packed\n"));
        assert_eq!(known_symbols(dir.path(), other), None);
        let file = dir.path().join(NAME);
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&file, &damaged).unwrap();
            assert_eq!(known_symbols(dir.path(), one), None, "byte {at}");
            fs::write(&file, &whole[..at]).unwrap();
            assert_eq!(known_symbols(dir.path(), one), None, "cut at {at}");
        }
        keep_symbols(dir.path(), other, "");
        assert_eq!(
            (known_symbols(dir.path(), one), known_symbols(dir.path(), other)),
            (None, Some(String::new()))
        );
        keep_symbols(&dir.path().join("none"), one, "");
    }
}
