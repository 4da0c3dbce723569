//! Display frames: what the real Choreographer and FrameMetrics of a testbed report to the recorder, and what
//! a report shows of it.

use anyhow::{Context, Result};
use lab_reports::live::{wait_for_ring, wait_until};
use lab_reports::{LIMIT, details, feature, read, stacks_of};
use loopbox_e2e::launcher;
use loopbox_e2e::scenario::Scenario;
use loopbox_format::model::{
    Component, DumpReason, Feature, FrameCause, FrameFlags, FrameScene, FrameSession, JankFrame, JankPlace,
    NamedBy, Report, SceneKind, Stage,
};
use loopbox_format::report::Decoded;
use loopbox_report::Analysis;
use loopbox_report::smoothness::{FramesOnce, Smoothness};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// The trace of Taobao's article: 83 frames in 1,535 ms.
const TRACE: &str = "17,17,17,17,17,17,69,16,15,16,17,17,17,17,17,17,61,12,13,13,15,16,17,17,17,98,10,19,16,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16";
const MS: u64 = 1_000_000;

fn scene<'a>(frames: &'a FrameSession, name: &str) -> Option<&'a FrameScene> {
    frames.scenes.iter().find(|scene| scene.kind == SceneKind::Named && scene.name.as_str() == name)
}

/// Checks that each frame of the trace of Taobao's article reaches the report to the nanosecond, whatever the
/// machine does meanwhile.
fn the_articles_trace(testbed: &str, options: &[&str], hook: &str) -> Result<()> {
    let scenario = Scenario::run("smooth.Main", testbed, options, &[&format!("trace={TRACE}"), hook])?;
    let frames = &scenario.report.frames;
    let trace = scene(frames, "trace").context("no screen of this name")?;
    assert_eq!((trace.frames, trace.sum_ns), (83, 1_535 * MS));
    assert_eq!(trace.hitch_ns, 11 * 16_666_667);
    assert_eq!((trace.level_frames, trace.level_dropped), ([80, 3, 0, 0, 0], [0, 11, 0, 0, 0]));
    assert_eq!((trace.windows_recorded, trace.worst_window_fps_milli), (3, Some(23_622)));
    assert_eq!((trace.fps_values, trace.longest_us), (1, 98_000));
    assert!(!trace.observed_rate);
    assert_eq!(frames.recent.len(), 83);
    assert!(frames.recent.iter().all(|frame| frame.flags.has(FrameFlags::ANIMATION)));
    let stood: Vec<u64> = frames.janks.iter().map(|jank| jank.duration_ns / MS).collect();
    assert_eq!(stood, [69, 61, 98]);
    assert!(
        scenario.said("stats: 83 frames, 11 dropped, 3 windows, 119435 us/s of hitches, 54072 mHz, trace 83"),
        "{:#?}",
        scenario.said
    );
    assert!(
        scenario.said("stats after a reset: 0 frames, 0 dropped, 0 windows, 0 us/s of hitches, 0 mHz,"),
        "{:#?}",
        scenario.said
    );
    assert_eq!(feature(&scenario.report, Feature::Frames), (true, "scrolling and named animations"));
    assert_eq!(feature(&scenario.report, Feature::Stages), (false, "not asked for"));
    assert_eq!(feature(&scenario.report, Feature::Touch), (false, "not asked for"));
    Ok(())
}

#[test]
fn the_articles_trace_is_in_the_report_to_the_nanosecond() -> Result<()> {
    the_articles_trace("art10", &[], "hook=AUTO")
}

#[test]
fn the_same_on_art_11_and_with_a_printer() -> Result<()> {
    the_articles_trace("art11", &[], "hook=PRINTER")
}

#[test]
fn the_same_in_compiled_code_and_without_a_hook() -> Result<()> {
    the_articles_trace("art11-jit", &[], "hook=NONE")
}

