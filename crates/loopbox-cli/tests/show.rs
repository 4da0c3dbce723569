//! `loopbox show` as a user runs it.

mod support;

use support::{Files, loopbox};

#[test]
fn show_prints_an_intact_report() {
    let files = Files::new();
    let run = loopbox(&["show", files.report("shop.lbx")]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for part in ["com.example.shop", "HISTORY", "NOW", "Cart.total(Cart.java:88)", "PENDING"] {
        assert!(run.stdout.contains(part), "{part} is missing in {}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'), "no colour into a pipe");
}

#[test]
fn show_json_names_its_schema() {
    let files = Files::new();
    let run = loopbox(&["show", "--json", files.report("shop.lbx")]);
    assert_eq!(run.code, 0);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["schema"], "loopbox.report/1");
    assert_eq!(json["current"]["state"], "running");
    assert_eq!(json["current"]["age_ms"], 5_200.0);
    assert_eq!(json["history"][0]["kind"], "idle");
}

#[test]
fn show_of_a_damaged_section_prints_all_others() {
    let files = Files::new();
    let run = loopbox(&["show", files.damaged("damaged.lbx")]);
    assert_eq!(run.code, 2);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("loopbox: warning: "), "{}", run.stderr);
    assert!(run.stderr.contains("damaged.lbx: offset ") && run.stderr.contains("PEND"), "{}", run.stderr);
    assert!(run.stdout.contains("Cart.total") && run.stdout.contains("DAMAGE"), "{}", run.stdout);
}

#[test]
fn show_of_a_cut_file_prints_what_is_there() {
    let files = Files::new();
    let run = loopbox(&["show", files.cut("cut.lbx")]);
    assert_eq!(run.code, 2);
    assert!(run.stdout.contains("HISTORY  4 records"), "{}", run.stdout);
    assert!(run.stderr.lines().all(|l| l.contains("cut.lbx: offset ")), "{}", run.stderr);
}

#[test]
fn exit_code_of_a_wrong_command_line_is_64() {
    assert_eq!(loopbox(&["show"]).code, 64);
    assert_eq!(loopbox(&["shwo"]).code, 64);
    assert_eq!(loopbox(&["--help"]).code, 0);
    assert_eq!(loopbox(&["--version"]).code, 0);
}
