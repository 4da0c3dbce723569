//! Whether it was an ANR.

use super::style::{BAD, GOOD, QUIET, WARN, paint};
use super::{heading, line};
use crate::view::{AnrView, View};

pub(super) fn write(out: &mut String, view: &View) {
    let AnrView { verdict, evidence, ended_after_ms, .. } = &view.anr;
    let (style, words) = match (*verdict, ended_after_ms) {
        ("confirmed", _) => (BAD, "yes, the system says so"),
        ("probable", _) => (BAD, "probably: the system sent its signal while the main thread was busy"),
        ("hang", Some(_)) => (WARN, "a hang that ended; the system has not called it an ANR"),
        ("hang", None) => (WARN, "a hang; the system has not called it an ANR"),
        ("responsive", _) => (GOOD, "no sign of one"),
        // Nobody judged: nothing to tell.
        _ => return,
    };
    heading(out, "ANR", &paint(style, words));
    for evidence in evidence {
        line(out, format!("  - {evidence}"));
    }
    if evidence.is_empty() {
        line(out, paint(QUIET, "  no message ran, nothing was overdue"));
    }
}
