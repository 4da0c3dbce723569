//! The figures of one screen, or of several as one.

use crate::model::name::Name;
use crate::model::plural::listed;
use loopbox_format::model::{DropLevel, FrameCause, FrameScene, SceneKind, Stage};
use loopbox_frames::{MergedScene, MergedScroll, histogram, rates};
use schemars::JsonSchema;
use serde::Serialize;

/// The display frames of a screen.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SceneView {
    /// The name of the screen; `all screens` for all of them together, and `other screens` for those without
    /// separate sums.
    pub name: String,
    /// What the figures cover: one screen, all screens without separate sums, or all screens.
    pub kind: Name<SceneKind>,
    /// The number of display frames.
    pub frames: u64,
    /// How long the frames stood.
    pub duration_ms: f64,
    /// Frames per second; `None` without a frame.
    pub fps: Option<f64>,
    /// FPS as a share of the refresh rate.
    pub fps_of_rate: Option<f64>,
    /// The refresh rates that were in force, in the order of their first frame.
    pub rates: Vec<RateView>,
    /// Whether the observed refresh rate differed from the rate that the display claims.
    pub observed_rate: bool,
    /// The duration that half of the frames do not exceed. Its error is at most 12 %.
    pub p50_ms: Option<f64>,
    /// The duration that nine tenths of the frames do not exceed. Its error is at most 12 %.
    pub p90_ms: Option<f64>,
    /// The duration that 99 % of the frames do not exceed. Its error is at most 12 %.
    pub p99_ms: Option<f64>,
    /// The duration of the longest frame.
    pub longest_ms: f64,
    /// The frames by duration. Buckets without frames are left out.
    pub histogram: Vec<BucketView>,
    /// The hitch time: the sum, over all frames, of the time for which a frame was shown beyond its first
    /// refresh. Each frame's duration is rounded to whole refreshes.
    pub hitch_ms: f64,
    /// The hitch time for each second of the frames.
    pub hitch_ms_per_s: Option<f64>,
    /// The hitch time for each second of the frames, without rounding to whole refreshes. Jitter is included.
    pub hitch_exact_ms_per_s: Option<f64>,
    /// The number of frames that stood for two refreshes or more.
    pub slow: u64,
    /// The number of frames that stood longer than 700 ms.
    pub frozen: u64,
    /// How many of a thousand frames stood longer than 700 ms.
    pub frozen_permille: Option<f64>,
    /// The frames and the dropped frames by level, best level first.
    pub levels: Vec<LevelView>,
    /// The FPS values, one for each second of the frames.
    pub fps_values: FpsValuesView,
    /// The frames in which a view scrolled.
    pub scroll: ScrollView,
    /// The frames in which a view scrolled in gestures that a finger caused, including their flings.
    pub finger: ScrollView,
    /// The jank windows.
    pub windows: WindowsView,
    /// The number of gestures that ended on this screen.
    pub gestures: u64,
    /// Whether more than a quarter of the frames were below 20 FPS.
    pub slow_session_20_fps: bool,
    /// Whether more than a quarter of the frames were below 30 FPS.
    pub slow_session_30_fps: bool,
    /// The sum, over all frames, of the time for which a frame kept the main thread busy beyond one refresh
    /// interval.
    pub delay_ms: f64,
    /// The number of frames whose stages were reported.
    pub staged: u64,
    /// The number of staged frames that missed their deadline.
    pub slow_cost: u64,
    /// The number of staged frames that took longer than 700 ms.
    pub frozen_cost: u64,
    /// The main causes of slow frames, most frequent first.
    pub causes: Vec<FrameCauseView>,
    /// The time in each stage; empty when none was reported.
    pub stages: Vec<StageTimeView>,
    /// The number of stage reports that are about the first frame of a new window. No other figure of stages
    /// includes them.
    pub first_draw: u64,
    /// The number of stage reports that were lost.
    pub lost_reports: u64,
    /// The number of stage reports that came twice.
    pub duplicate_reports: u64,
    /// The number of stage reports with impossible times.
    pub rejected_reports: u64,
}

