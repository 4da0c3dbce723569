//! What the app itself reads from a queue about the cause of a hang. The host tools read the whole queue
//! instead ([`parse_queue`](super::parse_queue)), and diagnose from that.

use super::line::Fields;
use super::queue::{entries, is_front};
use crate::model;

/// A sync barrier at the head of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadBarrier {
    /// How long it has been due.
    pub overdue_ms: u64,
    /// The number of due messages that the barrier holds back. Only messages that were read are counted.
    pub held_back: u32,
}

/// The sync barrier before all messages that were read, if it holds some of them back. Messages that were put
/// at the front have no time: the queue does not show whether one of them is before the barrier.
pub fn head_barrier(pending: &model::Pending) -> Option<HeadBarrier> {
    let timed = || entries(pending).filter(|entry| !is_front(entry, pending.captured_ns));
    let head_ms = timed().map(|entry| entry.relative_ms).min()?;
    timed().find(|entry| entry.relative_ms == head_ms && entry.barrier.is_some())?;
    let is_held = |entry: &Fields<'_>| {
        entry.barrier.is_none() && entry.asynchronous != Some(true) && entry.relative_ms < 0
    };
    let held_back = timed().filter(is_held).count() as u32;
    (held_back > 0).then_some(HeadBarrier { overdue_ms: head_ms.min(0).unsigned_abs(), held_back })
}

/// Messages of one kind: same target, callback and `what`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flood<'a> {
    /// How many messages are of this kind.
    pub count: u32,
    /// Class name of the target; may be empty.
    pub target: &'a str,
    /// Class name of the callback; empty when the messages have none.
    pub callback: &'a str,
    /// `Message.what` of the messages; `None` when it could not be read.
    pub what: Option<i32>,
}

/// The kind to which more than half of the messages that were read belong; `None` when there is no such kind.
pub fn flood(pending: &model::Pending) -> Option<Flood<'_>> {
    let kinds = || {
        let messages = entries(pending).filter(|entry| entry.barrier.is_none());
        messages.map(|Fields { target, callback, what, .. }| (target, callback, what))
    };
    // The vote of Boyer and Moore: whatever has a majority is left.
    let (mut candidate, mut votes) = (None, 0_u32);
    for kind in kinds() {
        if votes == 0 {
            candidate = Some(kind);
        }
        votes = if candidate == Some(kind) { votes + 1 } else { votes - 1 };
    }
    let wanted @ (target, callback, what) = candidate?;
    let count = kinds().filter(|kind| *kind == wanted).count();
    let flood = Flood {
        count: count as u32,
        target: target.unwrap_or_default(),
        callback: callback.unwrap_or_default(),
        what,
    };
    (count > kinds().count() / 2).then_some(flood)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Uptime;

    fn queue(lines: &[&str]) -> model::Pending {
        let lines = lines.iter().enumerate().map(|(nth, line)| format!("Message {nth}: {{ {line} }}"));
        model::Pending {
            lines: lines.collect(),
            captured_ns: Uptime(90_000_000_000),
            ..model::Pending::default()
        }
    }

    fn barrier(lines: &[&str]) -> Option<(u64, u32)> {
        head_barrier(&queue(lines)).map(|barrier| (barrier.overdue_ms, barrier.held_back))
    }

    #[test]
    fn head_barrier_is_the_one_before_all_messages() {
        const BARRIER: &str = "when=-5s304ms barrier=7";
        const DUE: &str = "when=-5s301ms what=1 target=a.H";
        assert_eq!(barrier(&[BARRIER, DUE, "when=-2s0ms callback=a.R target=a.H"]), Some((5_304, 2)));
        assert_eq!(barrier(&[DUE, BARRIER]), Some((5_304, 1)), "newest first, as Android 17 prints");
        assert_eq!(barrier(&["when=-6s0ms what=1 target=a.H", BARRIER]), None, "a message is before it");
        assert_eq!(barrier(&[BARRIER]), None, "it holds nothing back");
        assert_eq!(barrier(&[BARRIER, "when=+1s0ms what=1 target=a.H"]), None, "nothing is due");
        let passes = "when=-1s0ms what=1 target=a.H async=true heapIndex=2";
        assert_eq!(barrier(&[BARRIER, passes]), None, "an asynchronous message passes it");
        // Put at the front, and removed.
        assert_eq!(barrier(&["when=-1m30s0ms what=1 target=a.H", BARRIER, DUE]), Some((5_304, 1)));
        assert_eq!(barrier(&["when=-1m30s0ms barrier=0", DUE]), None);
        assert_eq!(barrier(&[]), None);
    }

    #[test]
    fn flood_is_the_kind_of_more_than_half() {
        const A: &str = "when=-1ms what=1 target=a.H";
        const B: &str = "when=-1ms what=2 target=a.H";
        const R: &str = "when=+3ms callback=a.R target=a.H";
        let found = |lines: &[&str]| {
            flood(&queue(lines)).map(|f| (f.count, f.target.to_owned(), f.callback.to_owned(), f.what))
        };
        assert_eq!(found(&[A, B, A, R, A]), Some((3, "a.H".into(), String::new(), Some(1))));
        assert_eq!(
            found(&[R, A, R, B, R, "when=-1ms barrier=3"]),
            Some((3, "a.H".into(), "a.R".into(), None))
        );
        assert_eq!(found(&[A, B, R]), None);
        assert_eq!(found(&[A, B]), None, "half is no majority");
        assert_eq!(found(&[]), None);
    }
}
