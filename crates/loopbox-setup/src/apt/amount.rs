//! How much is downloaded, and how long that takes, in words.

use std::time::Duration;

/// The rate that an estimate assumes before anything was measured: a home connection or a busy mirror.
const ASSUMED_BYTES_PER_SECOND: u64 = 2_000_000;

/// What will be downloaded, in words: `31 packages, 98 MB, about 50 s at 2 MB/s`.
#[must_use]
pub fn planned(count: usize, what: &str, bytes: u64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    let time = seconds(bytes / ASSUMED_BYTES_PER_SECOND);
    let rate = megabytes(ASSUMED_BYTES_PER_SECOND);
    format!("{count} {what}{plural}, {}, about {time} at {rate}/s", megabytes(bytes))
}

/// What has been downloaded, in words: `45 of 98 MB, 4.3 MB/s, about 12 s left`.
#[must_use]
pub fn reached(done: u64, total: u64, since_start: Duration, done_before: u64) -> String {
    let text = format!("{} of {}", done / 1_000_000, megabytes(total));
    let rate = done.saturating_sub(done_before) as f64 / since_start.as_secs_f64().max(0.001);
    if rate < 1_000.0 {
        return format!("{text}, no data at the moment");
    }
    let left = total.saturating_sub(done) as f64 / rate;
    format!("{text}, {:.1} MB/s, about {} left", rate / 1e6, seconds(left as u64))
}

/// A size in MB, rounded up.
fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

/// `50 s` or `4 min`.
fn seconds(seconds: u64) -> String {
    if seconds < 120 { format!("{} s", seconds.max(1)) } else { format!("{} min", seconds.div_ceil(60)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_number_size_and_time() {
        assert_eq!(planned(31, "package", 97_400_001), "31 packages, 98 MB, about 48 s at 2 MB/s");
        assert_eq!(planned(1, "package", 900_000_000), "1 package, 900 MB, about 8 min at 2 MB/s");
    }

    #[test]
    fn progress_names_rate_and_remaining_time_of_this_run_only() {
        let ten = Duration::from_secs(10);
        let text = reached(45_000_000, 98_000_000, ten, 2_000_000);
        assert_eq!(text, "45 of 98 MB, 4.3 MB/s, about 12 s left");
        assert_eq!(reached(2_000_000, 98_000_000, ten, 2_000_000), "2 of 98 MB, no data at the moment");
    }
}
