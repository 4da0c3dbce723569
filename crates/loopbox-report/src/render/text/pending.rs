//! The message queue at the dump.

use super::layout::{Options, heading, line};
use super::style::{BAD, NAME, QUIET, WARN, paint};
use crate::model::message_name::message_name;
use crate::model::plural::plural;
use crate::model::time::{format_ns, format_relative};
use crate::model::{Analysis, PendingEntry};
use loopbox_format::model::PendingSource;
use std::fmt::Write as _;

/// How many entries of a run of equal ones are shown; the rest is folded.
const RUN: usize = 3;
/// Entries that have been overdue for at least this long are highlighted.
const LATE_NS: u64 = 1_000_000_000;

pub(super) fn write(out: &mut String, a: &Analysis, options: Options) {
    let queue = &a.queue;
    if a.is_trace_alone() {
        return;
    }
    let source = match &queue.source {
        PendingSource::LooperDump => "by Looper.dump",
        PendingSource::MessagesField => "from MessageQueue.mMessages",
        PendingSource::Unavailable(why) => {
            heading(out, "PENDING", &paint(WARN, format!("unknown: {why}")));
            return;
        }
        _ => "from a source unknown to this version of loopbox",
    };
    let read = queue.entries.len();
    let mut rest = match (queue.whole, queue.entries_in_all()) {
        (true, _) => messages(read),
        (false, Some(total)) => format!("{read} of {} were read", messages(total as usize)),
        (false, None) => format!("{} were read, how many there are is not known", messages(read)),
    };
    match (queue.overdue(), queue.whole) {
        (0, true) => rest += ", none overdue",
        (0, false) if read == 0 => {}
        (0, false) => rest += ", none of these overdue",
        (n, _) => {
            let _ = write!(rest, ", {n} overdue by up to {}", format_ns(queue.most_overdue_ns()));
        }
    }
    match queue.polling {
        Some(true) => rest += ", main was waiting for messages",
        Some(false) => rest += ", main was not waiting for messages",
        None => {}
    }
    if let Some(implementation) = &queue.implementation {
        let _ = write!(rest, ", {implementation} queue");
    }
    heading(out, "PENDING", &format!("{rest} ({source})"));
    let mut at = 0;
    while let Some(first) = queue.entries.get(at) {
        let run = queue.entries[at..].iter().take_while(|w| same(first, w)).count();
        let shown = if options.full || run <= RUN + 1 { run } else { RUN };
        for (i, entry) in queue.entries[at..at + shown].iter().enumerate() {
            write_entry(out, a, at + i, entry);
        }
        if let Some(last) = queue.entries[at..at + run].last().filter(|_| run > shown) {
            let until = last.due_in_ms().map(|ms| format!(", the last at {}", format_relative(ms)));
            let until = until.unwrap_or_default();
            line(out, paint(QUIET, format!("{:>21}… {} more of these{until}", "", run - shown)));
        }
        at += run;
    }
    if queue.tombstones > 0 {
        line(
            out,
            paint(
                QUIET,
                format!("  still in the queue: {}", plural(queue.tombstones as u64, "removed message")),
            ),
        );
    }
    for text in &queue.unread {
        line(out, format!("  not parsed: {text}"));
    }
    if queue.dropped_lines > 0 {
        line(out, paint(WARN, format!("  {} more lines were not kept", queue.dropped_lines)));
    }
}

fn messages(count: usize) -> String {
    plural(count as u64, "message")
}

fn same(a: &PendingEntry, b: &PendingEntry) -> bool {
    a.message == b.message && a.barrier == b.barrier && a.object == b.object
}

fn write_entry(out: &mut String, a: &Analysis, position: usize, w: &PendingEntry) {
    let due = w.due_in_ms().map_or_else(|| "at the front".into(), format_relative);
    let due = format!("{due:>13}");
    let due = if w.overdue_ns() >= LATE_NS { paint(BAD, due) } else { due };
    let mut what = match (&w.message, w.barrier) {
        (Some(message), _) => paint(NAME, message_name(message, a.api_level())),
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
