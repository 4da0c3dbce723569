//! Defaults and bounds of the options that an app may choose.

use std::ops::RangeInclusive;

/// A number that an app may choose.
pub(crate) struct Bounded<T> {
    pub(crate) default: T,
    pub(crate) bounds: RangeInclusive<T>,
}

impl Bounded<u64> {
    /// The bounds of a number of milliseconds, in nanoseconds.
    pub(crate) fn ns(&self) -> RangeInclusive<u64> {
        const MS: u64 = 1_000_000;
        self.bounds.start() * MS..=self.bounds.end() * MS
    }
}

impl Bounded<u32> {
    pub(crate) fn range(&self) -> RangeInclusive<u64> {
        u64::from(*self.bounds.start())..=u64::from(*self.bounds.end())
    }
}

// Made from jni-glue/options.toml: bounds
pub(crate) const GROUP_MS: Bounded<u64> = Bounded { default: 300, bounds: 10..=10_000 };
pub(crate) const DETAIL_MS: Bounded<u64> = Bounded { default: 50, bounds: 1..=10_000 };
pub(crate) const SLOTS: Bounded<u32> = Bounded { default: 100, bounds: 10..=500 };
pub(crate) const DETAILS_PER_RECORD: Bounded<u32> = Bounded { default: 8, bounds: 1..=8 };
pub(crate) const SAMPLING: bool = true;
pub(crate) const SAMPLE_ONSET_MS: Bounded<u64> = Bounded { default: 50, bounds: 10..=60_000 };
pub(crate) const SAMPLE_INTERVAL_MS: Bounded<u64> = Bounded { default: 10, bounds: 1..=10_000 };
pub(crate) const SAMPLE_ONCE: bool = false;
pub(crate) const MIN_SAMPLES: Bounded<u32> = Bounded { default: 95, bounds: 1..=2_000 };
pub(crate) const TREES: Bounded<u32> = Bounded { default: 10, bounds: 1..=100 };
// End of what is made from jni-glue/options.toml
