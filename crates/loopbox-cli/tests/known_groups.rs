//! What is new since the last run: `loopbox cluster --known`, and the script in the documentation that posts
//! it.

mod support;

use serde_json::Value;
use std::fs;
use support::tools::{python, python_with_loopbox};
use support::{Files, Run, loopbox, recorded, shop};

/// Adds a report of a hang in this method to the folder `reports`.
fn add(files: &Files, name: &str, method: &str) {
    let stack = format!("com.example.shop.Checkout$1.run:31 com.example.shop.{method}:88");
    let report = shop().with(|report| report.trees.clear()).looper_tree(46, &[(&stack, 500)]);
    fs::create_dir_all(files.path("reports")).unwrap();
    files.bytes(&format!("reports/{name}.lbx"), &recorded(&report.build().report));
}

fn titles(run: &Run) -> Vec<String> {
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let last =
        |group: &Value| group["frames"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
    json["groups"].as_array().unwrap().iter().map(last).collect()
}

#[test]
fn known_groups_are_left_out_and_new_ones_are_remembered() {
    let files = Files::new();
    add(&files, "a", "Cart.total");
    add(&files, "b", "Feed.bind");
    let (reports, known) = (files.path("reports"), files.path("known.json"));
    let run = |more: &[&str]| {
        loopbox(&[&["cluster", reports, "--known", known, "--remember", known], more].concat())
    };
    let first = run(&["--json"]);
    assert_eq!((first.code, titles(&first).len()), (0, 2));
    assert!(first.stderr.contains("known.json: is not there yet, so all groups are new"), "{}", first.stderr);

    add(&files, "c", "Sync.run");
    add(&files, "d", "Cart.total");
    let text = loopbox(&["cluster", reports, "--known", known]);
    assert!(text.stdout.starts_with("4 reports of 1 user in 1 new group and 2 known\n"), "{}", text.stdout);
    let second = run(&["--json"]);
    assert_eq!((second.stderr.as_str(), titles(&second)), ("", vec!["com.example.shop.Sync.run".into()]));
    let json: Value = serde_json::from_str(&second.stdout).unwrap();
    assert_eq!((&json["known"], &json["reports"]), (&2.into(), &4.into()));

    // What a run does not see any more stays known.
    fs::remove_file(files.path("reports/b.lbx")).unwrap();
    assert_eq!(titles(&run(&["--json"])), Vec::<String>::new());
    add(&files, "b", "Feed.bind");
    assert_eq!(titles(&run(&["--json"])), Vec::<String>::new());
    assert_eq!(run(&["--slack"]).stdout, "", "there is nothing to say");
}

#[test]
fn a_file_that_is_no_list_of_groups_is_refused_and_stays_as_it_is() {
    let files = Files::new();
    add(&files, "a", "Cart.total");
    let reports = files.path("reports");
    for text in ["", "{\"schema\": \"loopbox.known/1\"", "[]"] {
        let known = files.bytes("known.json", text.as_bytes());
        let run = loopbox(&["cluster", reports, "--known", known, "--remember", known]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{text}");
        assert!(run.stderr.contains("known.json is no list of known groups: "), "{}", run.stderr);
        assert_eq!(fs::read_to_string(known).unwrap(), text);
    }
    let report = files.path("reports/a.lbx");
    let run = loopbox(&["cluster", reports, "--remember", report]);
    assert!(run.code == 1 && run.stderr.contains("would overwrite a report"), "{}", run.stderr);
}

#[test]
fn the_documented_script_posts_each_problem_once() {
    let files = Files::new();
    add(&files, "a", "Cart.total");
    files.bytes("reports/broken.lbx", b"no report");
    let (reports, known) = (files.path("reports"), files.path("known.json"));
    let script = std::path::absolute("../../docs/examples/post-new-problems.sh").unwrap();
    let post = |status: &str| -> Value {
        let arguments = [status, script.to_str().unwrap(), reports, known];
        serde_json::from_str(&python_with_loopbox("webhook.py", &arguments)).unwrap()
    };
    let refused = post("500");
    assert_eq!((&refused["code"], refused["posts"].as_array().unwrap().len()), (&22.into(), 1), "{refused}");
    assert!(!fs::exists(known).unwrap(), "what was not taken is new the next time");

    let posted = post("200");
    assert_eq!(posted["code"], 0, "{posted}");
    let message = &posted["posts"][0];
    assert_eq!(message["text"], "1 new problem: com.example.shop.Cart.total");
    assert_eq!(message["blocks"].as_array().unwrap().len(), 3);
    assert!(
        message["blocks"][2]["text"]["text"]
            .as_str()
            .unwrap()
            .starts_with("*`com.example.shop.Cart.total`*\n1 report")
    );
    let again = post("200");
    assert_eq!((&again["code"], &again["posts"]), (&0.into(), &serde_json::json!([])), "{again}");
    let left: Vec<_> = fs::read_dir(files.dir()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the reports and what is known: {left:?}");

    fs::remove_dir_all(reports).unwrap();
    fs::create_dir(reports).unwrap();
    assert_eq!(post("200")["code"], 1, "a folder without reports is no good news");
}

#[test]
fn rates_are_of_users_or_of_sessions() {
    let files = Files::new();
    for (name, method) in [("a", "Cart.total"), ("b", "Cart.total"), ("c", "Cart.total"), ("d", "Feed.bind")]
    {
        add(&files, name, method);
    }
    let reports = files.path("reports");
    let run = loopbox(&["cluster", reports, "--sessions", "1000", "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&json["rates_of"], &json["groups"][0]["rate"]["per_1000"]),
        (&"sessions".into(), &3.0.into())
    );
    assert_eq!(
        (&json["groups"][1]["rate"]["affected"], &json["groups"][1]["rate"]["of"]),
        (&1.into(), &1_000.into())
    );
    let text = loopbox(&["cluster", reports, "--users", "2000"]).stdout;
    assert!(text.contains("     rate      0.50 (0.088 to 2.8) of 1,000 users\n"), "{text}");
    for wrong in [&["--sessions", "0"][..], &["--users", "9", "--sessions", "9"], &["--users", "9", "--jank"]]
    {
        assert_eq!(loopbox(&[&["cluster", reports], wrong].concat()).code, 64, "{wrong:?}");
    }
    let schema = std::path::absolute("../../docs/schema/cluster-1.schema.json").unwrap();
    let file = files.bytes("cluster.json", run.stdout.as_bytes());
    assert_eq!(python("schema_check.py", &[schema.to_str().unwrap(), file]).trim(), "1 valid");
}
