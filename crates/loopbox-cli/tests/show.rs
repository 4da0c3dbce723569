//! `loopbox show` as a user runs it.

mod support;

use loopbox_format::report::encode;
use loopbox_report::test_support::ReportBuilder;
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
fn show_has_the_systems_trace_and_names_one_that_cannot_be_unpacked() {
    let trace = include_str!("../../loopbox-report/tests/traces/android14-binder.txt");
    let binder = "com.example.shop.Cart$1.run:31 android.os.BinderProxy.transactNative!";
    let report =
        ReportBuilder::new().running(46, 5_200).looper_tree(46, &[(binder, 515)]).system_trace(trace);
    let files = Files::new();
    let bytes = encode(&report.clone().build().report).unwrap();
    let run = loopbox(&["show", "--full", files.bytes("traced.lbx", &bytes)]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for part in [
        "ANR TRACE  ART's own, of 4 threads, written at 2026-09-21 16:13:20.412345678+0200",
        "  Input dispatching timed out (com.example.shop/",
        "      native: #00 pc 000000000009b5f8  /apex/com.android.runtime/lib64/bionic/libc.so (__ioctl+8)",
        "  binder:4321_3 (tid 4344) Blocked",
        "      - waiting to lock a com.example.shop.Cart <0x0a1b2c3d>, held by main (thread 1)",
        "  mali-cmar-backe (tid 4350)",
    ] {
        assert!(run.stdout.contains(part), "{part} is missing in {}", run.stdout);
    }
    let damaged = report.with(|report| report.system_trace.gzip = b"gone".to_vec());
    let bytes = encode(&damaged.build().report).unwrap();
    let run = loopbox(&["show", files.bytes("damaged.lbx", &bytes)]);
    assert_eq!(run.code, 2);
    let at = bytes.windows(4).position(|window| window == b"TRAC").unwrap() + 16;
    let offsets = (at..=at + 4).map(|at| format!("damaged.lbx: offset {at}: section TRAC: "));
    assert!(offsets.into_iter().any(|start| run.stderr.contains(&start)), "{} of {at}", run.stderr);
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
