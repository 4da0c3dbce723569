//! What the platform's `FrameMetrics` reports of a frame, checked and completed.
//!
//! The platform's total is not the sum of its stages, although its javadoc says so: while the main thread
//! waits for the render thread to take the frame (`SYNC_QUEUED` to `SYNC_START` in `CanvasContext.cpp`), no
//! stage runs. On API 24 to 30 that wait is the only difference between total and stages. From API 31 on, the
//! total ends when the GPU has finished, if that is after the swap of the buffers. On API 31 and 32
//! `GPU_DURATION` begins with the swap, so the GPU's tail is known exactly; from API 33 on it begins later,
//! so the tail is at most `GPU_DURATION`.

use crate::interval::RefreshInterval;
use loopbox_format::model::{FrameCause, FrameFlags, Stage, StageFrame, Uptime};

/// How many values `FrameMetrics.getMetric` knows.
pub const METRICS: usize = 15;

/// Positions in the array of metrics: the constants of `android.view.FrameMetrics`.
mod id {
    pub(super) const SWAP_BUFFERS: usize = 7;
    pub(super) const TOTAL: usize = 8;
    pub(super) const FIRST_DRAW: usize = 9;
    pub(super) const INTENDED_VSYNC: usize = 10;
    pub(super) const VSYNC: usize = 11;
    pub(super) const GPU: usize = 12;
    pub(super) const DEADLINE: usize = 13;
    pub(super) const VSYNC_ID: usize = 14;
}

/// Durations from this value on are invalid: "some devices will produce outliers" (`FrameTracer.java`,
/// Tencent/matrix).
const OUTLIER: i64 = 1 << 62;
/// A deadline of this length or more is not valid.
const LONGEST_DEADLINE_NS: u64 = 1_000_000_000;

/// The platform's stages in the order of its constants.
const PLATFORM: [Stage; 8] = [
    Stage::UnknownDelay,
    Stage::Input,
    Stage::Animation,
    Stage::LayoutMeasure,
    Stage::Draw,
    Stage::Sync,
    Stage::CommandIssue,
    Stage::SwapBuffers,
];

/// A report with an impossible duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected;

/// The stages of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageReport {
    /// The time in each [`Stage`]. Their sum is the total, or more when the platform's stages overlap.
    pub stage_ns: [u64; 10],
    /// Whether the wait for the render thread and the GPU's tail are separated exactly.
    pub tail_is_exact: bool,
    /// `TOTAL_DURATION`.
    pub total_ns: u64,
    /// `GPU_DURATION` (API 31 and newer).
    pub gpu_ns: Option<u64>,
    /// `DEADLINE`: from the intended vsync (API 31 and newer).
    pub deadline_ns: Option<u64>,
    /// `VSYNC_TIMESTAMP`: the frame time, equal to `frameTimeNanos` (API 26 and newer).
    pub vsync_ns: Option<Uptime>,
    /// `INTENDED_VSYNC_TIMESTAMP` (API 26 and newer).
    pub intended_vsync_ns: Option<Uptime>,
    /// `FRAME_TIMELINE_VSYNC_ID` (API 36 and newer).
    pub vsync_id: Option<u64>,
    /// Whether it is a frame of a new window, which does not count as jank.
    pub first_draw: bool,
}

impl StageReport {
    /// Reads the values of a `FrameMetrics` of this API level, each at the position of its constant.
    ///
    /// # Errors
    /// When a stage or the total is negative or 2⁶² ns and more.
    pub fn from_frame_metrics(api_level: u32, metrics: &[i64; METRICS]) -> Result<Self, Rejected> {
        let value = |id: usize| metrics.get(id).copied().unwrap_or(-1);
        let known = |id: usize, since: u32| {
            let value = value(id);
            (api_level >= since && (0..OUTLIER).contains(&value)).then_some(value as u64)
        };
        let mut stage_ns = [0; 10];
        let mut sum_ns = 0_u64;
        for (id, stage) in PLATFORM.into_iter().enumerate() {
            let duration = known(id, 0).ok_or(Rejected)?;
            sum_ns = sum_ns.saturating_add(duration);
            if let Some(room) = stage_ns.get_mut(stage.index()) {
                *room = duration;
            }
        }
        let total_ns = known(id::TOTAL, 0).ok_or(Rejected)?;
        let gpu_ns = known(id::GPU, 31);
        let tail_is_exact = api_level < 33;
        let beyond_ns = total_ns.saturating_sub(sum_ns);
        let tail_ns = match (gpu_ns, known(id::SWAP_BUFFERS, 31)) {
            (Some(gpu), Some(swap)) if tail_is_exact => gpu.saturating_sub(swap).min(beyond_ns),
            (Some(gpu), _) => gpu.min(beyond_ns),
            _ => 0,
        };
        for (stage, duration) in [(Stage::RenderWait, beyond_ns - tail_ns), (Stage::GpuTail, tail_ns)] {
            if let Some(room) = stage_ns.get_mut(stage.index()) {
                *room = duration;
            }
        }
        Ok(Self {
            stage_ns,
            tail_is_exact,
            total_ns,
            gpu_ns,
            deadline_ns: known(id::DEADLINE, 31).filter(|d| (1..LONGEST_DEADLINE_NS).contains(d)),
            vsync_ns: known(id::VSYNC, 26).map(Uptime),
            intended_vsync_ns: known(id::INTENDED_VSYNC, 26).map(Uptime),
            vsync_id: known(id::VSYNC_ID, 36),
            first_draw: value(id::FIRST_DRAW) == 1,
        })
    }

