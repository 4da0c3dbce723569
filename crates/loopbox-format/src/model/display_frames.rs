//! Frames of the display: the result of a smoothness session.
//!
//! A *display frame* is one turn of `Choreographer.doFrame`; elsewhere in this crate a frame is one of a
//! stack. All instants are uptime, which is also the clock of `frameTimeNanos`. `loopbox-frames` computes the
//! numbers, and its documentation defines each of them; [`crate::display_frames`] defines their bytes.

#[cfg(doc)]
use super::frame_terms::{DropLevel, Stage};
use super::frame_terms::{FrameCause, FrameFlags, JankPlace, SceneKind};
use super::{Token, Uptime};
use crate::text::BoundedStr;

/// The frames that were shown while one refresh interval was in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateFrames {
    /// The interval, nanoseconds; 0 for an entry that is not used.
    pub interval_ns: u32,
    /// How many frames were shown at this interval.
    pub frames: u32,
    /// How long these frames were shown, in sum.
    pub sum_ns: u64,
}

/// Sums over the frames in which a view scrolled, or over the frames that a finger scrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScrollSums {
    /// How many frames.
    pub frames: u32,
    /// How many frames were shown for longer than 700 ms.
    pub frozen: u32,
    /// How long the frames were shown, in sum.
    pub sum_ns: u64,
    /// The sum of the time for which the frames were shown after their first refresh. Each frame's duration
    /// is rounded to whole refreshes.
    pub hitch_ns: u64,
}

/// The frames of one screen as counts and sums, which add up over screens, processes and users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameScene {
    /// The screen: an Activity's class, or what the app calls it.
    pub name: BoundedStr<96>,
    /// The kind of the entry: one screen, all screens without an entry, or the whole process.
    pub kind: SceneKind,
    /// Whether an observed refresh interval differed from the one that the display claims.
    pub observed_rate: bool,
    /// How many frames were shown until a later frame replaced them. Only such frames have a duration, and
    /// only they are counted.
    pub frames: u32,
    /// How many reports of stages were about the first frame of a new window. They are in no other figure of
    /// stages.
    pub first_draw: u32,
    /// How many reports of stages the platform dropped.
    pub lost_reports: u32,
    /// Gestures that ended on this screen.
    pub gestures: u32,
    /// How long the frames were shown, in sum.
    pub sum_ns: u64,
    /// How long the frames were shown, in sum, each duration rounded to whole refreshes (at least one).
    pub ideal_ns: u64,
    /// The sum of the time for which the frames were shown after their first refresh. Each frame's duration
    /// is rounded to whole refreshes.
    pub hitch_ns: u64,
    /// The sum of the time for which the frames were shown beyond one refresh interval, not rounded.
    pub hitch_exact_ns: u64,
    /// The sum of the time by which the main thread's part of a frame exceeded one refresh interval.
    pub delay_ns: u64,
    /// Frames for each [`DropLevel`].
    pub level_frames: [u32; 5],
    /// Dropped frames for each [`DropLevel`].
    pub level_dropped: [u64; 5],
    /// Frames by duration: four buckets for each doubling from 4 ms to 1.024 s. The last bucket also has all
    /// longer frames.
    pub histogram: [u32; 32],
    /// How many values of FPS there are, one for each second of frames.
    pub fps_values: u32,
    /// The longest frame, microseconds.
    pub longest_us: u32,
    /// The sum of the values of FPS, in thousandths of a frame per second.
    pub fps_sum_milli: u64,
    /// How many values of FPS are in each sixteenth of the refresh rate; higher values are in the last.
    pub fps_shares: [u16; 16],
    /// The frames in which a view scrolled.
    pub scroll: ScrollSums,
    /// The frames in which a view scrolled because of a finger.
    pub finger: ScrollSums,
    /// How many jank windows there were: windows of time, as `loopbox_frames` defines them.
    pub windows: u32,
    /// Jank windows with an FPS below 5/6 of the refresh rate.
    pub windows_recorded: u32,
    /// Jank windows that the end of their session cut off.
    pub windows_incomplete: u32,
    /// The lowest FPS of a recorded window, in thousandths; `None` without one.
    pub worst_window_fps_milli: Option<u32>,
    /// Slow frames for each [`FrameCause`].
    pub causes: [u32; 12],
    /// The time in each [`Stage`].
    pub stage_ns: [u64; 10],
    /// The refresh intervals, in the order of their first frame.
    pub rates: [RateFrames; 4],
    /// How many frames had a refresh interval for which `rates` had no entry left.
    pub other_rates: u32,
    /// Frames that were shown for two refreshes or more.
    pub slow_cadence: u32,
    /// Frames that were shown for longer than 700 ms.
    pub frozen_cadence: u32,
    /// Frames that missed their deadline, as their stages show.
    pub slow_cost: u32,
    /// Frames whose stages took longer than 700 ms.
    pub frozen_cost: u32,
    /// Frames whose stages were reported.
    pub staged: u32,
    /// Reports of stages that came twice.
    pub duplicates: u32,
    /// Reports of stages with impossible times.
    pub rejected: u32,
    /// Frames that were shown for longer than 1/20 s.
    pub below_20_fps: u32,
    /// Frames that were shown for longer than 1/30 s.
    pub below_30_fps: u32,
}

/// A jank window of a gesture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorstWindow {
    /// Its first frame, counted from the first frame of the gesture, which is 0.
    pub first_frame: u16,
    /// How many frames it has; 0 for an entry that is not used.
    pub frames: u16,
    /// How long its frames were shown, microseconds.
    pub duration_us: u32,
}

