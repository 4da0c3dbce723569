//! Reports for readers: JSON, text for a terminal, an HTML page and flame graphs.

pub(crate) mod collapsed;
pub(crate) mod commonmark;
pub(crate) mod escape;
pub mod flame;
pub mod html;
pub mod json;
mod json_text;
pub(crate) mod slack_text;
pub mod smoothness;
mod stack_text;
pub mod text;
pub(crate) mod tree_choice;

pub use json_text::json_text;
pub(crate) use json_text::write_json;
pub(crate) use stack_text::{folded, stack_text};
