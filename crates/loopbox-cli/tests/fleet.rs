//! The five questions of docs/fleet.md, answered by DuckDB and by Spark on the same reports.
//!
//! Some ten thousand, so that it is the engines' start that takes the time; `cargo xtask bench fleet` asks them of a million.

mod support;

use loopbox_format::report::encode;
use serde_json::{Value, json};
use support::{Files, loopbox, shop, tools};

/// How many reports there are.
const ROWS: &str = "LOOPBOX_FLEET_ROWS";

#[test]
fn both_engines_answer_the_documented_questions_alike() {
    let files = Files::new();
    for i in 0..20 {
        files.bytes(&format!("r{i:02}.lbx"), &encode(&shop().build().report).unwrap());
    }
    let (table, folder) = (files.path("reports.parquet"), files.path("engines"));
    std::fs::create_dir(folder).unwrap();
    let run = loopbox(&["export", files.dir().to_str().unwrap(), "--format", "parquet", "-o", table]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));

    let rows = std::env::var(ROWS).unwrap_or_else(|_| "20000".into());
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fleet.md");
    let out = tools::python_with("requirements-fleet.txt", "fleet.py", &[page, table, folder, &rows]);
    let out: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    println!("{} reports in {} bytes, seconds: {}", out["reports"], out["bytes"], out["times"]);
    assert_eq!((out["reports"].to_string(), &out["days"]), (rows, &json!(14)));
    let (answers, spark) = (&out["answers"]["duckdb"], &out["answers"]["spark"]);
    assert_eq!(answers, spark, "the engines differ");

    let [top, worse, users, starved, models] =
        [0, 1, 2, 3, 4].map(|at| answers[at].as_array().unwrap().as_slice());
    assert_eq!(answers.as_array().unwrap().len(), 5);
    assert_eq!((top.len(), &top[0]["cause"]), (20, &json!("current-slow")));
    let number = |row: &Value, column: &str| row[column].as_f64().unwrap();
    assert!(top.windows(2).all(|pair| number(&pair[0], "users") >= number(&pair[1], "users")), "{top:?}");
    // The newest version has problems that the one before had not: the groups from 60 on.
    assert_eq!(worse.len(), 20);
    let is_new = |row: &Value| row["group_id"].as_str().unwrap()[6..].parse::<u32>().unwrap() >= 60;
    assert!(
        worse.iter().all(|row| is_new(row) && number(row, "was") == 0.0 && number(row, "is_now") > 0.0),
        "{worse:?}"
    );
    let versions: Vec<&Value> = users.iter().map(|row| &row["app_version_code"]).collect();
    assert_eq!(versions, [50_200, 50_100, 50_000]);
    assert!(
        users
            .iter()
            .all(|row| 0.0 < number(row, "anr_users") && number(row, "anr_users") < number(row, "users"))
    );
    // Half of the reports of 5 of 97 models.
    assert_eq!((starved.len(), &starved[0]["api_level"]), (11, &json!(26)));
    assert!(starved.iter().all(|row| (0.01..0.05).contains(&number(row, "starved"))), "{starved:?}");
    let odd: Vec<&Value> = models[..5].iter().map(|row| &row["device"]).collect();
    assert!((0..5).all(|nth| odd.contains(&&json!(format!("model {nth:02}")))), "{models:?}");
    assert!(
        models[..5].iter().all(|row| number(row, "times_expected") > 10.0)
            && number(&models[5], "times_expected") == 0.0
    );
}
