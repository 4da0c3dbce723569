//! The pending queue as the rules and the views look at it.

use loopbox_format::model::{Pending, PendingSource};
use std::collections::HashMap;

/// One message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// How long it is due; negative when it is due later.
    pub(crate) overdue_ns: i64,
    /// Class of the target Handler; empty for a barrier.
    pub(crate) target: String,
    /// Class of the callback; empty when it has none.
    pub(crate) callback: String,
    /// `Message.what`; `None` for one with a callback.
    pub(crate) what: Option<i32>,
    /// The token, when it is a sync barrier.
    pub(crate) barrier: Option<i32>,
}

/// The queue, in order of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queue {
    /// Whether it could be read at all.
    pub(crate) known: bool,
    /// Whether the Looper waited for a message; `None` when the dump does not say.
    pub(crate) polling: Option<bool>,
    pub(crate) waiting: Vec<Waiting>,
}

/// Many messages of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crowd {
    pub(crate) name: String,
    pub(crate) count: usize,
    /// How long the oldest of them is due.
    pub(crate) overdue_ns: u64,
}

impl Queue {
    /// The barrier at the head of the queue: its token and how long it is due.
    pub(crate) fn head_barrier(&self) -> Option<(i32, u64)> {
        let head = self.waiting.first()?;
        Some((head.barrier?, u64::try_from(head.overdue_ns).ok()?))
    }

    /// How many ordinary messages, no barriers, are due for at least so long.
    pub(crate) fn overdue_sync(&self, at_least_ns: i64) -> usize {
        self.waiting.iter().filter(|w| w.barrier.is_none() && w.overdue_ns > at_least_ns).count()
    }

    /// How many messages there are, without barriers.
    pub(crate) fn messages(&self) -> usize {
        self.waiting.iter().filter(|w| w.barrier.is_none()).count()
    }

    /// The kind of message of which there are most.
    pub(crate) fn largest_crowd(&self) -> Option<Crowd> {
        let mut crowds: HashMap<(&str, &str, Option<i32>), (usize, i64)> = HashMap::new();
        for w in self.waiting.iter().filter(|w| w.barrier.is_none()) {
            let crowd = crowds.entry((&w.target, &w.callback, w.what)).or_insert((0, i64::MIN));
            crowd.0 += 1;
            crowd.1 = crowd.1.max(w.overdue_ns);
        }
        let (kind, (count, oldest)) = crowds.into_iter().max_by_key(|&(kind, (count, _))| (count, kind))?;
        let (target, callback, what) = kind;
        let name = match what {
            Some(what) => format!("{target} what={what}"),
            None => format!("{callback} on {target}"),
        };
        Some(Crowd { name, count, overdue_ns: u64::try_from(oldest).unwrap_or(0) })
    }

    pub(crate) fn read(pending: &Pending, _zero_ns: u64) -> Self {
        Self { known: !matches!(pending.source, PendingSource::Unavailable(_)), ..Self::default() }
    }
}
