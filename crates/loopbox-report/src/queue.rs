//! The pending queue: what the dump's lines say, in order of time.

use crate::bounds;
use crate::clean::clean;
use loopbox_format::looper::{Implementation, PendingBody, parse_queue};
use loopbox_format::model::{Message, NamedBy, Pending, PendingSource};
use std::collections::HashMap;

/// One entry of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// When it is due, relative to the dump of the queue; negative when overdue.
    pub due_in_ns: i64,
    /// Put at the front of the queue: it is next, and has no time of its own.
    pub front: bool,
    /// The message; `None` for a sync barrier.
    pub message: Option<Message>,
    /// The token of a sync barrier.
    pub barrier: Option<i32>,
    /// Whether a sync barrier lets it pass; `None` where the framework does not print it.
    pub asynchronous: Option<bool>,
    /// What is left of the text of its `obj`.
    pub object: Option<String>,
}

impl Waiting {
    /// How long it is overdue; 0 when it is not due yet or was put at the front.
    pub fn overdue_ns(&self) -> u64 {
        if self.front { 0 } else { self.due_in_ns.min(0).unsigned_abs() }
    }
}

/// The queue of the main Looper.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// Whether it could be read at all.
    pub known: bool,
    /// Which of the framework's queues it is, when it says so.
    pub implementation: Option<String>,
    /// Whether the Looper waited for a message; `None` when the dump does not say.
    pub polling: Option<bool>,
    /// Whether the Looper was quitting.
    pub quitting: Option<bool>,
    /// Removed messages that the queue had not dropped yet.
    pub tombstones: u32,
    /// In order of time.
    pub waiting: Vec<Waiting>,
    /// Lines without a known meaning.
    pub unread: Vec<String>,
}

/// Many messages of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crowd {
    pub(crate) message: Message,
    pub(crate) count: usize,
    /// How long the oldest of them is overdue.
    pub(crate) overdue_ns: u64,
}

impl Queue {
    /// Reads the lines of a dump, at most [`bounds::PENDING`] of them.
    pub(crate) fn read(pending: &Pending) -> Self {
        let bounded = Pending {
            source: pending.source.clone(),
            captured_ns: pending.captured_ns,
            lines: pending.lines.iter().take(bounds::PENDING).cloned().collect(),
            dropped_lines: pending.dropped_lines,
        };
        let queue = parse_queue(&bounded);
        let waiting = queue.messages.into_iter().map(|entry| {
            let (message, barrier, object) = match entry.body {
                PendingBody::Barrier { token } => (None, Some(token), None),
                PendingBody::Message { target, callback, what, object, component, .. } => {
                    let message = Message {
                        target: clean(&target, bounds::NAME),
                        callback: clean(&callback, bounds::NAME),
                        what,
                        component,
                        named_by: NamedBy::Printer,
                    };
                    (Some(message), None, object.map(|text| clean(&text, bounds::NAME)))
                }
            };
            let (due_in_ns, front, asynchronous) = (entry.due_in_ns, entry.front, entry.asynchronous);
            Waiting { due_in_ns, front, message, barrier, asynchronous, object }
        });
        Self {
            known: !matches!(pending.source, PendingSource::Unavailable(_)),
            implementation: match queue.implementation {
                Implementation::Unnamed => None,
                Implementation::Legacy => Some("Legacy".into()),
                Implementation::Concurrent => Some("Concurrent".into()),
                Implementation::DeliQueue => Some("DeliQueue".into()),
                Implementation::Other(name) => Some(clean(&name, bounds::NAME)),
            },
            polling: queue.polling,
            quitting: queue.quitting,
            tombstones: queue.tombstones,
            waiting: waiting.collect(),
            unread: queue.unread.iter().map(|line| clean(line, bounds::LINE)).collect(),
        }
    }

    /// The barrier that holds the queue back: its token and how long it is due. What was put at the front after it
    /// stands before it.
    pub(crate) fn head_barrier(&self) -> Option<(i32, u64)> {
        let head = self.waiting.iter().find(|w| !w.front)?;
        Some((head.barrier?, head.overdue_ns()))
    }

    /// The messages that wait, without barriers.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (&Waiting, &Message)> {
        self.waiting.iter().filter_map(|w| Some((w, w.message.as_ref()?)))
    }

    /// How many messages are overdue by more than this and would be held back by a barrier.
    pub(crate) fn overdue_sync(&self, by_ns: u64) -> usize {
        self.messages().filter(|(w, _)| w.asynchronous != Some(true) && w.overdue_ns() > by_ns).count()
    }

    /// The kind of message of which there are most: same target, callback and `what`.
    pub(crate) fn largest_crowd(&self) -> Option<Crowd> {
        let mut crowds: HashMap<(&str, &str, i32), (usize, u64, &Message)> = HashMap::new();
        for (waiting, message) in self.messages() {
            let kind = (message.target.as_str(), message.callback.as_str(), message.what);
            let crowd = crowds.entry(kind).or_insert((0, 0, message));
            crowd.0 += 1;
            crowd.1 = crowd.1.max(waiting.overdue_ns());
        }
        let largest = crowds.into_iter().max_by_key(|(kind, (count, ..))| (*count, *kind));
        largest.map(|(_, (count, overdue_ns, message))| Crowd { message: message.clone(), count, overdue_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(lines: &[&str]) -> Queue {
        let lines = lines.iter().map(|l| (*l).to_string()).collect();
        Queue::read(&Pending {
            source: PendingSource::LooperDump,
            captured_ns: 90_000_000_000,
            lines,
            dropped_lines: 0,
        })
    }

    #[test]
    fn a_barrier_behind_what_was_put_at_the_front_is_still_the_head() {
        let q = queue(&[
            "Message 0: { when=-1m30s0ms what=1 target=a.B }",
            "Message 1: { when=-4s0ms barrier=7 }",
            "Message 2: { when=-3s999ms what=2 target=a.B }",
            "(Total messages: 3, polling=true, quitting=false)",
        ]);
        assert!(q.waiting[0].front);
        assert_eq!(q.head_barrier(), Some((7, 4_000_000_000)));
        assert_eq!((q.overdue_sync(0), q.polling), (1, Some(true)));
    }

    #[test]
    fn a_crowd_is_of_one_kind_and_names_its_oldest() {
        let mut lines = vec!["Message 0: { when=-9s0ms what=2 target=a.C }".to_string()];
        lines.extend((1..30).map(|i| format!("Message {i}: {{ when=-{i}ms callback=a.B$1 target=a.C }}")));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let crowd = queue(&lines).largest_crowd().unwrap();
        assert_eq!(
            (crowd.count, crowd.overdue_ns, crowd.message.callback.as_str()),
            (29, 29_000_000, "a.B$1")
        );
    }
}
