//! The frames, touches and stages of a process in the order in which they come, and the figures that result.

mod common;

use common::{ARTICLE, MS, S60, article, hz};
use loopbox_format::model::{FrameCause, FrameFlags, JankPlace, SceneKind, Token, Uptime};
use loopbox_frames::{
    DisplayFrame, FrameEvent, FrameRecorder, Heard, METRICS, OwnMessage, RefreshInterval, SKIPPED_FRAMES,
    SeenFrame, SeenMessage,
};

const JANK_NS: u64 = 34 * MS;

fn recorder() -> FrameRecorder {
    recorder_of(29)
}

fn recorder_of(api_level: u32) -> FrameRecorder {
    FrameRecorder::new(api_level, 16, JANK_NS, SKIPPED_FRAMES)
}

fn seen(frame: DisplayFrame) -> SeenFrame {
    SeenFrame { frame, observed_rate: false, own: None, other: None }
}

fn take(recorder: &mut FrameRecorder, seen: SeenFrame, screen: &str) -> Heard {
    let scene = recorder.scene(screen);
    recorder.event(FrameEvent::Frame(seen, 0), scene)
}

fn message(token: u64, wall_ms: u64) -> SeenMessage {
    SeenMessage { token: Token(token), wall_ns: wall_ms * MS }
}

fn own(token: u64, wall_ms: u64, end_ns: Uptime) -> OwnMessage {
    OwnMessage { message: message(token, wall_ms), end_ns }
}

/// A report of a frame whose stages take this many milliseconds, in the order of the platform's constants.
fn metrics(vsync_ns: Uptime, stages_ms: [i64; 8], total_ms: i64) -> [i64; METRICS] {
    let mut metrics = [-1; METRICS];
    metrics.iter_mut().zip(stages_ms).for_each(|(to, ms)| *to = ms * MS as i64);
    metrics[8] = total_ms * MS as i64;
    metrics[9] = 0;
    metrics[10] = vsync_ns.0 as i64;
    metrics[11] = vsync_ns.0 as i64;
    metrics
}

#[test]
fn frames_of_two_screens_add_up_and_the_worst_are_kept() {
    let mut recorder = recorder();
    assert!(recorder.session().is_empty(), "nothing is there before the first frame");
    let mut heard = Vec::new();
    for (k, frame) in article().into_iter().enumerate() {
        heard.push(take(&mut recorder, seen(frame), if k < 40 { "Feed" } else { "Detail" }));
    }
    let session = recorder.session();
    let names: Vec<_> =
        session.scenes.iter().map(|scene| (scene.kind, scene.name.as_str(), scene.frames)).collect();
    let expected = [
        (SceneKind::Process, "", 83),
        (SceneKind::Other, "", 0),
        (SceneKind::Named, "Feed", 40),
        (SceneKind::Named, "Detail", 43),
    ];
    assert_eq!(names, expected);
    assert_eq!(session.scenes[0].sum_ns, 1_535 * MS);
    let stood: Vec<_> = session.janks.iter().map(|jank| jank.duration_ns / MS).collect();
    assert_eq!(stood, [69, 61, 98]);
    assert_eq!(session.recent.len(), ARTICLE.len());
    // 1,535 ms are seven fifths of a second; each value is of whole frames.
    assert_eq!(heard.iter().filter(|heard| heard.live.is_some()).count(), 7);
    assert!(heard.iter().all(|heard| heard.skipped.is_none()));
}

