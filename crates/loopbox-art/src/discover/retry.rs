//! Repeats a read of memory that other threads change.

use std::time::Duration;

/// How many times the data is read at first, without a pause between two reads.
pub(super) const AT_ONCE: u32 = 16;
/// How often the read is repeated after a pause. The first pause is 1 ms, and each later one is twice as
/// long.
pub(super) const AFTER_PAUSES: u32 = 8;

/// Repeats `read` until it finds something, for a quarter of a second at most.
///
/// It is for data that is inconsistent only while it changes: the thread list when a thread comes or goes,
/// and the `mirror::Class` of a method when the collector moves it. If the scheduler preempts a thread in the
/// middle of such a change, the state stays inconsistent until that thread runs again, so reading again at
/// once is not enough. This function sleeps, so it must not be called on the main thread or while a thread is
/// suspended.
pub(crate) fn until_consistent<T>(mut read: impl FnMut() -> Option<T>) -> Option<T> {
    let at_once = (0..AT_ONCE).find_map(|_| read());
    at_once.or_else(|| {
        (0..AFTER_PAUSES).find_map(|pause| {
            std::thread::sleep(Duration::from_millis(1 << pause));
            read()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_repeated_for_a_bounded_time() {
        let mut reads = 0;
        let mut nothing = || {
            reads += 1;
            None::<()>
        };
        assert_eq!(until_consistent(&mut nothing), None);
        assert_eq!(reads, AT_ONCE + AFTER_PAUSES);
    }
}
