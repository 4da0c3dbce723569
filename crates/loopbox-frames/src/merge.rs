//! Merges the sums of several processes.

use crate::histogram::BUCKETS;
use loopbox_format::model::{FrameScene, RateFrames, SceneKind, ScrollSums};
use loopbox_format::text::BoundedStr;

/// The sums of one screen over any number of processes: as if all frames had been counted together, except
/// for refresh intervals beyond the fourth, which are left out of `rates`. The counts have 64 bits here. The
/// counts of one process have 32 bits, and those of `fps_shares` 16, which is too little for the frames of
/// all users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergedScene {
    /// The screen: an Activity's class, or what the app calls it.
    pub name: BoundedStr<96>,
    /// The kind of the entry.
    pub kind: SceneKind,
    /// Whether an observed refresh interval differed from the one that the display claims.
    pub observed_rate: bool,
    /// How many frames were replaced by a later frame.
    pub frames: u64,
    /// How many reports of stages were about the first frame of a new window.
    pub first_draw: u64,
    /// How many reports of stages the platform dropped.
    pub lost_reports: u64,
    /// Reports of stages that came twice.
    pub duplicates: u64,
    /// Reports of stages with impossible times.
    pub rejected: u64,
    /// Gestures that ended on this screen.
    pub gestures: u64,
    /// How many values of FPS there are.
    pub fps_values: u64,
    /// How many jank windows there were.
    pub windows: u64,
    /// How many jank windows were recorded, because their FPS is below 5/6 of the refresh rate.
    pub windows_recorded: u64,
    /// Jank windows that the end of their session cut off.
    pub windows_incomplete: u64,
    /// Frames that were shown for two refreshes or more.
    pub slow_cadence: u64,
    /// Frames that were shown for longer than 700 ms.
    pub frozen_cadence: u64,
    /// Frames that missed their deadline, as their stages show.
    pub slow_cost: u64,
    /// Frames whose stages took longer than 700 ms.
    pub frozen_cost: u64,
    /// Frames whose stages were reported.
    pub staged: u64,
    /// Frames that were shown for longer than 1/20 s.
    pub below_20_fps: u64,
    /// Frames that were shown for longer than 1/30 s.
    pub below_30_fps: u64,
    /// How long the frames were shown.
    pub sum_ns: u64,
    /// How long the frames were shown, each duration rounded to whole refreshes (at least one).
    pub ideal_ns: u64,
    /// How long the frames were shown after their first refresh, each duration rounded.
    pub hitch_ns: u64,
    /// How long the frames were shown beyond one refresh interval, not rounded.
    pub hitch_exact_ns: u64,
    /// By how much the main thread's part of a frame exceeded one refresh interval.
    pub delay_ns: u64,
    /// The sum of the values of FPS, in thousandths of a frame per second.
    pub fps_sum_milli: u64,
    /// Frames for each drop level.
    pub level_frames: [u64; 5],
    /// Dropped frames for each drop level.
    pub level_dropped: [u64; 5],
    /// Frames by duration, in the buckets of [`histogram`](crate::histogram).
    pub histogram: [u64; BUCKETS],
    /// How many values of FPS are in each sixteenth of the refresh rate; higher values are in the last.
    pub fps_shares: [u64; 16],
    /// Slow frames for each cause.
    pub causes: [u64; 12],
    /// The time in each stage.
    pub stage_ns: [u64; 10],
    /// The longest frame, microseconds.
    pub longest_us: u32,
    /// The lowest FPS of a recorded window, in thousandths; `None` without one.
    pub worst_window_fps_milli: Option<u32>,
    /// The frames in which a view scrolled.
    pub scroll: MergedScroll,
    /// The frames in which a view scrolled because of a finger.
    pub finger: MergedScroll,
    /// The refresh intervals, in the order of their first frame.
    pub rates: [MergedRate; 4],
}

/// Sums over frames in which a view scrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergedScroll {
    /// How many frames.
    pub frames: u64,
    /// Frames that were shown for longer than 700 ms.
    pub frozen: u64,
    /// How long the frames were shown.
    pub sum_ns: u64,
    /// How long the frames were shown after their first refresh, each duration rounded.
    pub hitch_ns: u64,
}

/// The frames that were shown while one refresh interval was in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergedRate {
    /// The interval, nanoseconds; 0 for an entry that is not used.
    pub interval_ns: u32,
    /// How many frames.
    pub frames: u64,
    /// How long the frames were shown.
    pub sum_ns: u64,
}

