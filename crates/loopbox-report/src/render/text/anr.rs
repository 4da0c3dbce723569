//! Whether the report is of an ANR.

use super::layout::{heading, line};
use super::style::{BAD, GOOD, QUIET, WARN, paint};
use crate::render::json::{AnrView, CurrentView, ReportView};

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
        let running = match view.current {
            CurrentView::Unknown => "what was running is not known",
            _ => "no message was running",
        };
        let overdue = match (view.pending.source, view.pending.whole, view.pending.overdue) {
            ("unavailable", ..) | (_, false, 0) => "whether one was overdue is not known",
            (_, true, 0) => "none was overdue",
            _ => "the queue has some that were overdue",
        };
        line(out, paint(QUIET, format!("  {running}, and {overdue}")));
    }
}
