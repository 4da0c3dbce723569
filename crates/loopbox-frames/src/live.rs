//! The live value: what a small view on the screen shows while frames are counted.

use crate::display_frame::DisplayFrame;
use crate::interval::RefreshInterval;
use crate::levels::level;
use loopbox_format::model::{DropLevel, Uptime};

/// A value covers frames whose durations add up to at least this time. Matrix also waits for more than 20
/// frames, and so shows nothing on a display below 105 Hz (`FrameTracer.java`, `tryCallBackAndReset`).
const WINDOW_NS: u64 = 200_000_000;
/// When this much time passes without a frame, nothing moves on the screen, and there is no frame rate to
/// show. The performance library Matrix shows 60 then.
const IDLE_NS: u64 = 250_000_000;

/// The value for the frames of a fifth of a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveValue {
    /// Frames per second.
    pub fps: f64,
    /// How many frames.
    pub frames: u32,
    /// The longest of these frames: an average over 200 ms still hides a stall.
    pub longest_ns: u64,
    /// The drop level of the longest frame.
    pub level: DropLevel,
    /// The refresh interval of the last frame.
    pub interval: RefreshInterval,
}

/// Computes a value for each 200 ms of counted frames.
#[derive(Debug, Clone, Default)]
pub struct Live {
    frames: u32,
    sum_ns: u64,
    longest: Option<DisplayFrame>,
    last_end_ns: Option<Uptime>,
}

impl Live {
    /// A state without frames.
    pub const fn new() -> Self {
        Self { frames: 0, sum_ns: 0, longest: None, last_end_ns: None }
    }

    /// Takes a frame; returns a value when there are enough.
    pub fn frame(&mut self, frame: &DisplayFrame) -> Option<LiveValue> {
        if self.is_idle(frame.time_ns) {
            // What is left from before the pause says nothing of now.
            *self = Self::new();
        }
        self.frames = self.frames.saturating_add(1);
        self.sum_ns = self.sum_ns.saturating_add(frame.duration_ns);
        let longest = self.longest.filter(|longest| longest.duration_ns >= frame.duration_ns);
        let longest = longest.unwrap_or(*frame);
        self.longest = Some(longest);
        self.last_end_ns = Some(frame.end_ns());
        if self.sum_ns < WINDOW_NS {
            return None;
        }
        let value = LiveValue {
            fps: crate::rates::fps(u64::from(self.frames), self.sum_ns)?,
            frames: self.frames,
            longest_ns: longest.duration_ns,
            level: level(longest.dropped(), longest.interval),
            interval: frame.interval,
        };
        *self = Self { last_end_ns: self.last_end_ns, ..Self::new() };
        Some(value)
    }

    /// Whether there is nothing to show: no frame for 250 ms.
    pub fn is_idle(&self, now_ns: Uptime) -> bool {
        self.last_end_ns.is_none_or(|end| now_ns.since(end) >= IDLE_NS)
    }
}
