//! The figures of one screen, frame by frame.

use crate::cause::{default_threshold_ns, main_cause};
use crate::display_frame::{DisplayFrame, FROZEN_NS, micros};
use crate::histogram::bucket;
use crate::interval::RefreshInterval;
use crate::levels::level;
use crate::stages::StageReport;
use crate::windows::{JankWindow, JankWindows};
use loopbox_format::model::{
    FrameCause, FrameFlags, FrameGesture, FrameScene, RateFrames, SceneKind, ScrollSums,
};
use loopbox_format::text::BoundedStr;

/// An FPS value covers consecutive frames until they were shown for at least this long together. Taobao says
/// "exceeds 1 s", but means "reaches".
const FPS_VALUE_NS: u64 = 1_000_000_000;
/// 1/20 s, a target of Play's vitals. [`BELOW_30_FPS_NS`], 1/30 s, is the other one.
const BELOW_20_FPS_NS: u64 = 50_000_000;
const BELOW_30_FPS_NS: u64 = 33_333_333;

/// The sums of the frames of one screen. It has no list, allocates nothing on the heap and does not read
/// ahead.
#[derive(Debug, Clone)]
pub struct SceneStats {
    sums: FrameScene,
    windows: JankWindows,
    value: FpsValue,
}

/// The frames since the last value of FPS.
#[derive(Debug, Clone, Copy, Default)]
struct FpsValue {
    frames: u64,
    sum_ns: u64,
    interval_sum_ns: u64,
}

