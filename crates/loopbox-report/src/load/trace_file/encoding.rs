//! The text of a file, whichever program saved it.

use std::borrow::Cow;

/// This many bytes of a file are enough to detect its encoding.
const SAMPLE: usize = 4_096;

/// The text of a file, in whatever encoding it was saved; `None` when the bytes are no text.
pub fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => Some(String::from_utf8_lossy(rest)),
        [0xFF, 0xFE, rest @ ..] => Some(utf16(rest, u16::from_le_bytes).into()),
        [0xFE, 0xFF, rest @ ..] => Some(utf16(rest, u16::from_be_bytes).into()),
        _ => match unmarked_utf16(bytes) {
            Some(read) => Some(utf16(bytes, read).into()),
            None => is_text(bytes).then(|| String::from_utf8_lossy(bytes)),
        },
    }
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Detects UTF-16 without a byte order mark: in Latin text every second byte is zero.
fn unmarked_utf16(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    let start = &bytes[..bytes.len().min(SAMPLE)];
    let zeros = |first: usize| start.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let mostly = |zeros: usize| zeros * 10 >= start.len() / 2 * 9 && zeros > 1;
    match (mostly(zeros(0)), mostly(zeros(1))) {
        (false, true) => Some(u16::from_le_bytes),
        (true, false) => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// Whether the bytes are readable text: no text has a zero byte, and few texts have other characters that a
/// terminal does not show.
fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(SAMPLE)];
    let is_control = |byte: &&u8| **byte < b' ' && !matches!(**byte, b'\n' | b'\r' | b'\t' | 0x0C | 0x1B);
    !start.contains(&0) && start.iter().filter(is_control).count() * 50 <= start.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_in_each_encoding_and_other_bytes_are_none() {
        let wanted = "\"main\" prio=5 tid=1 Native\r\n  at a.B.ü(B.kt:1)\r\n".repeat(3);
        let utf16 = |bytes: fn(u16) -> [u8; 2]| wanted.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        for (name, bytes) in [
            ("UTF-8", wanted.as_bytes().to_vec()),
            ("UTF-8 with a mark", ["\u{FEFF}".as_bytes(), wanted.as_bytes()].concat()),
            ("UTF-16", utf16(u16::to_le_bytes)),
            ("UTF-16 with a mark", [&[0xFF, 0xFE][..], &utf16(u16::to_le_bytes)].concat()),
            ("UTF-16BE", utf16(u16::to_be_bytes)),
            ("UTF-16BE with a mark", [&[0xFE, 0xFF][..], &utf16(u16::to_be_bytes)].concat()),
        ] {
            assert_eq!(text(&bytes).as_deref(), Some(wanted.as_str()), "{name}");
        }
        assert_eq!(text(&[1, 0, 2, 0, 3, 4, 5]), None);
        assert_eq!(text(&(0..=255).collect::<Vec<u8>>()), None);
        assert_eq!(text(b"").as_deref(), Some(""));
    }
}
