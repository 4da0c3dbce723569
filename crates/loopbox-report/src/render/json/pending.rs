//! The pending messages of the main Looper.

use super::message::MessageView;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, PendingEntry, PendingQueue};
use loopbox_format::model::PendingSource;

json_object! {
    /// The pending messages of the main Looper.
    pub(crate) struct PendingView<'a>(a: &'a Analysis, queue: &'a PendingQueue) {
        /// How the queue was read.
        source: Name<&'a PendingSource> = Name(&queue.source),
        /// Why the queue is unavailable; empty when it was read.
        why: &'a str = match &queue.source {
            PendingSource::Unavailable(why) => why,
            _ => "",
        },
        /// When the queue was read, relative to the dump.
        captured_at_ms: f64 = ms_between(queue.captured_ns, a.dump_ns),
        /// The implementation of `MessageQueue`, when the dump names it.
        implementation: Option<&'a str> = queue.implementation.as_deref(),
        /// Whether the Looper was waiting for a message; null when that was not read.
        polling: Option<bool> = queue.polling,
        /// Whether the Looper was quitting; null when that was not read.
        quitting: Option<bool> = queue.quitting,
        /// The number of entries of the queue with its barriers, without those messages that were read and
        /// found removed; null when the number was not read.
        total: Option<u32> = queue.entries_in_all(),
        /// Whether `messages` has all entries of the queue; false when that is not known.
        whole: bool = queue.whole,
        /// The entries that were read, in the order in which they are due.
        messages: Vec<PendingEntryView<'a>> =
            queue.entries.iter().map(|entry| PendingEntryView::new(a, entry)).collect(),
        /// The number of overdue messages in `messages`.
        overdue: usize = queue.overdue(),
        /// How long the oldest of the overdue messages is overdue.
        most_overdue_ms: f64 = ms(queue.most_overdue_ns()),
        /// The number of removed messages that the queue had not dropped yet.
        tombstones: u32 = queue.tombstones,
        /// Lines of the dump that could not be parsed.
        unread: &'a [String] = &queue.unread,
        /// The number of lines of the dump that were not kept.
        dropped_lines: u32 = queue.dropped_lines,
    }
}

json_object! {
    /// One entry of the queue.
    pub(crate) struct PendingEntryView<'a>(a: &'a Analysis, entry: &'a PendingEntry) {
        /// When the entry is due, relative to the dump of the queue; negative when overdue; null when it was
        /// put at the front.
        due_in_ms: Option<f64> = entry.due_in_ms(),
        /// The message; null for a sync barrier.
        message: Option<MessageView<'a>> =
            entry.message.as_ref().map(|message| MessageView::new(a, None, message)),
        /// The token of a sync barrier.
        barrier: Option<i32> = entry.barrier,
        /// Whether a sync barrier lets the entry pass; null when unknown.
        asynchronous: Option<bool> = entry.asynchronous,
        /// The part of the text of `Message.obj` that the dump still has.
        object: Option<&'a str> = entry.object.as_deref(),
    }
}