/// A display whose refreshes are up to 0.47 ms early or late drops no frame. None of that counts as a hitch,
/// neither in the recorder nor in the host tools.
fn jitter_is_no_hitch(testbed: &str, options: &[&str], hook: &str) -> Result<()> {
    // 80 frames in 1,332 ms: short of the queue between main and the worker.
    let jitter = ["16.2,17.1,16.9,16.4"; 20].join(",");
    let scenario = Scenario::run("smooth.Main", testbed, options, &[&format!("trace={jitter}"), hook])?;
    let trace = scene(&scenario.report.frames, "trace").context("no screen of this name")?;
    assert_eq!((trace.frames, trace.sum_ns, trace.hitch_ns), (80, 1_332 * MS, 0));
    // What the article's definition makes of it: 10 ms/s, which Apple called critical.
    assert_eq!(trace.hitch_exact_ns, 20 * (433_333 + 233_333));
    assert_eq!((trace.level_frames, trace.windows_recorded, trace.longest_us), ([80, 0, 0, 0, 0], 0, 17_100));
    assert!(!trace.observed_rate && scenario.report.frames.janks.is_empty(), "{:#?}", scenario.report.frames);
    assert!(
        scenario.said("stats: 80 frames, 0 dropped, 0 windows, 0 us/s of hitches, 60060 mHz, trace 80"),
        "{:#?}",
        scenario.said
    );
    let mut desk = Smoothness::default();
    let analysis = Analysis::new(&Decoded { report: scenario.report, damage: Vec::new() });
    desk.add(&analysis, &FramesOnce::default(), "jitter.lbx");
    let all = desk.view(0).process;
    assert_eq!(all.hitch_ms_per_s, Some(0.0));
    assert!(all.hitch_exact_ms_per_s.is_some_and(|rate| (rate - 10.01).abs() < 0.001), "{all:?}");
    Ok(())
}

#[test]
fn jitter_of_the_display_is_no_hitch_on_art_10_and_11() -> Result<()> {
    jitter_is_no_hitch("art10", &[], "hook=AUTO")?;
    jitter_is_no_hitch("art11", &[], "hook=PRINTER")
}

#[test]
fn jitter_of_the_display_is_no_hitch_in_compiled_code() -> Result<()> {
    jitter_is_no_hitch("art11-jit", &[], "hook=NONE")
}

/// Runs the frames of [`TRACE`] on a platform of this API level, with a compositor that classifies frames. On
/// level 36 (Android 16) the recorder asks the compositor if `options` request that. On lower levels it never
/// does, and does not load the compositor's classes.
fn the_compositors_word(testbed: &str, level: &str, options: &[&str]) -> Result<Scenario> {
    let trace = format!("trace={TRACE}");
    let arguments: Vec<&str> = [trace.as_str(), "jankTypes=on"].iter().chain(options).copied().collect();
    Scenario::run("smooth.Main", testbed, &["-D", &format!("loopbox.sdk={level}")], &arguments)
}

#[test]
fn the_compositors_word_is_in_the_report_of_its_frame() -> Result<()> {
    for testbed in ["art10", "art11", "art11-jit"] {
        let scenario = the_compositors_word(testbed, "36", &["janks=on", "stages=on"])?;
        let janks = &scenario.report.frames.janks;
        let jank_types: Vec<_> = janks.iter().map(|jank| (jank.vsync_id, jank.jank_type)).collect();
        // The application; nothing; composer and application.
        assert_eq!(jank_types, [(Some(6), Some(2)), (None, None), (Some(25), Some(3))], "{testbed}");
        assert_eq!(janks[0].cause, Some(FrameCause::LayoutMeasure), "{testbed}");
        assert_eq!(feature(&scenario.report, Feature::Janks), (true, "JankData"));
        assert!(scenario.said("listeners: 1") && scenario.said("listeners: 0"), "{:?}", scenario.said);
    }
    Ok(())
}

#[test]
fn where_the_compositor_is_not_asked_the_report_says_why() -> Result<()> {
    let cases = [
        ("36", &["stages=on"][..], "not asked for"),
        ("36", &["janks=on"], "needs stages"),
        ("35", &["janks=on", "stages=on"], "needs Android 16"),
    ];
    for (level, options, why) in cases {
        let scenario = the_compositors_word("art10", level, options)?;
        assert_eq!(feature(&scenario.report, Feature::Janks), (false, why));
        assert!(scenario.report.frames.janks.iter().all(|jank| jank.jank_type.is_none()));
        assert!(!scenario.said("listeners: 1"), "{:?}", scenario.said);
    }
    Ok(())
}

