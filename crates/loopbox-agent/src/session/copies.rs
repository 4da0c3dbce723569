//! Copies of the ring in its file, which a signal handler may ask for.

use crate::sys::wake::{ANYONE, futex_wait, futex_wake};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// How often a copy of the ring was asked for; wakes the thread that makes it.
    asked: AtomicU32,
}

impl Copies {
    /// Asks for a copy of the ring in its file. Async-signal-safe.
    pub(crate) fn ask(&self) {
        futex_wake(&self.asked, ANYONE);
    }

    /// How often a copy was requested.
    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }

    /// Sleeps until a copy is asked for; for the thread that makes the copies. `asked` is the count that this
    /// thread has seen last. If the count has changed since, this returns at once.
    pub(crate) fn wait(&self, asked: u32, stopped: impl FnOnce() -> bool) {
        if !stopped() {
            futex_wait(&self.asked, asked, ANYONE, None);
        }
    }
}
