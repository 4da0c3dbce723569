//! Reading the dump of the main Looper's message queue.

use super::limits;
use crate::model::sanitize::sanitize;
use crate::model::{PendingEntry, PendingQueue};
use loopbox_format::looper::{self, Implementation, PendingBody, parse_queue};
use loopbox_format::model::{Message, NamedBy, Pending, PendingSource};

/// Reads the lines of a dump, and keeps at most [`limits::PENDING_LINES`] of their entries: the first that
/// are due. All lines are read, because the last one says how many entries the queue had and whether main
/// waited for a message.
pub(super) fn read(pending: &Pending) -> PendingQueue {
    let queue = parse_queue(pending);
    let cut = queue.messages.len().saturating_sub(limits::PENDING_LINES) as u32;
    PendingQueue {
        source: match &pending.source {
            PendingSource::Unavailable(why) => PendingSource::Unavailable(sanitize(why, limits::LINE_CHARS)),
            known => known.clone(),
        },
        captured_ns: pending.captured_ns,
        implementation: match queue.implementation {
            Implementation::Unnamed => None,
            Implementation::Legacy => Some("Legacy".into()),
            Implementation::Concurrent => Some("Concurrent".into()),
            Implementation::DeliQueue => Some("DeliQueue".into()),
            Implementation::Other(name) => Some(sanitize(&name, limits::NAME_CHARS)),
        },
        polling: queue.polling,
        quitting: queue.quitting,
        tombstones: queue.tombstones,
        total: queue.total,
        disturbed: queue.disturbed,
        whole: queue.whole && cut == 0,
        entries: queue.messages.into_iter().take(limits::PENDING_LINES).map(entry).collect(),
        unread: queue.unread.iter().map(|line| sanitize(line, limits::LINE_CHARS)).collect(),
        dropped_lines: pending.dropped_lines.saturating_add(cut),
    }
}

fn entry(parsed: looper::Pending) -> PendingEntry {
    let name = |text: &str| sanitize(text, limits::NAME_CHARS);
    let (message, barrier, object) = match parsed.body {
        PendingBody::Barrier { token } => (None, Some(token), None),
        PendingBody::Message { target, callback, what, object, component, .. } => {
            let (target, callback) = (name(&target), name(&callback));
            let message =
                Message { target, callback, what: Some(what), component, named_by: NamedBy::Printer };
            (Some(message), None, object.map(|text| name(&text)))
        }
    };
    PendingEntry {
        due_in_ns: parsed.due_in_ns,
        at_front: parsed.front,
        message,
        barrier,
        asynchronous: parsed.asynchronous,
        object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::Uptime;

    fn queue(lines: &[&str]) -> PendingQueue {
        let lines = lines.iter().map(|l| (*l).to_string()).collect();
        read(&Pending {
            source: PendingSource::LooperDump,
            captured_ns: Uptime(90_000_000_000),
            lines,
            dropped_lines: 0,
        })
    }

    #[test]
    fn head_barrier_is_found_behind_messages_put_at_the_front() {
        let q = queue(&[
            "Message 0: { when=-1m30s0ms what=1 target=a.B }",
            "Message 1: { when=-4s0ms barrier=7 }",
            "Message 2: { when=-3s999ms what=2 target=a.B }",
            "(Total messages: 3, polling=true, quitting=false)",
        ]);
        assert!(q.entries[0].at_front);
        assert_eq!(q.head_barrier(), Some((7, 4_000_000_000)));
        assert_eq!((q.held_back(), q.polling), (1, Some(true)));
    }

    #[test]
    fn largest_flood_is_of_one_kind_with_its_oldest_message() {
        let mut lines = vec!["Message 0: { when=-9s0ms what=2 target=a.C }".to_string()];
        lines.extend((1..30).map(|i| format!("Message {i}: {{ when=-{i}ms callback=a.B$1 target=a.C }}")));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let flood = queue(&lines).largest_flood().unwrap();
        assert_eq!(
            (flood.count, flood.overdue_ns, flood.message.callback.as_str()),
            (29, 29_000_000, "a.B$1")
        );
    }
}