/// The app's listener may never return, and frames come all day.
#[test]
fn calls_of_a_listener_that_does_not_return_are_bounded_and_counted() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let folder = tempdir()?;
        let app = launcher(testbed)?.app("smooth.Busy").argument(format!("dir={}", folder.path().display()));
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let expected = "SCRIPT of 1000 gestures 63, left out true";
        assert!(ended.lines.iter().any(|line| line == expected), "{testbed}: {:?}", ended.lines);
    }
    Ok(())
}

/// When each message that delays a frame gets one stack, that stack shows the cause.
#[test]
fn one_stack_at_the_threshold_names_what_held_up_a_frame() -> Result<()> {
    for (testbed, hook) in [("art10", "hook=AUTO"), ("art11", "hook=PRINTER")] {
        let folder = tempdir()?;
        let app = launcher(testbed)?.app("smooth.Main");
        let app =
            app.argument(format!("dir={}", folder.path().display())).argument(hook).argument("sampleOnce=on");
        let mut app = app.start()?;
        app.wait_for("SCRIPT used", LIMIT)?;
        let report = report_in(folder.path(), |report| !report.frames.gestures.is_empty())?;
        app.kill();
        for (place, method) in
            [(JankPlace::OwnMessage, "Feed.bind"), (JankPlace::OtherMessage, "Feed$Loader.parse")]
        {
            let jank = jank_in(&report, place, method)?;
            let tree = report.trees.iter().find(|tree| Some(tree.token) == jank.tree_token);
            let tree = tree.context("no tree")?;
            let [age_ns] = tree.sample_deltas_ns[..] else { panic!("{tree:?}") };
            // One and a half refreshes.
            assert!(age_ns >= 25 * MS, "{tree:?}");
        }
    }
    Ok(())
}

/// Whether a report is complete.
fn is_whole(report: &Report) -> bool {
    let frames = &report.frames;
    let process = frames.scenes.first();
    process.is_some_and(|process| process.staged > 0)
        && frames.gestures.iter().any(|gesture| !gesture.flags.has(FrameFlags::FINGER))
}

/// The first report in the folder that is as wanted.
fn report_in(folder: &Path, wanted: impl Fn(&Report) -> bool) -> Result<Report> {
    wait_until("a report as wanted", || {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "lbx")
                && let Ok(report) = read(&path)
                && wanted(&report)
            {
                return Ok(Some(report));
            }
        }
        Ok(None)
    })
}

/// The jank frame at this place whose tree goes through `method`.
fn jank_in<'a>(report: &'a Report, place: JankPlace, method: &str) -> Result<&'a JankFrame> {
    let shows = |jank: &&JankFrame| {
        let tree = report.trees.iter().find(|tree| Some(tree.token) == jank.tree_token);
        let stacks = tree.and_then(|tree| stacks_of(report, tree).ok()).unwrap_or_default();
        stacks.iter().any(|(stack, _)| stack.iter().any(|frame| frame.short() == method))
    };
    let mut found = report.frames.janks.iter().filter(|jank| jank.place == Some(place));
    found.find(shows).with_context(|| {
        let trees: Vec<_> =
            report.trees.iter().map(|tree| (tree.token, tree.sample_deltas_ns.len())).collect();
        format!("no jank frame in {place:?} with {method}: {:#?}, trees {trees:?}", report.frames.janks)
    })
}

