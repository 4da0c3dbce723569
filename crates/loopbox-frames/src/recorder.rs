//! All figures of a process, computed from its frames, touches and stages in order. The library in the app
//! runs this on its worker, and a report contains the result.

use crate::display_frame::DisplayFrame;
use crate::gestures::Gestures;
use crate::interval::RefreshInterval;
use crate::jank::{MainThreadTime, is_jank, place};
use crate::levels::is_skipped_warning;
use crate::live::{Live, LiveValue};
use crate::scene::SceneStats;
use crate::scenes::{SceneId, Scenes};
use crate::stages::{Duplicates, METRICS, StageReport};
use loopbox_format::display_frames::{encode_session, put_session};
use loopbox_format::model::{
    FrameFlags, FrameGesture, FrameScene, FrameSession, JankFrame, RecentFrame, StageFrame, Token, Uptime,
};
use std::collections::VecDeque;

/// How many gestures are kept: the newest ones. [`JANKS`] is how many jank frames are kept: the worst ones.
/// [`RECENT`] and [`STAGES`] are how many of the newest frames, and of their stages, are kept.
const GESTURES: usize = 16;
const JANKS: usize = 32;
const RECENT: usize = 128;
const STAGES: usize = 32;
/// For how many of the newest jank frames the slowest message is kept. There are never this many jank frames
/// between a stall and the report about it.
const SLOWEST: usize = 32;
/// For how many of the newest frames the compositor's jank type is kept: for more than half a second at 120
/// Hz.
const JANK_TYPES: usize = 64;

/// An ended message of the main thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeenMessage {
    /// Its number.
    pub token: Token,
    /// How long it took.
    pub wall_ns: u64,
}

/// The message that a frame ran in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnMessage {
    /// The message and its length.
    pub message: SeenMessage,
    /// When it ended, uptime.
    pub end_ns: Uptime,
}

/// A frame that was replaced, and the main thread's messages while it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenFrame {
    /// The frame.
    pub frame: DisplayFrame,
    /// Whether its interval was observed, rather than claimed by the display.
    pub observed_rate: bool,
    /// Its own message.
    pub own: Option<OwnMessage>,
    /// The slowest other message before the next frame began.
    pub other: Option<SeenMessage>,
}

/// What the main thread reports about smoothness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FrameEvent {
    /// A frame was replaced, on the screen of this number.
    Frame(SeenFrame, u16),
    /// The first finger touched.
    Down {
        /// Uptime.
        at_ns: Uptime,
    },
    /// The finger has moved this far from where it touched.
    Moved {
        /// Uptime.
        at_ns: Uptime,
        /// The distance in density-independent pixels.
        distance_dp: f32,
    },
    /// The last finger was lifted, or the system took the touch away.
    Up {
        /// Uptime.
        at_ns: Uptime,
    },
    /// The interval that the display claims from now on.
    Interval(RefreshInterval),
}

/// The results after an event.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Heard {
    /// The live value, when a period of 200 ms is full.
    pub live: Option<LiveValue>,
    /// A gesture that has ended.
    pub gesture: Option<FrameGesture>,
    /// How many frames one stall dropped, when that is enough for the platform's "Skipped N frames!".
    pub skipped: Option<u32>,
}

/// The frames around a message that took long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StallFrames {
    /// How many frames were dropped while a jank frame was shown: the recent jank frame whose slowest message
    /// is the long message. `None` when there is no such frame.
    pub dropped: Option<u32>,
    /// The figures so far of the screen of that jank frame. When there is no such frame, the figures are
    /// those of the screen that the caller named.
    pub scene: FrameScene,
}

