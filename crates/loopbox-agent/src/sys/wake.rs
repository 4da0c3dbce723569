//! Sleeping and waking without locks: an eventfd for the worker, a futex for the sampler.

use loopbox_format::model::Uptime;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// An eventfd that wakes the worker. Writing to it is async-signal-safe.
#[derive(Debug)]
pub(crate) struct EventFd(OwnedFd);

impl EventFd {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just made and has no other owner.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub(crate) fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub(crate) fn notify(&self) {
        notify(self.raw());
    }

    /// Sleeps until notified, at most for `timeout_ms`, and resets the notifications.
    pub(crate) fn wait(&self, timeout_ms: i32) {
        let mut wait = libc::pollfd { fd: self.raw(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd that lives across the call. An interrupted wait ends early, which is harmless.
        unsafe { libc::poll(&raw mut wait, 1, timeout_ms) };
        let mut count = 0_u64;
        // SAFETY: 8 bytes into a local; the descriptor does not block.
        unsafe { libc::read(self.raw(), (&raw mut count).cast(), 8) };
    }
}

/// Notifies the eventfd `fd`; nothing happens when `fd` is no eventfd any more. Async-signal-safe.
pub(crate) fn notify(fd: RawFd) {
    let one = 1_u64;
    // SAFETY: 8 bytes from a local. A full counter means that the reader has not read it yet: nothing is
    // lost.
    unsafe { libc::write(fd, (&raw const one).cast(), 8) };
}

/// All sleepers of a word: `FUTEX_BITSET_MATCH_ANY` of linux/futex.h, which the crate libc does not have for
/// Android.
pub(crate) const ANYONE: u32 = u32::MAX;

/// Sleeps while `word` has this value. Ends at a wake that has one of the bits `sleepers`, and at the uptime
/// `until_ns` if there is one.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, sleepers: u32, until_ns: Option<Uptime>) {
    let deadline = until_ns.map(|ns| libc::timespec {
        tv_sec: (ns.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns.0 % 1_000_000_000) as libc::c_long,
    });
    let deadline = deadline.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the deadline live across the call. FUTEX_WAIT_BITSET takes an absolute time of
    // CLOCK_MONOTONIC; every early return is harmless, because callers check again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG,
            value,
            deadline,
            std::ptr::null::<u32>(),
            sleepers,
        );
    }
}

/// Changes `word` and wakes the threads that sleep on it with one of the bits `sleepers`.
pub(crate) fn futex_wake(word: &AtomicU32, sleepers: u32) {
    word.fetch_add(1, Ordering::SeqCst);
    wake(word, sleepers);
}

/// Wakes all threads that sleep on a word, after its value was changed.
pub(crate) fn wake_sleepers(word: &AtomicU32) {
    wake(word, ANYONE);
}

fn wake(word: &AtomicU32, sleepers: u32) {
    // SAFETY: the word lives across the call; the two pointers are not used by this operation.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE_BITSET | libc::FUTEX_PRIVATE_FLAG,
            i32::MAX,
            std::ptr::null::<libc::timespec>(),
            std::ptr::null::<u32>(),
            sleepers,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::clock::now_ns;
    use std::sync::Arc;

    #[test]
    fn an_event_that_came_before_is_not_lost() {
        let event = EventFd::new().unwrap();
        event.notify();
        event.wait(-1);
        event.wait(0);
    }

    #[test]
    fn a_futex_sleeps_until_its_deadline_and_not_at_all_when_the_word_changed() {
        let word = AtomicU32::new(0);
        let until = now_ns() + 20_000_000;
        while now_ns() < until {
            futex_wait(&word, 0, ANYONE, Some(until));
        }
        futex_wait(&word, 1, ANYONE, None);
    }

    #[test]
    fn waking_ends_a_sleep_without_deadline() {
        let word = Arc::new(AtomicU32::new(0));
        let sleeper = std::thread::spawn({
            let word = Arc::clone(&word);
            move || {
                while word.load(Ordering::SeqCst) == 0 {
                    futex_wait(&word, 0, 2, None);
                }
            }
        });
        futex_wake(&word, 2);
        sleeper.join().unwrap();
    }
}