/// One scroll, from the finger's touch until the fling has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameGesture {
    /// When the finger touched, or the first frame scrolled.
    pub begin_ns: Uptime,
    /// How long it took: until the finger was lifted or the last scrolled frame was replaced, whichever was
    /// later.
    pub duration_ms: u32,
    /// The part of `duration_ms` in which the finger was down.
    pub finger_ms: u32,
    /// The part of `duration_ms` after the finger was lifted.
    pub fling_ms: u32,
    /// How many frames scrolled.
    pub frames: u32,
    /// How long the scrolled frames were shown, in sum.
    pub sum_ns: u64,
    /// The sum of the time for which the scrolled frames were shown after their first refresh. Each frame's
    /// duration is rounded to whole refreshes.
    pub hitch_ns: u64,
    /// The sum of the time for which the scrolled frames were shown beyond one refresh interval, not rounded.
    pub hitch_exact_ns: u64,
    /// How long the longest frame was shown, microseconds.
    pub longest_us: u32,
    /// Frames that were shown for longer than 700 ms.
    pub frozen: u16,
    /// How many of its jank windows were recorded: those with an FPS below 5/6 of the refresh rate.
    pub windows: u16,
    /// The worst recorded jank windows, lowest FPS first.
    pub worst: [WorstWindow; 3],
    /// Its screen: an index into the scenes, as [`FrameSession::scenes`] has them.
    pub scene: u16,
    /// Its number on this screen, from 1.
    pub ordinal: u16,
    /// Whether [`FrameFlags::FINGER`] and [`FrameFlags::FLING`] apply.
    pub flags: FrameFlags,
    /// Its number in the process, from 1.
    pub number: u32,
    /// The sum of the refresh intervals of its frames, microseconds.
    pub interval_sum_us: u32,
}

/// A frame that was shown for too long, and what is known of the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JankFrame {
    /// Its frame time.
    pub frame_time_ns: Uptime,
    /// How long it was shown.
    pub duration_ns: u64,
    /// The refresh interval in force.
    pub interval_ns: u32,
    /// The number of its gesture in the process.
    pub gesture: Option<u32>,
    /// The token of the frame's own message.
    pub own_token: Option<Token>,
    /// How long the frame's own message took.
    pub own_ns: Option<u64>,
    /// The token of the slowest other message before the next frame.
    pub other_token: Option<Token>,
    /// How long the message with the token `other_token` took.
    pub other_ns: Option<u64>,
    /// The token of the stack tree that shows the reason.
    pub tree_token: Option<Token>,
    /// The lower half of the frame's number in SurfaceFlinger's timeline (API 36 and newer); `None` when it
    /// is not known.
    pub vsync_id: Option<u64>,
    /// The bits of `JankData.getJankType()` (API 36 and newer); `None` when they are not known.
    pub jank_type: Option<u32>,
    /// Its screen.
    pub scene: u16,
    /// The main cause according to its stages; `None` when they are not known.
    pub cause: Option<FrameCause>,
    /// Where its time was spent; `None` when that is not known.
    pub place: Option<JankPlace>,
}

/// One of the newest frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecentFrame {
    /// Its frame time.
    pub frame_time_ns: Uptime,
    /// How long it was shown, microseconds.
    pub duration_us: u32,
    /// The time from its vsync to the end of its message, microseconds.
    pub main_us: Option<u32>,
    /// The refresh interval in force, microseconds.
    pub interval_us: u16,
    /// How many frames were dropped while it was shown.
    pub dropped: u16,
    /// Other properties.
    pub flags: FrameFlags,
    /// Its screen.
    pub scene: u16,
    /// The lower half of the token of its message.
    pub token_low: Option<u32>,
    /// How long the slowest other message since the previous frame took, microseconds.
    pub other_us: Option<u32>,
}

/// The stages of one of the newest frames, as the platform gave them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StageFrame {
    /// `VSYNC_TIMESTAMP`: the frame time (API 26 and newer).
    pub vsync_ns: Option<Uptime>,
    /// The eight stages of the platform in its order, microseconds.
    pub stages_us: [u32; 8],
    /// `TOTAL_DURATION`, microseconds.
    pub total_us: u32,
    /// `GPU_DURATION`, microseconds (API 31 and newer).
    pub gpu_us: Option<u32>,
    /// `DEADLINE`, microseconds after the intended vsync (API 31 and newer).
    pub deadline_us: Option<u32>,
    /// The lower half of `FRAME_TIMELINE_VSYNC_ID` (API 36 and newer).
    pub vsync_id_low: Option<u32>,
    /// How many reports of stages were lost before this one.
    pub lost: u16,
    /// Its screen.
    pub scene: u16,
    /// How long before the frame time the intended vsync was, microseconds; 65,534 at most.
    pub intended_before_us: Option<u16>,
    /// The lower eight bits of the frame's [`FrameFlags`]. The recorder sets only [`FrameFlags::FIRST_DRAW`].
    pub flags: u8,
    /// Its main cause; `None` for a frame that was not slow.
    pub cause: Option<FrameCause>,
}

/// All that a smoothness session leaves in a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameSession {
    /// The figures of the process and of its screens.
    pub scenes: Vec<FrameScene>,
    /// The newest gestures, oldest first.
    pub gestures: Vec<FrameGesture>,
    /// The worst jank frames, oldest first.
    pub janks: Vec<JankFrame>,
    /// The newest frames, oldest first.
    pub recent: Vec<RecentFrame>,
    /// The stages of the newest frames, oldest first.
    pub stages: Vec<StageFrame>,
}

impl FrameSession {
    /// Whether there was no display frame.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}
