//! Reports that the app asks for, on the main thread.

use anyhow::{Context, Result};
use lab_launch::reports;
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_format::model::MainState;
use std::path::Path;
use tempfile::tempdir;

/// Runs the app to its end. Returns what it prints, without the listener's lines.
fn run(folder: &Path, mode: &str, fault: &str) -> Result<Vec<String>> {
    let app = launcher("art10")?.app("scenario.Asking").env("LOOPBOX_FAULT", fault);
    let app = app.argument(format!("dir={}", folder.display())).argument(format!("mode={mode}"));
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let lines = ended.lines.into_iter().filter_map(|line| Some(line.strip_prefix("SCRIPT ")?.to_owned()));
    Ok(lines.filter(|line| !line.starts_with("report ")).collect())
}

/// If main waited 5 s for each of its fifty reports, the test would time out.
#[test]
fn the_main_thread_does_not_wait_for_a_report_that_it_asks_for() -> Result<()> {
    let folder = tempdir()?;
    let answers = run(folder.path(), "disk", "disk")?;
    assert_eq!(answers.len(), 51, "{answers:?}");
    assert!(answers.iter().take(50).all(|line| line == "got null") && answers[50] == "done", "{answers:?}");
    Ok(())
}

#[test]
fn who_asks_for_a_report_is_called_with_it_or_without_one() -> Result<()> {
    let folder = tempdir()?;
    let answers = run(folder.path(), "callback", "")?;
    let [on_main, asked, nowhere, ended, done] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((on_main.as_str(), done.as_str()), ("got null", "done"));
    let named = asked.strip_prefix("answer to asked: asked ").context("not answered")?;
    let name = named.strip_suffix(" on loopbox-listener").context("on another thread")?;
    let mut reasons = Vec::new();
    for file in reports(&folder.path().join("reports.aside"))? {
        let report = read(&file)?;
        assert!(matches!(report.main, MainState::Running(_)), "{:?}", report.main);
        if file.ends_with(name) {
            reasons.push("asked".to_owned());
        }
        reasons.push(format!("{:?}", report.meta.reason));
    }
    reasons.sort();
    assert_eq!(reasons, ["Requested(\"asked\")", "Requested(\"dump on main\")", "asked"]);
    assert_eq!(nowhere, "answer to nowhere: nothing on loopbox-listener");
    assert_eq!(ended, "answer to ended: nothing on loopbox-listener");
    Ok(())
}

#[test]
fn a_listener_may_be_notified_of_a_report_before_it_is_complete() -> Result<()> {
    let folder = tempdir()?;
    let answers = run(folder.path(), "first", "")?;
    let [first, complete, done] = &answers[..] else { panic!("{answers:?}") };
    let named = |line: &str, when: &str| -> Result<(String, String)> {
        let rest = line.strip_prefix(when).with_context(|| line.to_owned())?;
        let (name, digest) = rest.trim_start().split_once(" asked ").context("no digest")?;
        Ok((name.to_owned(), digest.to_owned()))
    };
    let (name, digest) = named(first, "incomplete")?;
    assert_eq!(named(complete, "complete")?.0, name, "one file");
    assert!(digest.starts_with("main runs scenario.Asking"), "{digest}");
    assert_eq!(done, "done");
    let report = read(&folder.path().join("reports").join(name))?;
    let waited = |line: &String| line.contains("what=7") && line.contains("obj=printed");
    assert!(report.pending.lines.iter().any(waited), "{:?}", report.pending);
    Ok(())
}