#[test]
fn what_is_kept_is_bounded_and_of_jank_frames_the_longest_stay() {
    let mut recorder = recorder();
    let mut time_ns = Uptime(1_000 * MS);
    for k in 0..500_u64 {
        let frame = DisplayFrame {
            time_ns,
            duration_ns: (100 + k) * MS,
            interval: S60,
            flags: FrameFlags::SCROLLED.with(FrameFlags::BEGINS),
        };
        time_ns = frame.end_ns() + 1_000 * MS;
        let heard = take(&mut recorder, seen(frame), &format!("Screen {k}"));
        assert_eq!(heard.skipped, frame.dropped().checked_sub(30).map(|more| more + 30));
    }
    let session = recorder.session();
    assert_eq!(session.scenes.len(), 18, "16 screens, the others and the process");
    assert_eq!(session.scenes[1].frames, 500 - 16);
    let stood: Vec<_> = session.janks.iter().map(|jank| jank.duration_ns / MS).collect();
    assert_eq!(stood, (568..600).collect::<Vec<_>>());
    assert_eq!((session.gestures.len(), session.recent.len()), (16, 128));
    assert_eq!(session.gestures.last().map(|gesture| gesture.number), Some(499), "the last one is open");
}

#[test]
fn a_jank_frame_has_its_messages_and_its_stages_in_whichever_order_they_come() {
    let mut recorder = recorder();
    let jank = |time_ns, own, other| SeenFrame {
        frame: DisplayFrame { time_ns, duration_ns: 100 * MS, interval: S60, flags: FrameFlags::SCROLLED },
        observed_rate: false,
        own: Some(own),
        other,
    };
    let at = [1, 2, 3, 4, 5].map(|s| s * 1_000 * MS);
    take(
        &mut recorder,
        jank(Uptime(at[0]), own(7, 90, Uptime(at[0] + 92 * MS)), Some(message(8, 5))),
        "Feed",
    );
    take(
        &mut recorder,
        jank(Uptime(at[1]), own(9, 3, Uptime(at[1] + 4 * MS)), Some(message(10, 80))),
        "Feed",
    );
    take(
        &mut recorder,
        jank(Uptime(at[2]), own(11, 3, Uptime(at[2] + 4 * MS)), Some(message(12, 5))),
        "Feed",
    );
    // Main waited for the render thread: its own message is long, and no culprit. The stages come after the
    // frame, or before.
    take(&mut recorder, jank(Uptime(at[3]), own(13, 95, Uptime(at[3] + 96 * MS)), None), "Feed");
    recorder.stages(&metrics(Uptime(at[3]), [1, 1, 1, 1, 1, 1, 1, 1], 96), 1, 2);
    recorder.stages(&metrics(Uptime(at[4]), [1, 1, 1, 80, 1, 1, 1, 1], 88), 1, 0);
    recorder.stages(&metrics(Uptime(at[4]), [1, 1, 1, 80, 1, 1, 1, 1], 88), 1, 0);
    recorder.stages(&metrics(Uptime(at[4]), [-5, 1, 1, 80, 1, 1, 1, 1], 88), 1, 0);
    take(&mut recorder, jank(Uptime(at[4]), own(14, 85, Uptime(at[4] + 86 * MS)), None), "Feed");
    let session = recorder.session();
    let found: Vec<_> = session.janks.iter().map(|jank| (jank.place, jank.cause)).collect();
    let expected = [
        (Some(JankPlace::OwnMessage), None),
        (Some(JankPlace::OtherMessage), None),
        (Some(JankPlace::OutsideOfMessages), None),
        (Some(JankPlace::AfterMain), Some(FrameCause::RenderWait)),
        (Some(JankPlace::OwnMessage), Some(FrameCause::LayoutMeasure)),
    ];
    assert_eq!(found, expected);
    let process = &session.scenes[0];
    assert_eq!((process.staged, process.duplicates, process.rejected, process.lost_reports), (2, 1, 1, 2));
    assert_eq!(session.stages.len(), 2);
    let main: Vec<_> = session.recent.iter().map(|frame| (frame.token_low, frame.main_us)).collect();
    assert_eq!(main[0], (Some(7), Some(92_000)));
    assert_eq!(process.delay_ns, (92 + 96 + 86) * MS - 3 * S60.ns(), "of the three that were late");
}

