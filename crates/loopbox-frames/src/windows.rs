//! Jank windows: the parts of a session in which scrolling was bad, found while the frames come.
//!
//! An average hides a stall: 83 frames in 1.535 s are 54 FPS, although three stalls in them were visible to
//! everybody. Taobao's article cuts out each stall with the frames right after it and gives each part a
//! separate FPS: 30, 43 and 23.

use crate::display_frame::DisplayFrame;
use loopbox_format::model::WorstWindow;

/// The user notices a frame that is shown for longer than this: 1/30 s, which Taobao's article gives as 33.3
/// ms.
const PERCEIVED_NS: u64 = 33_300_000;
/// A window lasts this long at least: six frames of 16.6 ms.
const SHORTEST_NS: u64 = 99_600_000;

/// A sequence of frames that begins with one that was visibly too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JankWindow {
    /// Its first frame, counted from the first frame of the stream, which is 0.
    pub first_frame: u64,
    /// How many frames.
    pub frames: u32,
    /// How long its frames were shown, in sum.
    pub duration_ns: u64,
    /// How long the longest of its frames was shown.
    pub longest_ns: u64,
    /// The sum of the refresh intervals of its frames.
    pub interval_sum_ns: u64,
    /// False when the session ended before the window had lasted for 99.6 ms.
    pub complete: bool,
}

impl JankWindow {
    /// Its frames per second.
    pub fn fps(&self) -> f64 {
        crate::rates::fps(u64::from(self.frames), self.duration_ns).unwrap_or_default()
    }

    /// Its frames per thousand seconds, rounded down.
    pub fn fps_milli(&self) -> u32 {
        // 18 million frames would be too many for 64 bits: 42 hours at 120 Hz.
        let milli = u64::from(self.frames).saturating_mul(1_000_000_000_000) / self.duration_ns.max(1);
        u32::try_from(milli).unwrap_or(u32::MAX)
    }

    /// Whether it counts as jank: its FPS is below 5/6 of the refresh rate. At 60 Hz this is Taobao's limit,
    /// 50 FPS.
    pub fn is_recorded(&self) -> bool {
        6 * u128::from(self.interval_sum_ns) < 5 * u128::from(self.duration_ns)
    }

    /// Whether its FPS is lower than that of a window with `frames` frames in `duration_us`.
    fn is_worse_than(&self, frames: u16, duration_us: u32) -> bool {
        // Compared without a division, and to the microsecond, as the other is kept.
        let own_us = u128::from(self.duration_ns / 1_000);
        u128::from(self.frames) * u128::from(duration_us) < u128::from(frames) * own_us
    }
}

/// Finds jank windows in a stream of frames, without reading ahead and without a list.
///
/// A window begins with a frame that is longer than 33.3 ms and longer than 1.998 intervals. Once the window
/// has lasted for 99.6 ms, it ends before the next frame that is shorter than 1.02 intervals (17 ms at 60
/// Hz). It also ends with the session. Taobao's rule says 17 ms and its example 16.6 ms; in the example both
/// give the same result.
#[derive(Debug, Clone, Default)]
pub struct JankWindows {
    open: Option<JankWindow>,
    frames: u64,
}

impl JankWindows {
    /// The state before the first frame.
    pub const fn new() -> Self {
        Self { open: None, frames: 0 }
    }

    /// Adds the next frame of the session; returns the window that it ended.
    pub fn frame(&mut self, frame: &DisplayFrame) -> Option<JankWindow> {
        let (duration, interval) = (frame.duration_ns, frame.interval.ns());
        let calm = duration < interval + interval / 50;
        let ended = self.open.take_if(|open| calm && open.duration_ns >= SHORTEST_NS);
        match &mut self.open {
            Some(open) => {
                open.frames = open.frames.saturating_add(1);
                open.duration_ns = open.duration_ns.saturating_add(duration);
                open.longest_ns = open.longest_ns.max(duration);
                open.interval_sum_ns = open.interval_sum_ns.saturating_add(interval);
            }
            None if duration > PERCEIVED_NS.max(interval * 2 - interval / 500) => {
                self.open = Some(JankWindow {
                    first_frame: self.frames,
                    frames: 1,
                    duration_ns: duration,
                    longest_ns: duration,
                    interval_sum_ns: interval,
                    complete: false,
                });
            }
            None => {}
        }
        self.frames += 1;
        ended.map(complete)
    }

    /// The session has ended; returns the window that was open.
    pub fn end(&mut self) -> Option<JankWindow> {
        self.open.take().map(complete)
    }
}

fn complete(window: JankWindow) -> JankWindow {
    JankWindow { complete: window.duration_ns >= SHORTEST_NS, ..window }
}

/// Keeps the three windows with the lowest FPS, the lowest first.
pub(crate) fn keep_worst(worst: &mut [WorstWindow; 3], window: &JankWindow) {
    let worse =
        worst.iter().position(|kept| kept.frames == 0 || window.is_worse_than(kept.frames, kept.duration_us));
    let Some(behind) = worse.and_then(|at| worst.get_mut(at..)) else { return };
    behind.rotate_right(1);
    if let Some(place) = behind.first_mut() {
        *place = WorstWindow {
            first_frame: u16::try_from(window.first_frame).unwrap_or(u16::MAX),
            frames: u16::try_from(window.frames).unwrap_or(u16::MAX),
            duration_us: crate::display_frame::micros(window.duration_ns),
        };
    }
}
