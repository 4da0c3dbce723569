//! The xz container, as far as `.gnu_debugdata` needs it.
//!
//! lzma-rust2 decodes the LZMA2 data. Its own container support would bring SHA-256 and five more crates into
//! the app for a check that is not needed: the build id ties the symbols to the module, and a symbol outside
//! of the module's code is refused. Format: "The .xz File Format" 1.2.1.

use lzma_rust2::{Lzma2Reader, Read};

const MAGIC: &[u8] = b"\xfd7zXZ\0";
/// Larger dictionaries are refused before they are allocated (`xz -9` uses 64 MiB).
const DICTIONARY_LIMIT: usize = 64 << 20;

/// Unpacks one or more concatenated streams. `None` when the input is damaged, needs a filter other than
/// LZMA2, or is larger than `limit` when unpacked.
pub(super) fn decompress(mut input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let mut streams = 0;
    while input.starts_with(MAGIC) {
        input = stream(input, limit, &mut output)?;
        streams += 1;
        // Stream padding comes in multiples of four zero bytes.
        while let Some(rest) = input.strip_prefix(&[0; 4]) {
            input = rest;
        }
    }
    (streams > 0).then_some(output)
}

/// Unpacks one stream; returns the bytes after it.
fn stream<'a>(input: &'a [u8], limit: usize, output: &mut Vec<u8>) -> Option<&'a [u8]> {
    let check_len = match *input.get(7)? & 0x0f {
        0 => 0,
        n => 4usize << ((n - 1) / 3),
    };
    let mut at = 12;
    loop {
        let size_byte = *input.get(at)?;
        if size_byte == 0 {
            return input.get(after_index(input, at)?..);
        }
        let header_len = (usize::from(size_byte) + 1) * 4;
        let dictionary = block_header(input.get(at..at.checked_add(header_len)?)?)?;
        let data = input.get(at + header_len..)?;
        let extent = Extent::of(data)?;
        if extent.plain > limit.checked_sub(output.len())? {
            return None;
        }
        // A dictionary beyond the block's own size is never used.
        let dictionary = dictionary.min(extent.plain.max(4096));
        let mut reader = Lzma2Reader::new(data.get(..extent.packed)?, u32::try_from(dictionary).ok()?, None);
        let start = output.len();
        output.resize(start.checked_add(extent.plain)?, 0);
        reader.read_exact(output.get_mut(start..)?).ok()?;
        let padded = extent.packed.checked_add(3)? & !3;
        at = at.checked_add(header_len)?.checked_add(padded)?.checked_add(check_len)?;
    }
}

/// The LZMA2 dictionary size in a block header. `None` for any other filter chain, and for a size above
/// [`DICTIONARY_LIMIT`].
fn block_header(header: &[u8]) -> Option<usize> {
    const LZMA2: u64 = 0x21;
    let flags = *header.get(1)?;
    if flags & 0x3f != 0 {
        return None; // reserved bits, or more than one filter
    }
    let mut at = 2;
    if flags & 0x40 != 0 {
        varint(header, &mut at)?;
    }
    if flags & 0x80 != 0 {
        varint(header, &mut at)?;
    }
    if varint(header, &mut at)? != LZMA2 || varint(header, &mut at)? != 1 {
        return None;
    }
    let bits = *header.get(at)?;
    let size = match bits {
        0..=39 => (2usize | usize::from(bits & 1)) << (bits / 2 + 11),
        40 => u32::MAX as usize,
        _ => return None,
    };
    (size <= DICTIONARY_LIMIT).then_some(size)
}

/// Sizes of an LZMA2 sequence, from its chunk headers.
struct Extent {
    packed: usize,
    plain: usize,
}

