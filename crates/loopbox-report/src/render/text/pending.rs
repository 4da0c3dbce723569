//! The message queue at the dump.

use super::layout::{Options, heading, line};
use super::style::{BAD, NAME, QUIET, WARN, paint};
use crate::model::plural::plural;
use crate::model::time::{format_ms, format_relative};
use crate::render::json::{PendingEntryView, ReportView};
use std::fmt::Write as _;

/// Of a run of equal entries, how many are shown before the rest is folded.
const RUN: usize = 3;
/// Entries that are overdue for longer than this are highlighted.
const LATE_MS: f64 = 1_000.0;

pub(super) fn write(out: &mut String, view: &ReportView, options: Options) {
    let p = &view.pending;
    let source = match p.source {
        "looper_dump" => "by Looper.dump",
        "messages_field" => "from MessageQueue.mMessages",
        "unavailable" => {
            heading(out, "PENDING", &paint(WARN, format!("unknown: {}", p.why)));
            return;
        }
        _ => "from a source unknown to this version of loopbox",
    };
    let read = p.messages.len();
    let mut rest = match (p.whole, p.total) {
        (true, _) => messages(read),
        (false, Some(total)) => format!("{read} of {} were read", messages(total as usize)),
        (false, None) => format!("{} were read, how many there are is not known", messages(read)),
    };
    match (p.overdue, p.whole) {
        (0, true) => rest += ", none overdue",
        (0, false) if read == 0 => {}
        (0, false) => rest += ", none of these overdue",
        (n, _) => {
            let _ = write!(rest, ", {n} overdue by up to {}", format_ms(p.most_overdue_ms));
        }
    }
    match p.polling {
        Some(true) => rest += ", main was waiting for messages",
        Some(false) => rest += ", main was not waiting for messages",
        None => {}
    }
    if let Some(implementation) = &p.implementation {
        let _ = write!(rest, ", {implementation} queue");
    }
    heading(out, "PENDING", &format!("{rest} ({source})"));
    let mut at = 0;
    while let Some(first) = p.messages.get(at) {
        let run = p.messages[at..].iter().take_while(|w| same(first, w)).count();
        let shown = if options.full || run <= RUN + 1 { run } else { RUN };
        for (i, entry) in p.messages[at..at + shown].iter().enumerate() {
            write_entry(out, at + i, entry);
        }
        if let Some(last) = p.messages[at..at + run].last().filter(|_| run > shown) {
            let until = last
                .due_in_ms
                .map_or_else(String::new, |ms| format!(", the last at {}", format_relative(ms)));
            line(out, paint(QUIET, format!("{:>21}… {} more of these{until}", "", run - shown)));
        }
        at += run;
    }
    if p.tombstones > 0 {
        line(
            out,
            paint(QUIET, format!("  still in the queue: {}", plural(p.tombstones as u64, "removed message"))),
        );
    }
    for text in &p.unread {
        line(out, format!("  not parsed: {text}"));
    }
    if p.dropped_lines > 0 {
        line(out, paint(WARN, format!("  {} more lines were not kept", p.dropped_lines)));
    }
}

fn messages(count: usize) -> String {
    plural(count as u64, "message")
}

fn same(a: &PendingEntryView, b: &PendingEntryView) -> bool {
    a.message == b.message && a.barrier == b.barrier && a.object == b.object
}

fn write_entry(out: &mut String, position: usize, w: &PendingEntryView) {
    let due = w.due_in_ms.map_or_else(|| "at the front".into(), format_relative);
    let due = format!("{due:>13}");
    let due = if w.due_in_ms.is_some_and(|ms| ms <= -LATE_MS) { paint(BAD, due) } else { due };
    let mut what = match (&w.message, w.barrier) {
        (Some(message), _) => paint(NAME, &message.text),
        (None, Some(token)) => paint(WARN, format!("sync barrier {token}")),
        (None, None) => "?".into(),
    };
    if w.asynchronous == Some(true) {
        what += ", asynchronous";
    }
    if let Some(object) = w.object.as_deref().filter(|o| *o != "…") {
        let _ = write!(what, "  {}", paint(QUIET, object));
    }
    line(out, format!("  {position:>4} {due}  {what}"));
}
