//! Sessions: which frames belong to a scroll or an animation, and how long each was shown.
//!
//! The frame clock of an app must not run while nothing moves: a callback that always requests the next one
//! keeps the phone awake. So a callback is requested only in a frame in which a view has scrolled. The
//! callback runs in the next frame. The time of that frame shows how long the frame that scrolled was shown.
//! When nothing scrolls any more, no callback is pending: the session has ended by itself, one vsync after
//! the last frame that scrolled.

use crate::display_frame::DisplayFrame;
use crate::interval::RefreshInterval;
use loopbox_format::model::{FrameFlags, Uptime};

/// An animation that the app does not end is ended after this time.
const LONGEST_ANIMATION_NS: u64 = 10_000_000_000;
const MS: u64 = 1_000_000;

/// What [`Cadence::frame`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// The frame that the present one replaced. `None` if nothing scrolled in the replaced frame and no
    /// animation ran, or if the frame time has not advanced.
    pub finished: Option<DisplayFrame>,
    /// Whether the callback must be asked for again, because an animation goes on.
    pub ask_again: bool,
}

/// Turns frame times and scroll events into frames with durations.
///
/// The first frame of a scroll is not lost, although no callback was requested for it. While a frame runs,
/// the clock of animations is locked to the frame time (`AnimationUtils.currentAnimationTimeMillis`). So this
/// clock, read in `onScrollChanged`, gives the frame's time in milliseconds. The next frame's time aligns
/// that value with the grid of refreshes.
#[derive(Debug, Clone, Default)]
pub struct Cadence {
    /// The time of the last frame whose callback ran.
    last_ns: Option<Uptime>,
    /// The animation clock, in milliseconds, in the frame in which a view scrolled. While this is `Some`, a
    /// callback is pending.
    scrolled_ms: Option<u64>,
    animation: Animation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Animation {
    #[default]
    None,
    /// The animation has begun, and waits for the callback of its first frame.
    Asked,
    /// The animation runs. `since_ns` is the time of its first frame.
    Runs { since_ns: Uptime },
}

impl Cadence {
    /// The state before the first frame.
    pub const fn new() -> Self {
        Self { last_ns: None, scrolled_ms: None, animation: Animation::None }
    }

    /// A view scrolled (`onScrollChanged`) at this time of the animation clock. Returns whether the callback
    /// must be requested: once for each frame in which something scrolls, unless an animation requests it
    /// anyway.
    pub fn scrolled(&mut self, animation_clock_ms: u64) -> bool {
        let first = self.scrolled_ms.is_none();
        if first {
            self.scrolled_ms = Some(animation_clock_ms);
        }
        first && self.animation == Animation::None
    }

    /// An animation begins that is not a scroll: every frame counts until it ends, for at most ten seconds.
    /// Returns whether the callback must be requested.
    pub fn begin_animation(&mut self) -> bool {
        let asks = self.animation == Animation::None && self.scrolled_ms.is_none();
        if self.animation == Animation::None {
            self.animation = Animation::Asked;
        }
        asks
    }

    /// The animation ends with the frame that runs.
    pub fn end_animation(&mut self) {
        self.animation = Animation::None;
    }

    /// The callback runs in the frame of this time (`doFrame`). Returns the frame that this one replaced, and
    /// whether to request the callback again.
    pub fn frame(&mut self, frame_time_ns: Uptime, interval: RefreshInterval) -> Tick {
        let scrolled = self.scrolled_ms.take();
        let running = matches!(self.animation, Animation::Runs { .. });
        let start = match (scrolled, self.last_ns) {
            (Some(clock_ms), last) => Some(scroll_start(clock_ms, last, frame_time_ns, interval)),
            (None, Some(last)) if running => Some((last, FrameFlags::default())),
            _ => None,
        };
        let kind = FrameFlags::ANIMATION.when(running).with(FrameFlags::SCROLLED.when(scrolled.is_some()));
        // Two callbacks at one vsync, or a clock that went back, are no frame.
        let finished = start.filter(|(start_ns, _)| *start_ns < frame_time_ns).map(|(time_ns, flags)| {
            let first_animated =
                matches!(self.animation, Animation::Runs { since_ns } if since_ns == time_ns);
            let begins = FrameFlags::BEGINS.when(first_animated && scrolled.is_none());
            DisplayFrame {
                time_ns,
                duration_ns: frame_time_ns - time_ns,
                interval,
                flags: flags.with(kind).with(begins),
            }
        });
        self.last_ns = Some(frame_time_ns);
        self.animation = match self.animation {
            Animation::Asked => Animation::Runs { since_ns: frame_time_ns },
            Animation::Runs { since_ns } if frame_time_ns.since(since_ns) >= LONGEST_ANIMATION_NS => {
                Animation::None
            }
            other => other,
        };
        Tick { finished, ask_again: self.animation != Animation::None }
    }
}

/// The start of the frame that scrolled, and its flags: whether the frame begins a session, and whether the
/// callback was requested late.
fn scroll_start(
    clock_ms: u64,
    last: Option<Uptime>,
    next_ns: Uptime,
    interval: RefreshInterval,
) -> (Uptime, FrameFlags) {
    if let Some(last) = last.filter(|last| last.0 / MS == clock_ms) {
        return (last, FrameFlags::default());
    }
    let clock = Uptime(clock_ms.saturating_mul(MS));
    // The clock is cut to a millisecond and so at most that much early: the nearest refresh is the frame's.
    let refreshes = interval.refreshes(next_ns.since(clock));
    let start_ns = next_ns.minus(refreshes.saturating_mul(interval.ns()));
    let goes_on = last.filter(|last| last.0.abs_diff(start_ns.0) <= interval.ns() / 2);
    let start_ns = goes_on.unwrap_or(start_ns);
    let begins = FrameFlags::BEGINS.when(goes_on.is_none());
    // Outside of a frame the clock says now, which is on no grid.
    let late = FrameFlags::ASKED_LATE.when(start_ns.0.abs_diff(clock.0) > 2 * MS);
    (start_ns, begins.with(late))
}
