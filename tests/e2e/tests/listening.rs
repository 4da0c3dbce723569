//! Several listeners of reports in one app, one of which does not return.

use anyhow::Result;
use lab_reports::LIMIT;
use loopbox_e2e::launcher;
use loopbox_testbed::to_test_on;
use std::fs;
use tempfile::tempdir;

#[test]
fn each_listener_is_notified_of_each_report_while_another_does_not_return() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let gate = folder.path().join("gate");
        let app = launcher(&testbed)?.app("scenario.Listening");
        let app = app.argument(format!("dir={}", folder.path().display()));
        let mut app = app.argument(format!("gate={}", gate.display())).start()?;
        let heard = |lines: &[String], who: &str| {
            let begin = format!("SCRIPT {who} ");
            let heard = lines.iter().filter_map(|line| line.strip_prefix(&begin));
            heard.map(str::to_owned).collect::<Vec<_>>()
        };
        let all = ["first alpha", "complete alpha", "first beta", "complete beta"];
        let others = ["added", "late", "one", "two"];
        let is_answered = |lines: &[String]| lines.iter().any(|line| line == "SCRIPT answer");
        while others.iter().any(|who| heard(app.seen(), who).len() < all.len()) || !is_answered(app.seen()) {
            app.wait_for("SCRIPT ", LIMIT)?;
        }
        assert_eq!(heard(app.seen(), "slow"), ["first alpha"], "{testbed}: it has not returned");
        fs::write(&gate, "")?;
        app.wait_for("SCRIPT slow complete beta", LIMIT)?;
        for listener in ["added", "slow", "late", "one", "two"] {
            assert_eq!(heard(app.seen(), listener), all, "{testbed}: {listener}");
        }
        for nobody in ["removed", "lost"] {
            assert!(heard(app.seen(), nobody).is_empty(), "{testbed}: {:?}", app.seen());
        }
        app.kill();
    }
    Ok(())
}

/// The app's listener may take the report's file away. So it is called after the libraries' listeners. One of
/// these does not return, and the thread of the app's listener is interrupted: it must wait all the same.
#[test]
fn an_interrupted_listener_waits_for_the_others_all_the_same() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let app = launcher(&testbed)?.app("scenario.Listening").argument("interrupts=yes");
        let app = app.argument(format!("dir={}", folder.path().display()));
        let gate = folder.path().join("gate");
        let mut app = app.argument(format!("gate={}", gate.display())).start()?;
        assert_eq!(app.wait_for("SCRIPT waited ", LIMIT)?, "SCRIPT waited true", "{testbed}");
        app.kill();
    }
    Ok(())
}
