//! The refresh interval: its value, how many refreshes a frame was shown for, and when the interval that a
//! display claims is wrong.

/// The time between two refreshes of the display.
///
/// Rates outside of 20 to 250 Hz do not exist and are refused, so that division by the interval is always
/// possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefreshInterval(u32);

impl RefreshInterval {
    /// 60 Hz, the rate that the usual limits assume.
    pub const HZ_60: Self = Self(16_666_667);
    /// 250 Hz.
    const SHORTEST_NS: u32 = 4_000_000;
    /// 20 Hz.
    const LONGEST_NS: u32 = 50_000_000;

    /// An interval of this many nanoseconds; `None` for a rate outside of 20 to 250 Hz.
    pub fn from_ns(ns: u64) -> Option<Self> {
        let ns = u32::try_from(ns).ok()?;
        (Self::SHORTEST_NS..=Self::LONGEST_NS).contains(&ns).then_some(Self(ns))
    }

    /// The interval of a rate, as `Display.getRefreshRate()` returns it; `None` for a rate outside of 20 to
    /// 250 Hz.
    pub fn from_hz(hz: f32) -> Option<Self> {
        // A conversion of a float saturates, so infinity and what is no number end up outside.
        Self::from_ns((1e9 / f64::from(hz)).round() as u64)
    }

    /// The interval in nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0 as u64
    }

    /// The interval as a rate.
    pub fn hz(self) -> f64 {
        1e9 / f64::from(self.0)
    }

    /// For how many refreshes a frame was shown: its duration divided by the interval, rounded to the nearest
    /// whole number, at least one. `duration_ns` is the time until the next frame replaced it.
    ///
    /// Rounding is right because durations are whole multiples of the interval on the `Choreographer` of AOSP
    /// 10, and nearly so where a display jitters. The `FPSFrameCallback` of huansky's article on skipped
    /// frames truncates instead. So it counts a smooth frame of 16.667 ms as a skipped one, and its result
    /// depends on jitter.
    pub const fn refreshes(self, duration_ns: u64) -> u64 {
        let refreshes = duration_ns.saturating_add(self.ns() / 2) / self.ns();
        if refreshes == 0 { 1 } else { refreshes }
    }

    /// The number of frames dropped while this one was shown: [`Self::refreshes`] less one. The
    /// `Choreographer`'s "Skipped 64 frames!" is this number; the counter of the article on skipped frames
    /// says 65.
    pub const fn dropped(self, duration_ns: u64) -> u32 {
        let dropped = self.refreshes(duration_ns) - 1;
        if dropped > u32::MAX as u64 { u32::MAX } else { dropped as u32 }
    }

    /// How many refreshes of this display last as long as `frames` frames at 60 Hz, rounded up. The usual
    /// limits are numbers of frames at 60 Hz, but stand for times.
    pub const fn of_60_hz(self, frames: u32) -> u32 {
        (frames as u64 * Self::HZ_60.ns()).div_ceil(self.ns()) as u32
    }
}

impl Default for RefreshInterval {
    fn default() -> Self {
        Self::HZ_60
    }
}

/// Detects when a display claims one interval but frames come faster.
///
/// A difference of frame times counts when it occurred at least three times, to within half a millisecond.
/// When the smallest such difference is below three quarters of the claimed interval, the claim is wrong (for
/// example a display that reports 60 Hz with frames each 8.3 ms), and the observed interval is used. Before
/// Android 12 the `Choreographer` itself reads the rate once and never again (`mFrameIntervalNanos` in
/// `Choreographer.java` of API 24 to 30).
#[derive(Debug, Clone)]
pub struct IntervalDetector {
    claimed: RefreshInterval,
    observed: Option<(usize, RefreshInterval)>,
    seen: [Seen; STEPS],
}

/// The number of steps by which differences of frame times are counted. The first step begins at the shortest
/// interval. The last one ends at three quarters of the longest interval that a display may claim. A longer
/// difference cannot show that a claim is wrong.
const STEPS: usize = 134;
const STEP_NS: u64 = 250_000;
/// How often a difference of frame times must occur to count.
const OFTEN: u32 = 3;

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    count: u32,
    sum_ns: u64,
}

