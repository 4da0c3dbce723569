//! Starts that end within seconds: perhaps because of the recorder, or because the system or the user ended
//! them.

use anyhow::{Context, Result};
use lab_launch::{App, Running};
use lab_reports::LIMIT;
use lab_reports::live::wait_until;
use loopbox_e2e::launcher;
use loopbox_testbed::to_test_on;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::tempdir;

fn app(testbed: &str, folder: &Path, version: &str) -> Result<App> {
    let app = launcher(testbed)?.app("scenario.Starts").argument(format!("dir={}", folder.display()));
    Ok(app.argument(format!("version={version}")))
}

/// What the app prints about the recorder.
fn status(app: &mut Running) -> Result<String> {
    let line = app.wait_for("SCRIPT status ", LIMIT)?;
    Ok(line.trim_start_matches("SCRIPT status ").to_owned())
}

fn is_on(status: &str) -> bool {
    status.starts_with("on: ")
}

fn off(left: u32) -> String {
    format!("off: start guard: earlier starts ended within seconds; starts until the next try: {left}")
}

/// Starts an app that crashes. Returns its status; `None` when it crashes during the installation, before
/// there is a status.
fn crash(testbed: &str, folder: &Path, in_installation: bool) -> Result<Option<String>> {
    let app = app(testbed, folder, "1")?;
    let app = if in_installation { app.env("LOOPBOX_FAULT", "install") } else { app.argument("how=crash") };
    let ended = app.start()?.finish(LIMIT)?;
    assert!(!ended.status.success(), "{ended:?}");
    let line = ended.lines.iter().find_map(|line| line.strip_prefix("SCRIPT status "));
    Ok(line.map(str::to_owned))
}

/// Starts an app, and kills it when it has printed its status. Returns the status, the process id, and the
/// process's name.
fn kill(app: App) -> Result<(String, u32, String)> {
    let mut app = app.start()?;
    let status = status(&mut app)?;
    let line = fs::read(format!("/proc/{}/cmdline", app.pid()))?;
    let name = line.split(|&byte| byte == 0).next().context("no name")?;
    let name = String::from_utf8(name.to_vec())?;
    let pid = app.pid();
    app.kill();
    Ok((status, pid, name))
}

fn mark(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files
        .into_iter()
        .find(|file| file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"start-")))
}

/// Another user's folder, or one that is still encrypted: simulated by a folder that is a file, or a link to
/// itself.
#[test]
fn a_switch_or_a_mark_that_cannot_be_read_keeps_the_recorder_off() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let folder = folder.path();
        let switch = folder.join("loopbox");
        for (why, make) in [
            ("ELOOP", (|at| std::os::unix::fs::symlink("loopbox", at)) as fn(&Path) -> std::io::Result<()>),
            ("ENOTDIR", |at| fs::write(at, "")),
        ] {
            make(&switch)?;
            let status = kill(app(&testbed, folder, "1")?)?.0;
            let unknown = "off: it cannot be read whether the app has switched it off: ";
            assert!(status.starts_with(unknown) && status.contains(why), "{testbed}: {status}");
            assert_eq!(fs::read_dir(folder)?.count(), 1, "nothing else is there");
            fs::remove_file(&switch)?;
        }
        assert!(is_on(&kill(app(&testbed, folder, "1")?)?.0));
        let mark = mark(folder).context("no mark of a start that was killed")?;
        fs::remove_file(&mark)?;
        fs::create_dir(&mark)?;
        let status = kill(app(&testbed, folder, "1")?)?.0;
        assert!(
            status.starts_with("off: start guard: it cannot be read how earlier starts ended: "),
            "{status}"
        );
        fs::remove_dir(&mark)?;
        assert!(is_on(&kill(app(&testbed, folder, "1")?)?.0), "it was not counted");
    }
    Ok(())
}

/// Until the unlock, names in the app's folders are encrypted: nothing is found there, not even the folders.
#[test]
fn the_recorder_is_installed_when_the_user_unlocks_the_device() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        for switched_off in [false, true] {
            let folder = tempdir()?;
            let data = folder.path().join("com.example.shop");
            let gate = folder.path().join("unlocked");
            let mut app = app(&testbed, &data.join("no_backup"), "1")?
                .argument(format!("unlocked={}", gate.display()))
                .start()?;
            let locked = status(&mut app)?;
            assert!(
                locked.starts_with("off: it cannot be read whether the app has switched it off: "),
                "{locked}"
            );
            assert!(locked.ends_with("; it is tried again when the user unlocks the device"), "{locked}");
            fs::create_dir_all(data.join("no_backup/loopbox"))?;
            if switched_off {
                fs::write(data.join("no_backup/loopbox/off"), "")?;
            }
            fs::write(&gate, "")?;
            let unlocked = app.wait_for("SCRIPT unlocked ", LIMIT)?;
            let status = unlocked.trim_start_matches("SCRIPT unlocked ");
            if switched_off {
                assert_eq!(status, "off: switched off by the app", "{testbed}");
            } else {
                assert!(is_on(status), "{testbed}: {status}");
            }
            app.kill();
        }
    }
    Ok(())
}

/// An isolated process may not wait for the unlock of the device, and it has no files after the unlock
/// either. So the recorder stays off. The status says why, and does not promise another try.
#[test]
fn an_isolated_process_has_the_reason_in_its_status() -> Result<()> {
    let folder = tempdir()?;
    let app = app("art11", &folder.path().join("nothing/no_backup"), "1")?.argument("isolated=yes");
    let status = kill(app)?.0;
    assert!(status.starts_with("off: it cannot be read whether the app has switched it off: "), "{status}");
    assert!(status.ends_with("(No such file or directory)"), "{status}");
    Ok(())
}

