//! The sampler at its worst: it hangs, dies, takes the process with it, meets an unknown ART, or is switched
//! off. The app runs on, and the report says what happened.

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Running};
use lab_reports::live::running_tree;
use lab_reports::{LIMIT, feature, read, stacks_of};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, Feature, MainState, Report, StackSource, StackTree, Token, Uptime};
use loopbox_testbed as testbed;
use std::path::Path;
use std::time::Instant;
use tempfile::tempdir;

/// An app that requests reports again and again, until the sampler is as a test expects. Signals are not
/// used, because they would make the sampler hurry.
fn demo(testbed: &str, folder: &Path) -> Result<App> {
    Ok(asking(launcher(testbed)?.app("scenario.Demo"), folder))
}

fn asking(demo: App, folder: &Path) -> App {
    demo.argument(format!("dir={}", folder.display())).argument("dumps=300")
}

/// Waits for the first report for which `good` is true.
fn report_when(app: &mut Running, good: impl Fn(&Report) -> bool) -> Result<Report> {
    let end = Instant::now() + LIMIT;
    loop {
        let line = app.wait_for("again", LIMIT)?;
        let report = read(line.split_whitespace().nth(2).context("no path")?.as_ref())?;
        if good(&report) {
            return Ok(report);
        }
        ensure!(Instant::now() < end, "{:?}\n{:?}", report.features, report.main);
    }
}

fn sampler(report: &Report) -> (bool, &str) {
    feature(report, Feature::Sampler)
}

/// Whether the report has a stack that it asked Java for.
fn has_java_stack(report: &Report) -> bool {
    report.trees.iter().any(|tree| tree.source == StackSource::JavaApi)
}

#[test]
fn a_sampler_that_does_not_come_back_loses_the_main_thread_to_the_guard() -> Result<()> {
    let testbeds = testbed::to_test_on(&["art10", "art11"]);
    for (testbed, fault) in testbeds.iter().zip(["stay", "die"].into_iter().cycle()) {
        let folder = tempdir()?;
        let mut app = demo(testbed, folder.path())?.env("LOOPBOX_FAULT", fault).start()?;
        app.wait_for("FAULT main is stopped", LIMIT)?;
        // The main thread was stopped in the middle of a message before this one.
        app.wait_for("SCRIPT hang", LIMIT)?;
        let report = report_when(&mut app, |report| !sampler(report).0)?;
        assert!(sampler(&report).1.contains("the guard resumed it"), "{testbed}: {:?}", report.features);
        let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
        assert!(running.token > Token(150), "{running:?}");
        // Its stop harmed the app: from then on ART is not asked to stop main for a stack either.
        assert!(!has_java_stack(&report), "{testbed}: {:?}", report.trees);
    }
    Ok(())
}

/// A read of main's stack that waits for the disk cannot be ended from outside. It is reported as long as it
/// lasts.
#[test]
fn a_sampler_that_comes_back_late_is_on_again() -> Result<()> {
    for testbed in &testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let mut app = demo(testbed, folder.path())?.env("LOOPBOX_FAULT", "read").start()?;
        app.wait_for("FAULT main's stack is read", LIMIT)?;
        // Main goes on when the guard has reported that the sampler is stuck.
        app.wait_for("SCRIPT hang", LIMIT)?;
        let sampled_again = |report: &Report| {
            let MainState::Running(running) = &report.main else { return false };
            running.token > Token(150) && sampler(report).0 && running_tree(report).is_some()
        };
        let report = report_when(&mut app, sampled_again)?;
        assert!(sampler(&report).1.starts_with("table of ART"), "{testbed}: {:?}", report.features);
    }
    Ok(())
}

