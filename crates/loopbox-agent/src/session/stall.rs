//! What the stall monitor found out about the running message.

use loopbox_format::model::{Token, Uptime};
use loopbox_recorder::{Activity, Asleep, Counted, Frozen, SeenBusy, Since, Suspect, Watchdog};
use std::sync::{Mutex, PoisonError};

/// The monitor's last snapshot: written by its thread, read by the worker.
#[derive(Debug)]
pub(crate) struct StallState(Mutex<StallSnapshot>);

/// The monitor's state when it last woke.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StallSnapshot {
    /// What the monitor knows of the running message, and of the times in which the process did not run.
    pub(crate) watch: Watchdog,
    /// How the monitor's thread spent the time since its last check: awake, asleep or parked.
    pub(crate) since: Since,
    /// Whether the message has run for long.
    pub(crate) suspect: bool,
    /// When the main thread was last known to do nothing.
    pub(crate) asleep: Asleep,
    /// When the main thread was first seen to wait after its last message.
    pub(crate) rest: Asleep,
    /// When the main thread was first seen busy outside of messages.
    pub(crate) seen_busy: SeenBusy,
    /// The token of what last ended outside of messages, and how long it was seen, in ns; [`Token::NONE`] for
    /// nothing.
    pub(crate) outside_over: (Token, u64),
}

impl StallSnapshot {
    /// The snapshot of a monitor whose thread was made at this uptime and has not run yet.
    pub(crate) fn new(hang_threshold_ns: u64, now_ns: Uptime) -> Self {
        Self {
            watch: Watchdog::new(hang_threshold_ns),
            since: Since::SleptUntil(now_ns),
            suspect: false,
            asleep: Asleep::default(),
            rest: Asleep::default(),
            seen_busy: SeenBusy::default(),
            outside_over: (Token::NONE, 0),
        }
    }

    /// The running message.
    pub(crate) fn message(&self) -> Suspect {
        self.watch.message()
    }

    /// The freezes: how long and how often the whole process was stopped while a message was in progress.
    pub(crate) fn frozen(&self) -> Frozen {
        self.watch.frozen()
    }

    /// The message under suspicion; [`Token::NONE`] for none.
    pub(crate) fn suspect_token(&self) -> Token {
        if self.suspect { self.message().token } else { Token::NONE }
    }

    /// What the monitor would find if it checked now. For other threads: after a freeze of the process all
    /// threads wake at once, and the calling thread may run long before the monitor makes its check.
    pub(crate) fn at(mut self, now_ns: Uptime, activity: Activity, now: Option<Counted>) -> Self {
        self.suspect = self.watch.check(now_ns, activity, self.since);
        self.watch.counted(now);
        self
    }
}

impl StallState {
    /// The state before the monitor runs.
    pub(crate) fn new(hang_threshold_ns: u64, now_ns: Uptime) -> Self {
        Self(Mutex::new(StallSnapshot::new(hang_threshold_ns, now_ns)))
    }

    pub(crate) fn snapshot(&self) -> StallSnapshot {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the snapshot. Returns whether another message is under suspicion now.
    pub(crate) fn update(&self, snapshot: &StallSnapshot) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = snapshot.suspect_token() != last.suspect_token();
        *last = *snapshot;
        changed
    }

    /// Stores what the monitor does between now and its next check. That check, and each
    /// [`StallSnapshot::at`] before it, need this to recognise a freeze of the process.
    pub(crate) fn set_since(&self, since: Since) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).since = since;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn who_asks_before_the_monitor_has_run_again_learns_what_it_will_find() {
        let runs = Activity::Running { token: Token(1), start_ns: Uptime(10 * S) };
        let mut monitor = StallSnapshot::new(5 * S, Uptime(9 * S));
        monitor.since = Since::SleptUntil(Uptime(10 * S + S / 2));
        let thawed = monitor.at(Uptime(20 * S), runs, None);
        assert_eq!((thawed.message().ran_ns, thawed.message().frozen_ns), (S / 2, 9 * S + S / 2));
        assert_eq!((thawed.frozen().times, thawed.suspect_token()), (1, Token::NONE));
        // It sleeps as it should.
        let hangs = monitor.at(Uptime(10 * S), runs, None).at(Uptime(14 * S), runs, None);
        assert_eq!(hangs.frozen().times, 1, "nothing has moved its deadline");
        monitor.since = Since::SleptUntil(Uptime(14 * S + S / 10));
        let hangs = monitor.at(Uptime(14 * S), runs, None);
        assert_eq!((hangs.message().frozen_ns, hangs.suspect_token()), (0, Token(1)));
    }

    #[test]
    fn a_process_that_was_frozen_before_the_monitor_ever_ran_was_frozen() {
        let first = StallSnapshot::new(5 * S, Uptime(9 * S));
        let late =
            first.at(Uptime(20 * S), Activity::Running { token: Token(1), start_ns: Uptime(8 * S) }, None);
        assert_eq!((late.message().ran_ns, late.message().frozen_ns), (S, 11 * S));
    }
}
