//! `loopbox export --format parquet`, read by DuckDB with the queries of the documentation.

mod support;

use loopbox_format::report::encode;
use loopbox_report::test_frames::{ARTICLE_TRACE, SessionBuilder};
use serde_json::{Value, json};
use support::{Files, loopbox, recorded, shop, tools};

/// Forty reports: those of 5.9.0 have one problem, those of 5.10.0 two. The second problem occurs only on the
/// device `Tiny One`, whose main thread is always starved.
fn corpus() -> Files {
    let files = Files::new();
    for i in 0..40_u32 {
        let newest = i % 2 == 1;
        let load = newest && i % 4 == 3;
        let mut report =
            shop().statistic("mem.available_bytes", &format!("{}", 1_000_000 * (i + 1))).build().report;
        let process = &mut report.meta.process;
        process.app_version = if newest { "5.10.0 (51000)" } else { "5.9.0 (50900)" }.into();
        process.device = if load { "Tiny One" } else { "Google Pixel 8" }.into();
        process.api_level = if load { 28 } else { 34 };
        report.meta.annotations = vec![("user".into(), format!("user {}", i % 10))];
        if load {
            report
                .symbols
                .methods
                .iter_mut()
                .filter(|m| m.name == "total")
                .for_each(|m| m.name = "load".into());
            report.history[1].checktime_late_ns = Some(900_000_000);
        }
        files.bytes(&format!("r{i}.lbx"), &recorded(&report));
    }
    files
}

#[test]
fn documented_queries_have_the_documented_meaning() {
    let files = corpus();
    let table = files.path("reports.parquet");
    let folder = files.dir().to_str().unwrap();
    let run = loopbox(&["export", folder, "--format", "parquet", "-o", table, "--jobs", "2"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));

    let page = std::path::absolute("../../docs/parquet.md").unwrap();
    let page = page.to_str().unwrap();
    let out: Value = serde_json::from_str(&tools::python("queries.py", &[page, table])).unwrap();
    let types = &out["types"];
    assert_eq!(
        (&types["dumped_at"], &types["age_ms"], &types["pending"], &types["frames"]),
        (&json!("TIMESTAMP WITH TIME ZONE"), &json!("DOUBLE"), &json!("BIGINT"), &json!("VARCHAR"))
    );
    let answers = out["answers"].as_array().unwrap();
    let rows = |query: usize, columns: &[&str]| -> Vec<Vec<Value>> {
        let rows = answers[query].as_array().unwrap().iter();
        rows.map(|row| columns.iter().map(|column| row[column].clone()).collect()).collect()
    };
    assert_eq!(answers.len(), 3);
    let newest = rows(0, &["frames", "reports", "users", "new"]);
    let frames = |method: &str| format!("com.example.shop.Checkout$#.run > com.example.shop.Cart.{method}");
    assert_eq!(newest.len(), 2);
    assert!(newest.contains(&vec![json!(frames("load")), json!(10), json!(5), json!(true)]), "{newest:?}");
    assert!(newest.contains(&vec![json!(frames("total")), json!(10), json!(5), json!(false)]), "{newest:?}");
    assert_eq!(
        rows(1, &["api_level", "reports", "cpu_percent", "late_p95_ms", "overdue_p95_ms"]),
        [
            [json!(34), json!(30), json!(97.0), json!(0.0), json!(5_021.0)],
            [json!(28), json!(10), json!(97.0), json!(900.0), json!(5_021.0)]
        ]
    );
    let devices = rows(2, &["device", "reports", "slow", "available_mb"]);
    assert_eq!(devices.len(), 2);
    assert!(devices.contains(&vec![json!("Tiny One"), json!(10), json!(10), json!(22.0)]), "{devices:?}");
}

/// What DuckDB prints of a table.
fn ask(files: &Files, table: &str, columns: &str) -> Value {
    let query = format!("```sql\nSELECT {columns} FROM 'reports.parquet'\n```\n");
    let page = files.bytes("page.md", query.as_bytes());
    let out: Value = serde_json::from_str(&tools::python("queries.py", &[page, table])).unwrap();
    out["answers"][0].clone()
}

