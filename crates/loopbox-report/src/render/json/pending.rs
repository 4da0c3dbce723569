//! The pending messages of the main Looper.

use super::message::MessageView;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, PendingEntry};
use loopbox_format::model::PendingSource;
use schemars::JsonSchema;
use serde::Serialize;

/// The pending messages of the main Looper.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PendingView<'a> {
    /// How the queue was read.
    source: Name<&'a PendingSource>,
    /// Why the queue is unavailable.
    why: &'a str,
    /// When the queue was read, relative to the dump.
    captured_at_ms: f64,
    /// The implementation of `MessageQueue`, when the dump names it.
    implementation: Option<&'a str>,
    /// Whether the Looper was waiting for a message; null when that was not read.
    polling: Option<bool>,
    /// Whether the Looper was quitting; null when that was not read.
    quitting: Option<bool>,
    /// The number of entries that the queue had, barriers included and removed messages left out as far as
    /// they were read; null when that was not read.
    total: Option<u32>,
    /// Whether `messages` are all of them; false when that is not known.
    whole: bool,
    /// The entries that were read, in the order in which they are due.
    messages: Vec<PendingEntryView<'a>>,
    /// The number of messages among them that are overdue.
    overdue: usize,
    /// How long the oldest of these is overdue.
    most_overdue_ms: f64,
    /// Removed messages that the queue had not dropped yet.
    tombstones: u32,
    /// Lines of the dump that could not be parsed.
    unread: &'a [String],
    /// The number of lines of the dump that were not kept.
    dropped_lines: u32,
}

/// One entry of the queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PendingEntryView<'a> {
    /// When the entry is due, relative to the dump of the queue; negative when overdue; null when it was put at the
    /// front.
    due_in_ms: Option<f64>,
    /// The message; null for a sync barrier.
    message: Option<MessageView<'a>>,
    /// The token of a sync barrier.
    barrier: Option<i32>,
    /// Whether a sync barrier lets it pass; null when unknown.
    asynchronous: Option<bool>,
    /// What the dump still has of the text of `Message.obj`.
    object: Option<&'a str>,
}

impl<'a> PendingView<'a> {
    pub(crate) fn new(a: &'a Analysis) -> Self {
        let queue = &a.queue;
        let entries = queue.entries.iter();
        Self {
            source: Name(&queue.source),
            why: match &queue.source {
                PendingSource::Unavailable(why) => why,
                _ => "",
            },
            captured_at_ms: ms_between(queue.captured_ns, a.dump_ns),
            implementation: queue.implementation.as_deref(),
            polling: queue.polling,
            quitting: queue.quitting,
            total: queue.entries_in_all(),
            whole: queue.whole,
            messages: entries.map(|entry| PendingEntryView::new(entry, a.api_level())).collect(),
            overdue: queue.overdue(),
            most_overdue_ms: ms(queue.most_overdue_ns()),
            tombstones: queue.tombstones,
            unread: &queue.unread,
            dropped_lines: queue.dropped_lines,
        }
    }
}

impl<'a> PendingEntryView<'a> {
    fn new(entry: &'a PendingEntry, api_level: u32) -> Self {
        Self {
            due_in_ms: entry.due_in_ms(),
            message: entry.message.as_ref().map(|message| MessageView::new(message, api_level)),
            barrier: entry.barrier,
            asynchronous: entry.asynchronous,
            object: entry.object.as_deref(),
        }
    }
}
