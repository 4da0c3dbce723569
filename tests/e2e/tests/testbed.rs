//! The testbed behaves like an app on a phone: its start, how input and frames arrive, what the frame clock
//! reports.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use lab_launch::{Running, reports};
use lab_reports::live::wait_until;
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_format::model::DumpReason;
use loopbox_testbed as testbed;
use tempfile::tempdir;

fn testbeds() -> Vec<String> {
    testbed::to_test_on(&["art10", "art11"])
}

/// The lines that a class of `tests/app` prints until its process ends: those that begin with the mark
/// `SCRIPT `, without this mark.
fn lines_of(testbed: &str, main: &str, arguments: &[&str]) -> Result<Vec<String>> {
    let mut app = launcher(testbed)?.app(main);
    for argument in arguments {
        app = app.argument(*argument);
    }
    let ended = app.start()?.finish(LIMIT)?.success()?;
    Ok(ended.lines.iter().filter_map(|line| line.strip_prefix("SCRIPT ")).map(String::from).collect())
}

/// The stack at each place that the app reached, outermost method first, in order.
fn places(lines: &[String]) -> Vec<(&str, Vec<&str>)> {
    fn place(line: &str) -> Option<(&str, Vec<&str>)> {
        let (place, stack) = line.strip_prefix("at ")?.split_once(": ")?;
        // The compiler's own methods, for access to private members, are not of interest.
        let is_made = |method: &str| method.starts_with("access$") || method.starts_with("-$$Nest$");
        Some((place, stack.split(' ').filter(|method| !is_made(method)).collect()))
    }
    lines.iter().filter_map(|line| place(line)).collect()
}

/// The stack in a message: what the main Looper calls.
const MESSAGE: &str = "main loop dispatchMessage";
/// The place where descriptors are served: inside of the wait for the next message, and in no message.
const POLL: &str = "main loop next nativePollOnce";
const BIND: &str = "main loop dispatchMessage handleMessage handleBindApplication";
const FRAME: &str = "main loop dispatchMessage handleCallback run doFrame doCallbacks";

/// The places of `phone.Main` in the order of its scenario, with the first and the last method of their
/// stacks.
const SCENARIO: [(&str, &str, &str); 21] = [
    ("attach-before", BIND, "makeApplication newApplication attach attachBaseContext"),
    ("attach-after", BIND, "makeApplication newApplication attach attachBaseContext"),
    ("provider", BIND, "installContentProviders installProvider attachInfo onCreate"),
    ("application", BIND, "callApplicationOnCreate onCreate"),
    (
        "activity",
        MESSAGE,
        "handleLaunchActivity performLaunchActivity callActivityOnCreate performCreate onCreate",
    ),
    ("frame-traversal", FRAME, "doTraversal performTraversals draw draw dispatchDraw draw onDraw"),
    ("frame-input", FRAME, "run run"),
    ("frame-animation", FRAME, "run doFrame"),
    ("touch-down", POLL, "dispatchTouchEvent onTouchEvent"),
    ("touch-move", FRAME, "dispatchTouchEvent onTouchEvent"),
    ("touch-up", POLL, "dispatchTouchEvent onTouchEvent"),
    ("key", POLL, "dispatchKeyEvent dispatch onKeyDown"),
    ("generic-motion", POLL, "dispatchGenericMotionEvent onGenericMotionEvent"),
    ("idle", "main loop next", "next queueIdle"),
    ("descriptor", POLL, "dispatchEvents onFileDescriptorEvents"),
    ("service-create", MESSAGE, "handleMessage handleCreateService onCreate"),
    ("service-start", MESSAGE, "handleMessage handleServiceArgs onStartCommand"),
    ("receiver", MESSAGE, "handleMessage handleReceiver onReceive"),
    ("job", MESSAGE, "handleMessage onStartJob"),
    ("message", MESSAGE, "handleCallback run"),
    ("nested-loop", MESSAGE, "handleCallback run loop dispatchMessage handleCallback run"),
];

