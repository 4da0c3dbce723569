//! Display frames for readers: text for a terminal, and a page with charts.

mod charts;
mod comparison;
mod html;
mod of_report;
mod text;

pub use comparison::comparison_text;
pub use html::html;
pub(crate) use of_report::{DisplayFrame, DisplayFrames};
pub use text::text;
pub(crate) use text::{janks, scene};
