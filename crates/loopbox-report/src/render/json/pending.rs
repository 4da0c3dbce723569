//! The pending messages of the main Looper.

use super::message::MessageView;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, PendingEntry};
use loopbox_format::model::{PendingSource, Uptime};
use serde::Serialize;

/// The pending messages of the main Looper.
#[derive(Debug, Clone, Serialize)]
pub struct PendingView {
    /// `looper_dump`, `messages_field` or `unavailable`.
    pub source: &'static str,
    /// Why the queue is unavailable.
    pub why: String,
    /// When the queue was read, relative to the dump.
    pub captured_at_ms: f64,
    /// The implementation of `MessageQueue`, when the dump names it.
    pub implementation: Option<String>,
    /// Whether the Looper was waiting for a message; `None` when that was not read.
    pub polling: Option<bool>,
    /// Whether the Looper was quitting; `None` when that was not read.
    pub quitting: Option<bool>,
    /// The number of entries that the queue had, barriers included and removed messages left out as far as
    /// they were read; `None` when that was not read.
    pub total: Option<u32>,
    /// Whether `messages` are all of them; false when that is not known.
    pub whole: bool,
    /// The entries that were read, in the order in which they are due.
    pub messages: Vec<PendingEntryView>,
    /// The number of messages among them that are overdue.
    pub overdue: usize,
    /// How long the oldest of these is overdue.
    pub most_overdue_ms: f64,
    /// Removed messages that the queue had not dropped yet.
    pub tombstones: u32,
    /// Lines of the dump that could not be parsed.
    pub unread: Vec<String>,
    /// The number of lines of the dump that were not kept.
    pub dropped_lines: u32,
}

/// One entry of the queue.
#[derive(Debug, Clone, Serialize)]
pub struct PendingEntryView {
    /// When the entry is due, relative to the dump of the queue; negative when overdue; `None` when it was put at the
    /// front.
    pub due_in_ms: Option<f64>,
    /// The message; `None` for a sync barrier.
    pub message: Option<MessageView>,
    /// The token of a sync barrier.
    pub barrier: Option<i32>,
    /// Whether a sync barrier lets it pass; `None` when unknown.
    pub asynchronous: Option<bool>,
    /// What the dump still has of the text of `Message.obj`.
    pub object: Option<String>,
}

impl PendingView {
    pub(super) fn new(a: &Analysis) -> Self {
        let (source, why) = match &a.queue.source {
            PendingSource::LooperDump => ("looper_dump", String::new()),
            PendingSource::MessagesField => ("messages_field", String::new()),
            PendingSource::Unavailable(why) => ("unavailable", why.clone()),
            _ => ("unknown", String::new()),
        };
        let q = &a.queue;
        let entry = |w: &PendingEntry| PendingEntryView {
            due_in_ms: (!w.at_front).then(|| {
                ms_between(Uptime(w.due_in_ns.max(0) as u64), Uptime(w.due_in_ns.min(0).unsigned_abs()))
            }),
            message: w.message.as_ref().map(|m| MessageView::new(m, a.api_level())),
            barrier: w.barrier,
            asynchronous: w.asynchronous,
            object: w.object.clone(),
        };
        Self {
            source,
            why,
            captured_at_ms: ms_between(q.captured_ns, a.dump_ns),
            implementation: q.implementation.clone(),
            polling: q.polling,
            quitting: q.quitting,
            total: q.entries_in_all(),
            whole: q.whole,
            messages: q.entries.iter().map(entry).collect(),
            overdue: q.messages().filter(|(w, _)| w.overdue_ns() > 0).count(),
            most_overdue_ms: ms(q.messages().map(|(w, _)| w.overdue_ns()).max().unwrap_or(0)),
            tombstones: q.tombstones,
            unread: q.unread.clone(),
            dropped_lines: q.dropped_lines,
        }
    }
}
