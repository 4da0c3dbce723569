//! A report in the formats of other tools: Perfetto, Chrome trace events, Firefox profiler, speedscope and
//! collapsed stacks, one file per format; its verdict as the text of a ticket; and many reports as one
//! Parquet table.
//!
//! Every exporter starts from an [`Analysis`], so that its output is bounded and its texts are harmless
//! whatever the file contains. The formats with a time axis put the same things on it: see `timeline`.

mod chrome;
mod firefox;
mod frame_slices;
mod matrix_fps;
mod otel_jank;
pub mod parquet;
pub mod perfetto;
mod slice;
mod speedscope;
mod ticket;
mod timeline;
mod tree_text;

pub use ticket::{TicketFormat, ticket};
pub use tree_text::tree_text;

use crate::diagnose::Diagnosis;
use crate::model::Analysis;
use crate::render::collapsed;
use crate::render::json::ReportView;
use crate::render::json_text;
use std::io::{self, Write};

/// A format that one report can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The JSON of `loopbox show --json`.
    Json,
    /// Perfetto's protobuf trace, for ui.perfetto.dev and trace_processor.
    Perfetto,
    /// The Trace Event Format (JSON) of chrome://tracing, which Perfetto and many others also read.
    Chrome,
    /// The processed profile (JSON) of profiler.firefox.com.
    Firefox,
    /// The JSON of speedscope.app.
    Speedscope,
    /// One line per stack, its frames separated by `;`, with its time in microseconds: the input of flame
    /// graph tools.
    Collapsed,
    /// A line of JSON for each screen, as Matrix's `FrameTracer` reports it.
    MatrixFps,
    /// OpenTelemetry's events `app.jank`, as an OTLP request in JSON.
    OtelJank,
}

impl Format {
    /// All formats, in the order in which help texts list them.
    pub const ALL: [Self; 8] = [
        Self::Json,
        Self::Perfetto,
        Self::Chrome,
        Self::Firefox,
        Self::Speedscope,
        Self::Collapsed,
        Self::MatrixFps,
        Self::OtelJank,
    ];

    /// The name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Perfetto => "perfetto",
            Self::Chrome => "chrome",
            Self::Firefox => "firefox",
            Self::Speedscope => "speedscope",
            Self::Collapsed => "collapsed",
            Self::MatrixFps => "matrix-fps",
            Self::OtelJank => "otel-jank",
        }
    }

    /// What the format is for, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Json => "Everything, as loopbox show --json (docs/json.md)",
            Self::Perfetto => "Protobuf trace for ui.perfetto.dev and trace_processor",
            Self::Chrome => "Trace Event Format for chrome://tracing",
            Self::Firefox => "Processed profile for profiler.firefox.com",
            Self::Speedscope => "For speedscope.app",
            Self::Collapsed => "One line per stack with its microseconds, for flame graph tools",
            Self::MatrixFps => {
                "Display frames as Matrix's FrameTracer reports them, one line of JSON a screen"
            }
            Self::OtelJank => "Display frames as OpenTelemetry's events app.jank (OTLP in JSON)",
        }
    }

    /// Whether the format is text, which can be printed on a terminal.
    pub fn is_text(self) -> bool {
        self != Self::Perfetto
    }
}

/// Writes a report. Formats that only have stacks leave out its messages and its queue.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(
    format: Format,
    analysis: &Analysis,
    diagnosis: &Diagnosis,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Json => out.write_all(json_text(&ReportView::new(analysis, diagnosis))?.as_bytes()),
        Format::Perfetto => out.write_all(&perfetto::encode(analysis, perfetto::Place::ALONE)),
        Format::Chrome => chrome::write(analysis, out),
        Format::Firefox => firefox::write(analysis, out),
        Format::Speedscope => speedscope::write(analysis, out),
        Format::MatrixFps => matrix_fps::write(analysis, out),
        Format::OtelJank => otel_jank::write(analysis, out),
        Format::Collapsed => out.write_all(collapsed::merged(&analysis.trees, &analysis.frames).as_bytes()),
    }
}

#[cfg(test)]
mod sinks_tests;
#[cfg(test)]
mod tests;
