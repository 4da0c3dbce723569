//! One process of an app switches the recorder off, and another one records.

use anyhow::Result;
use lab_launch::{App, Running, reports};
use lab_reports::LIMIT;
use lab_reports::live::wait_until;
use loopbox_e2e::launcher;
use loopbox_testbed::to_test_on;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;
use tempfile::tempdir;

const NOW_OFF: &str = "SCRIPT now off: switched off by the app";

fn app(testbed: &str, folder: &Path, how: &str) -> Result<App> {
    let app = launcher(testbed)?.app("scenario.Switched").argument(format!("dir={}", folder.display()));
    Ok(app.argument(format!("how={how}")))
}

/// Starts an app, and waits until it records.
fn recording(app: App) -> Result<Running> {
    let mut app = app.start()?;
    app.wait_for("SCRIPT records", LIMIT)?;
    Ok(app)
}

/// Switches the recorder off by the public call, in a real second process.
fn switch_off(testbed: &str, folder: &Path) -> Result<()> {
    app(testbed, folder, "off")?.start()?.finish(LIMIT)?.success()?;
    assert!(folder.join("loopbox/off").exists(), "the mark");
    Ok(())
}

#[test]
fn a_process_in_which_messages_run_stops_recording() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let mut busy = recording(app(&testbed, folder.path(), "busy")?)?;
        switch_off(&testbed, folder.path())?;
        busy.wait_for(NOW_OFF, LIMIT)?;
        // The threads that have them open end a moment later.
        wait_until("the ring and the start's mark are gone", || {
            let left = fs::read_dir(folder.path())?.map(|entry| Ok(entry?.file_name()));
            Ok((left.collect::<Result<Vec<_>>>()? == ["loopbox"]).then_some(()))
        })?;
        busy.kill();
    }
    Ok(())
}

/// The switch wakes no thread of the recorder, so recording goes on in a process at rest until something else
/// wakes such a thread.
#[test]
fn a_process_at_rest_writes_no_report() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let gate = folder.path().join("gate");
        let mut rests =
            recording(app(&testbed, folder.path(), "rest")?.argument(format!("gate={}", gate.display())))?;
        // The installation's message is copied to the file.
        sleep(Duration::from_secs(2));
        switch_off(&testbed, folder.path())?;
        sleep(Duration::from_secs(2));
        fs::write(&gate, "")?;
        rests.wait_for("SCRIPT before true", LIMIT)?;
        rests.wait_for("SCRIPT report null", LIMIT)?;
        rests.wait_for(NOW_OFF, LIMIT)?;
        assert_eq!(reports(folder.path())?.len(), 0, "{testbed}");
        rests.kill();
    }
    Ok(())
}

#[test]
fn a_hang_that_is_under_way_leaves_no_report() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let gate = folder.path().join("gate");
        let hang = app(&testbed, folder.path(), "hang")?.argument("hangMs=20000");
        let mut hangs = recording(hang.argument(format!("gate={}", gate.display())))?;
        hangs.wait_for("SCRIPT hangs", LIMIT)?;
        switch_off(&testbed, folder.path())?;
        hangs.wait_for(NOW_OFF, LIMIT)?;
        sleep(Duration::from_secs(1));
        fs::write(&gate, "")?;
        hangs.wait_for("SCRIPT went on", LIMIT)?;
        assert_eq!(reports(folder.path())?.len(), 0, "{testbed}");
        hangs.kill();
    }
    Ok(())
}
