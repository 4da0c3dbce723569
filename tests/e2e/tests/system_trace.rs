//! ART's own trace, written by its Signal Catcher for the same signal as our report: both show the same
//! locks.

use anyhow::{Context, Result, ensure};
use lab_launch::{Launcher, Running};
use lab_reports::live::{quit, wait_for_ring, wait_for_signal_catcher};
use lab_reports::{LIMIT, feature, read};
use loopbox_e2e::{HANG_REPORT_LATE, launcher};
use loopbox_format::model::{Feature, LockChain, MainState, OtherThreads, Report};
use loopbox_format::report::Decoded;
use loopbox_report::{Analysis, LockSource, LockWait};
use loopbox_testbed as testbed;
use std::fs;
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// The text that a testbed's runtime puts before each line of a trace; an Android device does not.
const LOGGED: &str = "palette_fake.cc:";

/// A report of a signal, and the trace that ART wrote for it.
fn signalled(testbed: &str, mode: &str) -> Result<(Report, String)> {
    let folder = tempdir()?;
    let app = launcher(testbed)?.app("scenario.Holders").argument(format!("dir={}", folder.path().display()));
    let app = app.argument(format!("mode={mode}"));
    let mut app = app.argument(HANG_REPORT_LATE).start()?;
    app.wait_for("SCRIPT main waits", LIMIT)?;
    quit(&app)?;
    let line = app.wait_for("SCRIPT report", LIMIT)?;
    let report = read(line.split_whitespace().nth(2).context("no path")?.as_ref())?;
    Ok((report, trace_of(app)?))
}

/// What ART writes for a signal that the process got. Kills the process.
fn trace_of(mut app: Running) -> Result<String> {
    // It waits for the next signal when it has written all of the trace.
    wait_for_signal_catcher(app.pid())?;
    let errors = app.kill();
    let lines = errors.lines().filter_map(|line| line.split_once(LOGGED)?.1.split_once("] "));
    let text: String = lines.flat_map(|(_, line)| [line, "\n"]).collect();
    ensure!(text.contains("DALVIK THREADS"), "no trace in {errors}");
    Ok(text)
}

/// The apps' library has no unwind tables except those of the trampolines; one of these is on the stack of
/// each resting main thread.
#[test]
fn native_frames_below_the_poll_hook_are_in_the_systems_trace() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let app = Launcher::shipped(&testbed)?.app("scenario.Resting").argument("hook=POLL");
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        app.wait_for("SCRIPT rests", LIMIT)?;
        wait_for_ring("main rests", folder.path(), app.pid(), |report| {
            feature(report, Feature::Hook).1 == "Poll" && matches!(report.main, MainState::Idle { .. })
        })?;
        quit(&app)?;
        app.wait_for("SCRIPT report", LIMIT)?;
        let text = trace_of(app)?;
        let main = text.split("\n\n").find(|thread| thread.starts_with("\"main\""));
        let main = main.with_context(|| format!("{testbed}: no main thread in {text}"))?;
        let native: Vec<_> = main.lines().filter(|line| line.trim_start().starts_with("native: #")).collect();
        let hook = native.iter().position(|line| line.contains("/libloopbox.so"));
        let hook = hook.with_context(|| format!("{testbed}: {main}"))?;
        ensure!(native[..hook].iter().any(|line| line.contains("epoll_wait")), "{testbed}: {main}");
        ensure!(native[hook + 1..].iter().any(|line| line.contains("libart.so")), "{testbed}: {main}");
        ensure!(native.last().is_some_and(|line| line.contains("_start")), "{testbed}: {main}");
    }
    Ok(())
}

fn gzip(text: &str) -> Result<Vec<u8>> {
    let folder = tempdir()?;
    let file = folder.path().join("trace.txt");
    fs::write(&file, text)?;
    let packed = Command::new("gzip").arg("-c").arg(&file).stderr(Stdio::inherit()).output()?;
    ensure!(packed.status.success(), "gzip fails");
    Ok(packed.stdout)
}

fn loaded(report: Report) -> Result<Analysis> {
    let analysis = Analysis::new(&Decoded { report, damage: Vec::new() });
    ensure!(analysis.issues.is_empty(), "{:?}", analysis.issues);
    Ok(analysis)
}

/// Each step: the lock, and the name and id of the thread that holds it.
fn steps(a: &Analysis) -> Vec<String> {
    let step = |wait: &LockWait| {
        let holder = wait.holder.as_ref().map(|holder| (&holder.name, holder.tid));
        format!("{} {holder:?}", wait.object)
    };
    a.locks.waits.iter().map(step).collect()
}

#[test]
fn the_trace_has_the_locks_that_the_recorder_saw() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        for mode in ["entering", "chain", "deadlock"] {
            let (mut report, text) = signalled(&testbed, mode)?;
            let own = loaded(report.clone())?;
            report.system_trace.gzip = gzip(&text)?;
            let both = loaded(report.clone())?;
            let trace = both.system_trace.as_ref().context("no trace")?;
            assert_eq!((trace.apart.as_deref(), trace.complete), (None, true), "{testbed}, {mode}");
            assert_eq!(
                (steps(&both), both.locks.source),
                (steps(&own), LockSource::Recorder),
                "{testbed}, {mode}"
            );
            let holder =
                both.threads.threads.iter().find(|thread| thread.name == "holder").context("no holder")?;
            assert!(holder.trace.is_some(), "{testbed}, {mode}: {holder:?}");
            // As where the recorder could not read: the system's trace alone.
            (report.locks, report.threads) = (LockChain::default(), OtherThreads::default());
            let theirs = loaded(report)?;
            assert_eq!(
                (steps(&theirs), theirs.locks.deadlock),
                (steps(&own), own.locks.deadlock),
                "{testbed}, {mode}"
            );
        }
    }
    Ok(())
}
