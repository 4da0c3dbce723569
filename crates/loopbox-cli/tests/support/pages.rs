//! Pages for the tests with a browser.

use super::{Files, loopbox, shop};
use loopbox_format::model::{Anr, AnrVerdict, MainState, ProcessExit, Report};
use loopbox_format::report::encode;
use loopbox_report::test_support::{ReportBuilder, full};
use std::path::{Path, PathBuf};

/// The page of a report.
pub(crate) fn page_of(files: &Files, report: ReportBuilder) -> PathBuf {
    let lbx = files.bytes("r.lbx", &encode(&report.build().report).unwrap());
    let html = files.path("r.html");
    let run = loopbox(&["report", lbx, "-o", html]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    PathBuf::from(html)
}

/// The page of groups that `loopbox cluster --html` writes for three reports.
pub(crate) fn groups_of(files: &Files) -> PathBuf {
    let folder = files.path("reports");
    std::fs::create_dir(folder).unwrap();
    let newer = everything().with(|report| report.meta.process.app_version = "5.3.0 (50300)".into());
    for (i, report) in [everything(), newer, shop()].into_iter().enumerate() {
        std::fs::write(format!("{folder}/{i}.lbx"), encode(&report.build().report).unwrap()).unwrap();
    }
    let html = files.path("groups.html");
    let run = loopbox(&["cluster", "--html", folder, "-o", html]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    PathBuf::from(html)
}

/// The folder of the screenshots for a developer.
pub(crate) fn pictures() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// A report with something in each part of the page.
pub(crate) fn everything() -> ReportBuilder {
    let running = |report: &Report| match &report.main {
        MainState::Running(running) => running.token,
        _ => panic!("a message is running"),
    };
    let token = running(&full().build().report);
    let recursion = "com.example.shop.Tree.walk:12 ".repeat(60);
    full()
        .waits_for("com.example.shop.Db", "sync-1", "java.lang.Thread.run com.example.shop.Sync.run:9")
        .thread("sync", Some("java.lang.Thread.run com.example.Sync.run:9"))
        .thread("RenderThread", None)
        .interrupted(98, &[("/apex/com.android.runtime/lib64/bionic/libc.so", &[0xAB; 20], 0x9_C2C4)])
        .with(|report| {
            report.trees.retain(|tree| tree.token != token);
            report.lost = vec!["ring offset 7: slot is damaged".into()];
            report.anr = Anr {
                verdict: AnrVerdict::Confirmed,
                ran_ns: 10_000_000_000,
                exit: Some(ProcessExit {
                    reason: ProcessExit::ANR,
                    description: "Input dispatching".into(),
                    unix_ms: 7,
                }),
                ..Anr::default()
            };
        })
        .looper_tree(token.0, &[(&format!("com.example.shop.Main.run:3 {}", recursion.trim()), 900)])
}
