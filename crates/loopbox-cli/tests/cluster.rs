//! `loopbox cluster` as a user runs it.

mod support;

use loopbox_report::test_frames::SessionBuilder;
use serde_json::Value;
use support::{Files, loopbox, recorded, shop};

/// Seven reports of two problems in a folder of folders, and the folder.
fn corpus() -> (Files, String) {
    let files = Files::new();
    std::fs::create_dir(files.dir().join("deep")).unwrap();
    for i in 0..7_u32 {
        let mut report = shop().build().report;
        report.meta.process.app_version = format!("5.2.{}", i % 2);
        report.meta.annotations = vec![("user".into(), format!("user {}", i % 3))];
        if i >= 5 {
            report
                .symbols
                .methods
                .iter_mut()
                .filter(|m| m.name == "total")
                .for_each(|m| m.name = "load".into());
        }
        let name = if i % 2 == 0 { format!("r{i}.lbx") } else { format!("deep/r{i}.lbx") };
        files.bytes(&name, &recorded(&report));
    }
    files.bytes("notes.txt", b"not a report, and not read");
    let folder = files.dir().to_str().unwrap().to_string();
    (files, folder)
}

#[test]
fn cluster_ranks_groups_with_their_counts() {
    let (files, folder) = corpus();
    for jobs in ["1", "2", "7"] {
        let run = loopbox(&["cluster", &folder, "--json", "--jobs", jobs]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["schema"], "loopbox.cluster/1");
        assert_eq!((&json["reports"], &json["skipped"]), (&7.into(), &0.into()));
        let groups = json["groups"].as_array().unwrap();
        let got: Vec<_> = groups.iter().map(|g| (&g["reports"], g["frames"][1].as_str().unwrap())).collect();
        assert_eq!(
            got,
            [(&5.into(), "com.example.shop.Cart.total"), (&2.into(), "com.example.shop.Cart.load")]
        );
        assert_eq!((&groups[0]["users"]["count"], &groups[0]["versions"]["count"]), (&3.into(), &2.into()));
        assert_eq!(groups[0]["representative"]["path"], format!("{folder}/deep/r1.lbx"));
    }
    let run = loopbox(&["cluster", &folder]);
    assert!(run.stdout.starts_with("7 reports of 3 users in 2 groups\n"), "{}", run.stdout);
    assert!(!run.stdout.contains('\u{1b}'));
    let page = files.path("page.html");
    assert_eq!(loopbox(&["cluster", &folder, "--html", "-o", page]).code, 0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.starts_with("<!doctype html>")
            && page.replace("<wbr>", "").contains("com.example.shop.Cart.load"),
        "{page}"
    );
    assert!(!page.contains("http"), "refers to no other file");
}

const BASE: &str = r#"{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":42,"lost":0,"base":{"app":"5.3 (503)","device":"Maker Model","api":29,"user":"u7"}}"#;

/// A line of the performance monitor.
fn stall(wall_ms: u32, method: &str) -> String {
    let frames = [
        method,
        "com.example.shop.Checkout$2.run(Checkout.java:40)",
        "android.os.Handler.dispatchMessage(Handler.java:99)",
    ];
    format!(
        r#"{{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":42,"level":1,"wall_ms":{wall_ms}.0,"message":"android.os.Handler com.example.shop.Checkout$2: 0","stack_samples":9,"stacks":[{{"n":9,"frames":["{}"]}}]}}"#,
        frames.join("\",\"")
    )
}

