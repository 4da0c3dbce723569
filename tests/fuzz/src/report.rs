//! Report files.

use loopbox_format::container::{MAGIC, MAJOR, crc32};
use loopbox_format::report::{Decoded, decode, encode};

/// Decodes the input twice: unchanged, and with all its checksums corrected, because a wrong checksum ends
/// the decoding of a mutated payload. Checks that what was decoded can be written and read again.
pub(crate) fn report(input: &[u8]) -> bool {
    let mut found = false;
    for bytes in [input.to_vec(), sealed(input)] {
        let Ok(Decoded { report, .. }) = decode(&bytes) else { continue };
        let written = encode(&report).expect("what was decoded can be encoded");
        let again = decode(&written).expect("what was encoded can be decoded");
        assert!(again.damage.is_empty(), "{:?}", again.damage);
        assert!(again.report == report, "another report after writing and reading");
        found = true;
    }
    found
}

/// `input` with the magic, the version and each section's checksums corrected.
pub(crate) fn sealed(input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    if bytes.len() < 16 {
        return bytes;
    }
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&MAJOR.to_le_bytes());
    let mut at = 16;
    while at + 16 <= bytes.len() {
        let (header, rest) = bytes[at..].split_at_mut(16);
        let claimed = u32::from_le_bytes(header[4..8].try_into().expect("four bytes")) as usize;
        let len = claimed.min(rest.len());
        header[4..8].copy_from_slice(&(len as u32).to_le_bytes());
        header[8..12].copy_from_slice(&crc32(&rest[..len]).to_le_bytes());
        let check = crc32(&header[..12]);
        header[12..].copy_from_slice(&check.to_le_bytes());
        at += 16 + len;
    }
    bytes
}
