//! What the app's performance monitor wants to be notified of (`io.loopbox.Monitor`). The rest of it, files
//! included, is Java's.

use loopbox_format::model::Uptime;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What the monitor wants. Set by the app, read by the recorder's threads; the main thread does not use it.
#[derive(Debug, Default)]
pub(crate) struct MonitorWishes {
    /// A message that took longer is reported; 0 without a listener.
    level_ns: AtomicU64,
    /// The stack of a message that has run this long is reported at once; 0 for none.
    block_ns: AtomicU64,
    /// How often Java samples the process while messages run.
    tick_ns: AtomicU64,
    /// Since when there is a listener, uptime.
    since_ns: AtomicU64,
    ticked_ns: AtomicU64,
    ticks: AtomicU32,
}

impl MonitorWishes {
    /// Starts reporting. With a `level_ns` of 0, stops it.
    pub(crate) fn set(&self, now_ns: Uptime, level_ns: u64, block_ns: u64, tick_ns: u64) {
        self.since_ns.store(now_ns.0, Ordering::Relaxed);
        self.block_ns.store(block_ns, Ordering::Relaxed);
        self.tick_ns.store(tick_ns, Ordering::Relaxed);
        self.level_ns.store(level_ns, Ordering::Release);
    }

    /// The lowest level, and since when there is a listener.
    pub(crate) fn level(&self) -> Option<(u64, Uptime)> {
        let level_ns = self.level_ns.load(Ordering::Acquire);
        (level_ns != 0).then(|| (level_ns, Uptime(self.since_ns.load(Ordering::Relaxed))))
    }

    /// Whether a message of this age counts as blocking.
    pub(crate) fn is_block(&self, age_ns: u64) -> bool {
        let block_ns = self.block_ns.load(Ordering::Relaxed);
        block_ns != 0 && age_ns >= block_ns && self.level().is_some()
    }

    /// Whether a stack taken at this age of a message is one of the first two since the message counts as
    /// blocking.
    pub(crate) fn blocks_now(&self, age_ns: u64, interval_ns: u64) -> bool {
        self.is_block(age_ns) && !self.is_block(age_ns.saturating_sub(interval_ns.saturating_mul(2)))
    }

    /// Called when the stall monitor has checked main. Returns whether Java is due to take a sample; then the
    /// worker must be woken. A check may be early or late by a part of a tick.
    pub(crate) fn tick(&self, now_ns: Uptime) -> bool {
        let after_ns = self.tick_ns.load(Ordering::Relaxed) / 2;
        let due = self.level().is_some()
            && now_ns.since(Uptime(self.ticked_ns.load(Ordering::Relaxed))) >= after_ns;
        if due {
            self.ticked_ns.store(now_ns.0, Ordering::Relaxed);
            self.ticks.fetch_add(1, Ordering::Relaxed);
        }
        due
    }

    /// How many ticks there were.
    pub(crate) fn ticks(&self) -> u32 {
        self.ticks.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn nothing_is_wanted_before_the_app_starts_it_and_after_the_app_stops_it() {
        let wishes = MonitorWishes::default();
        assert_eq!(
            (wishes.level(), wishes.is_block(u64::MAX), wishes.tick(Uptime::MAX)),
            (None, false, false)
        );
        wishes.set(Uptime(7), 100 * MS, 200 * MS, 500 * MS);
        assert_eq!((wishes.level(), wishes.is_block(200 * MS)), (Some((100 * MS, Uptime(7))), true));
        wishes.set(Uptime(9), 0, 200 * MS, 500 * MS);
        assert_eq!(
            (wishes.level(), wishes.is_block(u64::MAX), wishes.tick(Uptime::MAX)),
            (None, false, false)
        );
    }

    #[test]
    fn the_worker_is_woken_for_the_first_stack_at_the_threshold_and_not_for_all_later_ones() {
        let wishes = MonitorWishes::default();
        wishes.set(Uptime::ZERO, 100 * MS, 200 * MS, 500 * MS);
        let now = |age_ms: u64| wishes.blocks_now(age_ms * MS, 10 * MS);
        assert_eq!([199, 200, 219, 220, 5_000].map(now), [false, true, true, false, false]);
    }

    #[test]
    fn a_hang_is_checked_more_often_than_java_samples() {
        let wishes = MonitorWishes::default();
        wishes.set(Uptime::ZERO, 100 * MS, 0, 500 * MS);
        assert!(!wishes.is_block(u64::MAX), "no block is reported");
        let checks = (1..=10).map(|nth| 10_000 * MS + nth * 80 * MS);
        assert_eq!(checks.filter(|&at_ns| wishes.tick(Uptime(at_ns))).count(), 3);
        assert_eq!(wishes.ticks(), 3);
    }
}
