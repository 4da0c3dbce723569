//! ART's own trace with the names of the source.

use super::line::{Several, push_line};
use super::stack_frames::{Above, Retracer};
use crate::load::limits::TRACE_BYTES;
use crate::load::system_trace::unpack;
use flate2::Compression;
use flate2::write::GzEncoder;
use loopbox_format::model::PackedTrace;
use std::io::Write;

/// The trace with retraced frames and classes. Names of the source are longer than obfuscated ones. When the
/// retraced text exceeds the largest size that a report file may have for a trace, the lines at its end are
/// left out; the recorder cuts traces in the same way. A trace that cannot be unpacked is returned unchanged,
/// so that loading it reports the error.
pub(super) fn retraced(packed: &PackedTrace, retracer: &Retracer<'_>) -> PackedTrace {
    let (text, issue) = unpack(packed);
    if packed.gzip.is_empty() || issue.is_some() {
        return packed.clone();
    }
    let (mut retraced, mut above) = (String::with_capacity(text.len() + text.len() / 4), Above::default());
    for line in text.split_inclusive('\n') {
        let before = retraced.len();
        push_line(&mut retraced, line, retracer, Several::OneFrame, &mut above);
        if retraced.len() > TRACE_BYTES {
            retraced.truncate(before);
            break;
        }
    }
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    match out.write_all(retraced.as_bytes()).and_then(|()| out.finish()) {
        Ok(gzip) => PackedTrace { gzip, offset: packed.offset },
        Err(_) => packed.clone(),
    }
}
