//! What the aggregator needs from the world around it.

use crate::Details;
use loopbox_format::model::{Record, Token, Uptime};

/// Which part of the open record [`Environment::opened`] must write again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dirty {
    /// Only numbers changed.
    Counters,
    /// A detail was added, named or removed, or the record is a new one.
    Details,
}

/// The clocks of the [`Aggregator`](crate::Aggregator), and the receiver of its results.
///
/// Every method is called on the recorded thread, inside `begin`, `end`, `describe` or `finish`; none may
/// block, allocate or panic.
pub trait Environment {
    /// `CLOCK_MONOTONIC`. Called once in each `begin` and each `end`.
    fn now_ns(&self) -> Uptime;

    /// CPU time of the calling thread, `None` when it cannot be read. Called only when a record ends: the
    /// clock is a system call.
    fn thread_cpu_ns(&self) -> Option<u64>;

    /// The worst lateness of the sampler thread since the previous call; `None` when it did not sleep. Called
    /// only when a record ends.
    fn take_late_ns(&mut self) -> Option<u64> {
        None
    }

    /// Whether messages may have run unseen after `since_ns`, because the hook was found removed since then,
    /// or the app had paused the recorder. Called only when a record of a gap is made.
    fn unseen_since(&self, _since_ns: Uptime) -> bool {
        false
    }

    /// A message runs from now on: its token, the start of its dispatch, and how many `Looper.loop()` calls
    /// it is inside of (1 for an ordinary message).
    fn running(&mut self, token: Token, start_ns: Uptime, depth: u32);

    /// The hook sees no running message: no message runs, or only messages whose inner loops wait. `around`
    /// is the number of the latter. The hook does not see when one of them goes on; the thread's stack shows
    /// that. The next message will have the token `next`.
    fn idle(&mut self, next: Token, since_ns: Uptime, around: u32);

    /// The record that is not closed yet has changed. It already has the `seq` that it will be closed with,
    /// so a reader ignores an open record whose `seq` is among the closed ones.
    fn opened(&mut self, record: &Record<Details>, dirty: Dirty);

    /// A record is complete.
    fn closed(&mut self, record: &Record<Details>);
}
