//! How many reports the app may have at its own request. A listener that asks for the next report when it is
//! notified of the last must not keep the recorder and the disk busy for ever.

use loopbox_format::model::Uptime;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many reports are granted at once. An app that reads its reports does not ask for more.
const BURST: u32 = 64;
/// After [`BURST`] reports, one more is granted each time that this has passed: ten a minute.
const EVERY_NS: u64 = 6_000_000_000;

/// The requests that are granted, and how many were not.
#[derive(Debug)]
pub(crate) struct Allowance {
    bucket: Mutex<Bucket>,
    refused: AtomicU32,
}

#[derive(Debug)]
struct Bucket {
    left: u32,
    /// The time up to which the allowance was refilled.
    filled_ns: Uptime,
}

impl Allowance {
    pub(crate) fn new(now_ns: Uptime) -> Self {
        let bucket = Bucket { left: BURST, filled_ns: now_ns };
        Self { bucket: Mutex::new(bucket), refused: AtomicU32::new(0) }
    }

    /// Whether one more report is granted.
    pub(crate) fn take(&self, now_ns: Uptime) -> bool {
        let granted = self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(now_ns);
        if !granted {
            self.refuse();
        }
        granted
    }

    /// Counts a refused request. [`take`](Self::take) does this for the requests that it refuses.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests were refused.
    pub(crate) fn refused(&self) -> u32 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Bucket {
    fn take(&mut self, now_ns: Uptime) -> bool {
        let due = now_ns.since(self.filled_ns) / EVERY_NS;
        if due >= u64::from(BURST - self.left) {
            (self.left, self.filled_ns) = (BURST, now_ns);
        } else {
            self.left += due as u32;
            self.filled_ns = self.filled_ns.plus(due * EVERY_NS);
        }
        let granted = self.left > 0;
        self.left -= u32::from(granted);
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_without_end_gets_ten_a_minute() {
        let allowance = Allowance::new(Uptime(5));
        let granted =
            |ms: std::ops::Range<u64>| ms.filter(|ms| allowance.take(Uptime(5 + ms * 1_000_000))).count();
        assert_eq!(granted(0..1_000), 64);
        assert_eq!(allowance.refused(), 1_000 - 64);
        assert_eq!(granted(1_000..61_000), 10);
        // It has room for no more than at first, however long nobody asks.
        assert_eq!(granted(10_000_000..10_001_000), 64);
    }

    #[test]
    fn who_asks_now_and_then_is_never_refused() {
        let allowance = Allowance::new(Uptime(0));
        assert!((0..1_000).all(|nth| allowance.take(Uptime(nth * EVERY_NS))));
        assert_eq!(allowance.refused(), 0);
    }
}
