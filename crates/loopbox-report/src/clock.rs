//! Times as a reader thinks of them: durations, instants relative to the dump, and the clock on the wall.

use loopbox_format::model::ClockPair;

/// `ns` in milliseconds, with microseconds as its finest digit.
pub(crate) fn ms(ns: u64) -> f64 {
    (ns / 1_000) as f64 / 1e3
}

/// `at - zero` in milliseconds; negative before `zero`.
pub(crate) fn ms_between(at_ns: u64, zero_ns: u64) -> f64 {
    if at_ns >= zero_ns { ms(at_ns - zero_ns) } else { -ms(zero_ns - at_ns) }
}

/// A duration in milliseconds for a person: `0.4 ms`, `62 ms`, `5.21 s`, `3 min 07 s`, `2 h 05 min`, `4 d 03 h`.
pub fn duration(ms: f64) -> String {
    let abs = ms.abs();
    if abs < 9.95 {
        format!("{ms:.1} ms")
    } else if abs < 999.5 {
        format!("{ms:.0} ms")
    } else if abs < 99_995.0 {
        format!("{:.2} s", ms / 1e3)
    } else {
        let sign = if ms < 0.0 { "-" } else { "" };
        let s = (abs / 1e3).round();
        if s < 3_600.0 {
            format!("{sign}{} min {:02} s", (s / 60.0).floor(), s % 60.0)
        } else if s < 86_400.0 {
            format!("{sign}{} h {:02} min", (s / 3_600.0).floor(), (s % 3_600.0 / 60.0).floor())
        } else {
            format!("{sign}{} d {:02} h", (s / 86_400.0).floor(), (s % 86_400.0 / 3_600.0).floor())
        }
    }
}

/// An instant relative to the dump: `-5.210 s`, `+0.120 s`.
pub(crate) fn relative(ms: f64) -> String {
    if ms.abs() < 1e6 { format!("{:+.3} s", ms / 1e3) } else { duration(ms) }
}

/// Turns uptime into wall-clock time with the pair of clocks that a report carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallClock(pub ClockPair);

impl WallClock {
    /// Unix time in milliseconds of an uptime; `None` when the report has no usable pair.
    pub(crate) fn unix_ms(self, uptime_ns: u64) -> Option<i64> {
        if self.0.unix_ms == 0 {
            return None;
        }
        let offset = (i128::from(uptime_ns) - i128::from(self.0.uptime_ns)).div_euclid(1_000_000);
        i64::try_from(i128::from(self.0.unix_ms) + offset).ok()
    }

    /// Time of day, UTC: `14:03:07.120`.
    pub(crate) fn time_of_day(self, uptime_ns: u64) -> Option<String> {
        let day_ms = self.unix_ms(uptime_ns)?.rem_euclid(86_400_000);
        let (s, ms) = (day_ms / 1_000, day_ms % 1_000);
        Some(format!("{:02}:{:02}:{:02}.{ms:03}", s / 3_600, s / 60 % 60, s % 60))
    }

    /// RFC 3339, UTC: `2026-11-21T14:03:07.120Z`. `None` also for years that RFC 3339 cannot write.
    pub(crate) fn rfc3339(self, uptime_ns: u64) -> Option<String> {
        let unix_ms = self.unix_ms(uptime_ns)?;
        let (year, month, day) = civil(unix_ms.div_euclid(86_400_000));
        let time = self.time_of_day(uptime_ns)?;
        (0..=9_999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}T{time}Z"))
    }
}

/// Year, month and day of a day number since 1970-01-01 in the proleptic Gregorian calendar.
///
/// Counts in eras of 400 years that begin on the first of March, so that the leap day is the last of its year.
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_or_so() {
        let got: Vec<_> = [0.0, 0.44, 9.96, 62.4, 5_210.0, 187_000.0, 7_500_000.0, 356_400_000.0, -61_000.0]
            .into_iter()
            .map(duration)
            .collect();
        assert_eq!(
            got,
            [
                "0.0 ms",
                "0.4 ms",
                "10 ms",
                "62 ms",
                "5.21 s",
                "3 min 07 s",
                "2 h 05 min",
                "4 d 03 h",
                "-61.00 s"
            ]
        );
    }

    #[test]
    fn wall_clock_is_the_calendar() {
        let pair = ClockPair { uptime_ns: 5_000_000_000, unix_ms: 1_709_210_096_789 };
        let clock = WallClock(pair);
        assert_eq!(clock.rfc3339(5_000_000_000).unwrap(), "2024-02-29T12:34:56.789Z");
        assert_eq!(clock.rfc3339(0).unwrap(), "2024-02-29T12:34:51.789Z");
        assert_eq!(clock.time_of_day(5_300_000_000).unwrap(), "12:34:57.089");
        assert_eq!(WallClock(ClockPair { uptime_ns: 0, unix_ms: u64::MAX }).rfc3339(0), None);
        assert_eq!(WallClock(ClockPair::default()).rfc3339(7), None);
    }

    #[test]
    fn civil_knows_leap_years() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(-1), (1969, 12, 31));
        assert_eq!(civil(20_778), (2026, 11, 21));
    }
}
