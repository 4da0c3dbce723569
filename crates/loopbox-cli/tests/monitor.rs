//! `loopbox monitor` as a user runs it.

mod support;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write;
use support::{Files, loopbox};

const BASE: &str = r#"{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":42,"lost":0,"base":{"user":"u7"}}"#;
const STALL: &str = r#"{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":42,"level":2,"wall_ms":731.2,"cpu_ms":206.0,"message":"android.os.Handler a.Job: 0","scene":"信息流","stack_samples":66,"stacks":[{"n":66,"frames":["java.lang.Thread.sleep(Native Method)","a.Job.run(Job.java:7)"]}],"samples":[{"at":-480,"proc_cpu":12.0},{"at":200,"proc_cpu":98.0},{"at":732,"proc_cpu":20.0}]}"#;

/// A folder with an uncompressed day, a compressed one, and another file.
fn folder(files: &Files) -> &'static str {
    let folder = files.path("uiperf");
    std::fs::create_dir(folder).unwrap();
    files.bytes("uiperf/uiperf-2026-11-21.jsonl", format!("{BASE}\n{STALL}\n").as_bytes());
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(format!("{BASE}\n{}\n", STALL.replace("11-21", "11-22")).as_bytes()).unwrap();
    files.bytes("uiperf/uiperf-2026-11-22.1.jsonl.gz", &packed.finish().unwrap());
    files.bytes("uiperf/notes.txt", b"not of the monitor");
    folder
}

#[test]
fn stalls_of_a_folder_as_text_json_page_and_log() {
    let files = Files::new();
    let folder = folder(&files);
    let run = loopbox(&["monitor", folder]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for part in [
        "2 stalls, 1.46 s in all, longest 731 ms; 2 processes, 1 user",
        "2026-11-22",
        "信息流",
        "a.Job.run, in java.lang.Thread.sleep",
        "during  process 98.0 %",
    ] {
        assert!(run.stdout.contains(part), "{part} is missing in {}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'));
    let json: Value = serde_json::from_str(&loopbox(&["monitor", folder, "--json"]).stdout).unwrap();
    assert_eq!((&json["schema"], &json["stalls"]), (&"loopbox.monitor/1".into(), &2.into()));
    assert_eq!(json["days"].as_array().unwrap().len(), 2);
    let page = files.path("page.html");
    assert_eq!(loopbox(&["monitor", folder, "--html", "-o", page]).code, 0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.starts_with("<!doctype html>") && page.contains("信息流") && !page.contains("http"),
        "{page}"
    );
    let log = loopbox(&["monitor", folder, "--uiperf"]).stdout;
    assert_eq!(log.matches("level 2, 731.2 ms, 206.0 ms of a processor\r\n").count(), 2, "{log}");
    let text = files.path("text.txt");
    assert_eq!(loopbox(&["monitor", folder, "-o", text]).code, 0);
    assert_eq!(std::fs::read_to_string(text).unwrap(), run.stdout);
}

#[test]
fn a_folder_that_cannot_be_read_costs_nothing_else() {
    let files = Files::new();
    let uiperf = folder(&files);
    // As a volume's own disk may have it.
    std::os::unix::fs::symlink(files.path("uiperf/uiperf-2026-11-21.jsonl"), files.path("uiperf/link.jsonl"))
        .unwrap();
    let readable = loopbox(&["monitor", uiperf]);
    assert_eq!((readable.code, readable.stderr.as_str()), (0, ""));
    assert!(readable.stdout.contains("3 stalls"), "{}", readable.stdout);
    files.unreadable_folder();
    let all = files.dir().to_str().unwrap();
    let table = files.path("stalls.parquet");
    for command in [
        &["monitor", all][..],
        &["cluster", all],
        &["export", all, "--format", "parquet-stalls", "-o", table],
    ] {
        let run = loopbox(command);
        assert_eq!(run.code, 2, "{command:?}: {}", run.stderr);
        assert_eq!(run.stderr.matches("File name too long").count(), 1, "{command:?}: {}", run.stderr);
        if command[0] == "monitor" {
            assert_eq!(run.stdout, readable.stdout);
        }
    }
    let json: Value = serde_json::from_str(&loopbox(&["cluster", all, "--json"]).stdout).unwrap();
    assert_eq!((&json["stalls"], &json["skipped"]), (&3.into(), &1.into()));
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_is_summed_up() {
    let files = Files::new();
    let cut = files.bytes("cut.jsonl", format!("{BASE}\n{STALL}\n{}", &STALL[..90]).as_bytes());
    let run = loopbox(&["monitor", cut]);
    assert_eq!(run.code, 2);
    assert!(
        run.stdout.contains("1 stall, 731 ms in all") && run.stdout.contains("1 line cut off"),
        "{}",
        run.stdout
    );
    let missing = files.path("missing.jsonl");
    let run = loopbox(&["monitor", cut, missing]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("missing.jsonl"), "{}", run.stderr);
    assert_eq!(loopbox(&["monitor", missing]).code, 1);
    let packed = files.bytes("bad.jsonl.gz", &[0x1F, 0x8B, 8, 0, 0]);
    let run = loopbox(&["monitor", packed]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("cannot be unpacked"), "{}", run.stderr);
    let empty = files.path("empty");
    std::fs::create_dir(empty).unwrap();
    let run = loopbox(&["monitor", empty]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains(".jsonl.gz"), "{}", run.stderr);
    assert_eq!(loopbox(&["monitor", cut, "--json", "--html"]).code, 64);
}
