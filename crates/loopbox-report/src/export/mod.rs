//! A report in the formats of other tools: Perfetto, Chrome trace events, Firefox profiler, speedscope and
//! collapsed stacks, one file per format; and many reports as one Parquet table.
//!
//! Every exporter starts from an [`Analysis`], so that what it writes is bounded and its texts are harmless
//! whatever the file said. The formats that show time put the same things on it: see [`timeline`].

mod chrome;
mod collapsed;
mod firefox;
pub mod parquet;
mod perfetto;
mod proto;
mod seed;
mod speedscope;
mod timeline;

use crate::Analysis;
pub use seed::seed;
use std::io::{self, Write};

pub(crate) use collapsed::{merged as collapsed_merged, timed as collapsed_timed};
pub(crate) use timeline::tree_name;

/// A format that one report can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The JSON of `loopbox show --json`.
    Json,
    /// Perfetto's protobuf trace, for ui.perfetto.dev and trace_processor.
    Perfetto,
    /// The Trace Event Format (JSON) of chrome://tracing, read by Perfetto and many others.
    Chrome,
    /// The processed profile (JSON) of profiler.firefox.com.
    Firefox,
    /// The JSON of speedscope.app.
    Speedscope,
    /// One line a stack, frames apart by `;`, with its time in microseconds: the input of flame graph tools.
    Collapsed,
}

/// Writes a report. For formats that only know stacks the report's messages and queue are left out.
///
/// # Errors
/// Those of `out`.
pub fn write(format: Format, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &crate::View::new(analysis))?;
            out.write_all(b"\n")
        }
        Format::Perfetto => out.write_all(&perfetto::encode(analysis)),
        Format::Chrome => chrome::write(analysis, out),
        Format::Firefox => firefox::write(analysis, out),
        Format::Speedscope => speedscope::write(analysis, out),
        Format::Collapsed => out.write_all(collapsed::merged(&analysis.trees, &analysis.frames).as_bytes()),
    }
}

#[cfg(test)]
mod formats_test;