/// The method with which a frame takes the movements since the previous frame.
const BATCH: &str = "nativeConsumeBatchedInputEvents";

/// Whether main may get the event of this place in the call of [`BATCH`]. The event comes after movements
/// that wait for a frame. If a busy machine delays main, that frame takes the event together with the
/// movements.
fn may_come_with_a_batch(place: &str) -> bool {
    ["touch-up", "key", "generic-motion"].contains(&place)
}

#[test]
fn an_app_starts_and_is_called_as_on_a_phone() -> Result<()> {
    for testbed in testbeds() {
        let lines = lines_of(&testbed, "phone.Main", &["install=none"])?;
        let places = places(&lines);
        let names: Vec<_> = places.iter().map(|(place, _)| *place).collect();
        assert_eq!(names, SCENARIO.map(|(place, ..)| place), "{testbed}: {lines:#?}");
        for ((place, stack), (_, bottom, top)) in places.iter().zip(SCENARIO) {
            let with_batch = may_come_with_a_batch(place) && stack.contains(&BATCH);
            let stack = stack.join(" ");
            let bottom = if with_batch { FRAME } else { bottom };
            assert!(stack.starts_with(bottom) && stack.ends_with(top), "{testbed}, {place}: {stack}");
        }
        let stack = |wanted: &str| &places.iter().find(|(place, _)| *place == wanted).unwrap().1;
        for touch in ["touch-down", "touch-up"] {
            let stack = stack(touch);
            assert!(stack.contains(&"onInputEvent"), "{testbed}: {touch}");
            let with_batch = may_come_with_a_batch(touch) && stack.contains(&BATCH);
            assert!(with_batch || !stack.contains(&"dispatchMessage"), "{testbed}: {touch} is in a message");
        }
        assert!(stack("touch-move").contains(&BATCH), "{testbed}");
    }
    Ok(())
}

#[test]
fn movements_of_a_finger_come_batched_and_none_is_lost() -> Result<()> {
    for testbed in testbeds() {
        let lines = lines_of(&testbed, "phone.Main", &["install=none"])?;
        let scrolled = lines.iter().find_map(|line| line.strip_prefix("scrolled by 6 movements in "));
        let (events, to) = scrolled.and_then(|rest| rest.split_once(" events to ")).context("no scroll")?;
        assert!((1..=6).contains(&events.parse::<u32>()?), "{testbed}: {events}");
        assert_eq!(to, "380", "{testbed}: the last movement is where the page stands");
        assert!(lines.iter().any(|line| line == "the page scrolls"), "{testbed}: {lines:#?}");
    }
    Ok(())
}

#[test]
fn a_descriptors_listener_is_called_changed_and_removed_as_on_a_phone() -> Result<()> {
    for testbed in testbeds() {
        let lines = lines_of(&testbed, "phone.Descriptors", &[])?;
        let expected = [
            "read 1",
            "read 2",
            "nothing came", // after it was removed
            "read 3",       // when it was added again
            "the loop threw: wrong",
            "nothing came", // after its exception
            "read 4",       // when it was added again
            "room to write: true",
            "the other end is closed: true",
        ];
        assert_eq!(lines, expected, "{testbed}");
    }
    Ok(())
}

/// Intervals as in a trace of a scrolling list: most of one refresh at 60 Hz, some longer, no two equal.
fn intervals() -> Vec<u64> {
    (0..83).map(|at| 16_666_667 * [1, 1, 2, 1, 5, 1, 44][at % 7] + at as u64).collect()
}

#[test]
fn scripted_frame_times_come_through_to_the_nanosecond() -> Result<()> {
    let given = intervals().iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    for testbed in testbeds() {
        let lines = lines_of(&testbed, "phone.FrameClock", &[&format!("script={given}")])?;
        assert_eq!(lines, [format!("intervals {given}"), "refreshes asked for 84".into()], "{testbed}");
    }
    Ok(())
}

