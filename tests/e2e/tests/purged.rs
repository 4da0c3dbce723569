//! An app deletes what was recorded: in the process that records, in others, and in a launch after one that
//! was killed.

use anyhow::{Result, ensure};
use lab_launch::{App, Running};
use lab_reports::LIMIT;
use lab_reports::live::wait_until;
use loopbox_e2e::launcher;
use loopbox_e2e::trace::Trace;
use loopbox_testbed::to_test_on;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use tempfile::tempdir;

const NOW_OFF: &str = "SCRIPT now off: switched off by the app";
const MARK: &str = "default/loopbox/off";

/// The app of `scenario.Purged`. It records in the folder `default`, which stands for the system's no-backup
/// folder.
fn app(testbed: &str, folder: &Path, how: &str) -> Result<App> {
    let app = launcher(testbed)?.app("scenario.Purged").property("loopbox.sdk", 36);
    let app = app.argument(format!("dir={}", folder.join("default").display()));
    Ok(app.argument(format!("how={how}")))
}

/// Starts an app. Waits until it records, and until its reports and its monitor's lines are on the disk.
fn recording(app: App) -> Result<Running> {
    let mut app = app.start()?;
    app.wait_for("SCRIPT installed true true", LIMIT)?;
    app.wait_for("SCRIPT took 1", LIMIT)?;
    app.wait_for("SCRIPT records", LIMIT)?;
    Ok(app)
}

/// All files and empty folders below a folder.
fn files_below(folder: &Path) -> Result<BTreeSet<String>> {
    fn add(root: &Path, folder: &Path, found: &mut BTreeSet<String>) -> Result<()> {
        let mut is_empty = true;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() {
                add(root, &entry.path(), found)?;
            } else {
                found.insert(entry.path().strip_prefix(root)?.display().to_string());
            }
        }
        if is_empty {
            found.insert(folder.strip_prefix(root)?.display().to_string());
        }
        Ok(())
    }
    let mut found = BTreeSet::new();
    add(folder, folder, &mut found)?;
    Ok(found)
}

/// Waits until nothing but `wanted` is below the folder. A file may be deleted while the folder is read.
fn only_left(folder: &Path, wanted: &[&str]) -> Result<()> {
    let wanted: BTreeSet<String> = wanted.iter().map(|&name| name.to_owned()).collect();
    wait_until(&format!("only {wanted:?} is left of {:?}", files_below(folder)), || {
        Ok(files_below(folder).is_ok_and(|found| found == wanted).then_some(()))
    })
}

/// Parts of the names of the files that a recording leaves.
const KINDS: [&str; 5] = [".lbr", "taken/", "requested", "start-", "uiperf-"];

fn has(folder: &Path, kinds: &[&str]) -> Result<()> {
    let found = files_below(folder)?;
    for kind in kinds {
        ensure!(found.iter().any(|file| file.contains(*kind)), "no {kind} among {found:?}");
    }
    Ok(())
}

/// The files that the process has created, by their final names.
fn made(trace: &Trace) -> Result<BTreeSet<PathBuf>> {
    let path = |call: &str, nth| call.split('"').nth(nth).map(PathBuf::from);
    let calls = trace.calls()?;
    let made = calls.iter().filter_map(|(_, call)| match call {
        call if call.contains("= -1 ") => None,
        call if call.starts_with("open") && call.contains("O_CREAT") => path(call, 1),
        call if call.starts_with("rename") => path(call, 3),
        call if call.starts_with("mkdir") => path(call, 1),
        _ => None,
    });
    Ok(made.collect())
}

