//! The gate between a recording and everything outside of it: the disk and the app's listeners. A thread that
//! ends a recording closes the gate. What the recorder's threads do after that has no effect outside.

use crate::sys::clock;
use crate::sys::wake::{ANYONE, futex_wait};
use loopbox_format::model::Uptime;
use std::sync::atomic::{AtomicU32, Ordering};

/// The bit of the state that is set for ever once the gate is closed.
const CLOSED: u32 = 1 << 31;

/// Open until the recording ends. A thread enters before a step with an effect outside (the name of a
/// report's file, a copy of the ring), does that one step and leaves. No code of the app runs inside: a
/// listener is called only if the gate is open at that time, and the call may last longer than that.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// How many threads are inside of the gate, and the bit [`CLOSED`].
    state: AtomicU32,
}

impl Gate {
    /// Enters the gate; `None` when it is closed.
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        let enters = |state: u32| (state & CLOSED == 0).then_some(state + 1);
        self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, enters).ok()?;
        Some(Inside(self))
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// Lets nobody enter any more. Does not wait.
    pub(crate) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::SeqCst);
    }

    /// Waits until nobody is inside of the closed gate, at most until this time.
    pub(crate) fn wait_until_left(&self, until_ns: Uptime) {
        loop {
            let state = self.state.load(Ordering::SeqCst);
            if state == CLOSED || clock::now_ns() >= until_ns {
                return;
            }
            futex_wait(&self.state, state, ANYONE, Some(until_ns));
        }
    }
}

/// A thread is inside of the gate until this is dropped.
#[derive(Debug)]
pub(crate) struct Inside<'a>(&'a Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(1, Ordering::SeqCst) & CLOSED != 0 {
            crate::sys::wake::wake_sleepers(&self.0.state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn who_is_inside_is_waited_for_and_nobody_enters_after_the_end() {
        let gate = Arc::new(Gate::default());
        drop(gate.enter().unwrap());
        let inside = gate.enter().unwrap();
        gate.close();
        assert!(gate.is_closed() && gate.enter().is_none());
        // One that does not leave is not waited for without end.
        gate.wait_until_left(clock::now_ns().plus(1_000_000));
        let left = Arc::new(AtomicBool::new(false));
        let waits = std::thread::spawn({
            let (gate, left) = (Arc::clone(&gate), Arc::clone(&left));
            move || {
                gate.wait_until_left(Uptime::MAX);
                left.load(Ordering::SeqCst)
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(20));
        left.store(true, Ordering::SeqCst);
        drop(inside);
        assert!(waits.join().unwrap());
        gate.wait_until_left(Uptime::MAX);
    }
}
