//! Whether the report is of an ANR.

use super::layout::{heading, line};
use super::style::{BAD, GOOD, QUIET, WARN, paint};
use crate::render::json::{AnrView, ReportView};

pub(super) fn write(out: &mut String, view: &ReportView) {
    let AnrView { verdict, evidence, ended_after_ms, .. } = &view.anr;
    let (style, summary) = match (*verdict, ended_after_ms) {
        ("confirmed", _) => (BAD, "yes, the system reports one"),
        ("probable", _) => (BAD, "probably: the system sent its signal while the main thread was busy"),
        ("hang", Some(_)) => (WARN, "a hang that ended; the system has not reported an ANR"),
        ("hang", None) => (WARN, "a hang; the system has not reported an ANR"),
        ("responsive", _) => (GOOD, "no sign of one"),
        // The recorder did not classify the hang.
        _ => return,
    };
    heading(out, "ANR", &paint(style, summary));
    for evidence in evidence {
        line(out, format!("  - {evidence}"));
    }
    if evidence.is_empty() {
        line(out, paint(QUIET, "  no message was running, and none was overdue"));
    }
}