#[test]
fn a_gesture_ends_by_time_and_a_finger_that_rests_does_not() {
    let mut recorder = recorder();
    let others = recorder.scene("");
    recorder.event(FrameEvent::Down { at_ns: Uptime(990 * MS) }, others);
    assert!(!recorder.is_open(), "nothing ends while the finger is down");
    recorder.event(FrameEvent::Moved { at_ns: Uptime(1_000 * MS), distance_dp: 9.0 }, others);
    for frame in article() {
        let frame = DisplayFrame { time_ns: frame.time_ns - 999_000 * MS, ..frame };
        take(&mut recorder, seen(frame), "Feed");
    }
    let end_ns = 2_535 * MS;
    recorder.event(FrameEvent::Up { at_ns: Uptime(end_ns) }, others);
    assert!(recorder.is_open());
    assert_eq!(recorder.idle(Uptime(end_ns + 50 * MS)), Heard::default());
    let gesture = recorder.idle(Uptime(end_ns + 101 * MS)).gesture.expect("the gesture");
    assert_eq!((gesture.frames, gesture.windows, gesture.number, gesture.ordinal), (83, 3, 1, 1));
    assert!(gesture.flags.has(FrameFlags::FINGER));
    assert_eq!(recorder.idle(Uptime(end_ns + 300 * MS)), Heard::default());
    assert!(!recorder.is_open(), "there is nothing left that could end");
    // A tap: nothing scrolled.
    recorder.event(FrameEvent::Down { at_ns: Uptime(end_ns + 400 * MS) }, others);
    recorder.event(FrameEvent::Up { at_ns: Uptime(end_ns + 420 * MS) }, others);
    assert_eq!(recorder.idle(Uptime(end_ns + 900 * MS)), Heard::default());
    let session = recorder.session();
    assert_eq!(session.gestures, [gesture]);
    assert_eq!(session.scenes[2].finger.frames, 83);
    assert!(session.recent.iter().all(|frame| frame.flags.has(FrameFlags::FINGER)));
}

#[test]
fn stages_go_by_the_interval_that_the_display_claims() {
    let mut recorder = recorder();
    assert_eq!(recorder.interval(), RefreshInterval::HZ_60);
    let others = recorder.scene("");
    recorder.event(FrameEvent::Interval(hz(120.0)), others);
    recorder.stages(&metrics(Uptime(5), [1, 1, 1, 12, 1, 1, 1, 1], 19), 1, 0);
    let session = recorder.session();
    assert_eq!(session.scenes[1].staged, 1, "no screen is known");
    assert_eq!(session.stages[0].cause, Some(FrameCause::LayoutMeasure));
}

#[test]
fn after_a_reset_the_figures_begin_anew() {
    let mut recorder = FrameRecorder::new(29, 1, JANK_NS, 4);
    let skipped: Vec<_> =
        article().into_iter().filter_map(|frame| take(&mut recorder, seen(frame), "Feed").skipped).collect();
    assert_eq!(skipped, [5], "of 3, 3 and 5 dropped frames, with a limit of 4");
    recorder.reset();
    assert!(recorder.session().is_empty() && !recorder.is_open());
    let frame = article().into_iter().next().unwrap();
    for screen in ["Detail", "Feed"] {
        take(&mut recorder, seen(frame), screen);
    }
    let session = recorder.session();
    let counts: Vec<_> = session.scenes.iter().map(|scene| (scene.name.as_str(), scene.frames)).collect();
    assert_eq!(counts, [("", 2), ("", 1), ("Detail", 1)], "one screen, as before");
}

