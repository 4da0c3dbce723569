//! Whether the report is of an ANR.

use super::layout::{heading, line};
use super::style::{BAD, GOOD, QUIET, WARN, paint};
use crate::derive;
use crate::model::Analysis;
use crate::model::anr_words::verdict_summary;
use loopbox_format::model::{AnrVerdict, MainState};

pub(super) fn write(out: &mut String, a: &Analysis) {
    let style = match a.anr.verdict {
        AnrVerdict::Confirmed | AnrVerdict::Probable => BAD,
        AnrVerdict::Hang => WARN,
        AnrVerdict::Responsive => GOOD,
        // The recorder did not classify the hang.
        _ => return,
    };
    heading(out, "ANR", &paint(style, verdict_summary(&a.anr)));
    let evidence = derive::evidence(a);
    for evidence in &evidence {
        line(out, format!("  - {evidence}"));
    }
    if evidence.is_empty() {
        let running = match a.main {
            MainState::Running(_) => "a message was running",
            MainState::Outside(_) => "main was busy outside of messages",
            MainState::Idle { .. } => "no message was running",
            _ => "what was running is not known",
        };
        let overdue = match (a.queue.is_known(), a.queue.whole, a.queue.overdue()) {
            (false, ..) | (_, false, 0) => "whether one was overdue is not known",
            (_, true, 0) => "none was overdue",
            _ => "the queue has some that were overdue",
        };
        line(out, paint(QUIET, format!("  {running}, and {overdue}")));
    }
}
