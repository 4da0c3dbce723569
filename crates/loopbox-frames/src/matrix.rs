//! Matrix's own arithmetic, for comparisons with its numbers.
//!
//! The article on Matrix's `FrameTracer` describes this version, and the article's JSON is reproduced
//! exactly: whole milliseconds for each frame, limits of 60 Hz on every display, at most 60 FPS. The
//! truncation loses 4 %: perfect frames are 62.5 FPS before the cap, and the article's 58.54 FPS are really
//! 56.39. For correct figures use [`SceneStats`](crate::SceneStats).

use crate::levels::unscaled_level;

/// The length of a refresh with which Matrix computes the number of dropped frames. For the total time of the
/// frames Matrix uses another length, [`FRAME_NS`]. It multiplies the number of refreshes of each frame by
/// that length, and truncates the product to whole milliseconds.
const FRAME_MS: u64 = 17;
const FRAME_NS: u64 = 16_666_666;
/// A slice is reported when its frames took this long. Matrix's repository has used 10 s since 2020; the JSON
/// in the article on its `FrameTracer` shows 12.
const SLICE_MS: u64 = 12_000;

/// A slice of frames of one scene.
#[derive(Debug, Clone, Default)]
pub struct MatrixSlice {
    report: MatrixReport,
}

/// What Matrix reports about a slice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MatrixReport {
    /// Frames per second, 60 at most.
    pub fps: f32,
    /// How many frames.
    pub frames: u32,
    /// The time of all these frames, by Matrix's arithmetic.
    pub cost_ms: u64,
    /// Frames for each `DropLevel`.
    pub level_frames: [u32; 5],
    /// Dropped frames for each `DropLevel`.
    pub level_dropped: [u64; 5],
    /// Messages that were counted as frames although they drew none (`dropTaskFrameSum`).
    pub task_frames: u32,
}

impl MatrixSlice {
    /// A slice without frames.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a message of this length, which Matrix treats as a frame whether it drew or not. When that
    /// fills the slice, returns its report and begins another slice.
    pub fn message(&mut self, wall_ms: u64, is_frame: bool) -> Option<MatrixReport> {
        self.report.task_frames = self.report.task_frames.saturating_add(u32::from(!is_frame));
        self.frame(u32::try_from(wall_ms / FRAME_MS).unwrap_or(u32::MAX))
    }

    /// Counts a frame that dropped this many frames; when that fills the slice, returns its report and begins
    /// another slice.
    pub fn frame(&mut self, dropped: u32) -> Option<MatrixReport> {
        let report = &mut self.report;
        let level = unscaled_level(dropped).index();
        report.frames = report.frames.saturating_add(1);
        report.cost_ms =
            report.cost_ms.saturating_add((u64::from(dropped) + 1).saturating_mul(FRAME_NS) / 1_000_000);
        if let Some(frames) = report.level_frames.get_mut(level) {
            *frames = frames.saturating_add(1);
        }
        if let Some(sum) = report.level_dropped.get_mut(level) {
            *sum = sum.saturating_add(u64::from(dropped));
        }
        if report.cost_ms < SLICE_MS {
            return None;
        }
        let fps = (1_000.0 * report.frames as f32 / report.cost_ms as f32).min(60.0);
        let full = MatrixReport { fps, ..*report };
        *report = MatrixReport::default();
        Some(full)
    }

    /// The report of an incomplete slice, which Matrix itself never gives.
    pub fn so_far(&self) -> Option<MatrixReport> {
        let report = self.report;
        let fps = (1_000.0 * report.frames as f32 / report.cost_ms as f32).min(60.0);
        (report.frames > 0).then_some(MatrixReport { fps, ..report })
    }
}