#[test]
fn frames_of_the_displays_own_clock_lie_on_its_grid() -> Result<()> {
    const PERIOD: u64 = 10_000_000;
    for testbed in testbeds() {
        let lines = lines_of(&testbed, "phone.FrameClock", &["frames=20", &format!("periodNs={PERIOD}")])?;
        let [intervals, asked] = &lines[..] else { panic!("{testbed}: {lines:?}") };
        let intervals = intervals.strip_prefix("intervals ").context("no intervals")?;
        let intervals: Vec<u64> = intervals.split(',').map(str::parse).collect::<Result<_, _>>()?;
        assert_eq!(intervals.len(), 20, "{testbed}");
        assert!(intervals.iter().all(|ns| *ns > 0 && ns % PERIOD == 0), "{testbed}: {intervals:?}");
        let after_slow = intervals.iter().skip(10).max().context("no interval")?;
        assert!(*after_slow >= 3 * PERIOD, "{testbed}: a frame of three refreshes in {intervals:?}");
        assert_eq!(asked, "refreshes asked for 21", "{testbed}");
    }
    Ok(())
}

#[test]
fn animations_step_with_the_frames() -> Result<()> {
    for testbed in testbeds() {
        let lines = lines_of(&testbed, "phone.FrameClock", &["animation=100"])?;
        assert_eq!(lines, ["clocks together: true, upwards: true, to 100.0"], "{testbed}");
    }
    Ok(())
}

#[test]
fn frame_metrics_report_the_same_frames_and_count_what_a_busy_listener_missed() -> Result<()> {
    for testbed in testbeds() {
        let lines = lines_of(&testbed, "phone.FrameClock", &["metrics=8"])?;
        let frames: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("frame ")).collect();
        assert_eq!(frames.len(), 16, "{testbed}: {lines:#?}");
        let metrics: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("metrics ")).collect();
        assert_eq!(metrics.len(), 8, "{testbed}: {lines:#?}");
        let mut dropped = 0;
        for (at, line) in metrics.iter().enumerate() {
            let words: Vec<_> = line.split(' ').collect();
            let [vsync, drops, first, complete] = words[..] else { panic!("{testbed}: {line}") };
            assert!(frames.contains(&vsync), "{testbed}: {line} is of no frame of {frames:?}");
            let expected = if at == 0 { "first=true" } else { "first=false" };
            assert_eq!((first, complete), (expected, "complete=true"), "{testbed}: {line}");
            dropped += drops.strip_prefix("dropped=").context("no count")?.parse::<usize>()?;
        }
        // Three have room while the listener is busy. It is notified of the others when the next one comes.
        assert!((1..=5).contains(&dropped), "{testbed}: {dropped} of {metrics:?}");
    }
    Ok(())
}

/// Processor time of a process's main thread, in the kernel's ticks, and its state.
fn main_thread(pid: u32) -> Result<(u64, char)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{pid}/stat")).context("the process is gone")?;
    let fields: Vec<&str> = stat.rsplit_once(')').context("no name")?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).context("no time");
    Ok((ticks(11)? + ticks(12)?, fields.first().and_then(|state| state.chars().next()).context("no state")?))
}

/// Starts the phone's app so that it hangs at a place until the file `gate` exists in the folder.
fn hanging(testbed: &str, folder: &std::path::Path, place: &str, how: &str) -> Result<Running> {
    let gate = folder.join("gate");
    let app = launcher(testbed)?.app("phone.Main").argument(format!("dir={}", folder.display()));
    let app = app.argument(format!("hang={place}")).argument(format!("how={how}"));
    let mut running = app.argument(format!("gate={}", gate.display())).argument("dump=on").start()?;
    running.wait_for(&format!("SCRIPT hangs at {place}"), LIMIT)?;
    Ok(running)
}

