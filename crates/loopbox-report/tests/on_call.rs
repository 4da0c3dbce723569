//! The page for who is on call has a row for every rule.

use std::collections::BTreeSet;
use std::fs;

#[test]
fn each_rule_has_a_row_for_who_is_on_call() {
    let here = std::env::current_dir().unwrap();
    let page = fs::read_to_string(here.join("../../docs/on-call.md")).unwrap();
    let mut rules = BTreeSet::new();
    for file in fs::read_dir(here.join("src/diagnose/rules")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for call in text.split("Finding::new(").skip(1) {
            // Where it is no text, it is out of a table of this file.
            if let Some(name) = call.trim_start().strip_prefix('"') {
                rules.extend(name.split('"').next().map(str::to_owned));
            }
        }
    }
    assert!(rules.len() >= 16, "{rules:?}");
    let missing: Vec<&String> =
        rules.iter().filter(|rule| !page.contains(&format!("\n| `{rule}` |"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
