//! The framework's notation of durations.

use crate::text;

/// Reads `TimeUtils.formatDuration`: `0`, or a sign and `1d2h3m4s5ms` with leading parts left out. From API
/// 24 on, a minute is `+1m0s0ms`. API 21 to 23 write exactly one of a unit in the next smaller unit: one
/// minute as `+60s0ms`, one hour as `+60m0s0ms` and one day as `+24h0m0s0ms`. The result is in milliseconds.
pub fn duration_ms(text: &str) -> Option<i64> {
    if text == "0" {
        return Some(0);
    }
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+')?),
    };
    // Units in their order, each with its milliseconds; a longer unit's name must not begin like a shorter
    // one's.
    const UNITS: &str = "d h m s ms";
    const FACTORS: [i64; 5] = [86_400_000, 3_600_000, 60_000, 1_000, 1];
    let mut next_unit = 0;
    let mut total = 0_i64;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (digits, after) = rest.split_at_checked(end)?;
        let letters = after.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(letters)?;
        let index = UNITS.split(' ').position(|name| name == unit).filter(|&index| index >= next_unit)?;
        let factor = FACTORS.get(index)?;
        total = total.checked_add(text::number::<i64>(digits)?.checked_mul(*factor)?)?;
        next_unit = index + 1;
        rest = after;
        if rest.is_empty() {
            // Milliseconds are always written.
            return (unit == "ms").then_some(if negative { -total } else { total });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_the_framework_writes() {
        let cases = [
            ("0", Some(0)),
            ("+120ms", Some(120)),
            ("-5s21ms", Some(-5_021)),
            ("-1m2s0ms", Some(-62_000)),
            ("-3d0h0m1s7ms", Some(-259_201_007)),
            ("+24855d3h14m7s807ms", Some(2_147_483_647_807)),
            ("120ms", None),
            ("-5s", None),
            ("-1s2m3ms", None),
            ("-1s1s3ms", None),
            ("+", None),
            ("", None),
            ("-ms", None),
            ("+99999999999999999999ms", None),
            ("+9223372036854775807d1ms", None),
            ("+5ms ", None),
        ];
        for (text, expected) in cases {
            assert_eq!(duration_ms(text), expected, "{text:?}");
        }
    }

    /// `TimeUtils.formatDurationLocked` with a field length of 0, written from its description. `until_23` is
    /// for API 21 to 23, which write exactly one minute as 60 seconds.
    fn write(ms: i64, until_23: bool) -> String {
        if ms == 0 {
            return "0".into();
        }
        let mut text = String::from(if ms > 0 { "+" } else { "-" });
        let ms = ms.abs();
        let mut left = ms / 1_000;
        let mut part = |seconds: i64| {
            let carried = if until_23 { left > seconds } else { left >= seconds };
            let count = if carried { left / seconds } else { 0 };
            left -= count * seconds;
            count
        };
        let carried = [(part(86_400), "d"), (part(3_600), "h"), (part(60), "m")];
        for (number, unit) in carried.into_iter().chain([(left, "s")]) {
            if number > 0 || text.len() > 1 {
                text = format!("{text}{number}{unit}");
            }
        }
        text + &format!("{}ms", ms % 1_000)
    }

    #[test]
    fn reads_a_whole_unit_as_each_level_writes_it() {
        for (ms, until_23, since_24) in [
            (60_000, "+60s0ms", "+1m0s0ms"),
            (61_000, "+1m1s0ms", "+1m1s0ms"),
            (3_600_000, "+60m0s0ms", "+1h0m0s0ms"),
            (86_400_000, "+24h0m0s0ms", "+1d0h0m0s0ms"),
        ] {
            assert_eq!((write(ms, true).as_str(), write(ms, false).as_str()), (until_23, since_24));
            assert_eq!((duration_ms(until_23), duration_ms(since_24)), (Some(ms), Some(ms)));
        }
    }

    proptest! {
        #[test]
        fn everything_written_is_read(ms in -200_000_000_000_i64..200_000_000_000, small in -100_000_i64..100_000) {
            for until_23 in [false, true] {
                prop_assert_eq!(duration_ms(&write(ms, until_23)), Some(ms));
                prop_assert_eq!(duration_ms(&write(small, until_23)), Some(small));
            }
        }

        #[test]
        fn anything_is_refused_without_panic(text in "[-+0-9dhms]{0,30}|\\PC{0,10}") {
            let _ = duration_ms(&text);
        }
    }
}
