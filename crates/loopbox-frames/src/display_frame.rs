//! One frame of the display, the input of all figures.

use crate::interval::RefreshInterval;
use loopbox_format::model::{FrameFlags, RecentFrame, Uptime};

/// A frame that was shown on the display until the next frame replaced it.
///
/// Its frame time is `T[k]`, the argument of `doFrame`, which is the time of the frame's vsync. Its duration
/// is `D[k] = T[k+1] - T[k]`: how long the frame was shown. The frame's own work on the main thread can make
/// the duration longer, because that work delays the next frame. Taobao's article calls the same number "this
/// callback's time less that of the one before" and assigns it to the later frame. So the article loses the
/// first frame of each scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisplayFrame {
    /// The frame time, `T[k]`, uptime.
    pub time_ns: Uptime,
    /// How long it was shown, `D[k]`.
    pub duration_ns: u64,
    /// The refresh interval in force, `I[k]`.
    pub interval: RefreshInterval,
    /// What it was part of: a scroll, a gesture, an animation.
    pub flags: FrameFlags,
}

impl DisplayFrame {
    /// When the next frame replaced it.
    pub const fn end_ns(&self) -> Uptime {
        self.time_ns.plus(self.duration_ns)
    }

    /// The number of refreshes that it was shown for; see [`RefreshInterval::refreshes`].
    pub const fn refreshes(&self) -> u64 {
        self.interval.refreshes(self.duration_ns)
    }

    /// Frames that were dropped; see [`RefreshInterval::dropped`].
    pub const fn dropped(&self) -> u32 {
        self.interval.dropped(self.duration_ns)
    }

    /// The duration of the whole refreshes after the first: its hitch.
    pub const fn hitch_ns(&self) -> u64 {
        (self.refreshes() - 1).saturating_mul(self.interval.ns())
    }

    /// The time that it was shown beyond one interval, to the nanosecond: the hitch as Taobao defines it.
    pub const fn hitch_exact_ns(&self) -> u64 {
        self.duration_ns.saturating_sub(self.interval.ns())
    }

    /// Whether it was shown for longer than 700 ms; exactly 700 ms is not frozen ("frozen frames take longer
    /// than 700 ms to render"; Android vitals). The time on the display counts here.
    /// `FrameScene::frozen_cost` counts frames by the time that their stages took.
    pub const fn is_frozen(&self) -> bool {
        self.duration_ns > FROZEN_NS
    }

    /// This frame's record for the list of the newest frames. The fields about messages are `None` in it.
    pub fn record(&self, scene: u16) -> RecentFrame {
        RecentFrame {
            frame_time_ns: self.time_ns,
            duration_us: micros(self.duration_ns),
            interval_us: u16::try_from(self.interval.ns() / 1_000).unwrap_or(u16::MAX),
            dropped: u16::try_from(self.dropped()).unwrap_or(u16::MAX),
            flags: self.flags,
            scene,
            ..RecentFrame::default()
        }
    }
}

/// 700 ms: the limit of frozen frames of Android vitals.
pub const FROZEN_NS: u64 = 700_000_000;

/// Whole microseconds, limited to the largest number of the type.
pub(crate) fn micros(ns: u64) -> u32 {
    u32::try_from(ns / 1_000).unwrap_or(u32::MAX)
}