/// The frames of one refresh rate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RateView {
    /// The refresh rate.
    pub hz: f64,
    /// The number of frames.
    pub frames: u64,
    /// Frames per second, of the frames at this rate.
    pub fps: Option<f64>,
}

/// Frames of about the same duration.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BucketView {
    /// The shortest duration of the bucket; the first bucket includes all shorter ones.
    pub from_ms: f64,
    /// The end of the bucket: its durations are below this. `None` for the last bucket, which includes all
    /// longer ones.
    pub to_ms: Option<f64>,
    /// The number of frames.
    pub frames: u64,
}

/// Frames of one drop level.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LevelView {
    /// The level: `best`, `normal`, `middle`, `high` or `frozen`.
    pub level: Name<DropLevel>,
    /// The number of frames.
    pub frames: u64,
    /// How many frames were dropped because the frames of this level were late.
    pub dropped: u64,
}

/// Values of FPS, one for each second of frames.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FpsValuesView {
    /// The number of values.
    pub count: u64,
    /// The mean of the values.
    pub mean: Option<f64>,
    /// How many values are in each sixteenth of the refresh rate. Values above the refresh rate are in the
    /// last one.
    pub by_share: [u64; 16],
}

/// Frames in which a view scrolled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScrollView {
    /// The number of frames.
    pub frames: u64,
    /// Frames per second.
    pub fps: Option<f64>,
    /// The hitch rate.
    pub hitch_ms_per_s: Option<f64>,
    /// The number of frames that stood longer than 700 ms.
    pub frozen: u64,
}

/// The jank windows of a screen.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WindowsView {
    /// The number of all jank windows.
    pub all: u64,
    /// The number of jank windows whose FPS was below 5/6 of the refresh rate.
    pub recorded: u64,
    /// The number of jank windows that were cut off because their session ended.
    pub incomplete: u64,
    /// The lowest FPS of a recorded jank window.
    pub worst_fps: Option<f64>,
}

/// Slow frames of one main cause.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FrameCauseView {
    /// The cause: a stage, `unattributed`, `gpu` or `none`.
    pub cause: Name<FrameCause>,
    /// The number of frames.
    pub frames: u64,
}

/// The time in one stage.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StageTimeView {
    /// The stage.
    pub stage: Name<Stage>,
    /// The sum of the stage's time over all frames.
    pub sum_ms: f64,
}

/// A sum of nanoseconds in ms. A report's sums are far below 2⁵³ ns unless its file is forged. For a forged
/// file the figure is merely inexact.
fn ms(ns: u64) -> f64 {
    crate::model::time::ms(ns)
}

impl SceneView {
    pub(crate) fn new(sums: &MergedScene) -> Self {
        let quantile = |share| histogram::quantile_ns(&sums.histogram, sums.longest_us, share).map(ms);
        let interval_sum_ns = sums.ideal_ns.saturating_sub(sums.hitch_ns);
        let fps_sum = sums.fps_sum_milli as f64 / 1e3;
        Self {
            name: shown(sums.kind, sums.name.as_str()),
            kind: Name(sums.kind),
            frames: sums.frames,
            duration_ms: ms(sums.sum_ns),
            fps: rates::fps(sums.frames, sums.sum_ns),
            fps_of_rate: rates::relative_fps(interval_sum_ns, sums.sum_ns),
            rates: rates_of(sums),
            observed_rate: sums.observed_rate,
            p50_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p99_ms: quantile(0.99),
            longest_ms: f64::from(sums.longest_us) / 1e3,
            histogram: buckets(sums),
            hitch_ms: ms(sums.hitch_ns),
            hitch_ms_per_s: rates::hitch_ms_per_s(sums.hitch_ns, sums.sum_ns),
            hitch_exact_ms_per_s: rates::hitch_ms_per_s(sums.hitch_exact_ns, sums.sum_ns),
            slow: sums.slow_cadence,
            frozen: sums.frozen_cadence,
            frozen_permille: rates::ratio(sums.frozen_cadence, sums.frames).map(|ratio| ratio * 1e3),
            levels: DropLevel::ALL
                .map(|level| LevelView {
                    level: Name(level),
                    frames: sums.level_frames[level.index()],
                    dropped: sums.level_dropped[level.index()],
                })
                .to_vec(),
            fps_values: FpsValuesView {
                count: sums.fps_values,
                mean: rates::ratio(1, sums.fps_values).map(|one| one * fps_sum),
                by_share: sums.fps_shares,
            },
            scroll: ScrollView::new(&sums.scroll),
            finger: ScrollView::new(&sums.finger),
            windows: WindowsView {
                all: sums.windows,
                recorded: sums.windows_recorded,
                incomplete: sums.windows_incomplete,
                worst_fps: sums.worst_window_fps_milli.map(|milli| f64::from(milli) / 1e3),
            },
            gestures: sums.gestures,
            slow_session_20_fps: rates::is_slow_session(sums.below_20_fps, sums.frames),
            slow_session_30_fps: rates::is_slow_session(sums.below_30_fps, sums.frames),
            delay_ms: ms(sums.delay_ns),
            staged: sums.staged,
            slow_cost: sums.slow_cost,
            frozen_cost: sums.frozen_cost,
            causes: causes(sums),
            stages: stages(sums),
            first_draw: sums.first_draw,
            lost_reports: sums.lost_reports,
            duplicate_reports: sums.duplicates,
            rejected_reports: sums.rejected,
        }
    }