impl Extent {
    fn of(data: &[u8]) -> Option<Extent> {
        let be16 = |at: usize| Some(usize::from(u16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?)));
        let mut at = 0usize;
        let mut plain = 0usize;
        loop {
            let control = *data.get(at)?;
            match control {
                0 => return Some(Extent { packed: at + 1, plain }),
                1 | 2 => {
                    let len = be16(at + 1)? + 1;
                    plain = plain.checked_add(len)?;
                    at += 3 + len;
                }
                0x80.. => {
                    let high = usize::from(control & 0x1f) << 16;
                    plain = plain.checked_add(high + be16(at + 1)? + 1)?;
                    let properties = usize::from(control >= 0xc0);
                    at += 5 + properties + be16(at + 3)? + 1;
                }
                _ => return None,
            }
        }
    }
}

/// Position after the index and the stream footer, given where the index begins. `None` when there is no
/// footer.
fn after_index(input: &[u8], index: usize) -> Option<usize> {
    let mut at = index + 1;
    let records = varint(input, &mut at)?;
    for _ in 0..records {
        varint(input, &mut at)?;
        varint(input, &mut at)?;
    }
    let padded = index + ((at - index + 3) & !3);
    let end = padded + 4 + 12;
    (input.get(end - 2..end)? == b"YZ").then_some(end)
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `xz -9 --check=crc32` of four lines of text.
    const PACKED: &str = "fd377a585a0000016922de36020021011c00000010cf58cce000d700185d00341949ee8de957438aecd9fd1b\
        ebc96e72060fefd9e319000091a5f426000130d8010000008d8016c63e300d8b020000000001595a";

    fn packed() -> Vec<u8> {
        let hex: Vec<u8> = PACKED.bytes().filter(u8::is_ascii_hexdigit).collect();
        hex.chunks(2).map(|c| u8::from_str_radix(std::str::from_utf8(c).unwrap(), 16).unwrap()).collect()
    }

    fn plain() -> Vec<u8> {
        b"hello hello hello hello hello loopbox loopbox loopbox\n".repeat(4)
    }

    /// A stream whose blocks hold uncompressed LZMA2 chunks, as xz writes for data that does not shrink.
    fn stored(blocks: &[&[u8]]) -> Vec<u8> {
        let mut out = b"\xfd7zXZ\0\0\0????".to_vec();
        for block in blocks {
            out.extend([2, 0, 0x21, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
            let start = out.len();
            for (i, chunk) in block.chunks(65536).enumerate() {
                out.push(if i == 0 { 1 } else { 2 });
                out.extend((chunk.len() as u16).wrapping_sub(1).to_be_bytes());
                out.extend(chunk);
            }
            out.push(0);
            out.resize(start + (out.len() - start).next_multiple_of(4), 0);
        }
        out.extend([0, blocks.len() as u8]);
        out.extend(blocks.iter().flat_map(|_| [1, 1]));
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(b"????........\0\0\0\0"[..14].iter());
        out.extend(b"YZ");
        out
    }

    #[test]
    fn unpacks_what_xz_packed() {
        assert_eq!(decompress(&packed(), 1 << 20), Some(plain()));
    }

    #[test]
    fn unpacks_several_blocks_and_streams() {
        let big = vec![7u8; 100_000];
        let one = stored(&[b"first ", &big]);
        let mut both = one.clone();
        both.extend([0; 8]);
        both.extend(packed());
        let mut want = b"first ".to_vec();
        want.extend(&big);
        assert_eq!(decompress(&one, 1 << 20), Some(want.clone()));
        want.extend(plain());
        assert_eq!(decompress(&both, 1 << 20), Some(want));
    }

    #[test]
    fn the_limit_holds() {
        assert_eq!(decompress(&packed(), plain().len() - 1), None);
        assert!(decompress(&packed(), plain().len()).is_some());
    }

    #[test]
    fn damage_is_an_answer() {
        let good = packed();
        for len in 0..good.len() {
            assert_eq!(decompress(&good[..len], 1 << 20), None, "cut at {len}");
        }
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                // Whatever comes out: no panic, never more than the limit.
                assert!(decompress(&bad, 4096).is_none_or(|v| v.len() <= 4096));
            }
        }
    }
}
