//! Gestures of reports: a list of the worst gestures, and sums by a gesture's number on its screen.

use crate::model::time::{ms, ms_between};
use loopbox_format::model::{FrameFlags, FrameGesture, Uptime};
use loopbox_frames::rates;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;

/// Gestures with this number on their screen, or a higher one, are counted together.
const LAST_ORDINAL: usize = 16;
/// How many of the worst gestures are kept.
const WORST: usize = 20;

/// The gestures of reports.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GesturesView {
    /// The number of gestures that the reports list. A report lists only its newest gestures. Older gestures
    /// are only part of the sums of their screens, and are not counted here.
    pub count: u64,
    /// The number of gestures with a recorded jank window.
    pub with_jank: u64,
    /// The gestures by their number on their screen. This shows whether scrolling becomes worse from gesture
    /// to gesture.
    pub by_ordinal: Vec<OrdinalView>,
    /// The gestures with the longest hitch, the worst first.
    pub worst: Vec<GestureView>,
}

/// The gestures that have the same number on their screens.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrdinalView {
    /// The number that each of these gestures has on its screen: 1 is the first gesture there. The number 16
    /// also stands for all higher numbers.
    pub ordinal: usize,
    /// The number of gestures.
    pub gestures: u64,
    /// The hitch rate of the gestures with this number.
    pub hitch_ms_per_s: Option<f64>,
}

/// One gesture.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GestureView {
    /// The file of the report.
    pub path: String,
    /// The name of the gesture's screen.
    pub scene: String,
    /// The number of the gesture on this screen.
    pub ordinal: u16,
    /// The number of the gesture in the process.
    pub number: u32,
    /// When the gesture began, relative to the dump.
    pub at_ms: f64,
    /// How long the gesture took, the fling included.
    pub duration_ms: u32,
    /// The part of `duration_ms` while the finger was down.
    pub finger_ms: u32,
    /// The part of `duration_ms` after the finger was lifted.
    pub fling_ms: u32,
    /// Whether a finger caused the gesture.
    pub finger: bool,
    /// The number of frames in which a view scrolled.
    pub frames: u32,
    /// Frames per second, of the frames in which a view scrolled.
    pub fps: Option<f64>,
    /// FPS as a share of the refresh rate.
    pub fps_of_rate: Option<f64>,
    /// The hitch time: the sum, over the gesture's frames, of the time for which a frame was shown beyond its
    /// first refresh. Each frame's duration is rounded to whole refreshes.
    pub hitch_ms: f64,
    /// The hitch time for each second of the frames.
    pub hitch_ms_per_s: Option<f64>,
    /// The duration of the longest frame.
    pub longest_ms: f64,
    /// The number of frames that stood longer than 700 ms.
    pub frozen: u16,
    /// The number of recorded jank windows.
    pub jank_windows: u16,
    /// The FPS of the gesture's worst jank windows: at most three, the lowest first.
    pub worst_window_fps: Vec<f64>,
}

impl GestureView {
    pub(super) fn new(gesture: &FrameGesture, scene: String, dump_ns: Uptime, path: &str) -> Self {
        let windows = gesture.worst.iter().filter(|window| window.frames > 0 && window.duration_us > 0);
        let interval_sum_ns = u64::from(gesture.interval_sum_us) * 1_000;
        Self {
            path: path.into(),
            scene,
            ordinal: gesture.ordinal,
            number: gesture.number,
            at_ms: ms_between(gesture.begin_ns, dump_ns),
            duration_ms: gesture.duration_ms,
            finger_ms: gesture.finger_ms,
            fling_ms: gesture.fling_ms,
            finger: gesture.flags.has(FrameFlags::FINGER),
            frames: gesture.frames,
            fps: rates::fps(gesture.frames.into(), gesture.sum_ns),
            fps_of_rate: rates::relative_fps(interval_sum_ns, gesture.sum_ns),
            hitch_ms: ms(gesture.hitch_ns),
            hitch_ms_per_s: rates::hitch_ms_per_s(gesture.hitch_ns, gesture.sum_ns),
            longest_ms: f64::from(gesture.longest_us) / 1e3,
            frozen: gesture.frozen,
            jank_windows: gesture.windows,
            worst_window_fps: windows
                .map(|window| f64::from(window.frames) * 1e6 / f64::from(window.duration_us))
                .collect(),
        }
    }
}

/// Sums of gestures.
#[derive(Debug, Clone, Default)]
pub(super) struct Gestures {
    count: u64,
    with_jank: u64,
    by_ordinal: [Ordinal; LAST_ORDINAL],
    worst: Vec<GestureView>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ordinal {
    gestures: u64,
    sum_ns: u64,
    hitch_ns: u64,
}

impl Gestures {
    pub(super) fn add(&mut self, gesture: &FrameGesture, scene: String, dump_ns: Uptime, path: &str) {
        self.count += 1;
        self.with_jank += u64::from(gesture.windows > 0);
        let place = usize::from(gesture.ordinal.max(1)).min(LAST_ORDINAL) - 1;
        let ordinal = &mut self.by_ordinal[place];
        ordinal.gestures += 1;
        ordinal.sum_ns = ordinal.sum_ns.saturating_add(gesture.sum_ns);
        ordinal.hitch_ns = ordinal.hitch_ns.saturating_add(gesture.hitch_ns);
        self.worst.push(GestureView::new(gesture, scene, dump_ns, path));
        if self.worst.len() >= 2 * WORST {
            self.keep_worst();
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.with_jank += other.with_jank;
        for (to, from) in self.by_ordinal.iter_mut().zip(other.by_ordinal) {
            to.gestures += from.gestures;
            to.sum_ns = to.sum_ns.saturating_add(from.sum_ns);
            to.hitch_ns = to.hitch_ns.saturating_add(from.hitch_ns);
        }
        self.worst.extend(other.worst);
        self.keep_worst();
    }

    fn keep_worst(&mut self) {
        // The rest of the key makes the order that of the reports, whichever thread read them.
        self.worst.sort_by(|a, b| {
            b.hitch_ms.total_cmp(&a.hitch_ms).then_with(|| (&a.path, a.number).cmp(&(&b.path, b.number)))
        });
        self.worst.truncate(WORST);
    }

    pub(super) fn view(mut self) -> GesturesView {
        self.keep_worst();
        let used =
            self.by_ordinal.iter().rposition(|ordinal| ordinal.gestures > 0).map_or(0, |last| last + 1);
        let view = |(at, ordinal): (usize, &Ordinal)| OrdinalView {
            ordinal: at + 1,
            gestures: ordinal.gestures,
            hitch_ms_per_s: rates::hitch_ms_per_s(ordinal.hitch_ns, ordinal.sum_ns),
        };
        GesturesView {
            count: self.count,
            with_jank: self.with_jank,
            by_ordinal: self.by_ordinal[..used].iter().enumerate().map(view).collect(),
            worst: self.worst,
        }
    }
}

/// Sorts by the longest frame, longest first, and keeps the first `limit`.
pub(super) fn longest_first<T>(list: &mut Vec<T>, limit: usize, key: impl Fn(&T) -> (u64, String)) {
    list.sort_by_cached_key(|item| {
        let (longest, name) = key(item);
        (Reverse(longest), name)
    });
    list.truncate(limit);
}
