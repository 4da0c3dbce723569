//! Modified UTF-8, the text form of dex files.

/// Decodes modified UTF-8; malformed parts become U+FFFD.
///
/// It differs from UTF-8 in two ways: U+0000 takes two bytes, and characters outside of the basic plane are
/// two surrogates of three bytes each.
pub(super) fn decode(bytes: &[u8]) -> String {
    if bytes.is_ascii() {
        return bytes.iter().map(|b| char::from(*b)).collect();
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((unit, tail)) = next(rest) {
        units.push(unit);
        rest = tail;
    }
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn next(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let tail = |b: &u8| b & 0xc0 == 0x80;
    let first16 = u16::from(*first);
    match (first, rest) {
        (0..=0x7f, _) => Some((first16, rest)),
        (0xc0..=0xdf, [b, rest @ ..]) if tail(b) => Some(((first16 & 0x1f) << 6 | u16::from(b & 0x3f), rest)),
        (0xe0..=0xef, [b, c, rest @ ..]) if tail(b) && tail(c) => {
            Some(((first16 & 0x0f) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f), rest))
        }
        _ => Some((0xfffd, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_what_java_writes() {
        assert_eq!(decode(b"handleMessage"), "handleMessage");
        assert_eq!(decode("größe".as_bytes()), "größe");
        assert_eq!(decode("消息".as_bytes()), "消息");
        assert_eq!(decode(b"a\xc0\x80b"), "a\0b");
        // U+1F600 as two surrogates.
        assert_eq!(decode(b"\xed\xa0\xbd\xed\xb8\x80!"), "\u{1f600}!");
    }

    #[test]
    fn malformed_text_is_replaced() {
        assert_eq!(decode(b"\xed\xa0\xbdx"), "\u{fffd}x");
        assert_eq!(decode(b"\xe0\x80"), "\u{fffd}\u{fffd}");
        assert_eq!(decode(b"\xc3"), "\u{fffd}");
        assert_eq!(decode(b"\xf0\x9f"), "\u{fffd}\u{fffd}");
    }
}
