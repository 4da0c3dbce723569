//! The display's frames of one report, for each renderer.

use crate::model::Analysis;
use crate::model::time::{ms, ms_between};
use crate::smoothness::{FramesOnce, JankView, Smoothness, SmoothnessView, scene_name};
use loopbox_format::model::{FrameFlags, RecentFrame};
use schemars::JsonSchema;
use serde::Serialize;

/// What a smoothness session saw.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DisplayFrames {
    /// The figures of all screens together and of each screen, the gestures, the longest jank frames.
    pub(crate) figures: SmoothnessView,
    /// The jank frames in the order of time.
    pub(crate) janks: Vec<JankView>,
    /// The newest frames, oldest first.
    pub(crate) recent: Vec<DisplayFrame>,
    /// The newest frames as a line of refreshes: `·` in time, a digit for missed refreshes, `|` where a
    /// session begins.
    pub(crate) line: String,
}

/// One of the newest frames.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DisplayFrame {
    /// The frame time: when the frame was due, relative to the dump.
    pub(crate) at_ms: f64,
    /// How long the frame was shown.
    pub(crate) duration_ms: f64,
    /// The refresh interval in force: how long the frame was expected to be shown.
    pub(crate) interval_ms: f64,
    /// The name of the frame's screen.
    pub(crate) scene: String,
    /// The time from the frame's vsync to the end of its message.
    pub(crate) main_ms: Option<f64>,
    /// The number of frames that were dropped while this frame was shown.
    pub(crate) dropped: u16,
    /// Whether a view scrolled in the frame.
    pub(crate) scrolled: bool,
    /// Whether a finger caused the scroll in the frame.
    pub(crate) finger: bool,
}

impl DisplayFrame {
    fn new(a: &Analysis, frame: &RecentFrame) -> Self {
        let scene = a.display_frames.scenes.get(usize::from(frame.scene));
        Self {
            at_ms: ms_between(frame.frame_time_ns, a.dump_ns),
            duration_ms: f64::from(frame.duration_us) / 1e3,
            interval_ms: f64::from(frame.interval_us) / 1e3,
            scene: scene.map_or_else(|| "?".to_owned(), scene_name),
            main_ms: frame.main_us.map(|us| ms(u64::from(us) * 1_000)),
            dropped: frame.dropped,
            scrolled: frame.flags.has(FrameFlags::SCROLLED),
            finger: frame.flags.has(FrameFlags::FINGER),
        }
    }
}

impl DisplayFrames {
    pub(crate) fn new(a: &Analysis) -> Option<Self> {
        let session = &a.display_frames;
        if session.is_empty() {
            return None;
        }
        let mut figures = Smoothness::default();
        figures.add(a, &FramesOnce::default(), "");
        let figures = figures.view(0);
        let mut janks = figures.janks.clone();
        janks.sort_by(|a, b| a.at_ms.total_cmp(&b.at_ms));
        Some(Self {
            figures,
            janks,
            recent: session.recent.iter().map(|frame| DisplayFrame::new(a, frame)).collect(),
            line: super::text::refresh_line(&session.recent),
        })
    }
}
