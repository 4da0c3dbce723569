//! Frames delay: how long frames were late within a range of time.

use crate::interval::RefreshInterval;
use loopbox_format::model::Uptime;

/// The main thread's part of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MainPart {
    /// Its vsync.
    pub begin_ns: Uptime,
    /// Time from `begin_ns` until the end of its message, or until now when the frame has not ended.
    pub main_ns: u64,
    /// The refresh interval in force.
    pub interval: RefreshInterval,
}

/// The sum of the time for which the frames were late within `from_ns..to_ns`.
///
/// This is Sentry's `frames.delay`, which also counts a frame that has not ended, with one difference. Sentry
/// takes the sum of a frame's stages, which lacks the wait for the render thread; this function takes main's
/// part of the frame. A frame is late from one interval after its vsync until its end. If a frame crosses a
/// border of the range, only the part inside counts.
pub fn frames_delay_ns(frames: impl IntoIterator<Item = MainPart>, from_ns: Uptime, to_ns: Uptime) -> u64 {
    let late = |frame: MainPart| {
        let late_from = frame.begin_ns.plus(frame.interval.ns()).max(from_ns);
        let end = frame.begin_ns.plus(frame.main_ns).min(to_ns);
        end.since(late_from)
    };
    frames.into_iter().map(late).fold(0, u64::saturating_add)
}
