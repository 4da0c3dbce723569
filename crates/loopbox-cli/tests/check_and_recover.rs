//! `loopbox check` and `recover` as a user runs them.

mod support;

use loopbox_format::report::encode;
use support::{Files, loopbox, shop};

#[test]
fn check_distinguishes_intact_damaged_and_foreign_files() {
    let files = Files::new();
    let (good, bad, cut) = (files.report("good.lbx"), files.damaged("bad.lbx"), files.cut("cut.lbx"));
    let run = loopbox(&["check", good]);
    assert_eq!((run.code, run.stdout.as_str()), (0, format!("{good}: intact\n").as_str()));
    let run = loopbox(&["check", good, bad, cut]);
    assert_eq!((run.code, run.stderr.as_str()), (2, ""));
    assert!(run.stdout.contains(&format!("{bad}: damaged\n  offset ")), "{}", run.stdout);
    assert!(run.stdout.contains("the file is incomplete"), "{}", run.stdout);
    let foreign = files.bytes("photo.jpg", b"\xff\xd8\xff");
    let run = loopbox(&["check", good, foreign]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("photo.jpg: offset 0: not a Loopbox report"), "{}", run.stderr);
    let run = loopbox(&["check", foreign, foreign]);
    assert_eq!(run.code, 1);
}

#[test]
fn check_names_violated_invariants_of_an_intact_file() {
    let files = Files::new();
    let report = shop().with(|r| r.history[1].work_ns += 7).build().report;
    let run = loopbox(&["check", files.bytes("odd.lbx", &encode(&report).unwrap())]);
    assert_eq!(run.code, 2);
    assert!(run.stdout.contains("record 2: wall time is not the sum"), "{}", run.stdout);
}

#[test]
fn recover_refuses_other_files_in_one_line() {
    let files = Files::new();
    let out = files.path("out.lbx");
    for (name, bytes, words) in [
        ("empty.lbr", &b""[..], "offset 0: the file is empty"),
        ("photo.lbr", b"\xff\xd8\xff", "offset 0: not a Loopbox ring"),
        ("short.lbr", b"\x89LBR\r\n\x1a\n\x01", "offset 9: the file ends inside its header"),
    ] {
        let ring = files.bytes(name, bytes);
        let run = loopbox(&["recover", ring, "-o", out]);
        assert_eq!((run.code, run.stderr.lines().count()), (1, 1), "{}", run.stderr);
        assert!(run.stderr.starts_with(&format!("loopbox: {ring}: {words}")), "{}", run.stderr);
        assert!(!std::path::Path::new(out).exists());
    }
    let run = loopbox(&["recover", files.report("r.lbx"), "-o", out]);
    assert!(run.code == 1 && run.stderr.contains("not a Loopbox ring"), "{}", run.stderr);
}

#[test]
fn recover_makes_a_report_and_other_commands_read_the_ring_itself() {
    let files = Files::new();
    let ring = files.ring();
    let out = files.path("out.lbx");
    let run = loopbox(&["recover".as_ref(), ring.as_os_str(), "-o".as_ref(), out.as_ref()]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let run = loopbox(&["show", out]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("recovered after the process was gone"), "{}", run.stdout);
    assert!(
        run.stdout.contains("Cart.total(Cart.java:88)") && run.stdout.contains("HISTORY  4 records"),
        "{}",
        run.stdout
    );
    let direct = loopbox(&["diagnose".as_ref(), ring.as_os_str()]);
    assert_eq!(direct.code, 0, "{}", direct.stderr);
    assert!(direct.stdout.contains("most of it in Cart.total"), "{}", direct.stdout);
}

#[test]
fn recover_of_a_cut_ring_keeps_what_is_there() {
    let files = Files::new();
    let bytes = std::fs::read(files.ring()).unwrap();
    let (cut, out) = (files.bytes("cut.lbr", &bytes[..bytes.len() / 2]), files.path("out.lbx"));
    let run = loopbox(&["recover", cut, "-o", out]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("cut.lbr: offset ") && run.stderr.contains("the ring is cut"),
        "{}",
        run.stderr
    );
    assert!(loopbox(&["show", out]).stdout.contains("com.example.shop.FeedHandler"));
    // The loss travels with the report, which is whole itself.
    let run = loopbox(&["check", out]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stdout.contains("out.lbx: incomplete: not all of the ring"), "{}", run.stdout);
    assert!(
        run.stdout.contains("  ring offset ") && run.stdout.contains("the ring is cut"),
        "{}",
        run.stdout
    );
    let run = loopbox(&["show", out]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(
        run.stdout.contains("! not all of the ring could be recovered: what is missing is listed at the end"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("LOST") && run.stdout.contains("the ring is cut"), "{}", run.stdout);
    let json = loopbox(&["show", "--json", out]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["lost"][0].as_str().unwrap().contains("the ring is cut"), "{json}");
    assert_eq!(json["damage"], serde_json::json!([]));
    // As a ring, it is the file that is damaged.
    let run = loopbox(&["check", cut]);
    assert!(run.code == 2 && run.stdout.contains("cut.lbr: damaged\n  offset "), "{}", run.stdout);
}
