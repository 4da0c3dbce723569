//! Every command on files that are no reports: one line that names the file, the offset and the reason.

mod support;

use std::os::unix::fs::PermissionsExt;
use support::{Files, loopbox, shop_bytes};

/// The commands that take one report; each gets the file at `FILE`.
const COMMANDS: [&[&str]; 13] = [
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
];

fn each_command_fails_on(file: &str, words: &[&str]) {
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
fn empty() {
    each_command_fails_on(Files::new().bytes("f.lbx", b""), &["offset 0", "empty"]);
}

#[test]
fn of_another_kind() {
    each_command_fails_on(
        Files::new().bytes("f.zip", b"PK\x03\x04 and so on"),
        &["offset 0", "not a Loopbox report"],
    );
}

#[test]
fn cut_in_the_prologue() {
    each_command_fails_on(Files::new().bytes("f.lbx", &shop_bytes()[..11]), &["offset 11", "prologue"]);
}

#[test]
fn cut_before_the_first_section_ends() {
    each_command_fails_on(
        Files::new().bytes("f.lbx", &shop_bytes()[..40]),
        &["offset 16", "no intact section"],
    );
}

#[test]
fn newer() {
    let mut bytes = shop_bytes();
    bytes[8] = 7;
    each_command_fails_on(Files::new().bytes("f.lbx", &bytes), &["offset 8", "version 7 is newer"]);
}

#[test]
fn missing() {
    each_command_fails_on(Files::new().path("none.lbx"), &["offset 0", "No such file"]);
}

#[test]
fn a_directory() {
    let files = Files::new();
    each_command_fails_on(files.dir().to_str().unwrap(), &["offset 0", "is a directory"]);
}

#[test]
fn unreadable() {
    let files = Files::new();
    let path = files.report("secret.lbx");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(path).is_ok() {
        // Root reads everything. A file that refuses even root: a process's memory, at address 0.
        each_command_fails_on("/proc/self/mem", &["offset 0", "Input/output error"]);
    } else {
        each_command_fails_on(path, &["offset 0", "Permission denied"]);
    }
}

#[test]
fn endless() {
    each_command_fails_on("/dev/zero", &["larger than a report can be"]);
}