#[test]
fn a_process_that_ends_inside_of_a_long_window_is_not_sampled_for_some_starts() -> Result<()> {
    let folder = tempdir()?;
    let mut app = demo("art11", folder.path())?.env("LOOPBOX_FAULT", "stay").start()?;
    app.wait_for("FAULT main is stopped", LIMIT)?;
    // The guard has let main go by then, a second or two after it was stopped: that long a stop is no chance.
    app.wait_for("SCRIPT hang", LIMIT)?;
    app.signal("KILL")?;
    app.kill();
    // It is another process that finds it, and one that does not sample.
    let mut app = demo("art11", folder.path())?.argument("sampling=off").start()?;
    let report = report_when(&mut app, |_| true)?;
    assert_eq!(sampler(&report), (false, "switched off by the app"));
    for left in (0..5).rev() {
        let mut app = demo("art11", folder.path())?.start()?;
        let report = report_when(&mut app, |report| sampler(report).1 != "absent")?;
        let (_, how) = sampler(&report);
        assert!(how.contains("fuse blown, an earlier process ended in phase walk"), "{how}");
        assert!(how.ends_with(&format!("next try: {left}")), "{how}");
        assert!(!has_java_stack(&report), "ART stops main for it, too: {:?}", report.trees);
    }
    let mut app = demo("art11", folder.path())?.start()?;
    let report = report_when(&mut app, |report| sampler(report).1 != "absent")?;
    assert!(sampler(&report).0 && sampler(&report).1.starts_with("table of ART"), "{:?}", report.features);
    Ok(())
}

#[test]
fn an_unknown_art_is_sampled_by_the_java_api_more_gently() -> Result<()> {
    for testbed in &testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let app = demo(testbed, folder.path())?.env("LOOPBOX_FAULT", "unknown-art");
        is_sampled_by_the_java_api(app, "unknown ART").with_context(|| testbed.clone())?;
    }
    Ok(())
}

/// A shrinker may remove annotations. Without `@FastNative` the thread that walks a stack is not runnable,
/// and a collection may free what the thread reads.
#[test]
fn an_app_that_lost_the_annotation_is_sampled_by_the_java_api() -> Result<()> {
    const ANNOTATED: &str = "@FastNative\n    static native void walk();";
    for testbed in &testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let launcher = launcher(testbed)?;
        let jar = launcher.variant("not-fast", |file, text| {
            if file != "Native.java" {
                return Ok(text);
            }
            ensure!(text.contains(ANNOTATED), "Native.walk has no annotation to take off");
            Ok(text.replace(ANNOTATED, "static native void walk();"))
        })?;
        let app = asking(launcher.app_in(&jar, "scenario.Demo"), folder.path());
        is_sampled_by_the_java_api(app, "the fast native method does not make its thread runnable")
            .with_context(|| testbed.clone())?;
    }
    Ok(())
}

/// Runs the demo until it was sampled in its hang, and checks these stacks.
fn is_sampled_by_the_java_api(app: App, why: &str) -> Result<()> {
    let mut app = app.start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    let sampled = |report: &Report| {
        let MainState::Running(running) = &report.main else { return false };
        report.trees.last().is_some_and(|t| t.token == running.token && t.sample_deltas_ns.len() >= 3)
    };
    let report = report_when(&mut app, sampled)?;
    let (on, how) = sampler(&report);
    ensure!(on && how.starts_with(&format!("by Thread.getStackTrace: {why}")), "{how}");
    let tree = report.trees.last().context("no tree")?;
    assert_eq!(tree.source, StackSource::JavaApi);
    assert!(tree.phases.iter().all(|phase| phase.interval_ns >= 100_000_000), "{:?}", tree.phases);
    for (stack, _) in stacks_of(&report, tree)? {
        let names: Vec<_> = stack.iter().map(lab_reports::Frame::short).collect();
        assert!(names.iter().any(|name| name == "CheckoutActivity.onPay"), "{names:?}");
        assert_eq!(names.last().map(String::as_str), Some("Demo.main"), "{names:?}");
        let own = stack.iter().find(|frame| frame.short() == "CheckoutActivity.onPay").context("gone")?;
        assert!(own.line.is_some() && own.method.source_file == "CheckoutActivity.java", "{own:?}");
    }
    assert_eq!(report.threads.captured_ns, Uptime::ZERO, "others are only stopped by the native sampler");
    Ok(())
}