#[test]
fn each_kind_of_hang_works_or_waits_until_it_is_let_go() -> Result<()> {
    let works = BTreeMap::from([
        ("spin", true),
        ("native-spin", true),
        ("sleep", false),
        ("monitor", false),
        ("lock", false),
        ("futex", false),
        ("nanosleep", false),
        ("gc", true),
        ("full-heap", true),
    ]);
    for (how, works) in works {
        let folder = tempdir()?;
        let mut app = hanging("art10", folder.path(), "message", how)?;
        let begun = main_thread(app.pid())?.0;
        wait_until(how, || {
            let (ticks, state) = main_thread(app.pid())?;
            Ok(if works { ticks > begun + 3 } else { state == 'S' }.then_some(()))
        })?;
        fs::write(folder.path().join("gate"), "")?;
        app.wait_for("SCRIPT goes on at message", LIMIT)?;
        app.finish(LIMIT)?.success()?;
    }
    let folder = tempdir()?;
    let mut app = hanging("art10", folder.path(), "message", "vfork")?;
    wait_until("state D", || Ok((main_thread(app.pid())?.1 == 'D').then_some(())))?;
    fs::write(folder.path().join("gate"), "")?;
    app.wait_for("SCRIPT goes on at message", LIMIT)?;
    app.finish(LIMIT)?.success()?;

    let folder = tempdir()?;
    let mut app = hanging("art10", folder.path(), "message", "fsync")?;
    let file = folder.path().join("fsync");
    wait_until("a file is written", || {
        Ok(fs::metadata(&file).is_ok_and(|file| file.len() > 0).then_some(()))
    })?;
    fs::write(folder.path().join("gate"), "")?;
    app.wait_for("SCRIPT goes on at message", LIMIT)?;
    app.finish(LIMIT)?.success()?;
    Ok(())
}

#[test]
fn the_app_can_hang_at_every_place_and_goes_on() -> Result<()> {
    for testbed in testbeds() {
        let all = SCENARIO.map(|(place, ..)| place).join(",");
        let lines = lines_of(&testbed, "phone.Main", &["install=none", &format!("hang={all}"), "ms=1"])?;
        for (place, ..) in SCENARIO {
            let at = |text: &str| lines.iter().position(|line| *line == format!("{text} {place}"));
            assert!(
                at("hangs at").context("no hang")? < at("goes on at").context("no end")?,
                "{testbed}: {place}"
            );
        }
    }
    Ok(())
}

#[test]
fn the_recorder_is_installed_where_the_script_says() -> Result<()> {
    for (place, before, after) in [
        ("attach", "attach-before", "attach-after"),
        ("provider", "attach-after", "provider"),
        ("onCreate", "provider", "application"),
    ] {
        let folder = tempdir()?;
        let arguments =
            [format!("dir={}", folder.path().display()), format!("install={place}"), "dump=on".into()];
        let lines = lines_of("art10", "phone.Main", &arguments.each_ref().map(String::as_str))?;
        let at = |text: String| lines.iter().position(|line| line.starts_with(&text)).context(text);
        let installed = at(format!("installed in {place}: on"))?;
        assert!(
            at(format!("at {before}:"))? < installed && installed < at(format!("at {after}:"))?,
            "{lines:#?}"
        );
        let report = reports(folder.path())?.pop().context("no report")?;
        assert_eq!(read(&report)?.meta.reason, DumpReason::Requested("at the end".into()));
    }
    Ok(())
}

/// ART 11's interpreter for x86-64 died when the compiler was on and a proxy class had as many objects as in
/// this test (`code-patches/art11-jit.toml`).
#[test]
fn a_proxy_class_has_more_objects_than_a_counter_of_the_compiler() -> Result<()> {
    for testbed in testbed::to_test_on(&["art11-jit"]) {
        let lines = lines_of(&testbed, "scenario.Proxies", &["70000"])?;
        assert_eq!(lines, ["made 70000"], "{testbed}");
    }
    Ok(())
}
