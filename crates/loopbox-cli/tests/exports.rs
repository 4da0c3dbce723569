//! `loopbox export` and `loopbox flame` as a user runs them, checked with the schemas of the tools that they
//! write for.

mod support;

use loopbox_format::model::Uptime;
use loopbox_format::report::encode;
use loopbox_report::test_frames::SessionBuilder;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use support::{Files, loopbox, shop, tools};
use tempfile::TempDir;

fn export(format: &str) -> (Files, &'static str) {
    let files = Files::new();
    let out = files.path("out");
    let run = loopbox(&["export", files.report("shop.lbx"), "--format", format, "-o", out]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    (files, out)
}

#[test]
fn perfetto_export_is_read_by_perfettos_own_schema() {
    let (_files, out) = export("perfetto");
    let trace: Value = serde_json::from_str(&tools::python("perfetto_dump.py", &[out])).unwrap();
    // CLOCK_REALTIME and CLOCK_MONOTONIC at the dump.
    assert_eq!(trace["clocks"]["3"], 100_000_000_000_u64);
    assert_eq!(trace["clocks"]["1"], 1_790_000_000_000_000_000_u64);
    let track = |name: &str| &trace["tracks"][name];
    assert_eq!(trace["count"], 7);
    assert_eq!(
        (&track("main")["tid"], &track("main")["parent"]),
        (&4_321.into(), &"com.example.shop".into())
    );

    let slices = |name: &str| -> Vec<(String, u64, u64)> {
        let list = track(name)["slices"].as_array().unwrap().iter();
        let ms = |v: &Value| v.as_u64().unwrap() / 1_000_000;
        list.map(|s| (s["name"].as_str().unwrap().into(), ms(&s["at"]), ms(&s["dur"]))).collect()
    };
    let owned = |list: &[(&str, u64, u64)]| -> Vec<(String, u64, u64)> {
        list.iter().map(|(name, at, dur)| ((*name).into(), *at, *dur)).collect()
    };
    assert_eq!(
        slices("main"),
        owned(&[
            ("com.example.shop.FeedHandler what=1", 93_888, 712),
            ("com.example.shop.Checkout$1 on android.os.Handler", 94_800, 5_200)
        ])
    );
    assert_eq!(
        slices("History"),
        owned(&[
            ("idle", 90_938, 2_400),
            ("41 messages", 93_338, 550),
            ("message #42", 93_888, 712),
            ("3 messages", 94_600, 200)
        ])
    );
    assert_eq!(
        slices("Sampled stacks"),
        owned(&[
            ("#46 com.example.shop.Checkout$1 on android.os.Handler (running at the dump)", 94_850, 5_150),
            ("android.os.Looper.loop", 94_850, 5_150),
            ("android.os.Handler.dispatchMessage", 94_850, 5_150),
            ("com.example.shop.Checkout$1.run", 94_850, 5_150),
            ("com.example.shop.Cart.total", 94_850, 5_150),
            ("java.util.ArrayList.get", 94_850, 2_000),
        ])
    );
    // Stacks as samples: each with its time, bottom first.
    let samples = trace["samples"].as_array().unwrap();
    let (first, last) = (&samples[0], samples.last().unwrap());
    assert_eq!((&first[0], &first[1]), (&94_850_000_000_u64.into(), &4_321.into()));
    let whole_ns: u64 = samples.iter().map(|sample| sample[2].as_u64().unwrap()).sum();
    assert_eq!(whole_ns, 5_150_000_000);
    let stack = |sample: &Value| -> Vec<String> { serde_json::from_value(sample[3].clone()).unwrap() };
    let below =
        ["android.os.Looper.loop", "android.os.Handler.dispatchMessage", "com.example.shop.Checkout$1.run"];
    assert_eq!(
        stack(first),
        [&below[..], &["com.example.shop.Cart.total", "java.util.ArrayList.get"]].concat()
    );
    assert_eq!(stack(last), [&below[..], &["com.example.shop.Cart.total"]].concat());
    assert_eq!(trace["primary"], serde_json::json!([3]));
    assert_eq!(slices("Pending"), owned(&[("com.example.shop.FeedHandler what=3", 94_979, 5_021)]));
    let cpu = track("main thread cpu");
    assert_eq!((&cpu["parent"], &cpu["unit"]), (&"main".into(), &"%".into()));
    assert_eq!(cpu["values"][1][0], 93_888_000_000_u64);
    assert!((cpu["values"][1][1].as_f64().unwrap() - 100.0 * 650.0 / 712.0).abs() < 1e-9);
}

/// The merge of a report into a system trace changes no byte of that trace. The report's data is the same as
/// in a trace with the report alone. The system trace already has a writer with the number that the merge
/// would take.
#[test]
fn perfetto_export_merges_a_report_with_a_trace_of_the_system() {
    let files = Files::new();
    let (system, packed) = (files.path("profile.perfetto-trace"), files.path("profile.perfetto-trace.gz"));
    tools::python("perfetto_system.py", &[system, packed, "100000000000", "1790000000000000000"]);
    let (alone, both) = (files.path("alone.pb"), files.path("both.pb"));
    let report = files.report("shop.lbx");
    assert_eq!(loopbox(&["export", report, "-f", "perfetto", "-o", alone]).code, 0);
    let alone: Value = serde_json::from_str(&tools::python("perfetto_dump.py", &[alone])).unwrap();
    let bytes = std::fs::read(system).unwrap();
    for with in [system, packed] {
        let run = loopbox(&["export", report, "-f", "perfetto", "--with", with, "-o", both]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(std::fs::read(both).unwrap().starts_with(&bytes));
        let merged: Value =
            serde_json::from_str(&tools::python("perfetto_dump.py", &[both, "1282371441"])).unwrap();
        for what in ["tracks", "samples", "clocks", "count"] {
            assert_eq!(merged[what], alone[what], "{what}");
        }
        // BOOTTIME, the clock of the system's trace.
        assert_eq!(merged["primary"], serde_json::json!([6]));
    }
    // Of another start of the device.
    tools::python("perfetto_system.py", &[system, packed, "100000000000", "1790000100000000000"]);
    let run = loopbox(&["export", report, "-f", "perfetto", "--with", system, "-o", both]);
    assert!(
        run.code == 0 && run.stderr.contains("its clocks are 100 s from those of the report"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_no_trace_is_refused_with_its_offset_and_leaves_the_output_as_it_was() {
    let files = Files::new();
    let (system, packed) = (files.path("profile"), files.path("profile.gz"));
    tools::python("perfetto_system.py", &[system, packed, "1", "1"]);
    let bytes = std::fs::read(system).unwrap();
    let report = files.report("shop.lbx");
    let both = files.bytes("both.pb", b"before");
    let mut cases =
        vec![(vec![], "offset 0: the file is empty"), (b"MZ".to_vec(), "offset 1: this is not the begin")];
    cases.extend((1..bytes.len()).step_by(7).map(|end| (bytes[..end].to_vec(), "offset ")));
    cases
        .push(([&bytes[..], &[0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f]].concat(), "a packet of more than 64 MiB"));
    cases.push(([&bytes[..], &[0x0a, 2, 0x52, 9]].concat(), "a packet whose fields cannot be read"));
    cases.push(([&bytes[..], &[0x0a; 1]].concat(), "a packet is cut"));
    let mut refused = 0;
    for (bytes, what) in &cases {
        let file = files.bytes("damaged", bytes);
        let run = loopbox(&["export", report, "-f", "perfetto", "--with", file, "-o", both]);
        // A cut between two packets is a trace.
        if run.code != 0 {
            refused += 1;
            assert!(run.stderr.contains(what) && run.stderr.contains("damaged"), "{what}: {}", run.stderr);
            assert_eq!(std::fs::read(both).unwrap(), b"before");
        }
        std::fs::write(both, "before").unwrap();
    }
    assert!(refused >= cases.len() - 2, "{refused} of {}", cases.len());
    let run = loopbox(&["export", report, "-f", "chrome", "--with", system, "-o", both]);
    assert!(run.code != 0 && run.stderr.contains("--with is for --format perfetto"), "{}", run.stderr);
}

#[test]
fn perfetto_export_has_display_frames_as_expected_and_as_they_stood() {
    let files = Files::new();
    let session = SessionBuilder::new().scroll("Feed", &[17, 17, 83, 17]).build();
    let report = shop().with(|report| report.frames = session).build().report;
    let (file, out) = (files.bytes("frames.lbx", &encode(&report).unwrap()), files.path("out"));
    assert_eq!(loopbox(&["export", file, "-f", "perfetto", "-o", out]).code, 0);
    let trace: Value = serde_json::from_str(&tools::python("perfetto_dump.py", &[out])).unwrap();
    assert_eq!(trace["count"], 9);
    let slices = |track: &str| -> Vec<(String, u64, u64)> {
        let slices = trace["tracks"][track]["slices"].as_array().unwrap().iter();
        let us = |value: &Value| value.as_u64().unwrap() / 1_000;
        slices.map(|s| (s["name"].as_str().unwrap().into(), us(&s["at"]), us(&s["dur"]))).collect()
    };
    let actual = slices("Actual frames");
    assert_eq!(actual[2], ("83 ms".into(), 90_034_000, 83_000));
    assert_eq!((actual.len(), slices("Expected frames")[2].2), (4, 16_666));
    let facts = &trace["tracks"]["Actual frames"]["slices"][2]["facts"];
    assert_eq!((&facts["dropped"], &facts["screen"]), (&"4".into(), &"Feed".into()));
    assert_eq!(loopbox(&["export", file, "-f", "chrome", "-o", out]).code, 0);
    let chrome = std::fs::read_to_string(out).unwrap();
    assert!(chrome.contains("frames: actual") && chrome.matches(r#""cat":"frame""#).count() == 8, "{chrome}");
}

#[test]
fn perfetto_export_of_a_hostile_report_is_a_valid_trace() {
    let files = Files::new();
    let decoded = shop().with(|r| {
        r.meta.process.pid = u32::MAX;
        r.trees[0].sample_deltas_ns[3] = u64::MAX;
    });
    let mut report = decoded.build().report;
    report.history[1].start_ns = Uptime::MAX;
    report.history[2].wall_ns = u64::MAX;
    let file = files.bytes("hostile.lbx", &encode(&report).unwrap());
    let out = files.path("out");
    assert_eq!(loopbox(&["export", file, "-f", "perfetto", "-o", out]).code, 0);
    tools::python("perfetto_dump.py", &[out]);
}

#[test]
fn speedscope_export_matches_speedscopes_own_schema() {
    let (_files, out) = export("speedscope");
    let schema = tools::npm_file("speedscope", "1.25.0", "dist/release/file-format-schema.json");
    let answer = tools::python("schema_check.py", &[schema.to_str().unwrap(), out]);
    assert!(answer.contains("valid"), "{answer}");
}

/// The Firefox profiler, started as its command line starts it: a process loads a profile and answers
/// questions about it.
struct Profiler {
    program: PathBuf,
    home: TempDir,
}

impl Profiler {
    fn load(profile: &str) -> Self {
        let program = tools::npm_file("@firefox-devtools/profiler-cli", "0.10.0", "dist/profiler-cli.js");
        let profiler = Self { program, home: TempDir::new().unwrap() };
        // It may give up waiting for the process that it has started, which is there all the same.
        let _ = profiler.run(&["load", profile]);
        let mut waited = 0;
        while let Err(why) = profiler.run(&["thread", "select", "t-0"]) {
            waited += 1;
            assert!(waited < 100, "the profile is not loaded: {why}");
        }
        profiler
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut node = Command::new("node");
        let out = node
            .arg(&self.program)
            .args(arguments)
            .env("HOME", self.home.path())
            .output()
            .expect("node runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if out.status.success() { Ok(text(&out.stdout)) } else { Err(text(&out.stderr)) }
    }

    fn ask(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[arguments, &["--json"]].concat()).unwrap()).unwrap()
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        let _ = self.run(&["stop", "--all"]);
    }
}

#[test]
fn firefox_export_is_imported_by_the_profiler_itself() {
    let (_files, out) = export("firefox");
    let profiler = Profiler::load(out);
    let samples = profiler.ask(&["thread", "samples", "--include-idle"]);
    let functions = samples["topFunctionsByTotal"].as_array().unwrap();
    let of = |name: &str| functions.iter().find(|f| f["name"] == name).map(|f| f["totalSamples"].clone());
    // A sample weighs as many intervals as it stands for.
    assert_eq!(of("com.example.shop.Cart.total(Cart.java:88)"), Some(515.into()), "{samples}");
    assert_eq!(of("java.util.ArrayList.get(ArrayList.java:436)"), Some(200.into()), "{samples}");
    let markers = profiler.ask(&["thread", "markers"]);
    let counts: Vec<(&str, u64)> = markers["byType"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["markerName"].as_str().unwrap(), m["count"].as_u64().unwrap()))
        .collect();
    // What was before the first sample is shown, too.
    for expected in [("History", 4), ("Message", 2), ("Pending", 1)] {
        assert!(counts.contains(&expected), "{expected:?} in {counts:?}");
    }
}

#[test]
fn export_writes_text_formats_to_stdout() {
    let files = Files::new();
    let file = files.report("shop.lbx");
    let run = loopbox(&["export", file, "--format", "collapsed"]);
    let looper = "android.os.Looper.loop;android.os.Handler.dispatchMessage";
    let cart = "com.example.shop.Checkout$1.run;com.example.shop.Cart.total";
    assert_eq!(
        run.stdout,
        format!("{looper};{cart} 3150000\n{looper};{cart};java.util.ArrayList.get 2000000\n")
    );
    for format in ["json", "chrome", "firefox", "speedscope"] {
        let run = loopbox(&["export", file, "--format", format]);
        assert!(serde_json::from_str::<Value>(&run.stdout).is_ok_and(|v| v.is_object()), "{format}");
    }
    let show = loopbox(&["show", "--json", file]);
    assert_eq!(loopbox(&["export", file, "--format", "json"]).stdout, show.stdout);
}

#[test]
fn export_tree_text_is_the_text_of_one_tree() {
    let files = Files::new();
    let file = files.report("shop.lbx");
    let run = loopbox(&["export", file, "--format", "tree-text"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let tree = loopbox_format::tree_text::parse(run.stdout.trim_end()).unwrap().0;
    assert_eq!(tree.sample_deltas_ns.len(), 515);
    assert_eq!(tree.nodes.iter().map(|node| node.count).collect::<Vec<_>>(), [515, 515, 515, 515, 200]);
    assert_eq!(loopbox(&["export", file, "--format", "tree-text", "--token", "46"]).stdout, run.stdout);
    let run = loopbox(&["export", file, "--format", "tree-text", "--token", "7"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("no stacks of message #7; there are stacks of 46"), "{}", run.stderr);
    assert_eq!(loopbox(&["export", file, "--format", "chrome", "--token", "46"]).code, 64);
}

#[test]
fn flame_writes_a_self_contained_svg() {
    let files = Files::new();
    let file = files.report("shop.lbx");
    for args in [&["flame", file][..], &["flame", file, "--token", "46"], &["flame", file, "--merged"]] {
        let run = loopbox(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
        assert!(run.stdout.contains("<title>java.util.ArrayList.get (2,000 ms, 38.83%)"), "{args:?}");
        assert!(!run.stdout.contains("xlink:href"), "refers to no other file");
    }
    let run = loopbox(&["flame", file, "--token", "7"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.ends_with("shop.lbx: no stacks of message #7; there are stacks of 46\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn export_of_a_damaged_report_warns() {
    let files = Files::new();
    for file in [files.damaged("damaged.lbx"), files.cut("cut.lbx")] {
        for format in ["json", "perfetto", "chrome", "firefox", "speedscope", "collapsed"] {
            let run = loopbox(&["export", file, "-f", format]);
            assert_eq!(run.code, 2, "{file} {format}");
            assert!(run.stderr.starts_with("loopbox: warning: "), "{}", run.stderr);
        }
    }
}

#[test]
fn export_exit_codes_of_wrong_options_and_unwritable_files() {
    let files = Files::new();
    let file = files.report("shop.lbx");
    assert_eq!(loopbox(&["export", file]).code, 64);
    assert_eq!(loopbox(&["export", file, "--format", "pdf"]).code, 64);
    let run = loopbox(&["export", file, file, "--format", "chrome"]);
    assert_eq!((run.code, run.stderr.lines().count()), (64, 1), "{}", run.stderr);
    let run = loopbox(&["flame", file, "-o", "/nonexistent/f.svg"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("/nonexistent/f.svg: No such file"), "{}", run.stderr);
}
