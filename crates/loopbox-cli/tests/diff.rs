//! `loopbox diff` as a user runs it.

mod support;

use serde_json::Value;
use std::fs;
use std::process::Command;
use support::tools::{finds_loopbox, python};
use support::{Files, loopbox, recorded, shop};

/// A folder `fleet` with reports of two versions: hangs of `Cart.total` in both, of `Sync.run` in the newer
/// one.
fn fleet(files: &Files) -> &'static str {
    let folder = files.path("fleet");
    fs::create_dir(folder).unwrap();
    let write = |version: &str, method: &str, count: u32| {
        for i in 0..count {
            let stack = format!("com.example.shop.Checkout$1.run:31 com.example.shop.{method}:88");
            let report =
                shop().with(|report| report.trees.clear()).looper_tree(46, &[(&stack, 500)]).with(|report| {
                    report.meta.process.app_version = version.into();
                    report.meta.annotations = vec![("user".into(), format!("{version} {method} {i}"))];
                });
            fs::write(format!("{folder}/{version}-{method}-{i}.lbx"), recorded(&report.build().report))
                .unwrap();
        }
    };
    write("5.2 (502)", "Cart.total", 8);
    write("5.3 (503)", "Cart.total", 9);
    write("5.3 (503)", "Sync.run", 12);
    write("5.30 (530)", "Old.run", 2);
    folder
}

