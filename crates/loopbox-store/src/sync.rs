//! The atomics of the ring: the real ones, or loom's when the protocol itself is tested.
//!
//! Every word is little-endian in memory, as it is in the file.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::thread::yield_now;
#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;

/// A word of shared memory, accessed by value and ordering. `inline` is needed: a library built for size
/// would otherwise call a function for each word that the main thread stores.
pub(crate) trait Word {
    fn set(&self, value: u64);
    fn set_release(&self, value: u64);
    fn get(&self) -> u64;
    fn get_acquire(&self) -> u64;
    /// Sets the word to `value`, unless the word is already higher; a release, as [`Word::set_release`]. This
    /// is a loop, because an atomic maximum of the stored bytes would be wrong on a big-endian processor.
    fn raise(&self, value: u64);
}

#[expect(clippy::inline_always, reason = "see the trait")]
impl Word for AtomicU64 {
    #[inline(always)]
    fn set(&self, value: u64) {
        self.store(value.to_le(), Ordering::Relaxed);
    }

    #[inline(always)]
    fn set_release(&self, value: u64) {
        self.store(value.to_le(), Ordering::Release);
    }

    #[inline(always)]
    fn get(&self) -> u64 {
        u64::from_le(self.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn get_acquire(&self) -> u64 {
        u64::from_le(self.load(Ordering::Acquire))
    }

    #[inline(always)]
    fn raise(&self, value: u64) {
        let higher = |found: u64| (u64::from_le(found) < value).then_some(value.to_le());
        // An error says that it is higher already.
        let _ = self.fetch_update(Ordering::Release, Ordering::Relaxed, higher);
    }
}
