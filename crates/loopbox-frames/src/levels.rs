//! Drop levels and the "skipped frames" warning: the usual limits, scaled to the display.

use crate::interval::RefreshInterval;
use loopbox_format::model::DropLevel;

/// The number of 60 Hz frames from which each level applies, the worst first: 700, 400, 150 and 50 ms
/// (`DropStatus` and the thresholds of `FrameTracer.java`, Tencent/matrix).
const LIMITS: [(DropLevel, u32); 4] =
    [(DropLevel::Frozen, 42), (DropLevel::High, 24), (DropLevel::Middle, 9), (DropLevel::Normal, 3)];

/// `SKIPPED_FRAME_WARNING_LIMIT` of `Choreographer.java`: half a second.
pub const SKIPPED_FRAMES: u32 = 30;

/// The level of a frame that dropped this many frames. The limits are times, so at 120 Hz a level takes twice
/// as many refreshes.
///
/// Matrix uses the limits of 60 Hz on every display ([`unscaled_level`]), so that the same stall counts twice
/// as bad on a display that is twice as fast.
pub fn level(dropped: u32, interval: RefreshInterval) -> DropLevel {
    first(|limit| dropped >= interval.of_60_hz(limit))
}

/// The level by Matrix's own arithmetic.
pub fn unscaled_level(dropped: u32) -> DropLevel {
    first(|limit| dropped >= limit)
}

fn first(reached: impl Fn(u32) -> bool) -> DropLevel {
    LIMITS.iter().find(|(_, limit)| reached(*limit)).map_or(DropLevel::Best, |(level, _)| *level)
}

/// Whether a stall of `dropped` frames deserves the platform's warning "Skipped N frames!". It does if it
/// lasts as long as `limit` frames at 60 Hz, on any display. The platform's limit is [`SKIPPED_FRAMES`].
pub fn is_skipped_warning(dropped: u32, limit: u32, interval: RefreshInterval) -> bool {
    dropped >= interval.of_60_hz(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DropLevel::{Best, Frozen, High, Middle, Normal};

    fn hz(hz: f32) -> RefreshInterval {
        RefreshInterval::from_hz(hz).unwrap()
    }

    #[test]
    fn level_has_limits_that_are_times_on_each_display() {
        let limits = |rate| [3, 9, 24, 42].map(|limit| hz(rate).of_60_hz(limit));
        assert_eq!(limits(60.0), [3, 9, 24, 42]);
        assert_eq!(limits(90.0), [5, 14, 37, 64]);
        assert_eq!(limits(120.0), [7, 19, 49, 85]);
        assert_eq!(limits(144.0), [8, 22, 58, 101]);
        for (rate, limits) in [60.0, 90.0, 120.0, 144.0].map(|rate| (rate, limits(rate))) {
            for (limit, (below, from)) in
                limits.into_iter().zip([(Best, Normal), (Normal, Middle), (Middle, High), (High, Frozen)])
            {
                assert_eq!((level(limit - 1, hz(rate)), level(limit, hz(rate))), (below, from), "{rate} Hz");
            }
        }
    }

    #[test]
    fn level_of_the_same_block_is_the_same_on_each_display() {
        let of = |rate| {
            let i = hz(rate);
            [69_000_000_u64, 61_000_000, 98_000_000, 720_000_000].map(|block| {
                let dropped = i.dropped(block.div_ceil(i.ns()) * i.ns());
                (dropped, level(dropped, i))
            })
        };
        assert_eq!(of(60.0), [(4, Normal), (3, Normal), (5, Normal), (43, Frozen)]);
        assert_eq!(of(90.0), [(6, Normal), (5, Normal), (8, Normal), (64, Frozen)]);
        assert_eq!(of(120.0), [(8, Normal), (7, Normal), (11, Normal), (86, Frozen)]);
        assert_eq!(unscaled_level(11), Middle, "98 ms at 120 Hz by Matrix's limits");
    }

    #[test]
    fn is_skipped_warning_begins_at_half_a_second() {
        let first = |rate| (0..1_000).find(|&dropped| is_skipped_warning(dropped, SKIPPED_FRAMES, hz(rate)));
        assert_eq!([60.0, 90.0, 120.0].map(first), [Some(30), Some(46), Some(61)]);
    }
}
