//! Whether the report is of an ANR.

use super::layout::{heading, line};
use super::style::{BAD, GOOD, QUIET, WARN, paint};
use crate::render::json::{AnrView, ReportView};

pub(super) fn write(out: &mut String, view: &ReportView) {
    let AnrView { verdict, summary, evidence, .. } = &view.anr;
    let style = match *verdict {
        "confirmed" | "probable" => BAD,
        "hang" => WARN,
        "responsive" => GOOD,
        // The recorder did not classify the hang.
        _ => return,
    };
    heading(out, "ANR", &paint(style, *summary));
    for evidence in evidence {
        line(out, format!("  - {evidence}"));
    }
    if evidence.is_empty() {
        line(out, paint(QUIET, "  no message was running, and none was overdue"));
    }
}