/// What the performance monitor wrote so far.
fn stall_lines(said: &[String]) -> Result<Vec<Value>> {
    let lines = said.iter().filter_map(|line| line.strip_prefix("SCRIPT stall "));
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Whether the line is about one of the two stalls of the scenario.
fn has_dropped(line: &Value) -> bool {
    line["display_frames"]["dropped"].as_u64().is_some_and(|frames| frames >= 40)
}

/// A finger scrolls and lets go, a list flings and stalls twice; then a tap, and a scroll that no finger
/// caused.
fn a_screen_is_used(testbed: &str, hook: &str) -> Result<Report> {
    let folder = tempdir()?;
    let launcher = launcher(testbed)?;
    let app = launcher.app("smooth.Main").argument(format!("dir={}", folder.path().display()));
    let app = app.argument(hook).argument("stages=on").argument("touch=on").argument("monitor=on");
    let mut app = app.start()?;
    app.wait_for("SCRIPT used", LIMIT)?;
    let report = report_in(folder.path(), is_whole)?;
    let mut lines = stall_lines(app.seen())?;
    while lines.iter().filter(|line| has_dropped(line)).count() < 2 {
        app.wait_for("SCRIPT stall", LIMIT)?;
        lines = stall_lines(app.seen())?;
    }
    let said = app.seen().to_vec();
    app.kill();

    // While nothing moves no refresh is asked for.
    let still: Vec<_> = said.iter().filter(|line| line.starts_with("SCRIPT still")).collect();
    assert_eq!(still.len(), 4);
    assert!(still.iter().all(|line| line.ends_with(": 0")), "{still:?}");

    let frames = &report.frames;
    let feed = scene(frames, "smooth.Screen").context("no such screen")?;
    let (scroll, finger) = (feed.scroll, feed.finger);
    assert_eq!(scroll.frames, feed.frames, "nothing but scrolling counts");
    assert!(finger.frames > 0 && finger.frames < scroll.frames, "{finger:?} of {scroll:?}");
    let fingers = frames.gestures.iter().filter(|gesture| gesture.flags.has(FrameFlags::FINGER));
    assert_eq!(fingers.count(), 1, "a tap is none: {:#?}", frames.gestures);
    let first = frames.gestures.first().context("no gesture")?;
    assert!(first.flags.has(FrameFlags::FINGER) && first.ordinal == 1, "{first:?}");
    assert!(frames.gestures.last().is_some_and(|last| !last.flags.has(FrameFlags::FINGER)));

    // Each of the two stalls has its place, its message and its code.
    let own = jank_in(&report, JankPlace::OwnMessage, "Feed.bind")?;
    // A frame that begins late stands the shorter for it, by less than a refresh.
    assert!(own.duration_ns >= 680 * MS && own.own_ns >= Some(700 * MS), "{own:?}");
    let other = jank_in(&report, JankPlace::OtherMessage, "Feed$Loader.parse")?;
    assert!(other.duration_ns >= 680 * MS && other.other_ns >= Some(700 * MS), "{other:?}");
    assert!(feed.level_frames[3] + feed.level_frames[4] >= 2, "{:?}", feed.level_frames);
    assert!(said.iter().any(|line| line == "SCRIPT skipped many in smooth.Screen"), "{said:?}");

    // The performance monitor's lines of both have the frames that they dropped, as the report counts them.
    for (jank, frame) in [(own, true), (other, false)] {
        let dropped = (jank.duration_ns as f64 / f64::from(jank.interval_ns)).round() as u64 - 1;
        let of = |line: &&Value| line["display_frames"]["dropped"] == dropped && line["frame"] == frame;
        let line = lines.iter().find(of).with_context(|| format!("none of {dropped}: {lines:#?}"))?;
        let frames = &line["display_frames"];
        assert_eq!((&frames["scene"], &line["scene"]), (&"smooth.Screen".into(), &"smooth.Screen".into()));
        assert!(frames["scene_frames"].as_u64().is_some_and(|frames| frames > 1), "{line}");
        assert!(frames["scene_dropped"].as_u64().is_some_and(|all| all >= dropped), "{line}");
        assert!(frames["scene_fps"].as_f64().is_some_and(|fps| fps > 0.0 && fps < 60.0), "{line}");
        assert!(frames["scene_hitch_ms_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{line}");
    }

    // What FrameMetrics reports of a frame is found by its frame time.
    assert!(frames.scenes.first().is_some_and(|process| process.staged > 0 && process.first_draw > 0));
    let recent = |vsync_ns| frames.recent.iter().any(|frame| Some(frame.frame_time_ns) == vsync_ns);
    assert!(frames.stages.iter().any(|stages| recent(stages.vsync_ns)), "{:#?}", frames.stages);

    assert!(feature(&report, Feature::Frames).0);
    assert_eq!(feature(&report, Feature::Stages), (true, "FrameMetrics"));
    assert_eq!(feature(&report, Feature::Touch), (true, "the callbacks of windows"));
    let printed = |words: &str| said.iter().any(|line| line == words);
    assert!(printed("SCRIPT gesture 1 of a finger"), "{said:?}");
    assert!(printed("SCRIPT window of smooth.Screen"), "{said:?}");
    assert!(!said.iter().any(|line| line.contains("cannot be")), "{said:?}");
    Ok(report)
}

#[test]
fn a_scroll_is_reported_from_its_touch_to_its_code() -> Result<()> {
    a_screen_is_used("art10", "hook=AUTO").map(drop)
}

#[test]
fn a_scroll_is_reported_on_art_11_with_a_printer() -> Result<()> {
    a_screen_is_used("art11", "hook=PRINTER").map(drop)
}

/// The poll hook sees no message: the framework's callbacks in a message identify it.
#[test]
fn frames_and_activities_are_named_by_their_callbacks_under_the_poll() -> Result<()> {
    let report = a_screen_is_used("art11", "hook=POLL")?;
    for component in [Component::Frame, Component::ActivityThread] {
        let messages = details(&report).filter_map(|detail| detail.message.as_ref());
        let named = messages.filter(|message| message.component == Some(component));
        let by: Vec<_> = named.map(|message| (message.named_by, message.what)).collect();
        let is_it = |named_by: &NamedBy| match component {
            Component::Frame => *named_by == NamedBy::Callback,
            _ => matches!(named_by, NamedBy::Lifecycle(_)),
        };
        assert!(by.iter().any(|(named_by, what)| is_it(named_by) && what.is_none()), "{component:?}: {by:?}");
    }
    Ok(())
}

/// However many fingers come and go, it is one gesture from the first touch to the last lift.
fn two_fingers_are_one_gesture(testbed: &str, hook: &str) -> Result<()> {
    let scenario = Scenario::run("smooth.Fingers", testbed, &[], &[hook])?;
    let numbers = |of: &str| {
        let lines = scenario.said.iter();
        let line =
            lines.filter_map(|line| line.strip_prefix("SCRIPT ")).find_map(|line| line.strip_prefix(of));
        let numbers: Vec<u32> =
            line.into_iter().flat_map(str::split_whitespace).flat_map(str::parse).collect();
        numbers
    };
    // The finger that is lifted and the one that stays are far from each other: that is no movement.
    assert!(scenario.said("a tap: of the app"), "{:#?}", scenario.said);
    assert!(scenario.said("the second takes over: of a finger"), "{:#?}", scenario.said);
    assert!(scenario.said("both scroll: of a finger"), "{:#?}", scenario.said);

    let ([taps], [scrolled, least, most]) = (&numbers("taps ")[..], &numbers("frames ")[..]) else {
        panic!("{:#?}", scenario.said);
    };
    let frames = &scenario.report.frames;
    let screen = scene(frames, "smooth.Screen").context("no such screen")?;
    assert_eq!(screen.gestures, taps + 2, "{:#?}", frames.gestures);
    let last = frames.gestures.last().context("no gesture")?;
    assert_eq!((last.frames, u32::from(last.ordinal)), (*scrolled, taps + 2), "{last:#?}");
    assert!((*least..=*most).contains(&last.finger_ms), "{last:#?}, held for {least} to {most} ms");
    Ok(())
}

#[test]
fn two_fingers_are_one_gesture_on_art_10_and_11() -> Result<()> {
    two_fingers_are_one_gesture("art10", "hook=AUTO")?;
    two_fingers_are_one_gesture("art11", "hook=PRINTER")
}

#[test]
fn two_fingers_are_one_gesture_in_compiled_code() -> Result<()> {
    two_fingers_are_one_gesture("art11-jit", "hook=AUTO")
}

/// A frame is delayed by its own drawing, by a message, by a touch, or by the render thread. The causes are
/// distinguished.
fn a_frame_is_held_up_in_each_place(testbed: &str, hook: &str) -> Result<()> {
    /// How long the longest frame lasts at least: a frame may begin late, by up to a refresh.
    const STOOD: u64 = (200 - 17) * MS;
    let scenario = Scenario::run("smooth.Janks", testbed, &[], &[hook])?;
    let report = &scenario.report;
    let frames = &report.frames;
    assert!(jank_in(report, JankPlace::OwnMessage, "Janks$Page.bind")?.duration_ns >= STOOD);
    assert!(jank_in(report, JankPlace::OtherMessage, "Janks$Loader.parse")?.duration_ns >= STOOD);
    let rendered = frames.janks.iter().any(|jank| {
        let cause = (jank.place, jank.cause) == (Some(JankPlace::AfterMain), Some(FrameCause::RenderWait));
        cause && jank.duration_ns >= STOOD
    });
    assert!(rendered, "{:#?}", frames.janks);
    assert!(jank_in(report, JankPlace::OutsideOfMessages, "Janks$Page.onTouchEvent")?.duration_ns >= STOOD);

    // The platform's total has the wait for the render thread, its stages do not.
    let process = frames.scenes.first().context("no figures")?;
    let waited_ns = process.stage_ns[Stage::RenderWait.index()];
    assert!(waited_ns >= 200 * MS, "{process:#?}");
    // What could not be delivered while the listener stood still is counted by the platform.
    assert!(process.lost_reports > 0, "{process:#?}");
    // Both rates of the display.
    let frames_at = |interval_ns: u32| {
        let rate = process.rates.iter().find(|rate| rate.interval_ns.abs_diff(interval_ns) < 10);
        rate.map_or(0, |rate| rate.frames)
    };
    assert!(frames_at(16_666_667) > 50 && frames_at(8_333_333) > 10, "{:?}", process.rates);
    Ok(())
}

#[test]
fn a_frame_is_held_up_in_each_place_on_art_10() -> Result<()> {
    a_frame_is_held_up_in_each_place("art10", "hook=AUTO")
}

#[test]
fn a_frame_is_held_up_in_each_place_on_art_11_with_a_printer() -> Result<()> {
    a_frame_is_held_up_in_each_place("art11", "hook=PRINTER")
}

#[test]
fn a_frame_is_held_up_in_each_place_in_compiled_code() -> Result<()> {
    a_frame_is_held_up_in_each_place("art11-jit", "hook=PRINTER")
}

/// The user swipes the app away, or the system needs its memory: a process ends without notice, and its
/// frames are not lost.
#[test]
fn frames_of_a_killed_process_are_in_the_next_launchs_report() -> Result<()> {
    let folder = tempdir()?;
    let launcher = launcher("art10")?;
    let directory = format!("dir={}", folder.path().display());
    let start = || launcher.app("smooth.Main").argument(&*directory).argument("touch=on").start();
    let mut first = start()?;
    first.wait_for("SCRIPT installed", LIMIT)?;
    let pid = first.pid();
    let turned = |report: &Report| {
        let finger = |flags: FrameFlags| flags.has(FrameFlags::FINGER);
        report.frames.gestures.iter().any(|gesture| !finger(gesture.flags))
    };
    let ring = wait_for_ring("both gestures are in the ring's file", folder.path(), pid, turned)?;
    first.kill();

    let mut second = start()?;
    let mut line = second.wait_for("SCRIPT report", LIMIT)?;
    while !line.contains(&format!("loopbox-{pid}-")) || !line.contains("-recovered") {
        line = second.wait_for("SCRIPT report", LIMIT)?;
    }
    second.kill();
    let path = line.split_whitespace().nth(2).context("no path")?;
    let report = read(path.as_ref())?;
    assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: None });
    assert_eq!(report.digest.lines().next(), Some("frames"), "{}", report.digest);
    assert!(report.frames.gestures.starts_with(&ring.frames.gestures), "{:#?}", report.frames.gestures);
    assert!(report.frames.janks.starts_with(&ring.frames.janks), "{:#?}", report.frames.janks);
    let process = report.frames.scenes.first().context("no figures")?;
    assert!(process.frames >= ring.frames.scenes[0].frames && process.finger.frames > 0);
    assert!(!report.frames.recent.is_empty());
    Ok(())
}

