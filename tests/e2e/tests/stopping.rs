//! Every way to stop recording, at the wrong moment: once the call has returned, nothing more is recorded,
//! written or reported.

use anyhow::{Context, Result};
use lab_launch::reports;
use lab_reports::LIMIT;
use lab_reports::live::quit;
use loopbox_e2e::launcher;
use loopbox_testbed as testbed;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// What `scenario.Stopping` said, without the mark.
fn words(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.strip_prefix("SCRIPT ")).collect()
}

fn lines_of(testbed: &str, folder: &Path, arguments: &[&str]) -> Result<Vec<String>> {
    let mut app = launcher(testbed)?.app("scenario.Stopping").argument(format!("dir={}", folder.display()));
    for argument in arguments {
        app = app.argument(*argument);
    }
    Ok(app.start()?.finish(LIMIT)?.success()?.lines)
}

/// Recording is stopped half a second after the start of a message that runs long past its threshold. The
/// system's signal then finds no recorder, and ART writes its trace as usual.
#[test]
fn a_hang_that_goes_on_after_the_stop_leaves_no_report() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        for how in ["uninstall", "disabled", "pause"] {
            let folder = tempdir()?;
            let recorded = folder.path().join("recorded");
            let gate = folder.path().join("gate");
            let mut app = launcher(&testbed)?
                .app("scenario.Stopping")
                .argument("mode=hang")
                .argument(format!("how={how}"))
                .argument(format!("dir={}", recorded.display()))
                .argument(format!("gate={}", gate.display()))
                .start()?;
            app.wait_for("SCRIPT stopped", LIMIT)?;
            let mut signals = 0;
            if how != "pause" {
                quit(&app)?;
                signals = 1;
            }
            app.wait_for("SCRIPT hangs", LIMIT)?;
            assert_eq!(reports(&recorded)?.len(), 0, "{testbed} {how}");
            fs::write(&gate, "")?;
            let ended = app.finish(LIMIT)?.success()?;
            let again: &[&str] =
                if how == "uninstall" { &["again true", "report again", "dumped true"] } else { &[] };
            let said = words(&ended.lines);
            let (begin, rest) = said.split_at_checked(3).context("cut off")?;
            assert_eq!(begin, ["stopped", "unchanged", "hangs"], "{testbed} {how}: {said:?}");
            let mut rest: Vec<_> = rest.iter().filter(|line| **line != "done").copied().collect();
            // The listener may be a moment later than the one who has asked.
            rest.sort_unstable();
            let mut again = again.to_vec();
            again.sort_unstable();
            assert_eq!(rest, again, "{testbed} {how}: {said:?}");
            let traces = ended.errors.matches("reacting to signal 3").count();
            assert_eq!(traces, signals, "{testbed} {how}: {}", ended.errors);
        }
    }
    Ok(())
}

#[test]
fn a_listener_may_stop_the_recording_and_is_called_no_more() -> Result<()> {
    let folder = tempdir()?;
    let lines = lines_of("art10", folder.path(), &["mode=listener"])?;
    assert_eq!(words(&lines), ["first of the listener", "stopped", "unchanged", "done"]);
    let all = reports(folder.path())?;
    let [only] = &all[..] else { panic!("{all:?}") };
    // The file of which it has heard, as it was.
    lab_reports::read(only)?;
    Ok(())
}

#[test]
fn a_report_that_waits_for_a_busy_listener_is_dropped_by_the_stop() -> Result<()> {
    let folder = tempdir()?;
    let lines = lines_of("art10", folder.path(), &["mode=queued"])?;
    let expected =
        ["report first", "stopped", "answer second nothing", "answer third nothing", "unchanged", "done"];
    assert_eq!(words(&lines), expected);
    Ok(())
}

#[test]
fn a_stall_that_waits_for_the_monitor_is_dropped_by_the_stop() -> Result<()> {
    let folder = tempdir()?;
    let lines = lines_of("art10", folder.path(), &["mode=monitor", "hangMs=10000"])?;
    assert_eq!(words(&lines), ["started true", "stall", "stopped", "unchanged", "done"]);
    Ok(())
}

/// Stops the recording a hundred times, at random moments while reports are being written. After each stop,
/// one call of the listener may still come: its thread may lose its processor between the last check of the
/// gate and the listener's first instruction.
#[test]
fn a_report_that_is_being_written_is_given_up() -> Result<()> {
    let folder = tempdir()?;
    let lines = lines_of("art10", folder.path(), &["mode=often", "rounds=100", "hangMs=10000"])?;
    let (mut stops, mut late, mut late_in_all) = (0, 0, 0);
    for line in words(&lines) {
        match line {
            "stopped" => (stops, late) = (stops + 1, 0),
            "next" | "unchanged" | "done" => {}
            line if line.starts_with("late report round") => {
                (late, late_in_all) = (late + 1, late_in_all + 1);
            }
            line => assert!(line.starts_with("report round"), "{line} in {lines:#?}"),
        }
        assert!(late <= 1, "{lines:#?}");
    }
    assert_eq!(stops, 100);
    assert!(late_in_all <= 10, "{late_in_all}");
    Ok(())
}
