//! Two words that are read together.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence, yield_now};

/// Two words that one thread writes and any thread reads together: a seqlock for data that exists only in the
/// process and ends with it. A write is five plain stores on every processor of phones.
#[derive(Debug, Default)]
pub struct Pair {
    /// Odd while the words change.
    version: AtomicU32,
    first: AtomicU64,
    second: AtomicU64,
}

impl Pair {
    /// Replaces both words. Only one thread may write at a time. Another thread may become the writer if
    /// other synchronization orders its writes after those of the previous writer.
    #[inline]
    pub fn set(&self, first: u64, second: u64) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.first.store(first, Ordering::Relaxed);
        self.second.store(second, Ordering::Relaxed);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Both words of one write. Waits while a write is in progress: that is three stores, unless the writer
    /// was stopped between them. So a thread that has stopped the writer MUST NOT call this.
    pub fn get(&self) -> (u64, u64) {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let words = (self.first.load(Ordering::Relaxed), self.second.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version {
                return words;
            }
            yield_now();
        }
    }

    /// The first word alone. Never waits.
    pub fn first(&self) -> u64 {
        self.first.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Miri runs this test on many thread schedules.
    #[test]
    fn a_reader_never_sees_halves_of_two_writes() {
        let writes = if cfg!(miri) { 60 } else { 200_000 };
        let pair = Arc::new(Pair::default());
        let reader = std::thread::spawn({
            let pair = Arc::clone(&pair);
            move || {
                let mut last = 0;
                while last < writes {
                    let (first, second) = pair.get();
                    assert_eq!(second, first * 10);
                    assert!(first >= last, "{first} after {last}");
                    last = first;
                }
            }
        });
        for n in 1..=writes {
            pair.set(n, n * 10);
        }
        reader.join().unwrap();
        assert_eq!(pair.first(), writes);
    }
}

/// See `slot::loom_tests` for how to run this. It fails when any one of the four orderings of `set` and `get`
/// is removed.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use std::sync::atomic::{AtomicU32 as Count, Ordering as StdOrdering};

    #[test]
    fn a_reader_sees_one_write_whole_and_what_came_before_it() {
        static SEEN: [Count; 3] = [const { Count::new(0) }; 3];
        loom::model(|| {
            let shared = Arc::new((Pair::default(), AtomicU64::new(0)));
            let writer = {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || {
                    shared.0.set(1, 10);
                    shared.1.store(1, Ordering::Relaxed);
                    shared.0.set(2, 20);
                })
            };
            let (first, second) = shared.0.get();
            assert_eq!(second, first * 10);
            if first == 2 {
                assert_eq!(shared.1.load(Ordering::Relaxed), 1, "what was done before the write");
            }
            SEEN[first as usize].fetch_add(1, StdOrdering::Relaxed);
            writer.join().unwrap();
        });
        assert!(SEEN.iter().all(|count| count.load(StdOrdering::Relaxed) > 0), "{SEEN:?}");
    }
}
