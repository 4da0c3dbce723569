//! The message queue of the main Looper as the report has it.

use loopbox_format::model::{Message, PendingSource, Uptime};
use std::collections::HashMap;

/// One entry of the queue: a message or a sync barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingEntry {
    /// When the entry is due, relative to the dump of the queue; negative when overdue.
    pub due_in_ns: i64,
    /// Whether it was put at the front of the queue: it is next and has no due time of its own.
    pub at_front: bool,
    /// The message; `None` for a sync barrier.
    pub message: Option<Message>,
    /// The token of a sync barrier.
    pub barrier: Option<i32>,
    /// Whether a sync barrier lets it pass; `None` where the framework does not print it.
    pub asynchronous: Option<bool>,
    /// What the dump still has of the text of `Message.obj`.
    pub object: Option<String>,
}

impl PendingEntry {
    /// How long the entry is overdue; 0 when it is not due yet or was put at the front.
    pub fn overdue_ns(&self) -> u64 {
        if self.at_front { 0 } else { self.due_in_ns.min(0).unsigned_abs() }
    }
}

/// The queue of the main Looper.
#[derive(Debug, Clone)]
pub struct PendingQueue {
    /// How the queue was read, or why it could not be read.
    pub source: PendingSource,
    /// When the queue was read, in uptime.
    pub captured_ns: Uptime,
    /// The implementation of `MessageQueue`, when the dump names it.
    pub implementation: Option<String>,
    /// Whether the Looper waited for a message; `None` when the dump does not say.
    pub polling: Option<bool>,
    /// Whether the Looper was quitting.
    pub quitting: Option<bool>,
    /// Removed messages that the queue had not dropped yet.
    pub tombstones: u32,
    /// The entries in the order in which they are due.
    pub entries: Vec<PendingEntry>,
    /// Lines of the dump that could not be parsed.
    pub unread: Vec<String>,
    /// How many lines of the dump were not kept.
    pub dropped_lines: u32,
}

/// Many pending messages of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessageFlood {
    pub(crate) message: Message,
    pub(crate) count: usize,
    /// How long the oldest of the messages is overdue.
    pub(crate) overdue_ns: u64,
}

impl PendingQueue {
    /// Whether the queue could be read.
    pub fn is_known(&self) -> bool {
        !matches!(self.source, PendingSource::Unavailable(_))
    }

    /// The sync barrier that blocks the queue: its token and how long it is due. Entries that were put at the front
    /// after the barrier stand before it.
    pub(crate) fn head_barrier(&self) -> Option<(i32, u64)> {
        let head = self.entries.iter().find(|entry| !entry.at_front)?;
        Some((head.barrier?, head.overdue_ns()))
    }

    /// How long the first message of the queue had been due at the dump; 0 when none was, or when a sync barrier holds the
    /// synchronous ones back.
    pub(crate) fn overdue_head_ns(&self, dump_ns: Uptime) -> u64 {
        let mut barrier = false;
        let head = self.entries.iter().find(|entry| {
            barrier |= entry.barrier.is_some();
            !entry.at_front && entry.message.is_some() && (!barrier || entry.asynchronous == Some(true))
        });
        // The queue is printed after the rest of the report was taken.
        let after_ns = self.captured_ns.since(dump_ns);
        head.map_or(0, |entry| entry.overdue_ns().saturating_sub(after_ns))
    }

    /// The pending messages, without barriers.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (&PendingEntry, &Message)> {
        self.entries.iter().filter_map(|entry| Some((entry, entry.message.as_ref()?)))
    }

    /// How many synchronous messages are overdue by more than this: a sync barrier would block them.
    pub(crate) fn overdue_synchronous(&self, by_ns: u64) -> usize {
        self.messages()
            .filter(|(entry, _)| entry.asynchronous != Some(true) && entry.overdue_ns() > by_ns)
            .count()
    }

    /// The most frequent kind of pending message: same target, callback and `what`.
    pub(crate) fn largest_flood(&self) -> Option<MessageFlood> {
        type Kind<'m> = (&'m str, &'m str, Option<i32>);
        let mut kinds: HashMap<Kind<'_>, (usize, u64, &Message)> = HashMap::new();
        for (entry, message) in self.messages() {
            let kind = (message.target.as_str(), message.callback.as_str(), message.what);
            let (count, overdue_ns, _) = kinds.entry(kind).or_insert((0, 0, message));
            *count += 1;
            *overdue_ns = (*overdue_ns).max(entry.overdue_ns());
        }
        let largest = kinds.into_iter().max_by_key(|(kind, (count, ..))| (*count, *kind));
        largest.map(|(_, (count, overdue_ns, message))| MessageFlood {
            message: message.clone(),
            count,
            overdue_ns,
        })
    }
}
