//! Times for readers: durations, instants relative to the dump, wall-clock time, and shares of a time.

use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use loopbox_format::model::{ClockPair, Uptime};

/// Converts nanoseconds to milliseconds, cut to whole microseconds.
pub(crate) fn ms(ns: u64) -> f64 {
    (ns / 1_000) as f64 / 1e3
}

/// The time from `zero_ns` to `at_ns` in milliseconds; negative before it.
pub(crate) fn ms_between(at_ns: Uptime, zero_ns: Uptime) -> f64 {
    if at_ns >= zero_ns { ms(at_ns - zero_ns) } else { -ms(zero_ns - at_ns) }
}

/// A duration in milliseconds, as text of about three digits: `0.4 ms`, `62 ms`, `5.21 s`, `3 min 07 s`, `2 h
/// 05 min`, `4 d 03 h`.
pub fn format_ms(ms: f64) -> String {
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

/// [`format_ms`] of nanoseconds.
pub(crate) fn format_ns(ns: u64) -> String {
    format_ms(ms(ns))
}

/// `part / whole`; 0 when the whole is 0.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A share as text: `42 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// An instant relative to the dump, as text: `-5.210 s`, `+0.120 s`.
pub(crate) fn format_relative(ms: f64) -> String {
    if ms.abs() < 1e6 { format!("{:+.3} s", ms / 1e3) } else { format_ms(ms) }
}

/// Turns uptime into wall-clock time, by the two clocks that the recorder read at the dump.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallClock(pub ClockPair);

impl WallClock {
    /// Converts an uptime to Unix time in milliseconds; `None` when the report does not know the wall clock.
    pub(crate) fn unix_ms(self, uptime_ns: Uptime) -> Option<i64> {
        if self.0.unix_ms == 0 {
            return None;
        }
        let offset = (i128::from(uptime_ns.0) - i128::from(self.0.uptime_ns.0)).div_euclid(1_000_000);
        i64::try_from(i128::from(self.0.unix_ms) + offset).ok()
    }

    /// The time of day in UTC: `14:03:07.120`.
    pub(crate) fn time_of_day(self, uptime_ns: Uptime) -> Option<String> {
        Some(utc(self.unix_ms(uptime_ns)?)?.format("%H:%M:%S%.3f").to_string())
    }

    /// The instant in RFC 3339: `2026-11-21T14:03:07.120Z`.
    pub(crate) fn rfc3339(self, uptime_ns: Uptime) -> Option<String> {
        Some(utc(self.unix_ms(uptime_ns)?)?.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

/// The day of a Unix time in UTC: `2026-11-21`.
pub(crate) fn day(unix_ms: i64) -> Option<String> {
    Some(utc(unix_ms)?.date_naive().to_string())
}

/// The minute of a Unix time in UTC: `2026-11-21 14:13`.
pub(crate) fn minute(unix_ms: i64) -> Option<String> {
    Some(utc(unix_ms)?.format("%Y-%m-%d %H:%M").to_string())
}

/// A Unix time in the calendar; `None` for years that RFC 3339 cannot write.
fn utc(unix_ms: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(unix_ms).filter(|at| (0..=9_999).contains(&at.year()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_ms_has_about_three_digits() {
        let got: Vec<_> = [0.0, 0.44, 9.96, 62.4, 5_210.0, 187_000.0, 7_500_000.0, 356_400_000.0, -61_000.0]
            .into_iter()
            .map(format_ms)
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
    fn wall_clock_knows_the_calendar_and_leap_years() {
        let pair = ClockPair { uptime_ns: Uptime(5_000_000_000), unix_ms: 1_709_210_096_789 };
        let clock = WallClock(pair);
        assert_eq!(clock.rfc3339(Uptime(5_000_000_000)).unwrap(), "2024-02-29T12:34:56.789Z");
        assert_eq!(clock.rfc3339(Uptime::ZERO).unwrap(), "2024-02-29T12:34:51.789Z");
        assert_eq!(clock.time_of_day(Uptime(5_300_000_000)).unwrap(), "12:34:57.089");
        assert_eq!(
            WallClock(ClockPair { uptime_ns: Uptime::ZERO, unix_ms: u64::MAX }).rfc3339(Uptime::ZERO),
            None
        );
        assert_eq!(WallClock(ClockPair::default()).rfc3339(Uptime(7)), None);
    }

    #[test]
    fn day_is_none_for_years_that_rfc_3339_cannot_write() {
        let days = [0, -1, 951_782_400_000, 253_402_300_799_999, 253_402_300_800_000, i64::MIN].map(day);
        let known = ["1970-01-01", "1969-12-31", "2000-02-29", "9999-12-31"].map(|day| Some(day.to_string()));
        assert_eq!(days[..4], known);
        assert_eq!(days[4..], [None, None]);
    }
}