#[test]
fn a_kernel_without_process_vm_readv_is_read_through_pipes() -> Result<()> {
    for testbed in &testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let app = demo(testbed, folder.path())?.env("LOOPBOX_HOST_REFUSE", "process_vm_readv");
        let mut app = app.start()?;
        app.wait_for("SCRIPT hang", LIMIT)?;
        let report = report_when(&mut app, |report| {
            running_tree(report).is_some_and(|tree| tree.sample_deltas_ns.len() >= 3)
        })?;
        let (on, how) = sampler(&report);
        assert!(on && how.starts_with("table of ART"), "{testbed}: {how}");
        let tree = running_tree(&report).context("no tree")?;
        for (stack, _) in stacks_of(&report, tree)? {
            assert!(stack.iter().any(|frame| frame.short() == "CheckoutActivity.onPay"), "{stack:?}");
        }
    }
    Ok(())
}

/// When an app is frozen in the middle of `Thread.getStackTrace`, that call times out at the thaw and ends
/// the process. Only apps in the background are frozen.
#[test]
fn the_java_api_is_left_alone_in_the_background() -> Result<()> {
    let folder = tempdir()?;
    let app = launcher("art10")?.app("scenario.Switching").env("LOOPBOX_FAULT", "unknown-art");
    let app = app.argument(format!("dir={}", folder.path().display())).argument("behind=yes");
    let mut app = app.argument(format!("next={}", folder.path().display())).start()?;
    std::fs::write(folder.path().join("0"), "")?;
    let tried = |report: &Report| {
        let MainState::Running(running) = &report.main else { return false };
        sampler(report).0
            && report.meta.reason == DumpReason::Requested("1".into())
            && running.age_ns() > 2_000_000_000
    };
    let report = loop {
        let line = app.wait_for("SCRIPT report", LIMIT)?;
        let report = read(line.split_whitespace().nth(2).context("no path")?.as_ref())?;
        if tried(&report) {
            break report;
        }
    };
    assert!(sampler(&report).1.starts_with("by Thread.getStackTrace"), "{:?}", report.features);
    assert!(report.trees.is_empty(), "{:?}", report.trees);
    Ok(())
}

#[test]
fn sampling_is_switched_off_and_on_while_it_records() -> Result<()> {
    for start in ["on", "off"] {
        let folder = tempdir()?;
        let next = tempdir()?;
        let app = launcher("art10")?.app("scenario.Switching");
        let app = app.argument(format!("dir={}", folder.path().display()));
        let app = app.argument(format!("next={}", next.path().display()));
        let mut app = app.argument(format!("sampling={start}")).start()?;
        let mut seen = Vec::new();
        loop {
            let line = app.wait_for("SCRIPT ", LIMIT)?;
            let Some(path) = line.strip_prefix("SCRIPT report ").and_then(|line| line.split(' ').next())
            else {
                assert_eq!(line, "SCRIPT done");
                break;
            };
            let report = read(path.as_ref())?;
            let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
            let DumpReason::Requested(turn) = &report.meta.reason else { panic!("{:?}", report.meta) };
            // While it is off a report has the one stack that it asked Java for.
            let native = |tree: &&StackTree| tree.source == StackSource::Art;
            let sampled = report.trees.iter().filter(native).any(|tree| tree.token == running.token);
            assert!(turn == "1" || !sampled, "{start}, turn {turn}");
            let (on, how) = sampler(&report);
            let expected = if turn == "1" { on && sampled } else { how == "switched off by the app" };
            if expected {
                seen.push(turn.clone());
                std::fs::write(next.path().join(turn), "")?;
            }
        }
        seen.dedup();
        let expected = ["0", "1", "2"];
        assert_eq!(seen, expected, "{start}");
    }
    Ok(())
}
