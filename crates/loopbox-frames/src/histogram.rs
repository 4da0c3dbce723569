//! Durations by size, in buckets that are merged by addition.

/// How many buckets.
pub const BUCKETS: usize = 32;
/// The start of the first bucket in microseconds; it also has all shorter durations.
const FIRST_US: u64 = 4_000;
/// Buckets for each doubling.
const PARTS: u64 = 4;

/// The bucket of a duration: four for each doubling from 4 ms on.
pub fn bucket(duration_ns: u64) -> usize {
    let us = (duration_ns / 1_000).max(FIRST_US);
    let doublings = u64::from((us / FIRST_US).ilog2());
    let from = FIRST_US << doublings;
    let part = (us - from) * PARTS / from;
    ((doublings * PARTS + part) as usize).min(BUCKETS - 1)
}

/// The start of a bucket in nanoseconds; for [`BUCKETS`], the end of the last one.
pub fn bucket_begin_ns(bucket: usize) -> u64 {
    let (doublings, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    (FIRST_US << doublings) * (PARTS + part) / PARTS * 1_000
}

/// The duration that this `share` of the frames does not exceed, within 12 %; `None` without a frame.
///
/// The result is the harmonic mean of the bucket's bounds, which is at most 11.1 % away from either, and
/// never above the longest frame. For the last bucket, which has no upper bound, it is the longest frame.
pub fn quantile_ns(histogram: &[u64; BUCKETS], longest_us: u32, share: f64) -> Option<u64> {
    let all = histogram.iter().copied().fold(0, u64::saturating_add);
    let longest_ns = u64::from(longest_us) * 1_000;
    let wanted = ((all as f64 * share).ceil() as u64).clamp(1, all.max(1));
    let mut seen: u64 = 0;
    let found = histogram.iter().position(|&count| {
        seen = seen.saturating_add(count);
        seen >= wanted
    });
    let (begin, end) = (bucket_begin_ns(found?) as f64, bucket_begin_ns(found? + 1) as f64);
    let middle = (2.0 * begin * end / (begin + end)) as u64;
    Some(if found? == BUCKETS - 1 { longest_ns } else { middle.min(longest_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bucket_has_four_for_each_doubling() {
        let ms = [0_u64, 3, 4, 5, 6, 7, 8, 10, 16, 19, 20, 33, 895, 896, 1_024, u64::MAX / 1_000_000];
        assert_eq!(
            ms.map(|ms| bucket(ms * 1_000_000)),
            [0, 0, 0, 1, 2, 3, 4, 5, 8, 8, 9, 12, 30, 31, 31, 31]
        );
        for number in 0..BUCKETS {
            assert_eq!(bucket(bucket_begin_ns(number)), number);
            assert_eq!(bucket(bucket_begin_ns(number + 1) - 1_000), number);
        }
    }

    proptest! {
        #[test]
        fn quantile_is_within_twelve_per_cent(
            mut us in proptest::collection::vec(4_000_u32..890_000, 1..200), share in 0.0..=1.0_f64
        ) {
            let mut histogram = [0; BUCKETS];
            us.iter().for_each(|&us| histogram[bucket(u64::from(us) * 1_000)] += 1);
            us.sort_unstable();
            let rank = ((us.len() as f64 * share).ceil() as usize).clamp(1, us.len());
            let exact = f64::from(us[rank - 1]) * 1e3;
            let got = quantile_ns(&histogram, us[us.len() - 1], share).unwrap() as f64;
            prop_assert!((got - exact).abs() <= 0.12 * exact, "{got} for {exact}");
        }
    }

    #[test]
    fn quantile_of_nothing_is_nothing_and_of_the_last_bucket_the_longest() {
        let mut histogram = [0; BUCKETS];
        assert_eq!(quantile_ns(&histogram, 0, 0.5), None);
        histogram[31] = 1;
        assert_eq!(quantile_ns(&histogram, 7_000_000, 0.99), Some(7_000_000_000));
    }
}
