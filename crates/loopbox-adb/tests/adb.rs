//! The commands that adb is called with, and how its answers are handled.

use loopbox_adb::fake::{FakeAdb, SERIAL};
use loopbox_adb::{Adb, quoted};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(2);

#[test]
fn a_file_is_pushed_whole_and_read_back() {
    let fake = FakeAdb::ready().unwrap();
    let adb = fake.adb();
    let (local, file) = (fake.folder().join("local.bin"), fake.folder().join("tmp/it's.bin"));
    let path = file.display().to_string();
    let content: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    fs::write(&local, &content).unwrap();
    adb.push(SERIAL, &local, &path, 0o750).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o750);
    let read = format!("cat {}", quoted(&path));
    assert_eq!(adb.shell(SERIAL, &read, 1 << 20).unwrap().stdout, content);
    assert_eq!(adb.shell(SERIAL, &read, 200_000).unwrap().stdout.len(), 200_000, "as much as is allowed");
    let error = format!("{:#}", adb.shell(SERIAL, &read, 100_000).unwrap_err());
    assert!(error.ends_with("it prints more than 100000 bytes"), "{error}");
    let error = format!("{:#}", adb.push(SERIAL, &local, "/proc/none/x", 0o644).unwrap_err());
    assert!(error.starts_with("emulator-5554: /proc/none/x: adb: error: failed to copy"), "{error}");
    assert!(adb.push("other", &local, &path, 0o644).is_err());
}

#[test]
fn a_command_keeps_its_outputs_and_its_exit_code() {
    let adb = FakeAdb::ready().unwrap();
    let output = adb.adb().shell(SERIAL, "echo out; echo err >&2; exit 7", 1 << 10).unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice(), output.code),
        (&b"out\n"[..], &b"err\n"[..], 7)
    );
    let output = adb.adb().shell(SERIAL, "exec printf 'a\\0\\r\\n'", 1 << 10).unwrap();
    assert_eq!((output.stdout.as_slice(), output.code), (&b"a\0\r\n"[..], 0));
}

#[test]
fn output_that_was_cut_is_an_error() {
    let fake = FakeAdb::ready().unwrap();
    // adb ends well, and the device's shell has not: it has gone.
    fake.profile("exit 0").unwrap();
    let error = format!("{:#}", fake.adb().shell(SERIAL, "echo half", 1 << 10).unwrap_err());
    assert!(error.ends_with("the device has gone before the end of the command"), "{error}");
    let error = fake.adb().start(SERIAL, "echo half").unwrap().finish(LIMIT).unwrap_err().to_string();
    assert!(error.starts_with("the device has gone before the end of the command"), "{error}");
    let error = format!("{:#}", fake.adb().shell("other", "true", 1 << 10).unwrap_err());
    assert!(error.ends_with("adb: device 'other' not found"), "{error}");
}

#[test]
fn a_missing_adb_is_named_with_what_to_do() {
    let error = format!("{:#}", Adb::at("/nowhere/adb").devices().unwrap_err());
    assert!(error.contains("/nowhere/adb: not found: install the Android SDK's platform tools"), "{error}");
}

#[test]
fn the_lines_of_a_command_come_while_it_runs() {
    let fake = FakeAdb::ready().unwrap();
    let script =
        "echo begun; while [ ! -e \"$DEVICE/gate\" ]; do sleep 0.01; done; echo over; echo why >&2; exit 7";
    fake.device_program("waits", script).unwrap();
    let mut running = fake.adb().start(SERIAL, "waits").unwrap();
    assert_eq!(running.wait_for("beg", LIMIT).unwrap(), "begun");
    fs::write(fake.folder().join("gate"), "").unwrap();
    assert_eq!(running.finish(LIMIT).unwrap(), (7, "why\n".to_owned()));
    assert_eq!(running.seen(), ["begun", "over"]);
    let mut running = fake.adb().start(SERIAL, "waits").unwrap();
    let error = running.wait_for("never", LIMIT).unwrap_err().to_string();
    assert!(error.contains("before the end (7)") && error.ends_with("over\nwhy\n"), "{error}");
}