/// The figures of a process.
#[derive(Debug)]
pub struct FrameRecorder {
    scenes: Scenes,
    gestures: Gestures,
    live: Live,
    duplicates: Duplicates,
    interval: RefreshInterval,
    /// The screen of the newest frame.
    scene: SceneId,
    api_level: u32,
    jank_ns: u64,
    skipped: u32,
    /// Whether frames come one after another, as they do until nothing has moved for a while. Only then can a
    /// jank window be open.
    open: bool,
    /// The newest gestures.
    gestures_kept: VecDeque<FrameGesture>,
    /// The worst jank frames, oldest first.
    janks: Vec<JankFrame>,
    /// The newest frames. `stages` has the stages of the newest frames.
    recent: VecDeque<RecentFrame>,
    stages: VecDeque<StageFrame>,
    /// The slowest messages of the newest jank frames, also of those that are not kept in `janks`.
    slowest: VecDeque<Slowest>,
    /// Jank types by the lower half of the vsync number. They may come before it is known which frame was a
    /// jank frame.
    jank_types: VecDeque<(u32, u32)>,
}

/// The slowest message while a frame was shown.
#[derive(Debug, Clone, Copy)]
struct Slowest {
    token: Token,
    dropped: u32,
    scene: SceneId,
}

impl FrameRecorder {
    /// A recorder without frames. `scenes`: how many screens get separate figures. `jank_ns`: a frame shown
    /// for longer gets a record, as does one shown for three refreshes. `skipped`: how many 60 Hz frames a
    /// stall must drop to be reported.
    pub fn new(api_level: u32, scenes: usize, jank_ns: u64, skipped: u32) -> Self {
        let scenes = Scenes::new(scenes);
        let scene = scenes.others();
        Self {
            scenes,
            gestures: Gestures::new(),
            live: Live::new(),
            duplicates: Duplicates::default(),
            interval: RefreshInterval::HZ_60,
            scene,
            api_level,
            jank_ns,
            skipped,
            open: false,
            gestures_kept: VecDeque::new(),
            janks: Vec::new(),
            recent: VecDeque::new(),
            stages: VecDeque::new(),
            slowest: VecDeque::new(),
            jank_types: VecDeque::new(),
        }
    }

    /// Clears all figures, and drops an open gesture and an open jank window.
    pub fn reset(&mut self) {
        let interval = self.interval;
        *self = Self::new(self.api_level, self.scenes.limit(), self.jank_ns, self.skipped);
        self.interval = interval;
    }

    /// The screen with this name. For an empty name, or when there is no room, it is the entry of other
    /// screens.
    pub fn scene(&mut self, name: &str) -> SceneId {
        if name.is_empty() { self.scenes.others() } else { self.scenes.scene(name) }
    }

    /// The refresh interval in use: that of the newest frame, or the one that the display claimed after it.
    pub fn interval(&self) -> RefreshInterval {
        self.interval
    }

    /// Takes an event; `scene` is the screen of the event's frame.
    pub fn event(&mut self, event: FrameEvent, scene: SceneId) -> Heard {
        let gesture = match event {
            FrameEvent::Frame(seen, _) => return self.frame(&seen, scene),
            FrameEvent::Down { at_ns } => self.gestures.down(at_ns),
            FrameEvent::Moved { at_ns, distance_dp } => {
                self.gestures.moved(at_ns, distance_dp);
                None
            }
            FrameEvent::Up { at_ns } => {
                self.gestures.up(at_ns);
                None
            }
            FrameEvent::Interval(interval) => {
                self.interval = interval;
                None
            }
        };
        Heard { gesture: gesture.map(|gesture| self.gesture(gesture)), ..Heard::default() }
    }

    fn frame(&mut self, seen: &SeenFrame, scene: SceneId) -> Heard {
        let SeenFrame { frame, observed_rate, own, other } = *seen;
        self.interval = frame.interval;
        self.scene = scene;
        self.open = true;
        let mut ended = None;
        let mut flags = frame.flags;
        if flags.has(FrameFlags::SCROLLED) {
            ended = self.gestures.frame(&frame, scene.index()).map(|gesture| self.gesture(gesture));
            flags = flags.with(self.gestures.flags());
        }
        self.scenes.frame(scene, &frame);
        let main_ns = own.map(|own| own.end_ns.since(frame.time_ns));
        if let Some(main_ns) = main_ns {
            self.scenes.main_part(scene, main_ns, frame.interval);
        }
        if observed_rate {
            self.scenes.both(scene, SceneStats::observed_rate);
        }
        let micros = crate::display_frame::micros;
        let record = RecentFrame {
            flags,
            main_us: main_ns.map(micros),
            token_low: own.map(|own| own.message.token.0 as u32),
            other_us: other.map(|other| micros(other.wall_ns)),
            ..frame.record(scene.index())
        };
        push(&mut self.recent, RECENT, record);
        if is_jank(&frame, self.jank_ns) {
            self.jank(seen, scene);
        }
        let skipped =
            is_skipped_warning(frame.dropped(), self.skipped, frame.interval).then(|| frame.dropped());
        Heard { live: self.live.frame(&frame), gesture: ended, skipped }
    }

