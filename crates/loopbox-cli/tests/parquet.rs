//! `loopbox export --format parquet`, read by DuckDB with the queries of the documentation.

mod support;

use loopbox_format::report::encode;
use serde_json::{Value, json};
use support::{Files, loopbox, shop, tools};

/// Forty reports: 5.9.0 has one problem, 5.10.0 two; Tiny One devices are always starved and slow in the new one.
fn corpus() -> Files {
    let files = Files::new();
    for i in 0..40_u32 {
        let newest = i % 2 == 1;
        let load = newest && i % 4 == 3;
        let mut report =
            shop().figure("mem.available_bytes", &format!("{}", 1_000_000 * (i + 1))).build().report;
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
        files.bytes(&format!("r{i}.lbx"), &encode(&report).unwrap());
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

    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/parquet.md");
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
