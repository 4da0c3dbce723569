//! Unpacking the trace, with a bound on its size.

use crate::load::limits::TRACE_BYTES;
use crate::model::Issue;
use flate2::bufread::GzDecoder;
use loopbox_format::model::PackedTrace;
use std::io::Read;

/// The text of the trace as far as it can be unpacked, and an issue for the rest.
pub(crate) fn unpack(packed: &PackedTrace) -> (String, Option<Issue>) {
    let mut decoder = GzDecoder::new(packed.gzip.as_slice());
    let mut text = Vec::new();
    let result = decoder.by_ref().take(TRACE_BYTES as u64 + 1).read_to_end(&mut text);
    let at = packed.offset.saturating_add(packed.gzip.len() - decoder.get_ref().len());
    let what = match result {
        Err(why) => Some(format!("section TRAC: the system's trace cannot be unpacked: {why}")),
        Ok(_) if text.len() > TRACE_BYTES => {
            text.truncate(TRACE_BYTES);
            let limit = TRACE_BYTES >> 20;
            Some(format!("section TRAC: the system's trace has more than {limit} MiB, the rest is left out"))
        }
        Ok(_) => None,
    };
    let issue = what.map(|what| Issue { offset: Some(at as u64), what });
    (String::from_utf8_lossy(&text).into_owned(), issue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(text: &[u8]) -> PackedTrace {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text).unwrap();
        PackedTrace { gzip: gzip.finish().unwrap(), offset: 1_000 }
    }

    #[test]
    fn a_whole_trace_is_unpacked() {
        let (text, issue) = unpack(&packed(b"\"main\" prio=5\xFF"));
        assert_eq!((text.as_str(), issue), ("\"main\" prio=5\u{FFFD}", None));
    }

    #[test]
    fn what_cannot_be_unpacked_is_named_by_its_offset() {
        let no_gzip = PackedTrace { gzip: b"DALVIK THREADS".to_vec(), offset: 70 };
        let issue = unpack(&no_gzip).1.unwrap();
        assert!((70..=84).contains(&issue.offset.unwrap()), "{issue:?}");
        assert!(issue.what.starts_with("section TRAC: the system's trace cannot be unpacked: "), "{issue:?}");

        let line = |i: u32| format!("  at a.B.c{}(D.java:{i})\n", i.wrapping_mul(7_919));
        let lines = (0..20_000).map(line).collect::<Vec<_>>().concat();
        let mut cut = packed(lines.as_bytes());
        let whole = cut.gzip.len();
        cut.gzip.truncate(whole / 2);
        let (text, issue) = unpack(&cut);
        assert!(text.len() > lines.len() / 4 && lines.starts_with(&text), "what came before the cut is kept");
        assert_eq!(issue.unwrap().offset, Some(1_000 + whole as u64 / 2));
    }

    /// The packed trace has a thousandth of its unpacked size.
    #[test]
    fn a_bomb_is_cut_to_the_limit() {
        let (text, issue) = unpack(&packed(&vec![b'a'; TRACE_BYTES * 4]));
        assert_eq!(text.len(), TRACE_BYTES);
        assert!(issue.unwrap().what.ends_with("has more than 4 MiB, the rest is left out"));
    }
}
