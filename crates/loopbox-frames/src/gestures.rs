//! Gestures: one scroll of a finger together with the fling after it, as a user would count them.

use crate::display_frame::{DisplayFrame, micros};
use crate::windows::{JankWindow, JankWindows, keep_worst};
use loopbox_format::model::{FrameFlags, FrameGesture, Uptime};

/// `ViewConfiguration.getTapTimeout()`: if a finger still moves this long after its touch, it scrolls.
const TAP_TIMEOUT_NS: u64 = 100_000_000;
/// `ViewConfiguration.getScaledTouchSlop()` in density-independent pixels: if a finger moves further than
/// this, it scrolls, too.
const TOUCH_SLOP_DP: f32 = 8.0;
/// A fling has ended when nothing scrolled for this long.
const QUIET_NS: u64 = 100_000_000;

/// Turns touches and scrolled frames into gestures.
///
/// A gesture begins with the finger's touch, or with the first frame that scrolls without a touch (a scroll
/// by the program). It ends when no finger is down and nothing has scrolled for 100 ms. A touch without a
/// scrolled frame is not a gesture.
///
/// A gesture is the finger's when the finger moved for longer than the tap timeout or further than the touch
/// slop. (Taobao names both limits, but not how they are combined; here either is enough.) The whole gesture
/// is then the finger's, including the frames before the limit was reached.
#[derive(Debug, Clone, Default)]
pub struct Gestures {
    open: Option<Open>,
    number: u32,
}

#[derive(Debug, Clone)]
struct Open {
    gesture: FrameGesture,
    windows: JankWindows,
    finger: Finger,
    /// When the last frame was replaced, or the finger lifted.
    quiet_since_ns: Uptime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finger {
    Never,
    Down { since_ns: Uptime },
    Up { since_ns: Uptime },
}

impl Gestures {
    /// The state before the first gesture.
    pub const fn new() -> Self {
        Self { open: None, number: 0 }
    }

    /// The first finger touches (`ACTION_DOWN`). Returns the previous gesture, whose fling the finger stops.
    pub fn down(&mut self, at_ns: Uptime) -> Option<FrameGesture> {
        let before = self.end();
        self.open = Some(Open::new(at_ns, Finger::Down { since_ns: at_ns }, 0));
        before
    }

    /// The finger moves (`ACTION_MOVE`). `distance_dp` is how far it now is from where it touched.
    pub fn moved(&mut self, at_ns: Uptime, distance_dp: f32) {
        if let Some(open) = &mut self.open
            && let Finger::Down { since_ns } = open.finger
            && (at_ns.since(since_ns) > TAP_TIMEOUT_NS || distance_dp > TOUCH_SLOP_DP)
        {
            open.gesture.flags = open.gesture.flags.with(FrameFlags::FINGER);
        }
    }

    /// The last finger is lifted, or the system takes the touch away (`ACTION_UP`, `ACTION_CANCEL`).
    pub fn up(&mut self, at_ns: Uptime) {
        if let Some(open) = &mut self.open
            && let Finger::Down { since_ns } = open.finger
        {
            open.gesture.finger_ms = millis(at_ns.since(since_ns));
            open.finger = Finger::Up { since_ns: at_ns };
            open.quiet_since_ns = open.quiet_since_ns.max(at_ns);
        }
    }

    /// Takes a frame that scrolled on this screen. Returns the previous gesture when this frame begins
    /// another one.
    pub fn frame(&mut self, frame: &DisplayFrame, scene: u16) -> Option<FrameGesture> {
        let before = self.idle(frame.time_ns);
        let open = self.open.get_or_insert_with(|| Open::new(frame.time_ns, Finger::Never, scene));
        open.frame(frame, scene);
        before
    }

    /// Ends and returns the open gesture if no finger is down and nothing has scrolled for 100 ms.
    pub fn idle(&mut self, now_ns: Uptime) -> Option<FrameGesture> {
        let over = self.open.as_ref().is_some_and(|open| {
            !matches!(open.finger, Finger::Down { .. }) && now_ns.since(open.quiet_since_ns) > QUIET_NS
        });
        if over { self.end() } else { None }
    }

