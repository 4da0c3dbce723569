//! A thread that reaches no safepoint: it ends neither sampling nor the app, and no thread is asked to stop
//! while ART's own trace waits for it.

use anyhow::{Context, Result, ensure};
use lab_launch::Running;
use lab_reports::live::{quit, running_tree, wait_for_ring};
use lab_reports::{LIMIT, feature, read, stacks_of};
use loopbox_e2e::launcher;
use loopbox_format::model::{Feature, MainState, Report, StackSource};
use loopbox_testbed as testbed;
use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::tempdir;

/// Waits for the first report for which `good` is true.
fn report_when(app: &mut Running, good: impl Fn(&Report) -> bool) -> Result<Report> {
    let end = Instant::now() + LIMIT;
    loop {
        let line = app.wait_for("SCRIPT again", LIMIT)?;
        let report = read(line.split_whitespace().nth(2).context("no path")?.as_ref())?;
        if good(&report) {
            return Ok(report);
        }
        ensure!(Instant::now() < end, "{:?}\n{:?}\n{:?}", report.features, report.main, report.statistics);
    }
}

fn statistic(report: &Report, name: &str) -> u64 {
    let statistic = report.statistics.iter().find(|statistic| statistic.name == name);
    statistic.and_then(|statistic| statistic.value.parse().ok()).unwrap_or_default()
}

/// Whether the report's running message is the one that hangs, not the one that sent it, and has stacks by
/// the native sampler.
fn is_sampled(report: &Report) -> bool {
    let MainState::Running(running) = &report.main else { return false };
    let target = running.message.as_ref().map(|message| &*message.target);
    target == Some("com.example.shop.CheckoutActivity")
        && running_tree(report)
            .is_some_and(|tree| tree.source == StackSource::Art && tree.sample_deltas_ns.len() >= 3)
}

#[test]
fn a_main_thread_without_a_safepoint_does_not_end_sampling() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let app = launcher(&testbed)?.app("scenario.NoSafepoint").argument("who=main").argument("ms=6000");
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        app.wait_for("SCRIPT spun", LIMIT)?;
        let report = report_when(&mut app, is_sampled)?;
        let (on, how) = feature(&report, Feature::Sampler);
        assert!(on && how.starts_with("table of ART"), "{testbed}: {how}");
        let tree = running_tree(&report).context("no tree")?;
        for (stack, _) in stacks_of(&report, tree)? {
            assert!(
                stack.iter().any(|frame| frame.short() == "CheckoutActivity.onPay"),
                "{testbed}: {stack:?}"
            );
        }
    }
    Ok(())
}

/// A thread without a safepoint keeps ART's trace waiting until it stops. On ART 10 and 11 all other threads
/// that run Java code wait as well.
#[test]
fn a_signal_during_a_thread_without_a_safepoint_leaves_mains_stack() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let gate = folder.path().join("gate");
        let app = launcher(&testbed)?.app("scenario.NoSafepoint").argument("who=other");
        let app =
            app.argument(format!("ms={}", LIMIT.as_millis())).argument(format!("gate={}", gate.display()));
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        wait_for_ring("main is sampled", folder.path(), app.pid(), is_sampled)?;
        quit(&app)?;
        // Longer than a report waits for the queue.
        sleep(Duration::from_secs(4));
        fs::write(&gate, "")?;
        let line = app.wait_for(" sigquit", LIMIT)?;
        let path: PathBuf = line.split_whitespace().nth(2).context("no path")?.into();
        if !app.seen().iter().any(|line| line == "SCRIPT spun") {
            app.wait_for("SCRIPT spun", LIMIT)?;
        }
        let quit = read(&path)?;
        assert!(is_sampled(&quit), "{testbed}: {:?}", quit.trees);
        // The queue, which is Java's to read, waited for the trace. That took longer than the two seconds it
        // waits.
        let waited_ns = quit.pending.captured_ns.since(quit.meta.dumped_at.uptime_ns);
        assert!(waited_ns >= 2_000_000_000, "{testbed}: {waited_ns} ns");
        let windows = statistic(&quit, "sampler.windows");
        let more = |report: &Report| is_sampled(report) && statistic(report, "sampler.windows") > windows;
        report_when(&mut app, more)?;
        assert!(app.kill().contains("reacting to signal 3"), "{testbed}");
    }
    Ok(())
}

/// ART's trace begins while the sampler has stopped main. It stops the sampler too, so main stays stopped for
/// longer than the guard allows.
#[test]
fn a_trace_that_begins_in_a_stop_does_not_end_sampling() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let gate = folder.path().join("gate").display().to_string();
        let app = launcher(&testbed)?.app("scenario.NoSafepoint").argument("who=other");
        let app = app.env("LOOPBOX_FAULT", "trace-in-stop").env("LOOPBOX_FAULT_UNTIL", &gate);
        let app = app.argument(format!("ms={}", LIMIT.as_millis())).argument(format!("gate={gate}"));
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        app.wait_for("SCRIPT spinning", LIMIT)?;
        sleep(Duration::from_secs(6));
        fs::write(&gate, "")?;
        let report = report_when(&mut app, is_sampled)?;
        assert!(feature(&report, Feature::Sampler).0, "{testbed}: {:?}", report.features);
        let longest_ns = statistic(&report, "sampler.longest_stop_ns");
        assert!(longest_ns >= 3_000_000_000, "{testbed}: {longest_ns} ns");
    }
    Ok(())
}

#[test]
fn no_thread_is_stopped_while_art_writes_its_own_trace() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let gate = folder.path().join("gate");
        let app = launcher(&testbed)?.app("scenario.NoSafepoint").argument("who=art");
        let app = app.env("LOOPBOX_FAULT", "trace").env("LOOPBOX_FAULT_UNTIL", &gate.display().to_string());
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        let left_out = |report: &Report| statistic(report, "sampler.left_out_trace");
        let windows = |report: &Report| statistic(report, "sampler.windows");
        let first = report_when(&mut app, |report| left_out(report) > 0)?;
        let second = report_when(&mut app, |report| {
            left_out(report) > left_out(&first) && !report.threads.threads.is_empty()
        })?;
        assert_eq!(windows(&first), windows(&second), "{testbed}: a thread was stopped");
        assert!(!is_sampled(&second), "{testbed}: the message began during the trace");
        let others = &second.threads.threads;
        assert!(others.iter().all(|thread| thread.stack.is_none()), "{testbed}: {others:?}");
        fs::write(&gate, "")?;
        let after = report_when(&mut app, is_sampled)?;
        assert!(windows(&after) > windows(&second), "{testbed}");
    }
    Ok(())
}
