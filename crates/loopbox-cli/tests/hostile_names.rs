//! Names of files, of folders and of files in archives are printed without characters that a terminal
//! interprets, and cannot fake a line.

mod support;

use loopbox_report::is_hidden;
use std::fs;
use support::{Files, Run, loopbox, shop_bytes};

/// A file name as a malicious sender may choose it.
const EVIL: &str = "a\u{1b}[31mX\u{9b}2J\u{202E}\u{200F}\u{2028}\nloopbox: FORGED\r\t";

fn assert_harmless(what: &str, run: &Run) {
    for (name, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let bad: Vec<char> = text.chars().filter(|&c| c != '\n' && is_hidden(c)).collect();
        assert_eq!(bad, [], "{what}, {name}: {text:?}");
        let forged = text.lines().any(|line| line.trim_start().starts_with("loopbox: FORGED"));
        assert!(!forged, "{what}, {name}: {text}");
    }
    assert!(run.stderr.lines().all(|line| line.starts_with("loopbox: ")), "{what}: {}", run.stderr);
}

/// Runs a command whose output must contain a text.
fn run(arguments: &[&str], wanted: &str) {
    let run = loopbox(arguments);
    assert_harmless(&format!("{arguments:?}"), &run);
    assert!(
        run.stdout.contains(wanted) || run.stderr.contains(wanted),
        "{arguments:?}: {}{}",
        run.stdout,
        run.stderr
    );
}

const SHOWN: &str = "a\u{FFFD}[31mX\u{FFFD}2J\u{FFFD}\u{FFFD}\u{FFFD} loopbox: FORGED";

#[test]
fn files_that_are_none() {
    let files = Files::new();
    let bad = files.bytes(&format!("{EVIL}.lbx"), b"no report");
    let missing = files.path(&format!("{EVIL}.none"));
    for file in [bad, missing] {
        for command in ["show", "diagnose", "report", "flame", "check", "cluster", "frames", "open"] {
            run(&[command, file], SHOWN);
        }
        run(&["export", "-f", "json", file], SHOWN);
        run(&["export", "-f", "parquet", file, "-o", files.path("t.parquet")], SHOWN);
        run(&["monitor", file], "");
        run(&["recover", file, "-o", files.path("r.lbx")], SHOWN);
        run(&["check", file, file], SHOWN);
        let report = files.report("r.lbx");
        run(&["show", report, "--mapping", file], SHOWN);
        run(&["retrace", report, "--mapping", file], SHOWN);
        run(&["diff", file, report], SHOWN);
        run(&["symbolize", report, "--symbols", file], "");
    }
    run(&["report", files.report("r.lbx"), "-o", files.path(&format!("{EVIL}/x.html"))], SHOWN);
}

#[test]
fn files_that_are_reports_and_folders_of_them() {
    let files = Files::new();
    let folder = files.path(EVIL);
    fs::create_dir(folder).unwrap();
    let intact = files.bytes(&format!("{EVIL}/{EVIL}.lbx"), &shop_bytes());
    let damaged = files.damaged(&format!("{EVIL}/d{EVIL}.lbx"));
    for command in ["show", "diagnose", "check"] {
        run(&[command, intact], "");
    }
    run(&["check", intact, damaged], SHOWN);
    run(&["show", damaged], SHOWN);
    run(&["cluster", folder], SHOWN);
    run(&["cluster", folder, "--json"], "loopbox: FORGED");
    run(&["diff", intact, folder], SHOWN);
    run(&["diff", intact, folder, "--format", "markdown"], "loopbox: FORGED");
    run(&["diff", intact, folder, "--format", "junit"], "");
    run(&["diagnose", intact, "--format", "sarif"], "FORGED");
    let ring = files.ring();
    let renamed = files.path(&format!("{EVIL}.lbr"));
    fs::rename(ring, renamed).unwrap();
    run(&["check", renamed], SHOWN);
    run(&["show", renamed], "");
    let line =
        r#"{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":42,"level":2,"wall_ms":731.2,"message":"EVIL"#;
    let line = format!("{line}{}\",\"scene\":\"s\u{202E}\u{9b}\"}}\n", "\\u001b[31mX\\n");
    let monitor = files.bytes(&format!("{EVIL}.jsonl"), line.as_bytes());
    run(&["monitor", monitor], "EVIL");
    run(&["monitor", monitor, "--json"], "EVIL");
}

#[test]
fn names_in_archives_and_in_configuration() {
    let files = Files::new();
    let two = files.zip("two.zip", &[&format!("{EVIL}.lbx"), "b.lbx"]);
    run(&["show", two], SHOWN);
    let folder = files.path("project");
    fs::create_dir(folder).unwrap();
    let toml = "in-app = [\n\"x\"\n]\n\u{202E} = 3\n";
    fs::write(format!("{folder}/loopbox.toml"), toml).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_loopbox"));
    let out = command.current_dir(folder).args(["show", files.report("r.lbx")]).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let run = Run { code: out.status.code().unwrap(), stdout: text(out.stdout), stderr: text(out.stderr) };
    assert_harmless("loopbox.toml", &run);
    assert_eq!((run.code, run.stderr.lines().count()), (1, 1), "{}", run.stderr);
    assert!(run.stderr.contains("loopbox.toml: line 4, offset "), "{}", run.stderr);
}
