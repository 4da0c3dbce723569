//! What the stall monitor found out about the running message.

use loopbox_recorder::{Asleep, Frozen, SeenBusy, Suspect};
use std::sync::{Mutex, PoisonError};

/// The monitor's last snapshot: written by its thread, read by the worker.
#[derive(Debug, Default)]
pub(crate) struct StallState(Mutex<StallSnapshot>);

/// What held when the monitor last woke.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StallSnapshot {
    /// Uptime of the snapshot.
    pub(crate) at_ns: u64,
    /// The running message.
    pub(crate) message: Suspect,
    /// The message has run for long.
    pub(crate) suspect: bool,
    /// When the process did not run.
    pub(crate) frozen: Frozen,
    /// When the main thread was last known to do nothing.
    pub(crate) asleep: Asleep,
    /// When it was first seen busy outside of messages.
    pub(crate) seen_busy: SeenBusy,
    /// What ran outside of messages last and is over, by its number, and how long it was seen; 0 for nothing.
    pub(crate) outside_over: (u64, u64),
}

impl StallSnapshot {
    /// The message under suspicion; 0 for none.
    pub(crate) fn suspect_token(&self) -> u64 {
        if self.suspect { self.message.token } else { 0 }
    }
}

impl StallState {
    pub(crate) fn snapshot(&self) -> StallSnapshot {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the snapshot. Returns whether another message is under suspicion now.
    pub(crate) fn update(&self, snapshot: StallSnapshot) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = snapshot.suspect_token() != last.suspect_token();
        *last = snapshot;
        changed
    }
}
