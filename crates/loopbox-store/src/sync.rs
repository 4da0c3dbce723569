//! The atomics of the ring: the real ones, or loom's when the protocol itself is under test.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

/// Stores `value` so that the memory holds it little-endian.
pub(crate) fn store_le(word: &AtomicU64, value: u64, order: Ordering) {
    word.store(value.to_le(), order);
}

/// Loads a word that [`store_le`] stored.
pub(crate) fn load_le(word: &AtomicU64, order: Ordering) -> u64 {
    u64::from_le(word.load(order))
}
