//! `loopbox frames` as a user runs it.

mod support;

use loopbox_format::report::encode;
use loopbox_report::test_frames::{ARTICLE_TRACE, SessionBuilder};
use serde_json::Value;
use support::{Files, loopbox, recorded, shop};

/// Writes twelve reports, each of another user, into a folder. Each has a scroll of the feed with `stalls` to
/// `stalls + 2` stalls of 100 ms.
fn fleet(files: &Files, folder: &str, stalls: usize) -> &'static str {
    let path = files.path(folder);
    std::fs::create_dir(path).unwrap();
    for user in 0..12 {
        let durations = [vec![17; 100], vec![100; stalls + user % 3]].concat();
        let session = SessionBuilder::new().scroll("com.example.Feed", &durations).build();
        let report = shop().with(|report| {
            report.meta.annotations = vec![("user".into(), format!("user {user}"))];
            report.frames = session;
        });
        files.bytes(&format!("{folder}/r{user}.lbx"), &recorded(&report.build().report));
    }
    path
}

fn article(files: &Files) -> &'static str {
    let session = SessionBuilder::new().scroll_with("com.example.Feed", &ARTICLE_TRACE, Some(46)).build();
    files.bytes("article.lbx", &recorded(&shop().with(|report| report.frames = session).build().report))
}

#[test]
fn frames_of_one_report_as_text_json_and_page() {
    let files = Files::new();
    let article = article(&files);
    let run = loopbox(&["frames", article]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for part in ["83 frames in 1.53 s, 54.1 FPS of 60 Hz", "hitch     119.4 ms/s", "Cart.total(Cart.java:88)"]
    {
        assert!(run.stdout.contains(part), "{part} is missing in {}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'));
    let json: Value = serde_json::from_str(&loopbox(&["frames", article, "--json"]).stdout).unwrap();
    assert_eq!(json["schema"], "loopbox.frames/1");
    assert_eq!(
        (&json["process"]["frames"], &json["process"]["windows"]["recorded"]),
        (&83.into(), &3.into())
    );
    assert_eq!(json["gestures"]["worst"][0]["worst_window_fps"].as_array().unwrap().len(), 3);
    let page = files.path("page.html");
    assert_eq!(loopbox(&["frames", article, "--html", "-o", page]).code, 0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && !page.contains("http"), "{page}");
    let text = files.path("text.txt");
    assert_eq!(loopbox(&["frames", article, "-o", text]).code, 0);
    assert_eq!(std::fs::read_to_string(text).unwrap(), run.stdout);
    let shown = loopbox(&["show", article]);
    assert!(shown.stdout.contains("\nFRAMES  83 frames in 1.53 s"), "{}", shown.stdout);
}

#[test]
fn frames_of_a_folder_names_what_was_skipped() {
    let files = Files::new();
    let folder = fleet(&files, "fleet", 1);
    files.report("fleet/without.lbx");
    files.damaged("fleet/damaged.lbx");
    let run = loopbox(&["frames", folder, "--jobs", "2"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stdout.starts_with("12 reports with display frames, 1 without, 1 file skipped\n"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("damaged.lbx"), "{}", run.stderr);
    let run = loopbox(&["frames", files.report("none.lbx")]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("none.lbx: no report has display frames"), "{}", run.stderr);
}

#[test]
fn frames_compares_two_sets_and_fails_when_asked_to() {
    let files = Files::new();
    let (base, worse) = (fleet(&files, "base", 1), fleet(&files, "worse", 4));
    let run = loopbox(&["frames", base, "--compare", worse]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let hitch = run.stdout.lines().find(|line| line.starts_with("  hitch ")).unwrap();
    assert!(hitch.ends_with("  worse"), "{}", run.stdout);
    assert_eq!(loopbox(&["frames", base, "--compare", worse]).stdout, run.stdout, "the same each time");

    let gate = |variant: &str, condition: &str| {
        loopbox(&["frames", base, "--compare", variant, "--fail-if", condition])
    };
    let failed = gate(worse, "hitch>+10%");
    assert_eq!(failed.code, 3);
    assert!(failed.stdout.contains("failed: hitch>+10%\n"), "{}", failed.stdout);
    assert_eq!(gate(worse, "fps>+1%").code, 0);
    assert_eq!(gate(base, "hitch>+0%").code, 0, "nothing has changed");
    let mut session = SessionBuilder::new().scroll("com.example.Feed", &[17; 100]).build();
    session.gestures.clear();
    let unrecorded = shop().with(|report| report.frames = session).build().report;
    let unknown = gate(files.bytes("unrecorded.lbx", &recorded(&unrecorded)), "jank-gestures>5");
    assert_eq!(unknown.code, 2, "no gesture was recorded");
    assert!(unknown.stdout.contains("not known: jank-gestures>5"), "{}", unknown.stdout);
    assert_eq!(gate(worse, "hitsch>+0%").code, 64);
    assert_eq!(loopbox(&["frames", base, "--fail-if", "hitch>1"]).code, 64, "it needs --compare");
    assert_eq!(loopbox(&["frames", base, "--compare", worse, "--html"]).code, 64);

    let json = loopbox(&["frames", base, "--compare", worse, "--json", "--fail-if", "hitch>+10%"]);
    assert_eq!(json.code, 3);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&json["schema"], &json["failed"][0]),
        (&"loopbox.frames-compare/1".into(), &"hitch>+10%".into())
    );
    assert_eq!(json["scenes"][1]["scene"], "com.example.Feed");
    assert_eq!(json["scenes"][0]["metrics"][0]["verdict"], "worse");
    let missing = loopbox(&["frames", base, "--compare", files.path("missing")]);
    assert_eq!(missing.code, 1);
    assert_eq!(
        loopbox(&["frames", base, "--compare", worse, "-o", files.path("worse/r1.lbx")]).code,
        1,
        "an input"
    );
}

#[test]
fn frames_of_a_process_count_once_however_many_reports_it_has_left() {
    let files = Files::new();
    let folder = files.path("reports");
    std::fs::create_dir(folder).unwrap();
    let durations = [vec![17; 100], vec![100; 3]].concat();
    for scrolls in 1..4 {
        let session = (0..scrolls)
            .fold(SessionBuilder::new(), |session, _| session.scroll_with("Feed", &durations, Some(46)));
        let report = shop().with(|report| {
            report.meta.dumped_at.uptime_ns.0 += scrolls * 1_000_000_000;
            report.frames = session.build();
        });
        // One process: not as recordings of separate ones.
        files.bytes(&format!("reports/{scrolls}.lbx"), &encode(&report.build().report).unwrap());
    }
    let json = |run: support::Run| -> Value { serde_json::from_str(&run.stdout).unwrap() };
    let run = loopbox(&["frames", folder, "--json"]);
    assert_eq!(
        (run.code, run.stderr.trim_end()),
        (
            0,
            "loopbox: note: the frames of 2 reports are left out: another report of the same process counts them, too"
        )
    );
    let frames = json(run);
    assert_eq!((&frames["reports"], &frames["process"]["frames"]), (&1.into(), &309.into()));
    assert_eq!((&frames["gestures"]["count"], frames["janks"].as_array().unwrap().len()), (&3.into(), 9));
    let groups = json(loopbox(&["cluster", folder, "--jank", "--json"]));
    assert_eq!((&groups["janks"], &groups["groups"][0]["janks"]), (&9.into(), &9.into()), "{groups:#}");
}