#[test]
fn screens_and_stalls_are_separate_tables() {
    let files = Files::new();
    let session = SessionBuilder::new().scroll("Feed", &ARTICLE_TRACE).scroll("Cart", &[17; 20]).build();
    let report = shop().with(|report| report.frames = session).build().report;
    let (lbx, screens) =
        (files.bytes("frames.lbx", &encode(&report).unwrap()), files.path("screens.parquet"));
    // An earlier report of the process, whose frames the other one has as well.
    let earlier = shop().with(|report| {
        report.meta.dumped_at.uptime_ns.0 -= 1_000_000_000;
        report.frames = SessionBuilder::new().scroll("Feed", &ARTICLE_TRACE).build();
    });
    let earlier = files.bytes("earlier.lbx", &encode(&earlier.build().report).unwrap());
    let plain = files.report("plain.lbx");
    let run = loopbox(&["export", lbx, earlier, plain, "-f", "parquet-screens", "-o", screens]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.starts_with("loopbox: note: the frames of 1 report are left out"), "{}", run.stderr);
    let rows = ask(
        &files,
        screens,
        "screen, kind, frames, dropped, frozen, jank_gestures, round(hitch_ms) AS hitch_ms",
    );
    let feed = json!({"screen": "Feed", "kind": "scene", "frames": 83, "dropped": 11, "frozen": 0, "jank_gestures": 1, "hitch_ms": 183.0});
    let cart = json!({"screen": "Cart", "kind": "scene", "frames": 20, "dropped": 0, "frozen": 0, "jank_gestures": 0, "hitch_ms": 0.0});
    let all = json!({"screen": "all screens", "kind": "process", "frames": 103, "dropped": 11, "frozen": 0, "jank_gestures": 1, "hitch_ms": 183.0});
    assert_eq!(rows, json!([all, feed, cart]));

    let lines = [
        r#"{"v":1,"t":"2026-11-21T23:59:59.588+08:00","pid":42,"lost":0,"base":{"app":"5.3 (503)","api":29,"user":"u7"}}"#,
        r#"{"v":1,"t":"2026-11-21T23:59:59.588+08:00","pid":42,"level":2,"wall_ms":731.2,"message":"a.Handler: 3","scene":"Feed","stack_samples":9,"stacks":[{"n":9,"frames":["com.example.shop.Cart.total(Cart.java:91)"]}],"samples":[{"at":-500,"proc_cpu":10.0},{"at":200,"proc_cpu":80.0},{"at":700,"proc_cpu":90.0},{"at":740,"proc_cpu":20.0,"free_mb":300,"x":{"queue":7}}]}"#,
    ];
    files.bytes("uiperf-2026-11-21.jsonl", lines.join("\n").as_bytes());
    let (folder, stalls) = (files.dir().to_str().unwrap(), files.path("stalls.parquet"));
    let run = loopbox(&["export", folder, "-f", "parquet-stalls", "-o", stalls]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let columns = "CAST(epoch_ms(began_at) AS BIGINT) AS ms, local_day, app_version_code, \"user\", level, wall_ms, cpu_ms, frames, \
                   proc_cpu_before, proc_cpu_during, proc_cpu_after, free_mb, own_samples ->> 'queue' AS own";
    assert_eq!(
        ask(&files, stalls, columns),
        json!([{"ms": 1_795_276_799_588_u64, "local_day": "2026-11-21", "app_version_code": 503, "user": "u7", "level": 2,
            "wall_ms": 731.2, "cpu_ms": null, "frames": "com.example.shop.Cart.total", "proc_cpu_before": 10.0,
            "proc_cpu_during": 85.0, "proc_cpu_after": 20.0, "free_mb": 300, "own": "7"}])
    );
    let run = loopbox(&["export", lbx, "-f", "parquet-stalls", "-o", stalls]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("not a file of the performance monitor"), "{}", run.stderr);
}

#[test]
fn parquet_export_skips_damaged_files_and_leaves_no_partial_file() {
    let files = Files::new();
    let (good, damaged) = (files.report("good.lbx"), files.damaged("damaged.lbx"));
    let table = files.path("reports.parquet");
    let run = loopbox(&["export", good, damaged, "--format", "parquet", "-o", table]);
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{}", run.stderr);
    assert!(std::fs::read(table).unwrap().starts_with(b"PAR1"));

    let other = files.path("other.parquet");
    let run = loopbox(&["export", damaged, "--format", "parquet", "-o", other]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(
        std::fs::read_dir(files.dir()).unwrap().count(),
        3,
        "neither the file nor a part of it is left"
    );

    let run = loopbox(&["export", good, "--format", "parquet", "-o", "/nonexistent/r.parquet"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("/nonexistent/r.parquet: No such file"), "{}", run.stderr);
    assert_eq!(loopbox(&["export", good, "--format", "parquet"]).code, 64);
}