impl SceneStats {
    /// A screen without frames.
    pub fn new(kind: SceneKind, name: &str) -> Self {
        Self {
            sums: FrameScene { kind, name: BoundedStr::new(name), ..FrameScene::default() },
            windows: JankWindows::new(),
            value: FpsValue::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.sums.name.as_str()
    }

    /// Counts a frame.
    pub fn frame(&mut self, frame: &DisplayFrame) {
        if frame.flags.has(FrameFlags::BEGINS) {
            self.end_session();
        }
        let (duration, interval, dropped) = (frame.duration_ns, frame.interval, frame.dropped());
        let sums = &mut self.sums;
        add(&mut sums.frames, 1);
        add64(&mut sums.sum_ns, duration);
        add64(&mut sums.ideal_ns, frame.refreshes().saturating_mul(interval.ns()));
        add64(&mut sums.hitch_ns, frame.hitch_ns());
        add64(&mut sums.hitch_exact_ns, frame.hitch_exact_ns());
        sums.longest_us = sums.longest_us.max(micros(duration));
        let level = level(dropped, interval).index();
        at(&mut sums.level_frames, level, |frames| add(frames, 1));
        at(&mut sums.level_dropped, level, |sum| add64(sum, u64::from(dropped)));
        at(&mut sums.histogram, bucket(duration), |frames| add(frames, 1));
        add(&mut sums.slow_cadence, u32::from(dropped > 0));
        add(&mut sums.frozen_cadence, u32::from(frame.is_frozen()));
        add(&mut sums.below_20_fps, u32::from(duration > BELOW_20_FPS_NS));
        add(&mut sums.below_30_fps, u32::from(duration > BELOW_30_FPS_NS));
        if frame.flags.has(FrameFlags::SCROLLED) {
            scrolled(&mut sums.scroll, frame);
        }
        self.rate(frame);
        self.fps_value(frame);
        if let Some(window) = self.windows.frame(frame) {
            self.window(&window);
        }
    }

    /// The session has ended: no jank window continues in the next one.
    pub fn end_session(&mut self) {
        if let Some(window) = self.windows.end() {
            self.window(&window);
        }
    }

    /// Counts how long a frame kept the main thread busy beyond one interval; `main_ns` is the time from its
    /// vsync to the end of its message.
    pub fn main_part(&mut self, main_ns: u64, interval: RefreshInterval) {
        add64(&mut self.sums.delay_ns, main_ns.saturating_sub(interval.ns()));
    }

    /// A gesture ended here; it gets its number on this screen.
    pub fn gesture(&mut self, gesture: &mut FrameGesture) {
        add(&mut self.sums.gestures, 1);
        gesture.ordinal = u16::try_from(self.sums.gestures).unwrap_or(u16::MAX);
        if gesture.flags.has(FrameFlags::FINGER) {
            let finger = &mut self.sums.finger;
            add(&mut finger.frames, gesture.frames);
            add(&mut finger.frozen, u32::from(gesture.frozen));
            add64(&mut finger.sum_ns, gesture.sum_ns);
            add64(&mut finger.hitch_ns, gesture.hitch_ns);
        }
    }

    /// Counts a report of stages. If the frame was slow by the default threshold, returns the main cause.
    pub fn stages(&mut self, report: &StageReport, interval: RefreshInterval) -> Option<FrameCause> {
        if report.first_draw {
            add(&mut self.sums.first_draw, 1);
            return None;
        }
        let sums = &mut self.sums;
        add(&mut sums.staged, 1);
        for (sum, ns) in sums.stage_ns.iter_mut().zip(report.stage_ns) {
            add64(sum, ns);
        }
        add(&mut sums.slow_cost, u32::from(report.is_slow(interval)));
        add(&mut sums.frozen_cost, u32::from(report.total_ns > FROZEN_NS));
        let cause = main_cause(report, default_threshold_ns(interval));
        if let Some(cause) = cause {
            at(&mut sums.causes, cause.index(), |frames| add(frames, 1));
        }
        cause
    }

    /// Counts reports that the platform could not deliver (`dropCountSinceLastInvocation`).
    pub fn lost_reports(&mut self, count: u32) {
        add(&mut self.sums.lost_reports, count);
    }

    /// Counts a duplicate report.
    pub fn duplicate_report(&mut self) {
        add(&mut self.sums.duplicates, 1);
    }

    /// Counts a report with impossible times.
    pub fn rejected_report(&mut self) {
        add(&mut self.sums.rejected, 1);
    }

    /// Records that the refresh interval was observed, rather than claimed by the display.
    pub fn observed_rate(&mut self) {
        self.sums.observed_rate = true;
    }

    /// The figures so far, in the form of a report. They lack the jank window that is still open.
    pub fn sums(&self) -> &FrameScene {
        &self.sums
    }

    fn rate(&mut self, frame: &DisplayFrame) {
        let interval_ns = frame.interval.ns() as u32;
        let sums = &mut self.sums;
        let is_its = |kept: &&mut RateFrames| kept.frames == 0 || kept.interval_ns == interval_ns;
        match sums.rates.iter_mut().find(is_its) {
            Some(kept) => {
                kept.interval_ns = interval_ns;
                add(&mut kept.frames, 1);
                add64(&mut kept.sum_ns, frame.duration_ns);
            }
            None => add(&mut sums.other_rates, 1),
        }
    }

    fn fps_value(&mut self, frame: &DisplayFrame) {
        let value = &mut self.value;
        value.frames += 1;
        value.sum_ns = value.sum_ns.saturating_add(frame.duration_ns);
        value.interval_sum_ns = value.interval_sum_ns.saturating_add(frame.interval.ns());
        if value.sum_ns < FPS_VALUE_NS {
            return;
        }
        let sums = &mut self.sums;
        add(&mut sums.fps_values, 1);
        add64(&mut sums.fps_sum_milli, value.frames.saturating_mul(1_000_000_000_000) / value.sum_ns);
        let last = sums.fps_shares.len() - 1;
        let share = value.interval_sum_ns.saturating_mul(16) / value.sum_ns;
        at(&mut sums.fps_shares, (share as usize).min(last), |values| *values = values.saturating_add(1));
        *value = FpsValue::default();
    }

    fn window(&mut self, window: &JankWindow) {
        let sums = &mut self.sums;
        add(&mut sums.windows, 1);
        add(&mut sums.windows_incomplete, u32::from(!window.complete));
        if window.is_recorded() {
            add(&mut sums.windows_recorded, 1);
            let fps = window.fps_milli();
            sums.worst_window_fps_milli =
                Some(sums.worst_window_fps_milli.map_or(fps, |worst| worst.min(fps)));
        }
    }
}

fn scrolled(sums: &mut ScrollSums, frame: &DisplayFrame) {
    add(&mut sums.frames, 1);
    add(&mut sums.frozen, u32::from(frame.is_frozen()));
    add64(&mut sums.sum_ns, frame.duration_ns);
    add64(&mut sums.hitch_ns, frame.hitch_ns());
}

fn add(sum: &mut u32, more: u32) {
    *sum = sum.saturating_add(more);
}

fn add64(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn at<T, const N: usize>(list: &mut [T; N], index: usize, change: impl FnOnce(&mut T)) {
    if let Some(item) = list.get_mut(index) {
        change(item);
    }
}