    fn jank(&mut self, seen: &SeenFrame, scene: SceneId) {
        let SeenFrame { frame, own, other, .. } = seen;
        let own = own.map(|own| own.message);
        let slowest = [own, *other].into_iter().flatten().max_by_key(|message| message.wall_ns);
        if let Some(message) = slowest {
            let slowest = Slowest { token: message.token, dropped: frame.dropped(), scene };
            push(&mut self.slowest, SLOWEST, slowest);
        }
        let gesture = self.gestures.number().filter(|_| frame.flags.has(FrameFlags::SCROLLED));
        let mut jank = JankFrame {
            frame_time_ns: frame.time_ns,
            duration_ns: frame.duration_ns,
            interval_ns: frame.interval.ns() as u32,
            gesture,
            own_token: own.map(|own| own.token),
            own_ns: own.map(|own| own.wall_ns),
            other_token: other.map(|other| other.token),
            other_ns: other.map(|other| other.wall_ns),
            scene: scene.index(),
            ..JankFrame::default()
        };
        let stages = self.stages.iter().rev().find(|stages| stages.vsync_ns == Some(frame.time_ns));
        join(&mut jank, stages, &self.jank_types);
        let janks = &mut self.janks;
        if janks.len() == JANKS {
            // The one that stood the shortest goes, of equal ones the oldest.
            let shortest = janks.iter().enumerate().min_by_key(|(_, jank)| jank.duration_ns);
            match shortest {
                Some((at, least)) if least.duration_ns <= jank.duration_ns => drop(janks.remove(at)),
                _ => return,
            }
        }
        janks.push(jank);
    }

    fn gesture(&mut self, mut gesture: FrameGesture) -> FrameGesture {
        self.scenes.gesture(&mut gesture);
        push(&mut self.gestures_kept, GESTURES, gesture);
        gesture
    }

    /// Records the values of a `FrameMetrics`. The index of a value in `metrics` is its constant, for example
    /// `TOTAL_DURATION`. `lost` is how many reports the platform has dropped before this one.
    pub fn stages(&mut self, metrics: &[i64; METRICS], window: u64, lost: u32) {
        let scene = self.scene;
        if lost > 0 {
            self.scenes.both(scene, |sums| sums.lost_reports(lost));
        }
        let Ok(report) = StageReport::from_frame_metrics(self.api_level, metrics) else {
            self.scenes.both(scene, SceneStats::rejected_report);
            return;
        };
        if report.vsync_ns.is_some_and(|vsync_ns| self.duplicates.is_one(window, vsync_ns)) {
            self.scenes.both(scene, SceneStats::duplicate_report);
            return;
        }
        let cause = self.scenes.stages(scene, &report, self.interval);
        let record = report.record(scene.index(), lost, cause);
        push(&mut self.stages, STAGES, record);
        let frame = |jank: &&mut JankFrame| Some(jank.frame_time_ns) == report.vsync_ns;
        if let Some(jank) = self.janks.iter_mut().rev().find(frame) {
            join(jank, Some(&record), &self.jank_types);
        }
    }

    /// Records why the frame of this vsync was late: the bits of `JankData.getJankType`. The report comes
    /// some time after the frame, and its number alone does not show which frame it belongs to.
    pub fn jank_type(&mut self, vsync_id: u64, janks: u32) {
        push(&mut self.jank_types, JANK_TYPES, (vsync_id as u32, janks));
        let low = Some(u64::from(vsync_id as u32));
        if let Some(jank) = self.janks.iter_mut().rev().find(|jank| jank.vsync_id == low) {
            jank.jank_type = Some(janks);
        }
    }