/// A delayed frame, as `smooth.Skips` has logged it (`stood`), and the platform's log line about this frame.
#[derive(Debug)]
struct Stood {
    /// N of "Skipped N frames!".
    platform: Option<u64>,
    /// How many frames were dropped, computed from the two frame times only.
    dropped: u64,
    /// How many refreshes passed before the app asked for the next frame, at least and at most.
    asked: (u64, u64),
}

/// The `Choreographer` writes its line before the frame's callbacks run, so it is directly before the app's
/// line.
fn stood_in(log: &str) -> Result<Vec<Stood>> {
    let mut all = Vec::new();
    let mut platform = None;
    for line in log.lines() {
        if let Some(skipped) = line.strip_prefix("I/Choreographer: Skipped ") {
            let (frames, words) = skipped.split_once(' ').context("no number")?;
            assert_eq!(words, "frames!  The application may be doing too much work on its main thread.");
            platform = Some(frames.parse()?);
        } else if let Some(numbers) = line.strip_prefix("I/SKIPS: stood ") {
            let numbers: Vec<u64> = numbers.split(' ').map(str::parse).collect::<Result<_, _>>()?;
            let [dropped, fewest, most] = numbers[..] else { panic!("{line}") };
            all.push(Stood { platform: platform.take(), dropped, asked: (fewest, most) });
        } else if line.starts_with("I/SKIPS: on time") {
            assert_eq!(platform.take(), None, "{log}");
        }
    }
    Ok(all)
}

