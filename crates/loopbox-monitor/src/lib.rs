#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod culprit;
mod html;
mod line;
mod summary;
mod text;
mod uiperf;
mod view;

pub use html::html;
pub use line::{Base, Line, Sample, Stack, Stall, read_line};
pub use summary::Summary;
pub use text::text;
pub use uiperf::uiperf;
pub use view::{Around, Group, Phase, StackGroup, View};