    /// The refresh rates in words: `60 Hz`, `60, 90 and 120 Hz`.
    pub(crate) fn rates_in_words(&self) -> String {
        let each: Vec<String> = self.rates.iter().map(|rate| format!("{:.0}", rate.hz)).collect();
        if each.is_empty() { "unknown rate".into() } else { format!("{} Hz", listed(&each)) }
    }
}

impl ScrollView {
    fn new(sums: &MergedScroll) -> Self {
        Self {
            frames: sums.frames,
            fps: rates::fps(sums.frames, sums.sum_ns),
            hitch_ms_per_s: rates::hitch_ms_per_s(sums.hitch_ns, sums.sum_ns),
            frozen: sums.frozen,
        }
    }
}

/// The name of a report's screen in the output.
pub(crate) fn name(scene: &FrameScene) -> String {
    shown(scene.kind, scene.name.as_str())
}

/// The name of a screen in the output, by the kind of its entry and the name in the report.
pub(super) fn shown(kind: SceneKind, name: &str) -> String {
    match kind {
        SceneKind::Process => "all screens".into(),
        SceneKind::Other => "other screens".into(),
        SceneKind::Named if name.is_empty() => "(no name)".into(),
        SceneKind::Named => name.into(),
    }
}

fn rates_of(sums: &MergedScene) -> Vec<RateView> {
    let known = sums.rates.iter().filter(|rate| rate.frames > 0 && rate.interval_ns > 0);
    known
        .map(|rate| RateView {
            hz: 1e9 / f64::from(rate.interval_ns),
            frames: rate.frames,
            fps: rates::fps(rate.frames, rate.sum_ns),
        })
        .collect()
}

fn buckets(sums: &MergedScene) -> Vec<BucketView> {
    let filled = sums.histogram.iter().enumerate().filter(|(_, frames)| **frames > 0);
    filled
        .map(|(bucket, &frames)| BucketView {
            from_ms: ms(histogram::bucket_begin_ns(bucket)),
            to_ms: (bucket + 1 < histogram::BUCKETS).then(|| ms(histogram::bucket_begin_ns(bucket + 1))),
            frames,
        })
        .collect()
}

fn causes(sums: &MergedScene) -> Vec<FrameCauseView> {
    let all = FrameCause::ALL
        .into_iter()
        .map(|cause| FrameCauseView { cause: Name(cause), frames: sums.causes[cause.index()] });
    let mut causes: Vec<FrameCauseView> = all.filter(|cause| cause.frames > 0).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.frames));
    causes
}

fn stages(sums: &MergedScene) -> Vec<StageTimeView> {
    let all = Stage::ALL
        .into_iter()
        .map(|stage| StageTimeView { stage: Name(stage), sum_ms: ms(sums.stage_ns[stage.index()]) });
    if sums.staged > 0 { all.collect() } else { Vec::new() }
}
