//! The few colours of the terminal views.
//!
//! All text has them; a caller that wants plain text strips the escape sequences.

use anstyle::AnsiColor;
pub(super) use anstyle::Style;

pub(super) const HEADING: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const NAME: Style = AnsiColor::Cyan.on_default();
pub(super) const PLAIN: Style = Style::new();

/// `text` in `style`.
pub(super) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The style of a dispatch time: users notice 300 ms, and perceive one second as a hang.
pub(super) fn wall_time(ms: f64) -> Style {
    if ms >= 1_000.0 {
        BAD
    } else if ms >= 300.0 {
        WARN
    } else {
        PLAIN
    }
}
