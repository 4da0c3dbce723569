#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod as_report;
mod culprit;
mod html;
mod line;
mod parquet;
mod stalls;
mod summary;
mod text;
mod uiperf;
mod view;

pub use as_report::as_report;
pub use html::html;
pub use line::{Base, DisplayFrames, Line, Sample, Stack, Stall, read_line};
pub use parquet::StallRow;
pub use stalls::{Stalls, each_stall};
pub use summary::Summary;
pub use text::text;
pub use uiperf::uiperf;
pub use view::{Around, Group, Phase, StackGroup, View};