    /// Ends the gesture that is open.
    pub fn end(&mut self) -> Option<FrameGesture> {
        let mut open = self.open.take().filter(|open| open.gesture.frames > 0)?;
        if let Some(window) = open.windows.end() {
            open.window(&window);
        }
        self.number = self.number.saturating_add(1);
        Some(FrameGesture { number: self.number, ..open.finished() })
    }

    /// The number of the open gesture, which it keeps when it ends.
    pub fn number(&self) -> Option<u32> {
        self.open.as_ref().map(|_| self.number.saturating_add(1))
    }

    /// Whether the open gesture will end without a further event: no finger is down.
    pub fn is_ending(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !matches!(open.finger, Finger::Down { .. }))
    }

    /// The flags of a frame that scrolls now.
    pub fn flags(&self) -> FrameFlags {
        let Some(open) = &self.open else { return FrameFlags::default() };
        match open.finger {
            Finger::Up { .. } => open.gesture.flags.with(FrameFlags::FLING),
            _ => open.gesture.flags,
        }
    }
}

impl Open {
    fn new(begin_ns: Uptime, finger: Finger, scene: u16) -> Self {
        Self {
            gesture: FrameGesture { begin_ns, scene, ..FrameGesture::default() },
            windows: JankWindows::new(),
            finger,
            quiet_since_ns: begin_ns,
        }
    }

    fn frame(&mut self, frame: &DisplayFrame, scene: u16) {
        // A finger that holds still stops the frame clock: what comes after it is another session of the same
        // gesture.
        if frame.flags.has(FrameFlags::BEGINS)
            && let Some(window) = self.windows.end()
        {
            self.window(&window);
        }
        if let Some(window) = self.windows.frame(frame) {
            self.window(&window);
        }
        let gesture = &mut self.gesture;
        if gesture.frames == 0 {
            gesture.scene = scene;
            // The frame in which the finger touched may have begun before it did.
            gesture.begin_ns = gesture.begin_ns.min(frame.time_ns);
        }
        gesture.frames = gesture.frames.saturating_add(1);
        gesture.sum_ns = gesture.sum_ns.saturating_add(frame.duration_ns);
        gesture.hitch_ns = gesture.hitch_ns.saturating_add(frame.hitch_ns());
        gesture.hitch_exact_ns = gesture.hitch_exact_ns.saturating_add(frame.hitch_exact_ns());
        gesture.longest_us = gesture.longest_us.max(micros(frame.duration_ns));
        gesture.frozen = gesture.frozen.saturating_add(u16::from(frame.is_frozen()));
        gesture.interval_sum_us = gesture.interval_sum_us.saturating_add(micros(frame.interval.ns()));
        if matches!(self.finger, Finger::Up { since_ns } if frame.end_ns() > since_ns) {
            gesture.flags = gesture.flags.with(FrameFlags::FLING);
        }
        self.quiet_since_ns = self.quiet_since_ns.max(frame.end_ns());
    }

    fn window(&mut self, window: &JankWindow) {
        if window.is_recorded() {
            self.gesture.windows = self.gesture.windows.saturating_add(1);
            keep_worst(&mut self.gesture.worst, window);
        }
    }

    fn finished(&self) -> FrameGesture {
        let mut gesture = self.gesture;
        gesture.duration_ms = millis(self.quiet_since_ns.since(gesture.begin_ns));
        match self.finger {
            Finger::Up { since_ns } => {
                gesture.fling_ms = millis(self.quiet_since_ns.since(since_ns));
            }
            // Another finger, or the screen, went before this one was lifted.
            Finger::Down { since_ns } => {
                gesture.finger_ms = millis(self.quiet_since_ns.since(since_ns));
            }
            Finger::Never => {}
        }
        gesture
    }
}

fn millis(ns: u64) -> u32 {
    u32::try_from(ns / 1_000_000).unwrap_or(u32::MAX)
}
