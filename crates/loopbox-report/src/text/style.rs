//! The few colours of the terminal views.
//!
//! Text is always written with them; a caller that does not want them strips escape sequences on the way out.

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

/// The style of a dispatch time: what a user feels begins at the group threshold, what is unbearable at 1 s.
pub(super) fn of_wall(ms: f64) -> Style {
    if ms >= 1_000.0 {
        BAD
    } else if ms >= 300.0 {
        WARN
    } else {
        PLAIN
    }
}
