//! The system's warnings of ANRs, with the real classes of API 37 in the app and in the system server.

use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use lab_reports::live::{quit, ring_of, running_tree, wait_for_ring, wait_until};
use lab_reports::read;
use loopbox_e2e::warned::{Warned, wait_until_late};
use loopbox_format::model::{AnrInfo, AnrVerdict, AnrWarning, DumpReason, MainState, ProcessExit, Report};
use loopbox_format::report::Decoded;
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, text};
use tempfile::tempdir;

/// `AnrTypes.ANR_TYPE_EXECUTE_SERVICE`, and the sub-reason of an exit by such an ANR.
const SERVICE: i32 = 5;
const SERVICE_ENDED: i32 = 37;

fn ids(report: &Report) -> Vec<(i32, i32, u64, u64)> {
    let of = |warning: &AnrWarning| (warning.id, warning.kind, warning.consumed_ms, warning.timeout_ms);
    report.anr_warnings.iter().map(of).collect()
}

/// What `loopbox show` prints.
fn shown(report: Report) -> String {
    let analysis = Analysis::new(&Decoded { report, damage: Vec::new() });
    text::show(&analysis, &diagnose(&analysis), text::Options::default())
}

fn now_ms() -> Result<u128> {
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis())
}

/// Whether the ring has all that a report needs: the message with its stacks and its name, and its age, which
/// is at least a second.
fn is_prepared(report: &Report) -> bool {
    let MainState::Running(running) = &report.main else { return false };
    running.age_ns() >= 1_000_000_000 && running.message.is_some() && running_tree(report).is_some()
}

#[test]
fn warning_saves_a_late_main_at_once_and_goes_into_the_report_of_its_anr() -> Result<()> {
    let folder = tempdir()?;
    // Nothing but the warning causes anything here.
    let mut app = Warned::start(folder.path(), &["hangMs=60000"])?;
    app.hang("gate")?;
    wait_until_late(&app, folder.path())?;
    let pid = app.app.pid();
    let before = ring_of(folder.path(), pid)?.context("no ring")?;
    ensure!(before.pending.lines.is_empty() && before.anr_warnings.is_empty(), "{before:?}");
    app.order("warn 7 5 10000 20000")?;
    let line = app.expects("warned of")?;
    assert_eq!(line, "SCRIPT warned of ANR 7 of type 5, 10000 of 20000 ms");
    let ring = wait_for_ring("the warning", folder.path(), pid, |report| {
        is_prepared(report) && !report.anr_warnings.is_empty() && !report.pending.lines.is_empty()
    })?;
    assert_eq!(ids(&ring), [(7, SERVICE, 10_000, 20_000)]);
    // The same one again, and another one.
    app.order("warn 7 5 10000 20000")?;
    app.order("warn 7 4 15000 30000")?;
    app.expects("warned of ANR 7 of type 4")?;
    ensure!(app.seen("warned of ANR") == 2 && reports(folder.path())?.is_empty(), "{:?}", app.app.seen());
    quit(&app.app)?;
    let first = app.expects("first")?;
    ensure!(first.contains(" warned of ANR 7 of type 4, 15000 of 30000 ms "), "{first}");
    app.expects("report")?;
    let files = reports(folder.path())?;
    let report = read(files.first().context("no report")?)?;
    assert_eq!(report.meta.reason, DumpReason::SigQuit);
    assert_eq!(ids(&report), [(7, SERVICE, 10_000, 20_000), (7, 4, 15_000, 30_000)]);
    app.open("gate")?;
    app.end()
}

#[test]
fn warning_of_a_later_hang_is_not_in_the_report_of_an_earlier_one() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=3000"])?;
    app.hang("first")?;
    app.expects("report")?;
    let first = reports(folder.path())?.into_iter().next().context("no report")?;
    app.open("first")?;
    wait_until("the first hang's end", || Ok(read(&first)?.anr.ended_after_ns))?;
    app.hang("second")?;
    wait_until_late(&app, folder.path())?;
    app.order("warn 7 5 10000 20000")?;
    app.expects("warned of")?;
    // Not by the app's next line about a report: there is one about the first hang's end, too.
    let other = || Ok(reports(folder.path())?.into_iter().find(|file| *file != first));
    let second = wait_until("the second hang's report", other)?;
    assert_eq!((ids(&read(&first)?), ids(&read(&second)?)), (vec![], vec![(7, SERVICE, 10_000, 20_000)]));
    app.open("second")?;
    app.end()
}

#[test]
fn warning_of_another_process_changes_nothing_until_main_is_late() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=3000"])?;
    app.order("warn 1 1 2500 5000")?;
    app.order("warn 2 5 10000 20000")?;
    app.hang("short")?;
    app.open("short")?;
    ensure!(app.seen("warned of") == 0, "{:?}", app.app.seen());
    // Main gets late before the time-outs are over: at half of its threshold the message is suspect.
    app.hang("gate")?;
    app.expects("warned of ANR 1 of type 1, 2500 of 5000 ms")?;
    app.expects("warned of ANR 2 of type 5")?;
    let line = app.expects("report HANG HANG")?;
    ensure!(line.contains("warned of ANR 2 of type 5"), "{line}");
    app.open("gate")?;
    app.order("uninstall")?;
    app.end()
}

