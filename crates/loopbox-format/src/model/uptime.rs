//! Instants on the clock of all times in a recording.

use bincode::{Decode, Encode};
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An instant: nanoseconds of `CLOCK_MONOTONIC`, the clock of `SystemClock.uptimeMillis` and
/// `System.nanoTime` on Android. It stands still in deep sleep, and starts anew when the device does.
///
/// The difference of two is a number of nanoseconds; two instants cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub struct Uptime(pub u64);

impl Uptime {
    /// When the clock began.
    pub const ZERO: Self = Self(0);
    /// Later than any other.
    pub const MAX: Self = Self(u64::MAX);

    /// How many nanoseconds later it is than another instant; 0 when it is earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// This many nanoseconds later, or the last representable instant.
    #[must_use]
    pub const fn plus(self, ns: u64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// This many nanoseconds earlier, or when the clock began.
    #[must_use]
    pub const fn minus(self, ns: u64) -> Self {
        Self(self.0.saturating_sub(ns))
    }
}

impl Sub for Uptime {
    type Output = u64;

    fn sub(self, earlier: Self) -> u64 {
        self.0 - earlier.0
    }
}

impl Sub<u64> for Uptime {
    type Output = Self;

    fn sub(self, ns: u64) -> Self {
        Self(self.0 - ns)
    }
}

impl Add<u64> for Uptime {
    type Output = Self;

    fn add(self, ns: u64) -> Self {
        Self(self.0 + ns)
    }
}

impl AddAssign<u64> for Uptime {
    fn add_assign(&mut self, ns: u64) {
        *self = *self + ns;
    }
}

impl SubAssign<u64> for Uptime {
    fn sub_assign(&mut self, ns: u64) {
        *self = *self - ns;
    }
}

/// The number of nanoseconds.
impl fmt::Display for Uptime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Uptime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uptime({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_neither_begins_before_its_beginning_nor_turns_over() {
        let (early, late) = (Uptime(40), Uptime(100));
        assert_eq!((late - early, late.since(early), early.since(late)), (60, 60, 0));
        assert_eq!((early + 60, late - 60, early.minus(41)), (late, early, Uptime::ZERO));
        assert_eq!((early.plus(60), late.plus(u64::MAX)), (late, Uptime::MAX));
        let mut moved = early;
        moved += 60;
        assert_eq!(moved, late);
        moved -= 60;
        assert_eq!(moved, early);
        assert_eq!(format!("{late} {late:?} {early:>4}"), "100 Uptime(100)   40");
    }
}
