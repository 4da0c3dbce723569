//! Short stops of the main thread or another one, which the sampler makes. The dead-man thread is a guard
//! (`sampler/deadman.rs`): it checks that each stop ends.

use crate::sys::wake::{ANYONE, futex_wait, futex_wake};
use loopbox_format::model::Uptime;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Stops {
    /// The word that the dead-man thread sleeps on; it changes to wake the thread.
    deadman: AtomicU32,
    /// Whether the dead-man thread sleeps until a thread is stopped again.
    deadman_rests: AtomicBool,
    /// Counts each stop and each resume of a thread. The number is odd while a thread is stopped.
    stops: AtomicU32,
}

impl Stops {
    /// Notes that a thread is about to be stopped. The dead-man thread makes its checks until the returned
    /// value is dropped. Sampler only.
    pub(crate) fn begin(&self) -> Stop<'_> {
        self.stops.fetch_add(1, Ordering::SeqCst);
        if self.deadman_rests.swap(false, Ordering::SeqCst) {
            self.wake();
        }
        Stop(self)
    }

    /// Sleeps until `until_ns`. When no thread was stopped since the previous call, sleeps until a thread is
    /// stopped. The caller passes the same `stops` to each call and does not change it. Dead-man thread only.
    pub(crate) fn deadman_sleep(&self, until_ns: Uptime, stops: &mut u32, ended: impl FnOnce() -> bool) {
        let word = self.deadman.load(Ordering::SeqCst);
        let before = std::mem::replace(stops, self.stops.load(Ordering::SeqCst));
        let mut rests = before == *stops && before.is_multiple_of(2);
        if rests {
            // Set before the second check: a stop that it does not see sees this.
            self.deadman_rests.store(true, Ordering::SeqCst);
            rests = self.stops.load(Ordering::SeqCst) == before;
        }
        if !ended() {
            futex_wait(&self.deadman, word, ANYONE, (!rests).then_some(until_ns));
        }
    }

    /// Wakes the dead-man thread, which is to end. Any thread.
    pub(crate) fn wake(&self) {
        futex_wake(&self.deadman, ANYONE);
    }

    /// Whether a thread is stopped, or about to be. Async-signal-safe.
    pub(crate) fn is_stopping(&self) -> bool {
        !self.stops.load(Ordering::SeqCst).is_multiple_of(2)
    }
}

/// A stop in progress: until this value is dropped, a thread is stopped or is about to be.
pub(crate) struct Stop<'a>(&'a Stops);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stops.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::shared_state::SharedState;
    use std::sync::Arc;

    #[test]
    fn the_dead_man_thread_rests_only_while_nothing_is_stopped() {
        let shared = Arc::new(SharedState::default());
        let checks = Arc::new(AtomicU32::default());
        let deadman = std::thread::spawn({
            let (shared, checks) = (Arc::clone(&shared), Arc::clone(&checks));
            move || {
                let mut stops = 0;
                while !shared.stopped() {
                    // A deadline that has passed: only a rest lasts.
                    shared.stops.deadman_sleep(Uptime::ZERO, &mut stops, || shared.stopped());
                    checks.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        let rests = || shared.stops.deadman_rests.load(Ordering::SeqCst);
        for _ in 0..200 {
            while !rests() {
                std::thread::yield_now();
            }
            let stop = shared.stops.begin();
            let begun = checks.load(Ordering::SeqCst);
            while checks.load(Ordering::SeqCst) < begun + 3 {
                std::thread::yield_now();
            }
            assert!(!rests() && shared.stops.is_stopping(), "a thread is stopped");
            drop(stop);
            assert!(!shared.stops.is_stopping());
        }
        shared.stop();
        deadman.join().unwrap();
    }
}