/// The warning comes when the report of the hang already exists.
#[test]
fn later_warning_goes_into_the_report_that_is_there() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=1000"])?;
    app.hang("gate")?;
    app.expects("report HANG HANG warned of null")?;
    app.order("warn 9 5 10000 20000")?;
    wait_until("the warning in the file", || {
        let files = reports(folder.path())?;
        let report = read(files.first().context("no report")?)?;
        Ok((ids(&report) == [(9, SERVICE, 10_000, 20_000)]).then_some(()))
    })?;
    app.open("gate")?;
    // With all of it, once more.
    let line = app.expects("report HANG HANG warned of ANR 9")?;
    ensure!(line.contains("of type 5"), "{line}");
    app.end()
}

#[test]
fn process_that_is_killed_after_a_warning_leaves_the_seconds_before() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=60000"])?;
    app.hang("gate")?;
    wait_until_late(&app, folder.path())?;
    app.order("warn 7 5 10000 20000")?;
    let pid = app.app.pid();
    let ring = wait_for_ring("the warning", folder.path(), pid, |report| {
        is_prepared(report) && !report.anr_warnings.is_empty() && !report.pending.lines.is_empty()
    })?;
    app.app.kill();
    let process = ring.meta.process.name;
    // Another process had the same id before: an hour later by the clock, which was set back since.
    let (now, later) = (now_ms()?, now_ms()? + 3_600_000);
    let ends = format!(
        "ends={pid}|{process}|{now}|6|user request|{SERVICE_ENDED}|7|{SERVICE}|20000,\
         {pid}|{process}|{later}|3|low memory|0|||"
    );
    let mut next = Warned::start(folder.path(), &["hangMs=60000", &ends])?;
    next.order("take")?;
    let line = next.expects("took")?;
    ensure!(line.starts_with("SCRIPT took ANR CONFIRMED warned of ANR 7 of type 5,"), "{line}");
    let report = read(line.rsplit(' ').next().context("no path")?.as_ref())?;
    let exit = report.anr.exit.clone().context("no exit")?;
    assert_eq!(
        (exit.reason, exit.description.as_str()),
        (ProcessExit::ANR, "[EXECUTING SERVICE ANR] user request")
    );
    let info = AnrInfo { id: 7, kind: SERVICE, timeout_ms: 20_000, user_perceptible: true };
    assert_eq!((report.anr.verdict, report.anr_info), (AnrVerdict::Confirmed, Some(info)));
    ensure!(is_prepared(&report) && !report.pending.lines.is_empty(), "{report:?}");
    let text = shown(report);
    for words in [
        "the system warned of an ANR: executing a service, 10.00 s of 20.00 s had passed, and it is the ANR that ended",
        "what the system waited for: executing a service, which was given 20.00 s",
    ] {
        ensure!(text.contains(words), "{words} is not in {text}");
    }
    next.end()
}

/// Main had run other messages when the system reported the ANR and ended the process. So the pid and the
/// time of the process's end match no hang.
#[test]
fn end_by_an_anr_goes_into_the_report_that_was_warned_of_it() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=1000"])?;
    app.hang("gate")?;
    app.order("warn 7 5 10000 20000")?;
    app.expects("report HANG HANG warned of ANR 7")?;
    app.open("gate")?;
    let pid = app.app.pid();
    wait_for_ring("an idle main", folder.path(), pid, |report| {
        matches!(report.main, MainState::Idle { .. })
    })?;
    let file = reports(folder.path())?.into_iter().next().context("no report")?;
    let process = read(&file)?.meta.process.name;
    app.app.kill();
    let ends = format!("ends={pid}|{process}|{}|6|bg anr|{SERVICE_ENDED}|7|{SERVICE}|20000", now_ms()?);
    let mut next = Warned::start(folder.path(), &["hangMs=60000", &ends])?;
    next.order("take")?;
    next.expects("took ANR CONFIRMED warned of ANR 7")?;
    ensure!(next.seen("SCRIPT took") == 1, "{:?}", next.app.seen());
    next.end()
}

/// An ANR because a window did not take its input. No timer of the system measures this, so the system gives
/// no number and no type of the ANR. But its description of the process's end names the type.
#[test]
fn type_of_an_anr_without_a_number_is_in_the_description() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=1000"])?;
    app.hang("gate")?;
    app.expects("report HANG HANG warned of null")?;
    let pid = app.app.pid();
    let file = reports(folder.path())?.into_iter().next().context("no report")?;
    let process = read(&file)?.meta.process.name;
    app.app.kill();
    let ends = format!("ends={pid}|{process}|{}|6|bg anr|41|||", now_ms()?);
    let mut next = Warned::start(folder.path(), &["hangMs=60000", &ends])?;
    next.order("take")?;
    let line = next.expects("took ANR CONFIRMED")?;
    let report = read(line.rsplit(' ').next().context("no path")?.as_ref())?;
    assert_eq!(report.anr_info, None);
    let text = shown(report);
    ensure!(text.contains("what the system waited for: input to a window\n"), "{text}");
    next.end()
}

#[test]
fn app_may_have_no_warnings() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=1000", "anrWarnings=off", "awaits=none"])?;
    app.hang("gate")?;
    app.order("warn 7 5 10000 20000")?;
    app.expects("report HANG HANG warned of null")?;
    app.open("gate")?;
    app.end()
}