#[test]
fn cluster_takes_the_stalls_of_a_monitor_with_reports() {
    let (files, folder) = corpus();
    let total = stall(731, "com.example.shop.Cart.total(Cart.java:91)");
    let other = stall(2_000, "com.example.shop.Prices.parse(Prices.java:7)");
    let day =
        files.bytes("uiperf-2026-11-21.jsonl", [BASE, &total, &total, &other, ""].join("\n").as_bytes());
    let run = loopbox(&["cluster", &folder, "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&json["ranked_by"], &json["reports"], &json["stalls"]),
        (&"reports".into(), &7.into(), &3.into())
    );
    let group = &json["groups"][0];
    // Another line, another anonymous class: the same path.
    assert_eq!(
        (&group["reports"], &group["stalls"], &group["stall_ms"]),
        (&5.into(), &2.into(), &1_462.0.into())
    );
    assert_eq!(group["users"]["count"], 4);
    assert!(group["top_versions"].to_string().contains("5.3 (503)"), "{group}");

    // Alone they are ranked by their time.
    let run = loopbox(&["cluster", day]);
    let expected = "3 stalls, 3.46 s in all of 1 user in 2 groups\n\n  1. 1 stall, 2.00 s in all (57.8 %)";
    assert!(run.code == 0 && run.stdout.starts_with(expected), "{}", run.stdout);
    assert!(run.stdout.contains("com.example.shop.Checkout$# took 2.00 s"), "{}", run.stdout);

    // Obfuscated names are put back.
    let mapping = "com.example.shop.Prices -> a.b:\n    7:7:int parse():7:7 -> a\n";
    let mapping = files.bytes("mapping.txt", mapping.as_bytes());
    let obfuscated = other.replace("com.example.shop.Prices.parse(Prices.java:7)", "a.b.a(SourceFile:7)");
    let packed = files.bytes("obfuscated.jsonl", obfuscated.as_bytes());
    let run = loopbox(&["cluster", packed, "--mapping", mapping]);
    assert!(run.code == 0 && run.stdout.contains("com.example.shop.Prices.parse"), "{}", run.stdout);

    // What is cut off, or is no file of the monitor, is reported.
    files.bytes("cut.jsonl", format!("{other}\n{}", &other[..90]).as_bytes());
    files.bytes("other.jsonl", b"{\"a\":1}\n");
    let run = loopbox(&["cluster", &folder]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("other.jsonl: not a file of the performance monitor"), "{}", run.stderr);
    assert!(run.stderr.contains("lines are cut off or damaged"), "{}", run.stderr);
}

#[test]
fn cluster_groups_jank_frames_by_their_hitches() {
    let files = Files::new();
    let session = SessionBuilder::new().scroll_with("Feed", &[17, 117, 17, 117, 17], Some(46)).build();
    for nth in 0..3 {
        let report = shop().with(|report| report.frames = session.clone()).build().report;
        files.bytes(&format!("r{nth}.lbx"), &recorded(&report));
    }
    let plain = files.report("plain.lbx");
    let folder = files.dir().to_str().unwrap();
    let run = loopbox(&["cluster", folder, "--jank"]);
    let expected = "6 jank frames in 3 reports, 600 ms of hitches of 1 user in 1 group\n";
    assert!(run.code == 0 && run.stdout.starts_with(expected), "{}", run.stdout);
    assert!(run.stdout.contains("com.example.shop.Cart.total  own_message"), "{}", run.stdout);
    let page = files.path("page.html");
    assert_eq!(loopbox(&["cluster", folder, "--jank", "--html", "-o", page]).code, 0);
    let run = loopbox(&["cluster", plain, "--jank"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("no report has a jank frame"), "{}", run.stderr);
}

#[test]
fn cluster_names_and_skips_damaged_files() {
    let (files, folder) = corpus();
    files.damaged("damaged.lbx");
    files.cut("cut.lbx");
    files.bytes("empty.lbx", b"");
    files.bytes("zip.lbx", b"PK\x03\x04 and so on");
    let missing = files.path("missing.lbx");
    let run = loopbox(&["cluster", &folder, missing]);
    assert_eq!(run.code, 2);
    assert!(run.stdout.starts_with("7 reports of 3 users in 2 groups, 5 files skipped\n"), "{}", run.stdout);
    assert_eq!(run.stderr.lines().count(), 5, "{}", run.stderr);
    for (file, why) in [
        ("damaged.lbx", "PEND is damaged"),
        ("cut.lbx", "offset "),
        ("empty.lbx", "the file is empty"),
        ("zip.lbx", "a zip archive that cannot be unpacked"),
        ("missing.lbx", "No such file"),
    ] {
        let line = run.stderr.lines().find(|line| line.contains(&format!("/{file}: "))).unwrap_or_default();
        assert!(line.starts_with("loopbox: skipped: ") && line.contains(why), "{file}: {}", run.stderr);
    }
}

#[test]
fn cluster_without_a_usable_report_is_an_error() {
    let files = Files::new();
    let folder = files.dir().to_str().unwrap();
    let run = loopbox(&["cluster", folder]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("no report found"), "{}", run.stderr);
    let run = loopbox(&["cluster", files.bytes("empty.lbx", b"")]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.ends_with("loopbox: none of 1 files could be used\n"), "{}", run.stderr);
    assert_eq!(loopbox(&["cluster"]).code, 64);
    assert_eq!(loopbox(&["cluster", folder, "--jobs", "0"]).code, 64);
    assert_eq!(loopbox(&["cluster", folder, "--json", "--html"]).code, 64);
}

#[test]
fn cluster_with_a_mapping_joins_builds() {
    let (files, folder) = corpus();
    let mut report = shop().build().report;
    for method in &mut report.symbols.methods {
        match method.class.as_str() {
            "com.example.shop.Cart" => (method.class, method.name) = ("a.b".into(), "a".into()),
            "com.example.shop.Checkout$1" => method.class = "a.c".into(),
            _ => {}
        }
    }
    let loopbox_format::model::MainState::Running(running) = &mut report.main else { panic!() };
    running.message.as_mut().unwrap().callback = "a.c".into();
    report.history[2].details[0].message = None;
    files.bytes("obfuscated.lbx", &recorded(&report));
    let groups = |args: &[&str]| {
        let run = loopbox(&[&["cluster", &folder, "--json"], args].concat());
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        let counts: Vec<u64> =
            json["groups"].as_array().unwrap().iter().map(|g| g["reports"].as_u64().unwrap()).collect();
        (run.code, counts)
    };
    assert_eq!(groups(&[]), (0, vec![5, 2, 1]));
    let mapping = "com.example.shop.Cart -> a.b:\n    88:88:int total():88:88 -> a\ncom.example.shop.Checkout$1 -> a.c:\n    31:31:void run():31:31 -> run\n";
    let mapping = files.bytes("mapping.txt", mapping.as_bytes());
    // The other seven are not obfuscated, and the mapping is not theirs.
    assert_eq!(groups(&["--mapping", mapping]), (2, vec![6, 2]));
}

#[test]
fn the_apps_packages_decide_whose_method_a_problem_is() {
    let files = Files::new();
    let report = shop().looper_tree(
        46,
        &[("com.example.shop.Checkout$1.run:31 com.vendor.sdk.Client.call:7 java.lang.Thread.sleep!", 515)],
    );
    let report = files.bytes("r.lbx", &recorded(&report.build().report));
    let frames = |folder: &std::path::Path, args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_loopbox"));
        let out =
            command.current_dir(folder).args(["cluster", "--json", report]).args(args).output().unwrap();
        let json: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        (json["groups"][0]["frames"].to_string(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (app, vendor) = ("com.example.shop.Checkout$#.run", "com.vendor.sdk.Client.call");
    let deep = files.dir().join("project/app");
    std::fs::create_dir_all(&deep).unwrap();
    // The application id is com.example.shop: what has another name is a library's.
    assert_eq!(frames(&deep, &[]).0, format!("[\"{app}\"]"));
    let both = ["--in-app", "com.example", "--in-app", "com.vendor"];
    assert_eq!(frames(&deep, &both).0, format!("[\"{app}\",\"{vendor}\"]"));
    // The project says it once, and the command line can say otherwise.
    let config =
        files.bytes("project/loopbox.toml", b"in-app = [\"com.vendor.sdk\", \"com.example.shop\"]\n");
    assert_eq!(frames(&deep, &[]).0, format!("[\"{app}\",\"{vendor}\"]"));
    assert_eq!(frames(&deep, &["--in-app", "com.vendor"]).0, format!("[\"{vendor}\"]"));
    std::fs::write(config, "in-app = 3\n").unwrap();
    let error = frames(&deep, &[]).1;
    assert!(error.contains("loopbox.toml") && error.contains("line 1"), "{error}");
    std::fs::write(config, "inapp = []\n").unwrap();
    assert!(frames(&deep, &[]).1.contains("unknown field"));
}