/// Checks stalls inside of a frame and between two frames. Of the stalls between frames, the platform counts
/// those that begin after the next frame was requested.
fn skipped_frames_are_the_platforms(testbed: &str, hz: u64) -> Result<()> {
    let folder = tempdir()?;
    let app = launcher(testbed)?.app("smooth.Skips").argument(format!("dir={}", folder.path().display()));
    let ended = app.argument(format!("hz={hz}")).start()?.finish(LIMIT)?.success()?;
    let heard = ended.lines.iter().filter_map(|line| line.strip_prefix("SCRIPT skipped "));
    let heard: Vec<u64> = heard.map(str::parse).collect::<Result<_, _>>()?;
    let log = &ended.errors;
    let stood = stood_in(log)?;
    println!("{testbed}, {hz} Hz: reported {heard:?}, of {stood:?}");

    // Ours is called for half a second on any display, the platform's from 30 refreshes on.
    let limit = if hz == 60 { 30 } else { 61 };
    let long: Vec<u64> = stood.iter().map(|frame| frame.dropped).filter(|&frames| frames >= limit).collect();
    assert_eq!(heard, long, "{log}");
    for frame in &stood {
        let Stood { platform, dropped, asked: (fewest, most) } = *frame;
        match platform {
            Some(platform) => {
                assert!(platform + fewest <= dropped && dropped <= platform + most, "{frame:?} in {log}");
            }
            None => assert!(dropped < 30 + most, "{frame:?} in {log}"),
        }
    }
    // The next frame was asked for at once: the counts are equal.
    let at_once = |frame: &&Stood| frame.asked == (0, 0) && frame.dropped >= limit;
    let equal = stood.iter().filter(at_once).filter(|frame| frame.platform == Some(frame.dropped));
    assert!(equal.count() >= 2, "{stood:#?}");
    // It was asked for when the stall was over: the platform does not see that one.
    assert!(stood.iter().any(|frame| frame.dropped >= limit && frame.platform.is_none()), "{stood:#?}");
    // Below half a second, which is more than 30 refreshes at 120 Hz.
    let quick = stood.iter().any(|frame| frame.dropped < limit && frame.platform == Some(frame.dropped));
    assert_eq!(quick, hz == 120, "{stood:#?}");
    Ok(())
}

#[test]
fn skipped_frames_are_counted_as_the_platform_counts_them() -> Result<()> {
    skipped_frames_are_the_platforms("art10", 60)?;
    skipped_frames_are_the_platforms("art10", 120)
}

#[test]
fn skipped_frames_are_counted_so_on_art_11() -> Result<()> {
    skipped_frames_are_the_platforms("art11", 60)?;
    skipped_frames_are_the_platforms("art11", 120)
}