#[test]
fn a_message_that_took_long_has_the_frames_that_it_dropped_and_its_screens_figures() {
    let mut recorder = recorder();
    assert_eq!((recorder.stall(Token(7), "Feed"), recorder.is_counted_until(Uptime::ZERO)), (None, false));
    let frame = |time_ns, duration_ns| {
        let flags = FrameFlags::SCROLLED;
        DisplayFrame { time_ns, duration_ns, interval: S60, flags }
    };
    let i = S60.ns();
    take(&mut recorder, seen(frame(Uptime(i), i)), "Feed");
    // A block of 720 ms in the frame's own message, and a shorter one behind it.
    let stalled = frame(Uptime(2 * i), 44 * i);
    let end_ns = 45 * i + i / 2;
    let own = Some(own(7, 720, Uptime(end_ns)));
    let other = Some(message(8, 12));
    assert!(!recorder.is_counted_until(Uptime(end_ns)), "the next frame has not begun");
    take(&mut recorder, SeenFrame { own, other, ..seen(stalled) }, "Feed");
    assert!(recorder.is_counted_until(Uptime(end_ns)) && !recorder.is_counted_until(Uptime(48 * i)));
    let stall = recorder.stall(Token(7), "Detail").unwrap();
    assert_eq!((stall.dropped, stall.scene.name.as_str()), (Some(43), "Feed"));
    assert_eq!((stall.scene.frames, stall.scene.sum_ns, stall.scene.hitch_ns), (2, 45 * i, 43 * i));
    // The shorter message has dropped none: they count once.
    assert_eq!(recorder.stall(Token(8), "Feed").map(|stall| stall.dropped), Some(None));
    assert_eq!(recorder.stall(Token(8), "Detail"), None);
    // A message between two frames.
    let other = Some(message(9, 100));
    let own = Some(self::own(10, 3, Uptime(46 * i + 3 * MS)));
    take(&mut recorder, SeenFrame { own, other, ..seen(frame(Uptime(46 * i), 7 * i)) }, "Detail");
    let stall = recorder.stall(Token(9), "").unwrap();
    assert_eq!((stall.dropped, stall.scene.name.as_str()), (Some(6), "Detail"));
}

/// On Android 16 the compositor's reports come late and in batches. Each has a number, and only the reports
/// of stages show which frame has this number.
#[test]
fn the_compositors_word_finds_its_frame_whenever_it_comes() {
    let mut recorder = recorder_of(36);
    let times: Vec<Uptime> = article().iter().map(|frame| frame.time_ns).collect();
    let stages = |recorder: &mut FrameRecorder, frame: usize, vsync_id: u64| {
        let mut all = metrics(times[frame], [1, 1, 1, 40, 1, 1, 1, 1], 47);
        all[14] = vsync_id as i64;
        recorder.stages(&all, 1, 0);
    };
    let far = 1 << 32;
    // Before its frame, of one that is none of ours, and twice.
    recorder.jank_type(far + 7, 4);
    recorder.jank_type(far + 7, 2);
    recorder.jank_type(99, 1);
    stages(&mut recorder, 6, far + 7);
    for frame in article() {
        take(&mut recorder, seen(frame), "Feed");
    }
    // Long after its frame, and before its stages.
    stages(&mut recorder, 16, far + 17);
    recorder.jank_type(far + 17, 0);
    recorder.jank_type(far + 26, 5);
    stages(&mut recorder, 25, far + 26);
    let jank_types = |recorder: &FrameRecorder| -> Vec<_> {
        recorder.session().janks.iter().map(|jank| (jank.vsync_id, jank.jank_type)).collect()
    };
    assert_eq!(jank_types(&recorder), [(Some(7), Some(2)), (Some(17), Some(0)), (Some(26), Some(5))]);
    // However many come.
    for vsync_id in 1_000..2_000 {
        recorder.jank_type(vsync_id, 2);
    }
    assert_eq!(jank_types(&recorder)[0], (Some(7), Some(2)));
    // Without stages there is no number, and a level below 36 gives none.
    let mut older = recorder_of(35);
    stages(&mut older, 6, 7);
    take(&mut older, seen(article()[6]), "Feed");
    older.jank_type(7, 2);
    assert_eq!(jank_types(&older), [(None, None)]);
}