    /// The time in a stage.
    pub fn stage(&self, stage: Stage) -> u64 {
        self.stage_ns.get(stage.index()).copied().unwrap_or_default()
    }

    /// The part of the total that is not in the platform's stages: the wait for the render thread, and from
    /// API 31 on the GPU's tail.
    pub fn unattributed_ns(&self) -> u64 {
        self.stage(Stage::RenderWait).saturating_add(self.stage(Stage::GpuTail))
    }

    /// How long the frame kept the main thread busy, from its vsync until the render thread had taken it.
    ///
    /// JankStats' `frameDurationUiNanos` and Sentry's duration are sums of stages and lack the wait for the
    /// render thread.
    pub fn main_ns(&self) -> u64 {
        let behind = [Stage::CommandIssue, Stage::SwapBuffers, Stage::GpuTail];
        behind.into_iter().fold(self.total_ns, |left, stage| left.saturating_sub(self.stage(stage)))
    }

    /// Whether it cost too much: its total exceeds the deadline where the platform has one (API 31 and
    /// newer), else main's part exceeds the interval.
    pub fn is_slow(&self, interval: RefreshInterval) -> bool {
        match self.deadline_ns {
            Some(deadline) => self.total_ns > deadline,
            None => self.main_ns() > interval.ns(),
        }
    }

    /// By how much it missed the deadline; negative when it met it. `None` when the API level has no
    /// deadline.
    pub fn overrun_ns(&self) -> Option<i64> {
        self.deadline_ns.map(|deadline| self.total_ns as i64 - deadline as i64)
    }

    /// The record of these stages for the list of the newest frames.
    pub fn record(&self, scene: u16, lost: u32, cause: Option<FrameCause>) -> StageFrame {
        let micros = crate::display_frame::micros;
        let mut stages_us = [0; 8];
        stages_us.iter_mut().zip(PLATFORM).for_each(|(to, stage)| *to = micros(self.stage(stage)));
        let before = self.vsync_ns.zip(self.intended_vsync_ns);
        let before_us = before.map(|(vsync, intended)| vsync.since(intended) / 1_000);
        StageFrame {
            vsync_ns: self.vsync_ns,
            stages_us,
            total_us: micros(self.total_ns),
            gpu_us: self.gpu_ns.map(micros),
            deadline_us: self.deadline_ns.map(micros),
            vsync_id_low: self.vsync_id.map(|id| id as u32),
            lost: u16::try_from(lost).unwrap_or(u16::MAX),
            scene,
            intended_before_us: before_us.map(|us| u16::try_from(us).unwrap_or(u16::MAX)),
            flags: if self.first_draw { FrameFlags::FIRST_DRAW.0 as u8 } else { 0 },
            cause,
        }
    }
}

/// Recognises a report that the platform gives twice (b/206956036): the same window and the same vsync.
///
/// Two windows that draw at one vsync give two reports, which are not duplicates. The last vsync is
/// remembered for four windows at once; a further window replaces the one whose last report is the oldest.
#[derive(Debug, Clone, Default)]
pub struct Duplicates {
    windows: [Option<(u64, Uptime)>; 4],
}

impl Duplicates {
    /// Whether the report is a duplicate: the window's last report had the same vsync. Remembers this vsync
    /// as the window's last.
    pub fn is_one(&mut self, window: u64, vsync_ns: Uptime) -> bool {
        let known = self.windows.iter().position(|kept| kept.is_some_and(|(of, _)| of == window));
        let seen = self.windows.contains(&Some((window, vsync_ns)));
        let last = known.unwrap_or(self.windows.len() - 1);
        if let Some(newer) = self.windows.get_mut(..=last) {
            newer.rotate_right(1);
        }
        if let Some(first) = self.windows.first_mut() {
            *first = Some((window, vsync_ns));
        }
        seen
    }
}
