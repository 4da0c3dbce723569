//! `loopbox diagnose` as a user runs it.

mod support;

use support::{Files, loopbox};

#[test]
fn diagnose_prints_the_cause_with_its_evidence() {
    let files = Files::new();
    let run = loopbox(&["diagnose", files.report("shop.lbx")]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let verdict = run.stdout.lines().find(|l| l.starts_with("VERDICT")).expect("a verdict");
    assert!(verdict.contains("The running message (#46) has taken 5.20 s"), "{verdict}");
    assert!(verdict.contains("high confidence"), "{verdict}");
    assert!(run.stdout.contains("look at: com.example.shop.Cart.total(Cart.java:88)"), "{}", run.stdout);
}

#[test]
fn diagnose_json_is_the_diagnosis() {
    let files = Files::new();
    let run = loopbox(&["diagnose", "--json", files.report("shop.lbx")]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["confidence"], "high");
    assert_eq!(json["causes"][0]["rule"], "current-slow");
    assert_eq!(json["causes"][0]["token"], 46);
}

#[test]
fn diagnose_of_a_damaged_file_has_a_caveat() {
    let files = Files::new();
    let run = loopbox(&["diagnose", files.damaged("d.lbx")]);
    assert_eq!(run.code, 2);
    assert!(run.stdout.contains("Cart.total") && run.stdout.contains("could not be used"), "{}", run.stdout);
}
