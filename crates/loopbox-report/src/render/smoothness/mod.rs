//! Display frames for readers: text for a terminal, and a page with charts.

mod charts;
mod comparison;
mod html;
mod text;

pub use comparison::comparison_text;
pub use html::html;
pub use text::text;
pub(crate) use text::{janks, refresh_line, scene};
