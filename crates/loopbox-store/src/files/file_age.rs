//! The age of files by a clock that may be wrong. On a phone whose battery was empty, the clock is at 1970,
//! or at the day on which the phone's system was built, until a network sets it.
//!
//! A file of unknown age does not count as old. When a file has an impossible time and the clock can be
//! right, the file gets the present time, and ages from then on.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// 2026-01-01: no file of ours is older than the recorder.
const EARLIEST: Duration = Duration::from_hours(20_454 * 24);
/// How far a clock may be set back before the times of files count as impossible.
const TOLERANCE: Duration = Duration::from_hours(24);

/// The clock, read once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    now: SystemTime,
}

/// Orders files by their times, the newest last. A file with an impossible time counts as newer than all
/// others: it was written since the last start of the phone, with a clock that was not set yet.
pub(crate) type Order = (bool, SystemTime);

/// Whether a file of the recorder can have that time: it is not before [`EARLIEST`].
fn is_ours(at: SystemTime) -> bool {
    at.duration_since(UNIX_EPOCH).is_ok_and(|since| since >= EARLIEST)
}

impl Clock {
    pub(crate) fn now() -> Self {
        Self::at(SystemTime::now())
    }

    pub(crate) fn at(now: SystemTime) -> Self {
        Self { now }
    }

    /// Whether the clock can be right.
    fn is_set(self) -> bool {
        is_ours(self.now)
    }

    /// Whether a file can have been written at that time.
    fn can_be(self, at: SystemTime) -> bool {
        is_ours(at) && (!self.is_set() || at <= self.now + TOLERANCE)
    }

    /// Whether a file with the time `at` is known to be older than `age`.
    pub(crate) fn is_older(self, at: SystemTime, age: Duration) -> bool {
        let is_known = self.is_set() && self.can_be(at);
        is_known && self.now.duration_since(at).is_ok_and(|known| known > age)
    }

    pub(crate) fn order(self, at: SystemTime) -> Order {
        (!self.can_be(at), at)
    }

    /// Gives a file with an impossible time the present time, if the clock is set.
    pub(crate) fn settle(self, path: &Path, at: SystemTime) {
        if self.is_set() && !self.can_be(at) {
            // One that cannot be opened keeps its time, and goes on to be taken for new.
            let _ = File::open(path).and_then(|file| file.set_modified(self.now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(year: u64, day: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_hours(24) * (365 * (year - 1970) + (year - 1969) / 4 + day - 1) as u32
    }

    const TWO_WEEKS: Duration = Duration::from_hours(14 * 24);

    #[test]
    fn only_what_is_known_to_be_old_is_old() {
        let clock = Clock::at(day(2027, 200));
        assert!(clock.is_older(day(2027, 185), TWO_WEEKS));
        for new in [day(2027, 187), day(2027, 200), day(2027, 201), day(2028, 1)] {
            assert!(!clock.is_older(new, TWO_WEEKS));
        }
        // Written before the phone knew the time.
        for unknown in [UNIX_EPOCH, day(1970, 9), day(2020, 1), day(2025, 365)] {
            assert!(!clock.is_older(unknown, TWO_WEEKS));
        }
        assert!(!clock.is_older(day(2025, 1), Duration::ZERO));
        // The phone does not know the time now.
        for now in [UNIX_EPOCH, day(1970, 30), day(2020, 1)] {
            for at in [UNIX_EPOCH, day(1970, 1), day(2019, 1), day(2027, 1)] {
                assert!(!Clock::at(now).is_older(at, TWO_WEEKS));
            }
        }
    }

    #[test]
    fn what_a_wrong_clock_wrote_is_the_newest() {
        for now in [day(2027, 200), day(1970, 2)] {
            let clock = Clock::at(now);
            let mut files = [day(1970, 1), day(2026, 300), UNIX_EPOCH, day(2027, 100)];
            files.sort_by_key(|at| clock.order(*at));
            assert_eq!(files, [day(2026, 300), day(2027, 100), UNIX_EPOCH, day(1970, 1)]);
        }
        // A time to come is no reason to be the newest for ever.
        let clock = Clock::at(day(2027, 200));
        assert!(clock.order(day(2038, 19)) > clock.order(day(2027, 200)) && !clock.can_be(day(2038, 19)));
    }

    #[test]
    fn a_file_of_an_impossible_time_is_as_old_as_it_is_known() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let modified = || std::fs::metadata(file.path()).unwrap().modified().unwrap();
        let seen = |now, at| {
            file.as_file().set_modified(at).unwrap();
            Clock::at(now).settle(file.path(), at);
            modified()
        };
        assert_eq!(seen(day(2027, 200), day(1970, 3)), day(2027, 200));
        assert!(Clock::at(day(2027, 220)).is_older(modified(), TWO_WEEKS));
        assert_eq!(seen(day(2027, 200), day(2038, 3)), day(2027, 200));
        assert_eq!(seen(day(2027, 200), day(2027, 3)), day(2027, 3), "a time that can be");
        assert_eq!(seen(day(1970, 2), day(1970, 1)), day(1970, 1), "no better one is known");
        assert_eq!(seen(day(1970, 2), day(2027, 1)), day(2027, 1));
    }
}
