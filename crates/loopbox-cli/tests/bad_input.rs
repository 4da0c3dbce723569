//! For a file that is not a report, every command prints one line with the file, the offset and the reason.

mod support;

use std::os::unix::fs::PermissionsExt;
use support::{Files, loopbox, shop_bytes};

/// The commands that take one report; `FILE` stands for the file.
const COMMANDS: [&[&str]; 14] = [
    &["show", "FILE"],
    &["show", "--json", "FILE"],
    &["diagnose", "FILE"],
    &["report", "FILE"],
    &["flame", "FILE"],
    &["flame", "--merged", "FILE"],
    &["export", "--format", "json", "FILE"],
    &["export", "--format", "perfetto", "FILE"],
    &["export", "--format", "chrome", "FILE"],
    &["export", "--format", "firefox", "FILE"],
    &["export", "--format", "speedscope", "FILE"],
    &["export", "--format", "collapsed", "FILE"],
    &["check", "FILE"],
    &["symbolize", "FILE", "--symbols", "."],
];

fn assert_all_commands_fail(file: &str, words: &[&str]) {
    for command in COMMANDS {
        let args: Vec<&str> = command.iter().map(|a| if *a == "FILE" { file } else { a }).collect();
        let run = loopbox(&args);
        assert_eq!(run.code, 1, "{args:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
        assert!(run.stderr.starts_with(&format!("loopbox: {file}: ")), "{args:?}: {}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "{args:?}: {word} is missing in {}", run.stderr);
        }
    }
}

#[test]
fn an_empty_file() {
    assert_all_commands_fail(Files::new().bytes("f.lbx", b""), &["offset 0", "empty"]);
}

#[test]
fn a_file_of_another_kind() {
    assert_all_commands_fail(
        Files::new().bytes("f.zip", b"PK\x03\x04 and so on"),
        &["offset 0", "a zip archive that cannot be unpacked"],
    );
    assert_all_commands_fail(
        Files::new().bytes("f.jpg", b"\xff\xd8\xff"),
        &["offset 0", "not a Loopbox report"],
    );
}

#[test]
fn a_report_that_was_taken_for_text() {
    let text = String::from_utf8_lossy(&shop_bytes()).into_owned();
    assert_all_commands_fail(Files::new().bytes("f.lbx", text.as_bytes()), &["offset 0", "took for text"]);
}

#[test]
fn an_archive_without_a_report_or_with_two() {
    let files = Files::new();
    let none = files.zip("none.zip", &["a.txt"]);
    assert_all_commands_fail(none, &["offset 0", "a zip archive without a report"]);
    let two = files.zip("two.zip", &["a.lbx", "b.lbx"]);
    assert_all_commands_fail(two, &["offset 0", "with 2 reports (a.lbx, b.lbx, …)"]);
}

#[test]
fn an_archive_of_many_files() {
    let names: Vec<String> = (0..10_001).map(|nth| format!("{nth}.txt")).collect();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in names.iter().chain([&"r.lbx".to_owned()]) {
        archive.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
    }
    let files = Files::new();
    let many = files.bytes("many.zip", archive.finish().unwrap().get_ref());
    assert_all_commands_fail(many, &["offset 0", "a zip archive with 10002 files"]);
}

#[test]
fn configuration_that_does_not_end() {
    let files = Files::new();
    let report = files.report("r.lbx");
    let folder = files.path("project");
    std::fs::create_dir(folder).unwrap();
    std::fs::write(format!("{folder}/loopbox.toml"), " ".repeat((1 << 20) + 1)).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_loopbox"));
    let out = command.current_dir(folder).args(["show", report]).output().unwrap();
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        error.contains("loopbox.toml: offset 1048576: larger than such a file can be (1 MiB)"),
        "{error}"
    );
}

#[test]
fn a_file_cut_in_the_prologue() {
    assert_all_commands_fail(Files::new().bytes("f.lbx", &shop_bytes()[..11]), &["offset 11", "prologue"]);
}

#[test]
fn a_file_cut_in_the_first_section() {
    assert_all_commands_fail(
        Files::new().bytes("f.lbx", &shop_bytes()[..40]),
        &["offset 16", "no intact section"],
    );
}

#[test]
fn a_file_of_a_newer_version() {
    let mut bytes = shop_bytes();
    bytes[8] = 7;
    assert_all_commands_fail(Files::new().bytes("f.lbx", &bytes), &["offset 8", "version 7 is newer"]);
}

#[test]
fn a_missing_file() {
    assert_all_commands_fail(Files::new().path("none.lbx"), &["No such file"]);
}

#[test]
fn a_directory() {
    let files = Files::new();
    assert_all_commands_fail(files.dir().to_str().unwrap(), &["is a directory"]);
}

#[test]
fn an_unreadable_file() {
    let files = Files::new();
    let path = files.report("secret.lbx");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(path).is_ok() {
        // Root reads everything. A file that refuses even root: a process's memory, at address 0.
        assert_all_commands_fail("/proc/self/mem", &["Input/output error"]);
    } else {
        assert_all_commands_fail(path, &["Permission denied"]);
    }
}

#[test]
fn an_endless_file() {
    assert_all_commands_fail("/dev/zero", &["larger than a report can be"]);
}