#[test]
fn nothing_remains_that_the_process_has_made() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let log = tempdir()?;
        let (gate, profile) = (folder.path().join("gate"), folder.path().join("anr.perfetto-trace"));
        fs::write(&profile, "of the system")?;
        let app = app(&testbed, folder.path(), "records")?.argument(format!("gate={}", gate.display()));
        let mut app = app.argument(format!("profile={}", profile.display())).start()?;
        app.wait_for("SCRIPT installed true true", LIMIT)?;
        let trace = Trace::of(app.pid(), log.path())?;
        app.wait_for("SCRIPT records", LIMIT)?;
        has(folder.path(), &[&KINDS[..], &["profiles/"]].concat())?;
        fs::write(&gate, "")?;
        app.wait_for("SCRIPT purged true", LIMIT)?;
        app.wait_for(NOW_OFF, LIMIT)?;
        app.wait_for("SCRIPT pending 0", LIMIT)?;
        only_left(folder.path(), &[MARK, "gate"])?;
        let made = made(&trace)?;
        ensure!(made.len() > 3, "strace saw only {made:?}");
        let is_of_android = |path: &Path| path.starts_with("/proc") || path.starts_with("/dev");
        let left: Vec<_> = made.iter().filter(|path| path.exists() && !is_of_android(path)).collect();
        let folders = [folder.path().join("default"), folder.path().join("default/loopbox")];
        let left: Vec<_> = left.into_iter().filter(|&path| !folders.contains(path)).collect();
        assert_eq!(left, [&folder.path().join(MARK)], "{testbed}");
        app.kill();
    }
    Ok(())
}

/// One of the processes has separate folders, with files of the app in them; the process that purges does not
/// know them.
#[test]
fn other_processes_delete_what_is_theirs() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let apps = ["place/notes.txt", "place/profiles/wanted.txt", "monitor/uiperf.txt", "place/start-up"];
        for file in apps {
            fs::create_dir_all(at(file).parent().unwrap_or(folder.path()))?;
            fs::write(at(file), "the app's")?;
        }
        let elsewhere = app(&testbed, folder.path(), "records")?
            .argument(format!("place={}", at("place").display()))
            .argument(format!("monitor={}", at("monitor").display()));
        let mut elsewhere = recording(elsewhere)?;
        let mut busy = recording(app(&testbed, folder.path(), "records")?)?;
        let purges = app(&testbed, folder.path(), "purges")?.start()?.finish(LIMIT)?.success()?;
        ensure!(purges.lines.iter().any(|line| line == "SCRIPT purged true"), "{:?}", purges.lines);
        for app in [&mut elsewhere, &mut busy] {
            app.wait_for(NOW_OFF, LIMIT)?;
            app.wait_for("SCRIPT pending 0", LIMIT)?;
        }
        only_left(folder.path(), &[&[MARK], &apps[..]].concat())?;
        elsewhere.kill();
        busy.kill();
    }
    Ok(())
}

/// Another process purges. The files of the process at rest stay until a message runs on its main thread:
/// nothing wakes the process before that.
#[test]
fn a_process_at_rest_deletes_when_a_message_runs() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let rests = app(&testbed, folder.path(), "rests")?
            .argument(format!("place={}", at("place").display()))
            .argument(format!("gate={}", at("gate").display()));
        let mut rests = recording(rests)?;
        // What the installation's message wrote is copied to the ring's file by then.
        sleep(Duration::from_secs(2));
        app(&testbed, folder.path(), "purges")?.start()?.finish(LIMIT)?.success()?;
        has(folder.path(), &[".lbr", "taken/", "requested"])?;
        fs::write(at("gate"), "")?;
        rests.wait_for("SCRIPT rested true", LIMIT)?;
        rests.wait_for(NOW_OFF, LIMIT)?;
        only_left(folder.path(), &[MARK, "gate", "place"])?;
        rests.kill();
    }
    Ok(())
}

#[test]
fn a_later_launch_deletes_what_a_killed_process_has_left() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let here = |how: &str| {
            let app = app(&testbed, folder.path(), how)?.argument(format!("place={}", at("place").display()));
            anyhow::Ok(app.argument(format!("monitor={}", at("monitor").display())))
        };
        let mut killed = recording(here("records")?)?;
        killed.kill();
        app(&testbed, folder.path(), "purges")?.start()?.finish(LIMIT)?.success()?;
        has(folder.path(), &KINDS)?;
        let mut later = here("installs")?.start()?;
        later.wait_for("SCRIPT installed false false", LIMIT)?;
        only_left(folder.path(), &[MARK, "monitor", "place"])?;
        later.kill();
        app(&testbed, folder.path(), "enables")?.start()?.finish(LIMIT)?.success()?;
        only_left(folder.path(), &["default/loopbox", "monitor", "place"])?;
        recording(here("records")?)?.kill();
    }
    Ok(())
}
