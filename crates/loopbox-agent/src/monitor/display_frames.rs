//! The worker's part in display frames: takes what the main thread has seen, and calls the app's listener.

use super::frame_stats::gesture_numbers;
use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{call, class_cache};
use crate::session::Session;
use crate::session::display_frames::FrameReceiver;
use crate::sys::{clock, log};
use jni::sys::jvalue;
use loopbox_format::model::{Feature, Uptime};
use loopbox_frames::{FrameEvent, Heard};
use ringbuf::traits::{Consumer, Observer};

/// How often events are taken while frames come: as often as the listener is notified.
const EVERY_MS: u64 = 200;
/// How long after the last event an expected frame is still waited for. After that the frame is assumed never
/// to come, because the display is off; then gestures and sessions may end.
const LONGEST_NS: u64 = 5_000_000_000;
/// While frames come, they are saved for the next process once in this time. They are saved one last time
/// when no more frames come.
const SAVE_EVERY_NS: u64 = 1_000_000_000;

// As in `NativeCalls.java`.
const WINDOW: i32 = 0;
const GESTURE: i32 = 1;
const SKIPPED: i32 = 2;

/// Takes the events of display frames out of the queue, between reports.
pub(crate) struct FrameCollector {
    queue: Option<FrameReceiver>,
    /// Whether a gesture or a session of frames is open. The recorder must wake to end it, because no event
    /// marks its end.
    open: bool,
    /// How many lost events the feature's state shows.
    reported_lost: u32,
    /// Whether a frame was expected before the events were taken.
    awaited: bool,
    /// When the last event was taken.
    taken_at_ns: Uptime,
    /// Whether something has changed since frames were last saved; `saved_at_ns` is when they were saved.
    unsaved: bool,
    saved_at_ns: Uptime,
}

impl FrameCollector {
    pub(crate) fn new(queue: Option<FrameReceiver>) -> Self {
        Self {
            queue,
            open: false,
            reported_lost: 0,
            awaited: false,
            taken_at_ns: Uptime::ZERO,
            unsaved: false,
            saved_at_ns: Uptime::ZERO,
        }
    }

    /// Takes the events in the queue, and calls the listener.
    pub(crate) fn take(&mut self, env: &mut Env<'_>, session: &Session) {
        let (Some(queue), Some(frames)) = (&mut self.queue, &session.frames) else { return };
        frames.set_asleep(false);
        self.unsaved |= frames.take_forgotten();
        let now_ns = clock::now_ns();
        // Before the queue is read: what comes after it is in there by the time that this is false.
        let awaited = frames.is_awaited();
        self.awaited = awaited;
        // Those that are there: while a listener takes its time, more come.
        let there = (0..queue.occupied_len()).map_while(|_| queue.try_pop());
        for event in there.filter_map(|packed| packed.event()) {
            self.unsaved = true;
            self.taken_at_ns = now_ns;
            let name = match event {
                FrameEvent::Frame(_, scene) => frames.name(scene),
                _ => String::new(),
            };
            let found = frames.recorder(|recorder| {
                let scene = recorder.scene(&name);
                recorder.event(event, scene)
            });
            notify_java(env, session, &found, &name);
        }
        // A gesture and a session do not end in the middle of a stall.
        let stalls = awaited && now_ns.since(self.taken_at_ns) < LONGEST_NS;
        let (found, open) = frames.recorder(|recorder| {
            if stalls { (Heard::default(), true) } else { (recorder.idle(now_ns), recorder.is_open()) }
        });
        notify_java(env, session, &found, "");
        if self.open && !open {
            session.shared.pace.set_jank_onset(0);
            // A gesture has its end, a window too.
            self.unsaved = true;
        }
        self.open = open;
        if frames.lost() != self.reported_lost {
            self.reported_lost = frames.lost();
            let detail = format!("{} frames or touches not counted: the worker was late", self.reported_lost);
            session.features.set(Feature::Frames, true, detail);
        }
        if !open {
            frames.set_asleep(true);
            // What came before the main thread could see that.
            if !queue.is_empty() {
                frames.set_asleep(false);
                self.open = true;
            }
        }
    }

    /// Whether a frame that has not been taken yet is on its way.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited
    }

    /// Whether the taken frames should be saved now.
    pub(crate) fn is_to_be_saved(&mut self) -> bool {
        let now_ns = clock::now_ns();
        let due = !self.open || now_ns.since(self.saved_at_ns) >= SAVE_EVERY_NS;
        let save = self.unsaved && due;
        if save {
            self.unsaved = false;
            self.saved_at_ns = now_ns;
        }
        save
    }

    /// How long the worker may sleep, as far as frames are concerned.
    pub(crate) fn wait_ms(&self) -> Option<u64> {
        self.open.then_some(EVERY_MS)
    }
}

/// Calls Java's listener, if there is one.
fn notify_java(env: &mut Env<'_>, session: &Session, found: &Heard, scene: &str) {
    if !session.settings.frames.is_some_and(|frames| frames.has_listener) {
        return;
    }
    let milli = |value: f64| (value * 1000.0) as i64;
    if let Some(live) = found.live {
        let values = [
            milli(live.fps),
            milli(live.interval.hz()),
            live.longest_ns as i64,
            live.level.index() as i64,
            i64::from(live.frames),
        ];
        call_java(env, WINDOW, &values, scene);
    }
    if let Some(gesture) = &found.gesture {
        let values = gesture_numbers(gesture).map(u64::cast_signed);
        call_java(env, GESTURE, &values, scene);
    }
    if let Some(skipped) = found.skipped {
        call_java(env, SKIPPED, &[i64::from(skipped)], scene);
    }
}

fn call_java(env: &mut Env<'_>, kind: i32, values: &[i64], scene: &str) {
    let Some(classes) = class_cache::get() else { return };
    let called = call::with_frame(env, |env| {
        let (values, scene) = (raw::new_longs(env, values)?, raw::new_string(env, scene)?);
        let arguments = [jvalue { i: kind }, jvalue { l: values.as_raw() }, jvalue { l: scene.as_raw() }];
        // SAFETY: looked up in this class with this signature: an int, a long[], a String, no result.
        unsafe { call::void(env, (&classes.calls, classes.calls_on_frames), &arguments) }
    });
    if let Err(Failure(why)) = called {
        log::warn(&["the frame listener could not be called: ", &why].concat());
    }
}
