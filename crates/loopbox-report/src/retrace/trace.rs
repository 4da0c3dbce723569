//! ART's own trace with the names of the source.

use super::frames::Retracer;
use crate::load::system_trace::unpack;
use crate::model::framework::{CLASS_OBJECT, in_class_object};
use flate2::Compression;
use flate2::write::GzEncoder;
use loopbox_format::model::PackedTrace;
use std::io::Write;

/// The trace with retraced frames and classes. One that cannot be unpacked stays as it is, so that loading it says so.
pub(super) fn retraced(packed: &PackedTrace, retracer: &Retracer<'_>) -> PackedTrace {
    let (text, issue) = unpack(packed);
    if packed.gzip.is_empty() || issue.is_some() {
        return packed.clone();
    }
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    let mut outline = None;
    let written = text
        .split_inclusive('\n')
        .try_for_each(|line| out.write_all(retraced_line(line, retracer, &mut outline).as_bytes()));
    match written.and_then(|()| out.finish()) {
        Ok(gzip) => PackedTrace { gzip, offset: packed.offset },
        Err(_) => packed.clone(),
    }
}

/// A line with its end; several where methods were inlined, none for code that was outlined.
fn retraced_line(line: &str, retracer: &Retracer<'_>, outline: &mut Option<u32>) -> String {
    let retraced = if let Some(frame) = line.strip_prefix("  at ") {
        retracer.printed_frame(frame.trim_end(), outline)
    } else if line.starts_with("  - ") {
        locked_class(line, retracer).map(|line| vec![line])
    } else {
        *outline = None;
        None
    };
    match retraced {
        Some(lines) => lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect(),
        None => line.to_owned(),
    }
}

/// `  - locked <0x0d3b5c8a> (a a.b)`, or `(a java.lang.Class<a.b>)`, with the class of the source.
fn locked_class(line: &str, retracer: &Retracer<'_>) -> Option<String> {
    let (before, rest) = line.split_once("(a ")?;
    let (name, after) = rest.split_once(')')?;
    let (start, class, end) = match in_class_object(name) {
        Some(class) => (CLASS_OBJECT, class, ">"),
        None => ("", name, ""),
    };
    let class = retracer.class(class)?;
    Some(format!("{before}(a {start}{class}{end}){after}"))
}
