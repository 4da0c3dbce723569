//! The questions of docs/fleet.md, answered by DuckDB and by Spark from the same reports, screens and stalls.
//!
//! The test has some ten thousand of these, so that most of the time is the engines' start. `cargo xtask
//! bench fleet` has a million.

mod support;

use loopbox_report::test_frames::{ARTICLE_TRACE, SessionBuilder};
use serde_json::{Value, json};
use support::{Files, loopbox, recorded, shop, tools};

/// The environment variable with the number of reports.
const ROWS: &str = "LOOPBOX_FLEET_ROWS";

#[test]
fn both_engines_answer_the_documented_questions_alike() {
    let files = Files::new();
    let mut report = shop().build().report;
    report.frames = SessionBuilder::new()
        .scroll("Feed", &ARTICLE_TRACE)
        .scroll("Cart", &[17, 17, 17, 51, 17, 801])
        .build();
    for i in 0..20 {
        files.bytes(&format!("r{i:02}.lbx"), &recorded(&report));
    }
    let stall = |ms: u32, method: &str| {
        format!(
            r#"{{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":7,"level":1,"wall_ms":{ms}.5,"stack_samples":9,"stacks":[{{"n":9,"frames":["com.example.shop.{method}(A.java:7)"]}}]}}"#
        )
    };
    let lines = [stall(731, "Prices.parse"), stall(120, "Feed.bind"), stall(210, "Feed.bind")].join("\n");
    files.bytes("uiperf-2026-11-21.jsonl", lines.as_bytes());
    let folder = files.path("engines");
    std::fs::create_dir(folder).unwrap();
    let [table, screens, stalls] =
        [("parquet", "r"), ("parquet-screens", "f"), ("parquet-stalls", "s")].map(|(format, name)| {
            let table = files.path(&format!("{name}.parquet"));
            let run = loopbox(&["export", files.dir().to_str().unwrap(), "--format", format, "-o", table]);
            assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{format}");
            table
        });

    let rows = std::env::var(ROWS).unwrap_or_else(|_| "20000".into());
    let page = std::path::absolute("../../docs/fleet.md").unwrap();
    let page = page.to_str().unwrap();
    let out = tools::python_with(
        "requirements-fleet.txt",
        "fleet.py",
        &[page, table, screens, stalls, folder, &rows],
    );
    let out: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    println!("{} reports in {} bytes, seconds: {}", out["reports"], out["bytes"], out["times"]);
    assert_eq!((out["reports"].to_string(), &out["days"]), (rows, &json!(14)));
    let (answers, spark) = (&out["answers"]["duckdb"], &out["answers"]["spark"]);
    assert_eq!(answers, spark, "the engines differ");

    let [top, worse, users, starved, models] =
        [0, 1, 2, 3, 4].map(|at| answers[at].as_array().unwrap().as_slice());
    assert_eq!(answers.as_array().unwrap().len(), 10);
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
    let [costly, changed, hurt, by_rate, code] =
        [5, 6, 7, 8, 9].map(|at| answers[at].as_array().unwrap().as_slice());
    let screens =
        |rows: &[Value]| -> Vec<String> { rows.iter().map(|row| row["screen"].to_string()).collect() };
    // By the time of their hitches: one frozen frame has more than Taobao's trace.
    assert_eq!(screens(costly), ["\"Cart\"", "\"Feed\""]);
    assert_eq!((number(&costly[0], "frozen") > 0.0, number(&costly[1], "frozen")), (true, 0.0));
    // Taobao's trace, 119.4 ms/s, of which the newest version has three times as much.
    assert_eq!(screens(changed), ["\"Feed\"", "\"Cart\""]);
    assert_eq!((number(&changed[0], "was"), number(&changed[0], "is_now")), (119.435, 358.306));
    assert_eq!(changed[1]["was"], changed[1]["is_now"]);
    let versions: Vec<&Value> = hurt.iter().map(|row| &row["app_version_code"]).collect();
    assert_eq!(versions, [50_200, 50_100, 50_000]);
    assert!(
        hurt.iter().all(|row| row["users"] == row["hitching"] && row["frozen"] == row["users"]),
        "{hurt:?}"
    );
    assert_eq!((by_rate.len(), &by_rate[0]["hz"], &by_rate[21]["hz"]), (22, &json!(60), &json!(120)));
    let frames: Vec<&Value> = code.iter().map(|row| &row["frames"]).collect();
    assert_eq!(frames, [&json!("com.example.shop.Prices.parse"), &json!("com.example.shop.Feed.bind")]);
    assert_eq!((number(&code[0], "longest_ms"), number(&code[1], "longest_ms")), (731.5, 210.5));
}
