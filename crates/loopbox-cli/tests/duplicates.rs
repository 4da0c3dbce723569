//! Files that have the same recording count once.

mod support;

use loopbox_format::model::ProcessExit;
use loopbox_format::report::encode;
use serde_json::Value;
use support::tools::python;
use support::{Files, Run, loopbox, shop, shop_bytes};

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|why| panic!("{why}: {} {}", run.stdout, run.stderr))
}

/// A report with R8's names, a copy of it, the same report retraced, and another report.
fn corpus() -> Files {
    let files = Files::new();
    std::fs::create_dir(files.path("reports")).unwrap();
    let mut report = shop().build().report;
    report.symbols.methods.iter_mut().filter(|m| m.class.ends_with("Cart")).for_each(|m| {
        (m.class, m.source_file) = ("a.b".into(), "r8-map-id-4be9".into());
    });
    let original = files.bytes("reports/b.lbx", &encode(&report).unwrap());
    files.bytes("reports/a.lbx", &encode(&report).unwrap());
    report.meta.process.pid += 1;
    files.bytes("reports/d.lbx", &encode(&report).unwrap());
    let mapping = files.bytes(
        "mapping.txt",
        b"# pg_map_id: 4be9\ncom.example.shop.Cart -> a.b:\n    1:99:int total():1:99 -> total\n",
    );
    let run = loopbox(&["retrace", original, "--mapping", mapping, "-o", files.path("reports/c.lbx")]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    files
}

const NOTE: &str = "loopbox: note: 2 duplicates are left out: their recording is in another file, too\n";

#[test]
fn copies_and_retraced_reports_are_one_report_of_a_group() {
    let files = corpus();
    let run = loopbox(&["cluster", "--json", files.path("reports")]);
    assert_eq!((run.code, run.stderr.as_str()), (0, NOTE));
    let summary = json(&run);
    assert_eq!(
        (&summary["reports"], &summary["duplicates"], &summary["skipped"]),
        (&2.into(), &2.into(), &0.into())
    );
    // The retraced one of three counts.
    let paths: Vec<&str> = summary["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["representative"]["path"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert!(paths.contains(&"c.lbx") && paths.contains(&"d.lbx"), "{paths:?}");
    let run = loopbox(&["cluster", files.path("reports")]);
    assert!(run.stdout.contains(", 2 duplicates left out"), "{}", run.stdout);
}

#[test]
fn a_file_that_is_named_twice_counts_once() {
    let files = corpus();
    let run = loopbox(&["cluster", "--json", files.path("reports"), files.path("reports/d.lbx")]);
    let summary = json(&run);
    assert_eq!((&summary["reports"], &summary["duplicates"]), (&2.into(), &3.into()));
}

#[test]
fn a_report_with_the_systems_word_counts_before_its_earlier_copy() {
    let files = Files::new();
    let mut report = shop().build().report;
    files.bytes("a.lbx", &encode(&report).unwrap());
    report.anr.exit = Some(ProcessExit {
        reason: ProcessExit::ANR,
        description: "user request after error".into(),
        unix_ms: 1_790_000_000_000,
    });
    files.bytes("b.lbx", &encode(&report).unwrap());
    let summary = json(&loopbox(&["cluster", "--json", files.dir().to_str().unwrap()]));
    let path = summary["groups"][0]["representative"]["path"].as_str().unwrap();
    assert!(path.ends_with("b.lbx"), "{path}");
}

#[test]
fn both_sides_of_a_comparison_say_what_they_left_out() {
    let files = corpus();
    let run = loopbox(&["diff", files.path("reports"), files.path("reports/d.lbx"), "--format", "json"]);
    let sides = json(&run);
    assert_eq!((&sides["before"]["reports"], &sides["before"]["duplicates"]), (&2.into(), &2.into()));
    assert_eq!((&sides["after"]["reports"], &sides["after"]["duplicates"]), (&1.into(), &0.into()));
}

#[test]
fn a_table_has_a_row_for_each_recording() {
    let files = corpus();
    let table = files.path("r.parquet");
    let run = loopbox(&["export", files.path("reports"), "-f", "parquet", "-o", table]);
    assert_eq!((run.code, run.stderr.as_str()), (0, NOTE));
    let query = "```sql\nSELECT report_id, pid, recorder, analyzer, signature, mapping_id FROM 'reports.parquet' ORDER BY pid\n```\n";
    let page = files.bytes("page.md", query.as_bytes());
    let out: Value = serde_json::from_str(&python("queries.py", &[page, table])).unwrap();
    let rows = out["answers"][0].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{rows:#?}");
    for (row, file) in rows.iter().zip(["reports/a.lbx", "reports/d.lbx"]) {
        let report = &json(&loopbox(&["show", "--json", files.path(file)]))["report"];
        for (column, member) in [
            ("report_id", &report["id"]),
            ("pid", &report["process"]["pid"]),
            ("recorder", &report["producer"]),
            ("analyzer", &report["analyzer"]),
            ("signature", &report["signature"]),
            ("mapping_id", &report["mapping_id"]),
        ] {
            assert_eq!(&row[column], member, "{column} of {file}");
        }
        assert_eq!(row["mapping_id"], "4be9");
        assert_eq!(row["report_id"].as_str().unwrap().len(), 32);
    }
    assert_ne!(rows[0]["report_id"], rows[1]["report_id"]);
}

#[test]
fn a_report_from_stdin_counts_as_files_do() {
    let files = Files::new();
    let file = files.bytes("a.lbx", &shop_bytes());
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_loopbox"))
        .args(["cluster", "--json", file, "-"])
        .stdin(std::fs::File::open(files.bytes("stdin", &shop_bytes())).unwrap())
        .output()
        .unwrap();
    let summary: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&summary["reports"], &summary["duplicates"]), (&1.into(), &1.into()));
}

#[test]
fn rows_that_come_again_replace_their_own_in_the_documented_merges() {
    let files = corpus();
    let (first, fresh) = (files.path("first.parquet"), files.path("fresh.parquet"));
    let export = |paths: &[&str], to: &str| {
        let run = loopbox(&[&["export"], paths, &["--format", "parquet", "-o", to]].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    };
    export(&[files.path("reports/b.lbx"), files.path("reports/d.lbx")], first);
    // The same recording with its names put back, and a late one.
    let mut late = shop().build().report;
    late.meta.process.pid += 2;
    let late = files.bytes("late.lbx", &encode(&late).unwrap());
    export(&[files.path("reports/c.lbx"), late], fresh);

    let page = std::path::absolute("../../docs/fleet.md").unwrap();
    let out = python("late_rows.py", &[page.to_str().unwrap(), first, fresh, files.path("tables")]);
    let tables: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(tables["duckdb"], tables["delta"]);
    let rows = tables["delta"].as_array().unwrap();
    let of = |file: &str| {
        let is = |row: &&Value| row["path"].as_str().unwrap().ends_with(file);
        rows.iter().filter(is).map(|row| row["frames"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((rows.len(), of("/b.lbx").len(), of("/late.lbx").len()), (3, 0, 1), "{tables}");
    assert!(of("/c.lbx")[0].ends_with("com.example.shop.Cart.total"), "{tables}");
    assert!(!of("/d.lbx")[0].contains("Cart"), "what did not come again stays: {tables}");
}
