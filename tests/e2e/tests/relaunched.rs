//! The Activity in front is made anew, as when the screen turns: its old instance is stopped and its new one
//! started in the same message.

use anyhow::{Context, Result};
use lab_launch::App;
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, Report};
use loopbox_testbed::to_test_on;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

fn app(testbed: &str, folder: &Path, pause: &str) -> Result<App> {
    let app = launcher(testbed)?.app("scenario.Relaunched").argument(format!("dir={}", folder.display()));
    Ok(app.argument(format!("pauseInBackground={pause}")))
}

fn foreground(report: &Report) -> Option<&str> {
    let found = report.meta.annotations.iter().find(|(name, _)| name == "foreground");
    found.map(|(_, value)| value.as_str())
}

#[test]
fn a_hang_of_an_activity_that_is_made_anew_is_reported_as_in_the_foreground() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        for pause in ["off", "on"] {
            let folder = tempdir()?;
            let gate = folder.path().join("gate");
            let app = app(&testbed, folder.path(), pause)?.argument("hangMs=500");
            let mut app = app.argument(format!("gate={}", gate.display())).start()?;
            let line =
                app.wait_for("SCRIPT report ", LIMIT).with_context(|| format!("{testbed}, {pause}"))?;
            let report = read(Path::new(line.split(' ').nth(2).context("no path")?))?;
            assert_eq!(report.meta.reason, DumpReason::Hang, "{line}");
            assert_eq!(foreground(&report), Some("yes"), "{testbed}, pauseInBackground={pause}");
            fs::write(&gate, "")?;
            let line = app.wait_for("SCRIPT later ", LIMIT)?;
            let later = read(Path::new(line.trim_start_matches("SCRIPT later ")))?;
            assert_eq!(foreground(&later), Some("yes"), "{testbed}, pauseInBackground={pause}: later");
            app.finish(LIMIT)?.success()?;
        }
    }
    Ok(())
}

#[test]
fn an_activity_that_is_made_anew_and_finishes_leaves_the_foreground() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let ended = app(&testbed, folder.path(), "off")?.argument("finishes=yes").start()?.finish(LIMIT)?;
        let ended = ended.success()?;
        let later = ended.lines.iter().find_map(|line| line.strip_prefix("SCRIPT later "));
        let report = read(Path::new(later.context("no report")?))?;
        assert_eq!(foreground(&report), Some("no"), "{testbed}");
    }
    Ok(())
}
