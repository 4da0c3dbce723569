//! The message queue of the main Looper as the report has it.

use super::time::ms;
use loopbox_format::model::{Message, PendingSource, Uptime};

/// How long a due message has been waiting for the main thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The queue was not read, or not far enough to know.
    Unknown,
    /// No message was due.
    None,
    /// Messages have been due for at least this time, in nanoseconds.
    By(u64),
}

impl Overdue {
    /// How long a message has been due at least; `None` when no message was due, or that is not known.
    pub(crate) fn certain_ns(self) -> Option<u64> {
        match self {
            Self::By(ns) => Some(ns),
            Self::Unknown | Self::None => None,
        }
    }

    /// Whether a message had been due for at least `ns` nanoseconds; `None` when that is not known.
    pub(crate) fn by(self, ns: u64) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::None => Some(false),
            Self::By(overdue_ns) => Some(overdue_ns >= ns),
        }
    }
}
use std::collections::HashMap;

/// One entry of the queue: a message or a sync barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingEntry {
    /// When the entry is due, relative to the dump of the queue; negative when overdue.
    pub due_in_ns: i64,
    /// Whether the entry was put at the front of the queue: it is next and has no due time.
    pub at_front: bool,
    /// The message; `None` for a sync barrier.
    pub message: Option<Message>,
    /// The token of a sync barrier.
    pub barrier: Option<i32>,
    /// Whether a sync barrier lets the entry pass; `None` where the framework does not print it.
    pub asynchronous: Option<bool>,
    /// The part of `Message.obj`'s text that the dump still has.
    pub object: Option<String>,
}

impl PendingEntry {
    /// When the entry is due in milliseconds, relative to the dump of the queue; `None` when it was put at
    /// the front.
    pub(crate) fn due_in_ms(&self) -> Option<f64> {
        let ms = ms(self.due_in_ns.unsigned_abs());
        (!self.at_front).then_some(if self.due_in_ns < 0 { -ms } else { ms })
    }

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
    /// Whether the Looper waited for a message; `None` when that was not read.
    pub polling: Option<bool>,
    /// Whether the Looper was quitting; `None` when that was not read.
    pub quitting: Option<bool>,
    /// How many entries the queue had, barriers and removed ones included; `None` when that was not read.
    pub total: Option<u32>,
    /// Whether the recorder reports that the queue changed while it was read.
    pub disturbed: bool,
    /// Whether [`Self::entries`] has all entries of the queue. False when that is not known.
    pub whole: bool,
    /// The number of removed messages that the queue had not dropped yet.
    pub tombstones: u32,
    /// The entries in the order in which they are due.
    pub entries: Vec<PendingEntry>,
    /// Lines of the dump that could not be parsed.
    pub unread: Vec<String>,
    /// How many lines of the dump were not kept.
    pub dropped_lines: u32,
}

/// The most frequent kind of pending message.
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

    /// How many entries the queue had, read or not, less the removed messages that were read; `None` when the
    /// queue's total was not read.
    pub fn entries_in_all(&self) -> Option<u32> {
        self.total.map(|total| total.saturating_sub(self.tombstones).max(self.entries.len() as u32))
    }

    /// How many of the messages that were read are overdue.
    pub(crate) fn overdue(&self) -> usize {
        self.messages().filter(|(entry, _)| entry.overdue_ns() > 0).count()
    }

    /// How long the oldest of the messages that were read is overdue.
    pub(crate) fn most_overdue_ns(&self) -> u64 {
        self.messages().map(|(entry, _)| entry.overdue_ns()).max().unwrap_or(0)
    }

    /// The sync barrier that blocks the queue: its token, and how long it has been due. Entries that were put
    /// at the front after the barrier come before it.
    pub(crate) fn head_barrier(&self) -> Option<(i32, u64)> {
        let head = self.entries.iter().find(|entry| !entry.at_front)?;
        Some((head.barrier?, head.overdue_ns()))
    }

    /// The overdue time, at the dump, of the first message that main could have taken. While a sync barrier
    /// is at the head, only asynchronous messages count.
    pub(crate) fn overdue_head(&self, dump_ns: Uptime) -> Overdue {
        let mut barrier = false;
        // Where the framework does not print which messages are asynchronous, one behind a barrier may be.
        let mut perhaps = false;
        let head = self.entries.iter().find(|entry| {
            barrier |= entry.barrier.is_some();
            let timed = !entry.at_front && entry.message.is_some();
            perhaps |= timed && barrier && entry.asynchronous.is_none() && entry.overdue_ns() > 0;
            timed && (!barrier || entry.asynchronous == Some(true))
        });
        match self.overdue_at(head, dump_ns) {
            Overdue::None if perhaps || barrier && !self.whole => Overdue::Unknown,
            overdue => overdue,
        }
    }

    /// The overdue time, at the dump, of the message that has waited longest, whether or not a sync barrier
    /// holds it back.
    pub(crate) fn longest_overdue(&self, dump_ns: Uptime) -> Overdue {
        self.overdue_at(self.messages().map(|(entry, _)| entry).find(|entry| !entry.at_front), dump_ns)
    }

    /// The overdue time, at the dump, of the first entry of a kind. `first` is the first such entry that was
    /// read; `None` when none was read.
    fn overdue_at(&self, first: Option<&PendingEntry>, dump_ns: Uptime) -> Overdue {
        // The queue is printed after the rest of the report was taken.
        let after_ns = self.captured_ns.since(dump_ns);
        let overdue_ns = first.map(|entry| entry.overdue_ns().saturating_sub(after_ns)).filter(|ns| *ns > 0);
        // What was read last is due last, if the queue prints its head first. In a queue that was read before
        // the dump more may have come due since.
        let none_earlier = self.whole || first.is_some() && self.is_read_from_its_head();
        match overdue_ns {
            Some(ns) => Overdue::By(ns),
            None if self.is_known() && none_earlier && self.captured_ns >= dump_ns => Overdue::None,
            None => Overdue::Unknown,
        }
    }

    /// Whether all entries that were not read are due later than those that were read. This is unknown, and
    /// the result false, if the queue changed while it was read. A queue that is a linked list is printed,
    /// and walked, from its head. Of any other kind of queue, the recorder keeps the messages that are due
    /// first. It can only do so if it has read the dump to the last line, which has the total.
    fn is_read_from_its_head(&self) -> bool {
        let is_list = self.implementation.as_deref().is_none_or(|name| name == "Legacy");
        !self.disturbed && (is_list || self.total.is_some())
    }

    /// The pending messages, without barriers.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (&PendingEntry, &Message)> {
        self.entries.iter().filter_map(|entry| Some((entry, entry.message.as_ref()?)))
    }

    /// The number of due messages that are not known to be asynchronous. A sync barrier holds these messages
    /// back.
    pub(crate) fn held_back(&self) -> usize {
        self.messages()
            .filter(|(entry, _)| entry.asynchronous != Some(true) && entry.overdue_ns() > 0)
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
