//! Profiles that the system takes of an app, with the real classes of API 37 in the app.

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use lab_reports::live::{wait_for_ring, wait_until};
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_e2e::warned::Warned;
use loopbox_format::model::MainState;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

const PACKAGE: &str = "com.example.shop";

/// The file's entries about profiles.
fn profiles(report: &Path) -> Result<Vec<(String, String)>> {
    let noted = |name: &str| matches!(name, "system_profile" | "hang_trace");
    Ok(read(report)?.meta.annotations.into_iter().filter(|(name, _)| noted(name)).collect())
}

/// Takes reports until one contains these words: the process that makes the report may still be writing it.
fn took(app: &mut Warned, words: &str) -> Result<String> {
    let words = format!("SCRIPT took {words}");
    wait_until("a report", || {
        app.order("take")?;
        Ok(app.app.seen().iter().find(|line| line.starts_with(&words)).cloned())
    })
}

/// Waits for the request for a trace; returns its tag.
fn asked(app: &mut Warned) -> Result<String> {
    let line = app.expects("asked for 3 of ")?;
    line.rsplit(' ').next().map(str::to_owned).context("no tag")
}

#[test]
fn suspected_hang_asks_for_the_trace_that_runs_and_its_report_names_it() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=1000", "hangTraceMs=60000"])?;
    app.expects(&format!("triggers {{3=0}} of {PACKAGE}"))?;
    app.hang("gate")?;
    let tag = asked(&mut app)?;
    app.expects("report HANG HANG")?;
    let file = reports(folder.path())?.into_iter().next().context("no report")?;
    assert_eq!(file.file_name().and_then(|name| name.to_str()), Some(format!("{tag}.lbx").as_str()));
    app.open("gate")?;
    // Another one's, of no report.
    app.order("profiled 3 of-the-app other.perfetto-trace")?;
    app.expects("delivered other.perfetto-trace")?;
    app.order(&format!("profiled 3 {tag} hang.perfetto-trace"))?;
    app.expects(&format!("profile 3 {tag} hang.perfetto-trace"))?;
    let took = took(&mut app, "HANG HANG")?;
    ensure!(took.contains(" profile null trace hang.perfetto-trace "), "{took}");
    let report = took.rsplit(' ').next().context("no path")?;
    let path = folder.path().join("files/profiling/hang.perfetto-trace").display().to_string();
    assert_eq!(profiles(report.as_ref())?, [("hang_trace".to_owned(), path)]);
    ensure!(app.seen("SCRIPT profile ") == 1, "{:?}", app.app.seen());
    app.order("uninstall")?;
    app.expects(&format!("triggers {{}} of {PACKAGE}"))?;
    app.end()
}

#[test]
fn requests_for_a_trace_are_spaced() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=1000", "hangTraceMs=86400000"])?;
    for gate in ["first", "second"] {
        app.hang(gate)?;
        // The report comes after the request.
        app.expects("report HANG HANG")?;
        app.open(gate)?;
        app.expects("report HANG HANG")?;
    }
    assert_eq!(app.seen("SCRIPT asked for 3 of "), 1, "{:?}", app.app.seen());
    app.end()
}

#[test]
fn message_that_goes_on_before_it_is_suspect_asks_for_nothing() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=60000", "hangTraceMs=60000"])?;
    app.hang("gate")?;
    app.open("gate")?;
    app.order("uninstall")?;
    assert_eq!(app.seen("asked for"), 0, "{:?}", app.app.seen());
    app.end()
}

/// The app names the triggers. The system takes a profile of each once an hour at most, and these profiles
/// belong to no hang.
#[test]
fn app_chooses_at_what_profiles_are_taken() -> Result<()> {
    let folder = tempdir()?;
    let triggers = "triggers=OOM,ANOMALY,KILL_EXCESSIVE_CPU_USAGE,COLD_START";
    let mut app = Warned::start(folder.path(), &["hangMs=1000", "systemProfiles=on", triggers])?;
    app.expects(&format!("triggers {{2=1, 7=1, 8=1, 9=1, 10=1}} of {PACKAGE}"))?;
    app.hang("gate")?;
    app.expects("report HANG HANG")?;
    app.open("gate")?;
    for (trigger, tag, file) in
        [(7, "null", "heap.hprof"), (8, "memory", "odd.hprof"), (10, "null", "start.perfetto-trace")]
    {
        app.order(&format!("profiled {trigger} {tag} {file}"))?;
        app.expects(&format!("profile {trigger} {tag} {file}"))?;
    }
    // Of a trigger that was not chosen: the app's own.
    app.order("profiled 1 null drawn.perfetto-trace")?;
    app.expects("delivered drawn.perfetto-trace")?;
    let took = took(&mut app, "HANG HANG")?;
    assert_eq!(profiles(took.rsplit(' ').next().context("no path")?.as_ref())?, []);
    assert_eq!(app.seen("SCRIPT profile "), 3, "{:?}", app.app.seen());
    assert_eq!(app.seen("asked for"), 0, "{:?}", app.app.seen());
    app.end()
}

/// The process is killed during its hang; the system has the trace for the next one.
#[test]
fn trace_of_a_killed_process_goes_into_the_report_that_the_next_one_makes() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Warned::start(folder.path(), &["hangMs=4000", "hangTraceMs=60000"])?;
    app.hang("gate")?;
    let tag = asked(&mut app)?;
    let late =
        |main: &MainState| matches!(main, MainState::Running(running) if running.age_ns() >= 1_000_000_000);
    wait_for_ring("a late main", folder.path(), app.app.pid(), |report| late(&report.main))?;
    app.app.kill();
    let mut next = Warned::start(folder.path(), &["hangMs=60000", "hangTraceMs=60000"])?;
    next.order(&format!("profiled 3 {tag} hang.perfetto-trace"))?;
    next.expects(&format!("profile 3 {tag} hang.perfetto-trace"))?;
    let took = took(&mut next, "RECOVERED")?;
    ensure!(took.contains(" profile null trace hang.perfetto-trace "), "{took}");
    ensure!(took.ends_with(&format!("{tag}-recovered.lbx")), "{took}");
    next.end()
}

/// Android 16 in its first release: it knows neither the trigger nor the request.
#[test]
fn system_without_the_request_is_not_asked() -> Result<()> {
    let folder = tempdir()?;
    let app = launcher("art11")?.app("scenario.Taking").property("loopbox.sdk", 36);
    let app = app.argument(format!("dir={}", folder.path().display())).argument("hangMs=1000");
    let orders = tempdir()?;
    let app = app.argument(format!("orders={}", orders.path().display()));
    let mut app = app.argument("systemProfiles=on").argument("hangTraceMs=60000").start()?;
    app.wait_for("SCRIPT profile triggers [2 once in 1 h]", LIMIT)?;
    let order = |number: &str, words: &str| -> Result<()> {
        // The app may read while it is being written.
        let written = orders.path().join("order");
        fs::write(&written, words)?;
        fs::rename(&written, orders.path().join(number)).context("the order")
    };
    order("1", "hang")?;
    app.wait_for("SCRIPT report HANG HANG complete hang []", LIMIT)?;
    fs::write(orders.path().join("gate"), "")?;
    let whole = wait_until("the report", || Ok(reports(folder.path())?.into_iter().next()))?;
    assert_eq!(profiles(&whole)?, []);
    order("2", "end")?;
    app.finish(LIMIT)?.success().map(drop)
}
