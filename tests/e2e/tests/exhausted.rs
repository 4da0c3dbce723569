//! The process has no memory or no descriptor left while main hangs. The app lives on as it would without the
//! recorder, and there is a report.

use anyhow::{Context, Result};
use lab_launch::{Launcher, reports};
use lab_reports::live::{quit, wait_until};
use lab_reports::{LIMIT, read};
use loopbox_e2e::exhausted::run;
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, MainState, PendingSource, Report};
use loopbox_testbed as testbed;
use std::path::Path;
use tempfile::tempdir;

/// The arguments of the app: memory is used up before the message is a suspect, and is available again long
/// after it is a hang.
const SCENARIO: [&str; 4] = ["from=200", "lacksMs=3500", "hang=5000", "afterMs=1500"];

fn hang(folder: &Path) -> Result<Report> {
    let all = reports(folder)?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
    all.into_iter().find(|report| report.meta.reason == DumpReason::Hang).context("no report of the hang")
}

/// Runs an app in which all threads, or only the recorder's, have no memory, and checks the report of its
/// hang.
fn without_memory(launcher: &Launcher, whose: &str) -> Result<()> {
    let folder = tempdir()?;
    let arguments = [&SCENARIO[..], &[whose]].concat();
    let outcome = run(launcher, folder.path(), &arguments)?;
    let said: Vec<_> = outcome.said().collect();
    assert!(outcome.lived(), "{whose}: {said:#?}\n{}", outcome.ended.errors);
    assert!(said.iter().any(|line| line.starts_with("report ") && line.ends_with(" hang")), "{said:#?}");
    assert!(said.iter().any(|line| line.starts_with("dumped /")), "{said:#?}");
    let report = hang(folder.path())?;
    assert!(matches!(report.main, MainState::Running(_)), "{:?}", report.main);
    // What had to be left out says why, and the reserve was enough for the rest.
    let PendingSource::Unavailable(why) = &report.pending.source else {
        panic!("{:?}", report.pending.source)
    };
    assert_eq!(why, "memory is short");
    let of = |name: &str| report.statistics.iter().find(|s| s.name == name).map(|s| s.value.parse::<u64>());
    assert!(of("memory.reserve_taken").context("it was not needed")?? > 0);
    assert_eq!(of("memory.waited").context("not counted")??, 0, "it was used up");
    Ok(())
}

#[test]
fn an_app_without_memory_lives_as_without_the_recorder_and_has_a_report() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let launcher = launcher(&testbed)?;
        let folder = tempdir()?;
        let alone = run(&launcher, folder.path(), &[&SCENARIO[..], &["whose=1", "recorder=off"]].concat())?;
        assert!(alone.lived(), "{testbed}: {}", alone.ended.errors);
        without_memory(&launcher, "whose=1")?;
        without_memory(&launcher, "whose=2")?;
    }
    Ok(())
}

/// The shipped library keeps its thread-local variables under one pthread key.
#[test]
fn the_library_that_ships_needs_no_memory_either() -> Result<()> {
    without_memory(&Launcher::shipped("art10")?, "whose=1")
}

#[test]
fn an_app_without_a_descriptor_has_its_reports() -> Result<()> {
    let folder = tempdir()?;
    let gate = folder.path().join("gate");
    let mut app = launcher("art10")?
        .app("scenario.Exhausted")
        .argument(format!("dir={}", folder.path().display()))
        .argument("files=used")
        .argument(format!("gate={}", gate.display()))
        .start()?;
    app.wait_for("SCRIPT used up", LIMIT)?;
    app.wait_for("SCRIPT report", LIMIT)?;
    let report = hang(folder.path())?;
    assert!(matches!(report.main, MainState::Running(_)), "{:?}", report.main);
    assert!(report.statistics.iter().any(|statistic| statistic.name == "process.open_files"));
    quit(&app)?;
    wait_until("the report of the signal", || {
        let all = reports(folder.path())?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
        Ok(all.into_iter().find(|report| report.meta.reason == DumpReason::SigQuit))
    })?;
    std::fs::write(&gate, "")?;
    app.wait_for("SCRIPT alive", LIMIT)?;
    app.finish(LIMIT)?.success()?;
    Ok(())
}

/// OutOfMemoryError is not an Exception, and is thrown again by the log line that should report it.
#[test]
fn no_method_throws_when_the_heap_is_full() -> Result<()> {
    let folder = tempdir()?;
    let outcome = run(&*launcher("art10")?, folder.path(), &["heap=full"])?;
    let said: Vec<_> = outcome.said().collect();
    assert!(outcome.lived() && said.contains(&"thrown 0"), "{said:?}\n{}", outcome.ended.errors);
    Ok(())
}