impl IntervalDetector {
    /// A detector for a display that claims this interval.
    pub const fn new(claimed: RefreshInterval) -> Self {
        Self { claimed, observed: None, seen: [Seen { count: 0, sum_ns: 0 }; STEPS] }
    }

    /// The display now reports this interval. If it is another one than before, what was observed is
    /// forgotten.
    pub fn claim(&mut self, claimed: RefreshInterval) {
        if claimed != self.claimed {
            *self = Self::new(claimed);
        }
    }

    /// Counts a difference of two frame times.
    pub fn frame(&mut self, duration_ns: u64) {
        let shortest = u64::from(RefreshInterval::SHORTEST_NS);
        if duration_ns < shortest || duration_ns >= self.claimed.ns() * 3 / 4 {
            return;
        }
        let step = ((duration_ns - shortest) / STEP_NS) as usize;
        let Some(seen) = self.seen.get_mut(step) else { return };
        seen.count = seen.count.saturating_add(1);
        seen.sum_ns = seen.sum_ns.saturating_add(duration_ns);
        // A difference that lies on the edge of two steps falls into both.
        for first in [step.saturating_sub(1), step] {
            let Some([a, b]) = self.seen.get(first..).and_then(|rest| rest.first_chunk()) else { continue };
            let (count, sum_ns) = (a.count.saturating_add(b.count), a.sum_ns.saturating_add(b.sum_ns));
            if count >= OFTEN && self.observed.is_none_or(|(lowest, _)| first <= lowest) {
                let mean = RefreshInterval::from_ns(sum_ns / u64::from(count));
                self.observed = mean.map(|interval| (first, interval));
                return;
            }
        }
    }

    /// The interval in use.
    pub fn interval(&self) -> RefreshInterval {
        self.observed.map_or(self.claimed, |(_, interval)| interval)
    }

    /// Whether the interval in use was observed, because frames came faster than the display claims. It then
    /// differs from the claimed interval.
    pub fn is_observed(&self) -> bool {
        self.observed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_hz_refuses_what_no_display_has() {
        let ns = |hz| RefreshInterval::from_hz(hz).map(RefreshInterval::ns);
        assert_eq!(
            [60.0, 90.0, 120.0, 144.0].map(ns),
            [16_666_667, 11_111_111, 8_333_333, 6_944_444].map(Some)
        );
        assert_eq!([0.0, -60.0, f32::NAN, f32::INFINITY, 19.0, 251.0].map(ns), [None; 6]);
    }

    #[test]
    fn dropped_of_the_articles_log_is_what_the_choreographer_says() {
        let i = RefreshInterval::HZ_60;
        assert_eq!(i.dropped(65 * i.ns()), 64);
        assert_eq!(65 * i.ns() / 16_666_666, 65, "that article's counter counts the frame itself");
        assert_eq!([0, 1, 8_333_333, 25_000_000, 25_000_001].map(|d| i.dropped(d)), [0, 0, 0, 0, 1]);
        assert_eq!(i.dropped(u64::MAX), u32::MAX);
        assert_eq!(i.dropped(733_333_348), 43, "a block of 720 ms");
    }

    #[test]
    fn interval_detector_believes_frames_that_come_faster_than_claimed() {
        let mut detector = IntervalDetector::new(RefreshInterval::HZ_60);
        for duration in [16_666_667, 33_333_334, 8_333_333, 16_666_667, 8_300_000] {
            detector.frame(duration);
            assert!(!detector.is_observed());
        }
        detector.frame(8_366_666);
        assert_eq!((detector.is_observed(), detector.interval().ns()), (true, 8_333_333));
        // 120 Hz is what the display reports then, so nothing is wrong any more.
        detector.claim(RefreshInterval::from_hz(120.0).unwrap());
        assert!(!detector.is_observed());
        (0..9).for_each(|_| detector.frame(8_333_333));
        assert!(!detector.is_observed());
    }

    #[test]
    fn interval_detector_is_not_misled_by_frames_that_catch_up() {
        let mut detector = IntervalDetector::new(RefreshInterval::HZ_60);
        for ms in [69, 16, 15, 61, 12, 13, 13, 15, 98, 10, 19, 0, 1, 2, 3] {
            detector.frame(ms * 1_000_000);
        }
        assert!(!detector.is_observed());
        detector.frame(u64::MAX);
        assert_eq!(detector.interval(), RefreshInterval::HZ_60);
    }
}
