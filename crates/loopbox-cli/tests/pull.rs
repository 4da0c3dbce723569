//! `loopbox pull` with a fake adb.

mod support;

use loopbox_adb::fake::{FakeAdb, SERIAL};
use loopbox_format::report::encode;
use std::fs;
use std::process::Command;
use support::{Files, Run, shop, shop_bytes};

/// Runs the command in a folder, with this adb.
fn pull(files: &Files, adb: &FakeAdb, arguments: &[&str]) -> Run {
    pull_with(files, &adb.path(), arguments)
}

fn pull_with(files: &Files, path: &str, arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopbox"));
    command.arg("pull").args(arguments).current_dir(files.dir());
    let out = command.env("PATH", path).env_remove("ANDROID_HOME").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { code: out.status.code().unwrap(), stdout: text(&out.stdout), stderr: text(&out.stderr) }
}

#[test]
fn reports_and_rings_of_an_app_are_pulled_and_listed() {
    let (files, adb) = (Files::new(), FakeAdb::ready().unwrap());
    let ring = fs::read(files.ring()).unwrap();
    adb.put("com.example.shop", "no_backup/loopbox/hang-1.lbx", &shop_bytes()).unwrap();
    adb.put("com.example.shop", "files/it's here/hang-1.lbx", &shop_bytes()).unwrap();
    adb.put("com.example.shop", "no_backup/loopbox/ring-0badcafe-7-9.lbr.1", &ring).unwrap();
    adb.put("com.example.shop", "no_backup/loopbox/sampler.off", b"no report").unwrap();
    let run = pull(&files, &adb, &["com.example.shop"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert_eq!(run.stdout.lines().count(), 3, "{}", run.stdout);
    let line = |name: &str| run.stdout.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(
        line("no_backup-loopbox-hang-1.lbx").contains(": The running message (#46) has taken 5.20 s"),
        "{}",
        run.stdout
    );
    assert!(line("ring-0badcafe-7-9.1.lbr").contains("Cart.total"), "{}", run.stdout);
    let folder = files.dir().join("com.example.shop");
    assert_eq!(fs::read(folder.join("no_backup-loopbox-hang-1.lbx")).unwrap(), shop_bytes());
    assert_eq!(fs::read(folder.join("files-it's here-hang-1.lbx")).unwrap(), shop_bytes());
    assert_eq!(fs::read(folder.join("no_backup-loopbox-ring-0badcafe-7-9.1.lbr")).unwrap(), ring);
    let run = pull(&files, &adb, &["com.example.shop", "--serial", SERIAL, "-o", "other"]);
    assert_eq!(
        (run.code, fs::read_dir(files.dir().join("other")).unwrap().count()),
        (0, 3),
        "{}",
        run.stderr
    );
}

#[test]
fn nothing_is_written_over() {
    let (files, adb) = (Files::new(), FakeAdb::ready().unwrap());
    let other = encode(&shop().with(|report| report.meta.process.pid = 7).build().report).unwrap();
    let put = |name: &str, bytes: &[u8]| adb.put("com.example.shop", name, bytes).unwrap();
    // Of each pair both would be called the same.
    for (one, two) in [("files/a/b.lbx", "files/a-b.lbx"), ("r/x.lbr.1", "r/x.1.lbr"), ("A.lbx", "a.lbx")] {
        put(one, &shop_bytes());
        put(two, &other);
    }
    put("files/a\n.-%\u{202E}.lbx", &shop_bytes());
    let pulled = || {
        let run = pull(&files, &adb, &["com.example.shop"]);
        assert_eq!((run.code, run.stderr.as_str(), run.stdout.lines().count()), (0, "", 7), "{}", run.stdout);
        let folder = files.dir().join("com.example.shop");
        let entries =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        let has =
            |bytes: &[u8]| names.iter().filter(|name| fs::read(folder.join(name)).unwrap() == bytes).count();
        let counts = (has(&shop_bytes()), has(&other));
        (names, counts)
    };
    let (names, counts) = pulled();
    assert_eq!(counts, (4, 3), "{names:?}");
    assert!(
        names.contains(&"files-a%2Db.lbx".to_owned()) && names.contains(&"files-a-b.lbx".to_owned()),
        "{names:?}"
    );
    assert!(names.contains(&"files-a_.-%_.lbx".to_owned()), "{names:?}");
    // Once more: the same files are there.
    assert_eq!(pulled(), (names.clone(), counts));
    // And when one has changed, both are.
    put("files/a/b.lbx", &shop_bytes()[..shop_bytes().len() / 2]);
    let (after, counts) = pulled();
    assert_eq!((after.len(), counts), (8, (4, 3)), "{after:?}");
    assert!(names.iter().all(|name| after.contains(name)), "{after:?}");
}

#[test]
fn without_an_app_devices_and_apps_are_listed() {
    let (files, adb) = (Files::new(), FakeAdb::ready().unwrap());
    adb.put("com.example.shop", "no_backup/loopbox/a.lbx", &shop_bytes()).unwrap();
    adb.put("com.example.shop", "no_backup/loopbox/b.lbx", &shop_bytes()).unwrap();
    adb.put("com.example.release", "no_backup/loopbox/c.lbx", &shop_bytes()).unwrap();
    adb.put("com.example.release", ".release", b"").unwrap();
    adb.put("com.example.other", "files/x.txt", b"").unwrap();
    let run = pull(&files, &adb, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let wanted = "emulator-5554  device  product:sdk model:Pixel_8 transport_id:1\n  com.example.shop  2 reports and rings\n";
    assert_eq!(run.stdout, wanted);
}

#[test]
fn what_cannot_be_pulled_is_reported_in_one_line() {
    let (files, adb) = (Files::new(), FakeAdb::ready().unwrap());
    adb.put("com.example.release", ".release", b"").unwrap();
    adb.put("com.example.other", "files/x.txt", b"").unwrap();
    let error = |arguments: &[&str]| {
        let run = pull(&files, &adb, arguments);
        assert_eq!((run.code, run.stderr.lines().count()), (1, 1), "{}", run.stderr);
        run.stderr
    };
    assert!(error(&["com.example.release"]).contains("package not debuggable"));
    assert!(error(&["com.example.none"]).contains("unknown package"));
    assert!(error(&["com.example.other"]).contains("com.example.other has no report"));
    assert!(error(&["a;reboot"]).contains("not an application id"));
    assert!(error(&["com.example.other", "--serial", "x"]).contains("there are: emulator-5554 (device)"));

    let none = FakeAdb::new("").unwrap();
    let run = pull(&files, &none, &[]);
    assert!(run.code == 1 && run.stderr.contains("no device: connect one"), "{}", run.stderr);
    let locked = FakeAdb::new("emulator-5554 unauthorized transport_id:3\n").unwrap();
    let run = pull(&files, &locked, &["com.example.shop"]);
    assert!(run.code == 1 && run.stderr.contains("emulator-5554 (unauthorized)"), "{}", run.stderr);
    let two = FakeAdb::new("emulator-5554 device\nR58M device\n").unwrap();
    let run = pull(&files, &two, &["com.example.shop"]);
    assert!(run.code == 1 && run.stderr.contains("choose one with --serial"), "{}", run.stderr);
    let run = pull_with(&files, "/nowhere", &[]);
    assert!(run.code == 1 && run.stderr.contains("adb: not found: install"), "{}", run.stderr);
}

#[test]
fn a_file_that_is_no_report_is_pulled_and_listed() {
    let (files, adb) = (Files::new(), FakeAdb::ready().unwrap());
    adb.put("com.example.shop", "no_backup/bad\u{1b}[31m.lbx", b"no report").unwrap();
    let run = pull(&files, &adb, &["com.example.shop"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("no_backup-bad_[31m.lbx: not readable: offset 0: not a Loopbox report"),
        "{}",
        run.stdout
    );
}
