//! What all parts of the text share: options, lines and headings.

use super::style::{HEADING, paint};

/// How much to show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether to show every node of a stack tree, also those below one per cent, and the trees of earlier
    /// messages.
    pub full: bool,
}

pub(super) fn line(out: &mut String, text: impl AsRef<str>) {
    out.push_str(text.as_ref().trim_end());
    out.push('\n');
}

pub(super) fn heading(out: &mut String, name: &str, rest: &str) {
    out.push('\n');
    line(out, format!("{}  {}", paint(HEADING, name), rest));
}