#[test]
fn starts_that_crash_switch_the_recorder_off_for_more_and_more_starts() -> Result<()> {
    let folder = tempdir()?;
    let folder = folder.path();
    // Wherever they crash.
    for in_installation in [true, false, true] {
        let status = crash("art10", folder, in_installation)?;
        assert_eq!(status.is_none(), in_installation, "{status:?}");
        assert!(status.is_none_or(|status| is_on(&status)));
    }
    for left in (0..5).rev() {
        // With the recorder off, nothing is counted.
        let (status, ..) = kill(app("art10", folder, "1")?)?;
        assert_eq!(status, off(left));
    }
    assert_eq!(crash("art10", folder, true)?, None, "a try");
    assert_eq!(kill(app("art10", folder, "1")?)?.0, off(24), "once is enough then");
    assert!(is_on(&kill(app("art10", folder, "2")?)?.0), "another version of the app");
    Ok(())
}

#[test]
fn a_start_on_a_full_disk_does_not_forget_how_earlier_ones_ended() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let folder = folder.path();
        for _ in 0..3 {
            crash(&testbed, folder, true)?;
        }
        assert_eq!(kill(app(&testbed, folder, "1")?)?.0, off(4), "{testbed}");
        for _ in 0..2 {
            // None of them can be counted.
            let full = app(&testbed, folder, "1")?.env("LOOPBOX_HOST_REFUSE", "files");
            assert_eq!(kill(full)?.0, off(3), "{testbed}");
        }
        assert_eq!(kill(app(&testbed, folder, "1")?)?.0, off(3), "{testbed}");
    }
    Ok(())
}

/// An initializer and the app's own call, or an app that asks again because the recorder is off.
#[test]
fn an_app_that_installs_twice_is_refused_twice() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let folder = folder.path();
        for _ in 0..3 {
            crash(&testbed, folder, true)?;
        }
        for left in [4, 3] {
            assert_refused_twice(&testbed, folder, |status| status == off(left))?;
        }
        let mark = mark(folder).context("no mark of the starts that crashed")?;
        fs::remove_file(&mark)?;
        fs::create_dir(&mark)?;
        let unread = "off: start guard: it cannot be read how earlier starts ended: ";
        assert_refused_twice(&testbed, folder, |status| status.starts_with(unread))?;
        assert!(mark.is_dir(), "{testbed}: the mark is gone");
    }
    Ok(())
}

/// Starts an app that installs the recorder twice. Checks that both calls are refused with the same status,
/// and that the native library is not loaded. The library would remove the mark of the starts that crashed.
fn assert_refused_twice(testbed: &str, folder: &Path, is_refusal: impl Fn(&str) -> bool) -> Result<()> {
    let mut app = app(testbed, folder, "1")?.argument("twice=yes").start()?;
    let first = status(&mut app)?;
    let second = app.wait_for("SCRIPT second ", LIMIT)?;
    let maps = fs::read_to_string(format!("/proc/{}/maps", app.pid()))?;
    app.kill();
    assert!(is_refusal(&first), "{testbed}: {first}");
    let second = second.trim_start_matches("SCRIPT second ");
    assert_eq!(second, first, "{testbed}");
    assert!(!maps.contains("libloopbox.so"), "{testbed}: {maps}");
    Ok(())
}

#[test]
fn a_start_that_lasts_makes_up_for_those_before() -> Result<()> {
    let folder = tempdir()?;
    let folder = folder.path();
    for _ in 0..2 {
        crash("art11", folder, false)?;
    }
    let mut app = app("art11", folder, "1")?.start()?;
    assert!(is_on(&status(&mut app)?));
    assert!(mark(folder).is_some(), "not yet");
    wait_until("the mark is gone", || Ok(mark(folder).is_none().then_some(())))?;
    app.kill();
    for _ in 0..3 {
        assert!(crash("art11", folder, false)?.is_some_and(|status| is_on(&status)));
    }
    Ok(())
}

/// The system keeps a record of each end of a process since Android 11.
#[test]
fn only_crashes_count_where_the_system_says_how_a_process_ended() -> Result<()> {
    const SIGNALED: u32 = 2;
    const CRASH_NATIVE: u32 = 5;
    const USER_REQUESTED: u32 = 10;
    for (reasons, switches_off) in [
        ([(SIGNALED, 9), (USER_REQUESTED, 0), (SIGNALED, 9)], false),
        ([(SIGNALED, 9), (CRASH_NATIVE, 0), (CRASH_NATIVE, 0)], false),
        ([(SIGNALED, 11), (CRASH_NATIVE, 0), (CRASH_NATIVE, 0)], true),
    ] {
        let folder = tempdir()?;
        let mut exits = Vec::new();
        for (reason, status) in reasons {
            let (on, pid, name) = kill(app("art11", folder.path(), "1")?)?;
            assert!(is_on(&on), "{on}");
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis();
            exits.insert(0, format!("{pid}|{name}|{now}|{reason}|{status}|words"));
        }
        let next = app("art11", folder.path(), "1")?.argument(format!("exits={}", exits.join(",")));
        let (next, ..) = kill(next)?;
        assert_eq!(next == off(4), switches_off, "{reasons:?}: {next}");
        assert_eq!(is_on(&next), !switches_off, "{reasons:?}: {next}");
    }
    Ok(())
}
