//! Reports as they arrive by mail, trackers and crash tools: compressed, as base64, or altered on the way.

use anyhow::{Context, Result, bail};
use base64::Engine;
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{Cursor, Read};
use std::path::Path;
use zip::ZipArchive;

/// The first byte of reports and rings. The bytes after it are one of [`KINDS`].
const FIRST: u8 = 0x89;
const KINDS: [&[u8]; 2] = [b"LBX", b"LBR"];
/// The beginning of a report or a ring as base64.
const BASE64: &[u8] = b"iUxC";
/// How many packed files may be inside each other: two, because a server may have compressed one again.
const MAX_LAYERS: usize = 2;
/// The first bytes of each entry in a zip archive's list of files.
const LISTED: &[u8] = b"PK\x01\x02";
const MAX_FILES: usize = 10_000;
/// How many names an error lists.
const MAX_NAMES: usize = 3;

/// The content of a file.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    pub(crate) bytes: Vec<u8>,
    /// Why the rest is missing: the bytes end where the compressed file was cut or damaged.
    pub(crate) cut: Option<String>,
    /// The file's name in an archive that has several.
    pub(crate) chosen: Option<String>,
}

/// The report or trace in the bytes of a file, unpacked if necessary; at most one byte more than `max_len`.
///
/// # Errors
/// When it is packed and cannot be unpacked, or when a program changed it as if it were text.
pub(crate) fn unpack(bytes: Vec<u8>, max_len: u64) -> Result<Unpacked> {
    let mut unpacked = Unpacked { bytes, ..Unpacked::default() };
    for _ in 0..MAX_LAYERS {
        match unpacked.bytes.as_slice() {
            [0x1F, 0x8B, ..] => gunzip(&mut unpacked, max_len)?,
            [b'P', b'K', 3, 4, ..] => unzip(&mut unpacked, max_len)?,
            start if start.trim_ascii_start().starts_with(BASE64) => unpacked.bytes = from_base64(start)?,
            _ => break,
        }
    }
    let bytes = &unpacked.bytes;
    if is_spoiled(bytes) {
        bail!(
            "offset 0: a report that a program took for text and changed on its way: send it packed (gzip, zip), or \
             as base64"
        );
    }
    Ok(unpacked)
}

/// Unpacks a gzip file. Of a truncated or damaged one, the part before the damage is unpacked.
///
/// # Errors
/// When nothing can be unpacked.
fn gunzip(unpacked: &mut Unpacked, max_len: u64) -> Result<()> {
    const WHAT: &str = "offset 0: a gzip file that cannot be unpacked";
    let mut out = Vec::new();
    let read = MultiGzDecoder::new(unpacked.bytes.as_slice()).take(max_len + 1).read_to_end(&mut out);
    match read {
        Err(why) if out.is_empty() => return Err(why).context(WHAT),
        Err(why) => {
            unpacked.cut = Some(format!("the gzip file is damaged or cut behind {} bytes: {why}", out.len()));
        }
        Ok(_) => {}
    }
    unpacked.bytes = out;
    Ok(())
}

/// What a file of an archive is, by its name. The best kind to read comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Report,
    /// A file such as `FS/data/anr/anr_2026-11-26-18-47-24-123` of a bug report.
    Anr,
    /// A file such as `FS/data/anr/traces.txt`.
    Traces,
    /// The text of a bug report, which on older versions has the traces of the last ANR.
    BugReport,
}

impl Kind {
    fn of(path: &str) -> Option<Self> {
        let path = path.to_ascii_lowercase();
        let name = path.rsplit('/').next()?;
        let end = Path::new(name).extension().and_then(OsStr::to_str);
        Some(match name {
            _ if matches!(end, Some("lbx" | "lbr")) => Self::Report,
            _ if name.starts_with("anr_") || name.starts_with("trace_") => Self::Anr,
            _ if name.starts_with("traces") || path.contains("data/anr/") && !name.is_empty() => Self::Traces,
            _ if name.starts_with("bugreport") && end == Some("txt") => Self::BugReport,
            _ => return None,
        })
    }
}

fn unzip(unpacked: &mut Unpacked, max_len: u64) -> Result<()> {
    let bytes = unpacked.bytes.as_slice();
    const WHAT: &str = "offset 0: a zip archive that cannot be unpacked";
    // Its list of files would take many times its bytes.
    let files = bytes.windows(LISTED.len()).filter(|window| *window == LISTED).count();
    if files > MAX_FILES {
        bail!("offset 0: a zip archive with {files} files: take the report or the trace out of it");
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).context(WHAT)?;
    let names = archive.file_names().collect::<Result<Vec<_>, _>>().context(WHAT)?;
    let names = names.into_iter().map(Cow::into_owned);
    let mut names: Vec<(Kind, String)> = names.filter_map(|name| Some((Kind::of(&name)?, name))).collect();
    let Some(best) = names.iter().map(|(kind, _)| *kind).min() else {
        bail!(
            "offset 0: a zip archive without a report (a file that ends in .lbx) or an ANR trace (FS/data/anr/anr_… of a bug report, \
             traces.txt)"
        );
    };
    names.retain(|(kind, _)| *kind == best);
    if best == Kind::Report && names.len() > 1 {
        let first =
            names.iter().take(MAX_NAMES).map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
        bail!("offset 0: a zip archive with {} reports ({first}, …): unpack it and name one", names.len());
    }
    // The names of traces have their time in them.
    names.sort();
    let Some((_, name)) = names.last() else { return Ok(()) };
    let mut out = Vec::new();
    archive.by_name(name).context(WHAT)?.take(max_len + 1).read_to_end(&mut out).context(WHAT)?;
    unpacked.chosen =
        (names.len() > 1).then(|| format!("{name}, the last of {} traces in the archive", names.len()));
    unpacked.bytes = out;
    Ok(())
}

fn from_base64(text: &[u8]) -> Result<Vec<u8>> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let decoded = base64::engine::general_purpose::STANDARD.decode(text);
    decoded.context("offset 0: a report as base64 that cannot be read")
}

/// Whether the bytes are a report in which line ends or non-text bytes were changed: the beginning of the
/// format shows it.
fn is_spoiled(bytes: &[u8]) -> bool {
    const CHANGED: [&[u8]; 4] = [&[FIRST], &[FIRST & 0x7F], "\u{89}".as_bytes(), "\u{FFFD}".as_bytes()];
    let after = |first: &[u8]| KINDS.iter().find_map(|kind| bytes.strip_prefix(first)?.strip_prefix(*kind));
    let intact = after(&[FIRST]).is_some_and(|rest| rest.starts_with(b"\r\n\x1a\n") || rest.len() < 4);
    !intact
        && CHANGED
            .iter()
            .any(|first| after(first).is_some_and(|rest| rest.starts_with(b"\r") || rest.starts_with(b"\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_a_report_shows_in_its_first_bytes() {
        for whole in
            [&b"\x89LBX\r\n\x1a\n\x01"[..], b"\x89LBR\r\n\x1a\n", b"\x89LBX\r", b"\x89LBX", b"", b"text\n"]
        {
            assert!(!is_spoiled(whole), "{whole:?}");
        }
        for changed in [
            &b"\x89LBX\n\x1a\n\x01"[..],
            b"\x89LBX\r\r\n\x1a\r\n",
            b"\x09LBX\r\n\x1a\n",
            "\u{89}LBX\r\n\u{1a}\n".as_bytes(),
            "\u{FFFD}LBR\r\n\u{1a}\n".as_bytes(),
        ] {
            assert!(is_spoiled(changed), "{changed:?}");
        }
    }
}