    /// Ends what is over by now: a session, a gesture. Returns the gesture.
    pub fn idle(&mut self, now_ns: Uptime) -> Heard {
        if self.open && self.live.is_idle(now_ns) {
            self.open = false;
            self.scenes.end_session();
        }
        let gesture = self.gestures.idle(now_ns);
        Heard { gesture: gesture.map(|gesture| self.gesture(gesture)), ..Heard::default() }
    }

    /// Whether a session or a gesture may end merely because time passes, so that [`FrameRecorder::idle`]
    /// must be called.
    pub fn is_open(&self) -> bool {
        self.open || self.gestures.is_ending()
    }

    /// The figures of the screen whose frame was delayed by the message with this token. If there was no such
    /// frame: the figures of the screen named `screen`. `None` if the screen has had no frame.
    pub fn stall(&self, token: Token, screen: &str) -> Option<StallFrames> {
        let slowest = self.slowest.iter().rev().find(|slowest| slowest.token == token);
        let scene = match slowest {
            Some(slowest) => self.scenes.records().nth(slowest.scene.index().into()),
            None => self.scenes.named(screen),
        };
        let scene = scene.copied().filter(|scene| scene.frames > 0)?;
        Some(StallFrames { dropped: slowest.map(|slowest| slowest.dropped), scene })
    }

    /// Whether the frames until `end_ns` are counted: the newest frame was replaced after `end_ns`, at
    /// `end_ns`, or at most one refresh interval before it.
    pub fn is_counted_until(&self, end_ns: Uptime) -> bool {
        self.recent.back().is_some_and(|frame| {
            let next_ns = frame.frame_time_ns.plus(u64::from(frame.duration_us) * 1_000);
            next_ns.plus(self.interval.ns()) >= end_ns
        })
    }

    fn is_empty(&self) -> bool {
        let counts = |scene: &FrameScene| {
            scene.frames > 0 || scene.staged > 0 || scene.first_draw > 0 || scene.lost_reports > 0
        };
        !self.scenes.records().any(counts)
    }

    /// Appends to `bytes` what [`loopbox_format::display_frames::encode_session`] returns for
    /// [`Self::session`], without a copy in between.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        if self.is_empty() {
            bytes.extend(encode_session(&FrameSession::default()));
            return;
        }
        let (gestures, recent, stages) = (self.gestures_kept.iter(), self.recent.iter(), self.stages.iter());
        put_session(bytes, self.scenes.records(), gestures, self.janks.iter(), recent, stages);
    }

    /// All figures; empty while nothing has been counted.
    pub fn session(&self) -> FrameSession {
        if self.is_empty() {
            return FrameSession::default();
        }
        FrameSession {
            scenes: self.scenes.records().copied().collect(),
            gestures: self.gestures_kept.iter().copied().collect(),
            janks: self.janks.clone(),
            recent: self.recent.iter().copied().collect(),
            stages: self.stages.iter().copied().collect(),
        }
    }
}

/// Records why a frame janked, as far as its messages and, where known, its stages show it.
fn join(jank: &mut JankFrame, stages: Option<&StageFrame>, jank_types: &VecDeque<(u32, u32)>) {
    if let Some(stages) = stages {
        jank.cause = stages.cause;
        jank.vsync_id = stages.vsync_id_low.map(u64::from);
        let jank_type = jank_types.iter().rev().find(|(low, _)| stages.vsync_id_low == Some(*low));
        jank.jank_type = jank_type.map(|(_, janks)| *janks);
    }
    let Some(interval) = RefreshInterval::from_ns(jank.interval_ns.into()) else { return };
    let frame = DisplayFrame {
        time_ns: jank.frame_time_ns,
        duration_ns: jank.duration_ns,
        interval,
        flags: FrameFlags::default(),
    };
    let main = MainThreadTime { own_ns: jank.own_ns, other_ns: jank.other_ns };
    jank.place = place(&frame, main, jank.cause);
}

/// Adds the newest item, and removes the oldest when there are enough.
fn push<T>(list: &mut VecDeque<T>, most: usize, item: T) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}
