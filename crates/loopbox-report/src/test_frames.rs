//! Sessions of display frames for tests, made from durations by the recorder's own rules.
//!
//! Public with the feature `test-support`.

use loopbox_format::model::{FrameCause, FrameFlags, FrameSession, JankFrame, Token, Uptime};
use loopbox_frames::{
    DisplayFrame, Gestures, METRICS, MainThreadTime, RefreshInterval, Scenes, StageReport, is_jank, place,
};

const MS: u64 = 1_000_000;

/// The durations, in ms, of 83 display frames. Taobao's article (`docs/glossary.md` has its title) has a
/// picture of a trace, and gives sums for it. These durations have the same sums.
pub const ARTICLE_TRACE: [u64; 83] = [
    17, 17, 17, 17, 17, 17, 69, 16, 15, 16, 17, 17, 17, 17, 17, 17, 61, 12, 13, 13, 15, 16, 17, 17, 17, 98,
    10, 19, 16, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17,
    17, 17, 17, 17, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
    16, 16, 16, 16, 16,
];

/// A session of a display of 60 Hz, built scroll by scroll.
#[derive(Debug)]
pub struct SessionBuilder {
    scenes: Scenes,
    gestures: Gestures,
    now_ns: Uptime,
    session: FrameSession,
}

impl Default for SessionBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SessionBuilder {
    /// The session begins at uptime 90 s: 10 s before the dump of the reports that `ReportBuilder` makes.
    pub fn new() -> Self {
        Self {
            scenes: Scenes::new(Scenes::DEFAULT_LIMIT),
            gestures: Gestures::new(),
            now_ns: Uptime(90_000 * MS),
            session: FrameSession::default(),
        }
    }

    /// A finger scrolls a screen through frames with these durations, and then rests for a second.
    #[must_use]
    pub fn scroll(self, scene: &str, durations_ms: &[u64]) -> Self {
        self.scroll_with(scene, durations_ms, None)
    }

    /// As [`Self::scroll`], with jank frames. If there is a `token`, the jank frames spent their time in the
    /// message with this token, which has a stack tree.
    #[must_use]
    pub fn scroll_with(mut self, scene: &str, durations_ms: &[u64], token: Option<u64>) -> Self {
        let interval = RefreshInterval::HZ_60;
        let id = self.scenes.scene(scene);
        self.gestures.down(self.now_ns);
        self.gestures.moved(self.now_ns, 20.0);
        for (k, &ms) in durations_ms.iter().enumerate() {
            let flags = FrameFlags::SCROLLED.with(FrameFlags::BEGINS.when(k == 0));
            let flags = flags.with(self.gestures.flags());
            let frame = DisplayFrame { time_ns: self.now_ns, duration_ns: ms * MS, interval, flags };
            self.scenes.frame(id, &frame);
            self.gestures.frame(&frame, id.index());
            self.session.recent.push(frame.record(id.index()));
            if is_jank(&frame, 34 * MS) {
                let gesture = self.session.gestures.len() as u32 + 1;
                let jank = jank(&frame, id.index(), token.map(Token));
                self.session.janks.push(JankFrame { gesture: Some(gesture), ..jank });
            }
            self.now_ns = frame.end_ns();
        }
        self.gestures.up(self.now_ns);
        self.now_ns += 1_000 * MS;
        self.scenes.end_session();
        if let Some(mut gesture) = self.gestures.idle(self.now_ns) {
            self.scenes.gesture(&mut gesture);
            self.session.gestures.push(gesture);
        }
        self
    }

    /// Adds reports of stages for frames of the screen `scene`. Each report has the nine times of Android
    /// 10's `FrameMetrics`, in its order and in ms; the last one is the total.
    #[must_use]
    pub fn stages(mut self, scene: &str, reports: &[[i64; 9]]) -> Self {
        let id = self.scenes.scene(scene);
        for report in reports {
            let mut metrics = [-1; METRICS];
            metrics.iter_mut().zip(report).for_each(|(to, ms)| *to = ms * MS as i64);
            let report = StageReport::from_frame_metrics(29, &metrics).expect("possible times");
            let cause = self.scenes.stages(id, &report, RefreshInterval::HZ_60);
            self.session.stages.push(report.record(id.index(), 0, cause));
        }
        self
    }

    /// The session so far.
    pub fn build(mut self) -> FrameSession {
        self.session.scenes = self.scenes.records().copied().collect();
        self.session
    }
}

fn jank(frame: &DisplayFrame, scene: u16, token: Option<Token>) -> JankFrame {
    let own_ns = token.map(|_| frame.duration_ns - MS);
    let cause = token.map(|_| FrameCause::LayoutMeasure);
    let place = place(frame, MainThreadTime { own_ns, other_ns: Some(MS) }, cause);
    JankFrame {
        frame_time_ns: frame.time_ns,
        duration_ns: frame.duration_ns,
        interval_ns: frame.interval.ns() as u32,
        own_token: token,
        own_ns,
        tree_token: token,
        scene,
        cause,
        place,
        ..JankFrame::default()
    }
}