impl From<&FrameScene> for MergedScene {
    fn from(scene: &FrameScene) -> Self {
        Self {
            name: scene.name,
            kind: scene.kind,
            observed_rate: scene.observed_rate,
            frames: scene.frames.into(),
            first_draw: scene.first_draw.into(),
            lost_reports: scene.lost_reports.into(),
            duplicates: scene.duplicates.into(),
            rejected: scene.rejected.into(),
            gestures: scene.gestures.into(),
            fps_values: scene.fps_values.into(),
            windows: scene.windows.into(),
            windows_recorded: scene.windows_recorded.into(),
            windows_incomplete: scene.windows_incomplete.into(),
            slow_cadence: scene.slow_cadence.into(),
            frozen_cadence: scene.frozen_cadence.into(),
            slow_cost: scene.slow_cost.into(),
            frozen_cost: scene.frozen_cost.into(),
            staged: scene.staged.into(),
            below_20_fps: scene.below_20_fps.into(),
            below_30_fps: scene.below_30_fps.into(),
            sum_ns: scene.sum_ns,
            ideal_ns: scene.ideal_ns,
            hitch_ns: scene.hitch_ns,
            hitch_exact_ns: scene.hitch_exact_ns,
            delay_ns: scene.delay_ns,
            fps_sum_milli: scene.fps_sum_milli,
            level_frames: scene.level_frames.map(u64::from),
            level_dropped: scene.level_dropped,
            histogram: scene.histogram.map(u64::from),
            fps_shares: scene.fps_shares.map(u64::from),
            causes: scene.causes.map(u64::from),
            stage_ns: scene.stage_ns,
            longest_us: scene.longest_us,
            worst_window_fps_milli: scene.worst_window_fps_milli,
            scroll: MergedScroll::from(&scene.scroll),
            finger: MergedScroll::from(&scene.finger),
            rates: scene.rates.map(MergedRate::from),
        }
    }
}

impl From<&ScrollSums> for MergedScroll {
    fn from(sums: &ScrollSums) -> Self {
        Self {
            frames: sums.frames.into(),
            frozen: sums.frozen.into(),
            sum_ns: sums.sum_ns,
            hitch_ns: sums.hitch_ns,
        }
    }
}

impl From<RateFrames> for MergedRate {
    fn from(rate: RateFrames) -> Self {
        Self { interval_ns: rate.interval_ns, frames: rate.frames.into(), sum_ns: rate.sum_ns }
    }
}

impl MergedScene {
    /// Adds the sums of `other`. Name and kind stay.
    pub fn add(&mut self, other: &Self) {
        for (to, from) in [
            (&mut self.frames, other.frames),
            (&mut self.first_draw, other.first_draw),
            (&mut self.lost_reports, other.lost_reports),
            (&mut self.duplicates, other.duplicates),
            (&mut self.rejected, other.rejected),
            (&mut self.gestures, other.gestures),
            (&mut self.fps_values, other.fps_values),
            (&mut self.windows, other.windows),
            (&mut self.windows_recorded, other.windows_recorded),
            (&mut self.windows_incomplete, other.windows_incomplete),
            (&mut self.slow_cadence, other.slow_cadence),
            (&mut self.frozen_cadence, other.frozen_cadence),
            (&mut self.slow_cost, other.slow_cost),
            (&mut self.frozen_cost, other.frozen_cost),
            (&mut self.staged, other.staged),
            (&mut self.below_20_fps, other.below_20_fps),
            (&mut self.below_30_fps, other.below_30_fps),
            (&mut self.sum_ns, other.sum_ns),
            (&mut self.ideal_ns, other.ideal_ns),
            (&mut self.hitch_ns, other.hitch_ns),
            (&mut self.hitch_exact_ns, other.hitch_exact_ns),
            (&mut self.delay_ns, other.delay_ns),
            (&mut self.fps_sum_milli, other.fps_sum_milli),
        ] {
            *to = to.saturating_add(from);
        }
        each(&mut self.level_frames, &other.level_frames);
        each(&mut self.level_dropped, &other.level_dropped);
        each(&mut self.histogram, &other.histogram);
        each(&mut self.fps_shares, &other.fps_shares);
        each(&mut self.causes, &other.causes);
        each(&mut self.stage_ns, &other.stage_ns);
        self.scroll.add(&other.scroll);
        self.finger.add(&other.finger);
        self.observed_rate |= other.observed_rate;
        self.longest_us = self.longest_us.max(other.longest_us);
        let worst = [self.worst_window_fps_milli, other.worst_window_fps_milli];
        self.worst_window_fps_milli = worst.into_iter().flatten().min();
        for rate in other.rates.iter().filter(|rate| rate.frames > 0) {
            self.add_rate(rate);
        }
    }

    fn add_rate(&mut self, rate: &MergedRate) {
        let is_its = |kept: &&mut MergedRate| kept.frames == 0 || kept.interval_ns == rate.interval_ns;
        if let Some(kept) = self.rates.iter_mut().find(is_its) {
            kept.interval_ns = rate.interval_ns;
            kept.frames = kept.frames.saturating_add(rate.frames);
            kept.sum_ns = kept.sum_ns.saturating_add(rate.sum_ns);
        }
    }
}

impl MergedScroll {
    fn add(&mut self, other: &Self) {
        self.frames = self.frames.saturating_add(other.frames);
        self.frozen = self.frozen.saturating_add(other.frozen);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.hitch_ns = self.hitch_ns.saturating_add(other.hitch_ns);
    }
}

fn each(to: &mut [u64], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = to.saturating_add(*from));
}