#[test]
fn versions_of_a_folder_are_compared_and_the_exit_code_is_a_gate() {
    let files = Files::new();
    let folder = fleet(&files);
    let diff = |more: &[&str]| loopbox(&[&["diff", "5.2", "5.3", "--in", folder], more].concat());
    let users = ["--users-before", "1000", "--users-after", "1000"];
    let run = diff(&users);
    assert_eq!((run.code, run.stderr.as_str()), (3, ""), "{}", run.stdout);
    assert!(
        run.stdout.starts_with(
            "5.2 (8 reports, 1000 users) → 5.3 (21 reports, 1000 users)\nfailed: 1 new, 0 worse\n"
        ),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("\nnew  com.example.shop.Sync.run  current-slow"), "{}", run.stdout);
    assert!(run.stdout.contains("0 (0 to 3.8) → 12 (6.9 to 21)"), "{}", run.stdout);
    assert!(run.stdout.contains("the same, as far as is known: 1 group"), "{}", run.stdout);
    assert!(!run.stdout.contains("Old.run"), "5.30 is another version: {}", run.stdout);
    assert_eq!(diff(&[&users[..], &["--fail-on", "nothing"]].concat()).code, 0);
    // Of a hundred thousand users, twelve are too few to be sure.
    let many = ["--users-before", "100000", "--users-after", "100000"];
    assert_eq!(diff(&many).code, 3, "twelve against none are sure, however many users there are");
    let back =
        loopbox(&["diff", "5.3", "5.2", "--in", folder, "--users-before", "1000", "--users-after", "1000"]);
    assert_eq!(back.code, 0, "what is gone does not fail: {}", back.stdout);
    assert!(back.stdout.contains("\ngone  com.example.shop.Sync.run"), "{}", back.stdout);
    let missing = diff(&["--users-before", "9"]);
    assert_eq!(missing.code, 64, "{}", missing.stderr);
    assert_eq!(diff(&["--users-before", "0", "--users-after", "9"]).code, 64);
    let unknown = loopbox(&["diff", "5.2", "6.0", "--in", folder]);
    assert_eq!(unknown.code, 1);
    assert!(
        unknown.stderr.contains("no report is of version 6.0; there are reports of 5.2 (502), 5.3 (503)"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn folders_are_compared_also_an_empty_one() {
    let files = Files::new();
    let folder = fleet(&files);
    let empty = files.path("empty");
    fs::create_dir(empty).unwrap();
    let run = loopbox(&["diff", folder, empty, "--users-before", "1000", "--users-after", "1000"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("gone  com.example.shop.Sync.run"), "{}", run.stdout);
    let run = loopbox(&[
        "diff",
        empty,
        folder,
        "--fail-on",
        "new",
        "--users-before",
        "1000",
        "--users-after",
        "1000",
    ]);
    assert_eq!(run.code, 3);
    files.bytes("fleet/broken.lbx", b"no report");
    let run = loopbox(&["diff", empty, folder, "--fail-on", "nothing"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    let run = loopbox(&["diff", empty, files.path("nowhere")]);
    assert_eq!(run.code, 1, "{}", run.stdout);
}

#[test]
fn json_is_of_the_published_schema_and_junit_is_read_by_others() {
    let files = Files::new();
    let folder = fleet(&files);
    let diff = ["diff", "5.2", "5.3", "--in", folder, "--users-before", "1000", "--users-after", "1000"];
    let json = files.path("diff.json");
    assert_eq!(loopbox(&[&diff[..], &["--format", "json", "-o", json]].concat()).code, 3);
    let schema = std::env::current_dir().unwrap().join("../../docs/schema/diff-1.schema.json");
    assert_eq!(python("schema_check.py", &[schema.to_str().unwrap(), json]).trim(), "1 valid");
    let of_nothing = files.path("nothing.json");
    assert_eq!(loopbox(&["diff", folder, folder, "--format", "json", "-o", of_nothing]).code, 0);
    assert_eq!(python("schema_check.py", &[schema.to_str().unwrap(), of_nothing]).trim(), "1 valid");

    let xml = files.path("hangs.xml");
    assert_eq!(loopbox(&[&diff[..], &["--format", "junit", "-o", xml]].concat()).code, 3);
    let read: Value = serde_json::from_str(&python("junit_read.py", &[xml])).unwrap();
    assert_eq!((&read["tests"], &read["failures"]), (&2.into(), &1.into()), "{read}");
    let failed: Vec<&String> = read["results"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, how)| how[0] == "Failure")
        .map(|(name, _)| name)
        .collect();
    assert!(failed.len() == 1 && failed[0].starts_with("com.example.shop.Sync.run ["), "{read}");

    let markdown = loopbox(&[&diff[..], &["--format", "markdown"]].concat());
    assert!(markdown.stdout.contains("| ❌ new | com.example.shop.Sync.run |"), "{}", markdown.stdout);
}

#[test]
fn sessions_are_what_rates_refer_to_when_they_are_given() {
    let files = Files::new();
    let folder = fleet(&files);
    let diff = |more: &[&str]| loopbox(&[&["diff", "5.2", "5.3", "--in", folder], more].concat());
    let sessions = ["--sessions-before", "8000", "--sessions-after", "90000"];
    let run = diff(&[&sessions[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&json["unit"], &json["after"]["of"]), (&"sessions".into(), &90_000.into()));
    let total = json["groups"].as_array().unwrap().iter().find(|group| group["change"] == "better").unwrap();
    assert_eq!((&total["before"]["per_1000"], &total["after"]["per_1000"]), (&1.0.into(), &0.1.into()));
    let text = diff(&sessions).stdout;
    assert!(
        text.starts_with("5.2 (8 reports, 8000 sessions) → 5.3 (21 reports, 90000 sessions)\n"),
        "{text}"
    );
    assert_eq!(diff(&["--sessions-before", "9"]).code, 64, "of one side only");
    assert_eq!(diff(&[&sessions[..], &["--users-before", "9", "--users-after", "9"]].concat()).code, 64);
}

#[test]
fn the_documented_workflow_fails_when_a_problem_is_surely_worse() {
    let files = Files::new();
    fs::rename(fleet(&files), files.path("reports")).unwrap();
    let workflow = std::path::absolute("../../docs/examples/hangs.yml").unwrap();
    let step = python("workflow_step.py", &[workflow.to_str().unwrap(), "compare", "Compare"]);
    let (step, summary) = (files.bytes("step.sh", step.as_bytes()), files.path("summary.md"));
    let xml = files.dir().join("hangs.xml");
    let compare = |before: &str, after: &str| {
        let _ = fs::remove_file(&xml);
        let mut bash = Command::new("bash");
        finds_loopbox(bash.args(["--noprofile", "--norc", "-eo", "pipefail", step]).current_dir(files.dir()))
            .envs([("BEFORE", before), ("AFTER", after), ("GITHUB_STEP_SUMMARY", summary)])
            .envs([("SESSIONS_BEFORE", "1000"), ("SESSIONS_AFTER", "1000")]);
        bash.output().unwrap().status.code().unwrap()
    };
    assert_eq!(compare("5.2", "5.3"), 3);
    assert!(fs::read_to_string(summary).unwrap().contains("| ❌ new | com.example.shop.Sync.run |"));
    let read: Value = serde_json::from_str(&python("junit_read.py", &[xml.to_str().unwrap()])).unwrap();
    assert_eq!(read["tests"], 2, "{read}");
    assert_eq!(compare("5.3", "5.2"), 0, "what is gone does not fail");
    files.bytes("reports/broken.lbx", b"no report");
    assert_eq!(compare("5.3", "5.2"), 0, "a damaged file does not");
    assert_eq!(compare("5.3", "6.0"), 1, "a version without reports does");
}
