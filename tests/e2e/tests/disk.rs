//! Which threads wait for the disk, as the system calls of a real app show: not the main thread, and no
//! thread before SIGQUIT is passed on.

use anyhow::{Context, Result, bail, ensure};
use lab_launch::Running;
use lab_reports::LIMIT;
use lab_reports::live::{quit, wait_for_ring, wait_until};
use loopbox_e2e::trace::Trace;
use loopbox_e2e::{HANG_REPORT_LATE, launcher};
use std::fs;
use tempfile::tempdir;

/// Sends SIGQUIT until the recorder gets one. While the tracer stops the main thread, the kernel gives the
/// signal to ART's Signal Catcher, which waits for it.
fn quit_traced(app: &Running, trace: &Trace) -> Result<()> {
    let passed_on = |calls: &[(u32, String)]| calls.iter().any(|(_, call)| is_passed_on(call));
    // What it says then: the call that waited for the signal may have begun before this thread was traced.
    let taken = |call: &str| call.starts_with("write(") && call.contains("reacting to signal 3");
    for times in 1.. {
        quit(app)?;
        let calls = wait_until("the Signal Catcher has the signal", || {
            let calls = trace.calls()?;
            Ok((calls.iter().filter(|(_, call)| taken(call)).count() >= times).then_some(calls))
        });
        let calls = calls.with_context(|| format!("signal {times}: {:#?}", trace.calls()))?;
        if passed_on(&calls) {
            break;
        }
    }
    Ok(())
}

fn is_passed_on(call: &str) -> bool {
    call.starts_with("tgkill") && call.contains("SIGQUIT")
}

#[test]
fn the_installation_opens_no_file_on_the_main_thread() -> Result<()> {
    let folder = tempdir()?;
    let rings = folder.path().join("rings");
    let gate = folder.path().join("gate");
    let app = launcher("art10")?.app("scenario.Killed").argument(format!("dir={}", rings.display()));
    let mut app = app.argument(format!("gate={}", gate.display())).start()?;
    app.wait_for("SCRIPT waits", LIMIT)?;
    let trace = Trace::of(app.pid(), folder.path())?;
    fs::write(gate, "")?;
    app.wait_for("SCRIPT installed", LIMIT)?;
    let calls = trace
        .wait_for("the ring has its name", |call| call.starts_with("rename") && call.contains("ring-"))?;
    wait_for_ring("the ring is on the disk", &rings, app.pid(), |_| true)?;

    let made = |call: &str| call.contains("ring-") && call.contains(".new") && call.contains("O_CREAT");
    let maker = calls.iter().find(|(_, call)| made(call)).context("no thread made the ring")?.0;
    assert_ne!(maker, app.pid());
    let main: Vec<&str> =
        calls.iter().filter(|(thread, _)| *thread == app.pid()).map(|(_, call)| &call[..]).collect();
    let began = main.iter().position(|call| call.contains("libloopbox")).context("no library was loaded")?;
    let ended = main.iter().position(|call| call.contains("SCRIPT installed")).context("no word about it")?;
    for call in &main[began..ended] {
        // The library and what it needs, by the dynamic loader.
        let loads = call.contains(".so");
        ensure!(loads || !call.starts_with("open"), "main opened a file: {call}\n{main:#?}");
        ensure!(!call.contains(&*rings.to_string_lossy()), "main went to the directory: {call}");
    }
    Ok(())
}

/// How often the worker may be late with a signal.
const LATE: usize = 10;

#[test]
fn a_report_is_flushed_once_and_not_before_the_signal_is_passed_on() -> Result<()> {
    // The tracer and a machine with much to do may make the worker late; then the stall monitor has passed
    // the signal on.
    for _ in 0..LATE {
        if is_passed_on_by_the_worker_after_the_first_file()? {
            return Ok(());
        }
    }
    bail!("the worker was late with each of {LATE} signals")
}

/// Watches a signal's report being written. Returns whether the worker passed the signal on. If it did, it
/// must have written the first file before.
fn is_passed_on_by_the_worker_after_the_first_file() -> Result<bool> {
    let folder = tempdir()?;
    let home = folder.path().join("rings");
    let app = launcher("art10")?.app("scenario.Demo").argument(format!("dir={}", home.display()));
    let mut app = app.argument(HANG_REPORT_LATE).start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    let trace = Trace::of(app.pid(), folder.path())?;
    quit_traced(&app, &trace)?;
    loop {
        let line = app.wait_for("SCRIPT report", LIMIT)?;
        if line.ends_with(" sigquit") {
            break;
        }
    }
    let calls = trace.calls()?;
    let at = |what: &str, is: &dyn Fn(&str) -> bool| {
        let found: Vec<usize> = (0..calls.len()).filter(|&nth| is(&calls[nth].1)).collect();
        ensure!(!found.is_empty(), "{what}: {calls:#?}");
        Ok(found)
    };
    let first = at("no file", &|call| call.starts_with("rename") && call.contains(".lbx.new"))?[0];
    let passed_on = at("not passed on", &is_passed_on)?[0];
    let by_worker = calls[first].0 == calls[passed_on].0;
    assert!(!by_worker || first < passed_on, "the first file comes before: {calls:#?}");
    let flushes = at("not flushed", &|call| call.contains("sync(") || call.starts_with("sync_file_range"))?;
    assert_eq!(flushes.len(), 1, "{flushes:?} {calls:#?}");
    let flush = &calls[flushes[0]].1;
    assert!(flush.contains(".lbx.new>"), "of a report, not of the directory or the ring: {flush}");
    assert!(flushes[0] > passed_on, "{calls:#?}");
    Ok(by_worker)
}
