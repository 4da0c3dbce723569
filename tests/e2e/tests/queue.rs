//! The pending queue is read without its lock and without running app code, whatever the app does with its
//! locks and with the queue.

use anyhow::{Context, Result};
use lab_launch::reports;
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_format::looper::{PendingBody, Queue, parse_queue};
use loopbox_format::model::{DumpReason, PendingSource, Report};
use tempfile::tempdir;

/// Runs the app. Returns its output and its reports.
fn play(testbed: &str, mode: &str) -> Result<(Vec<String>, Vec<Report>)> {
    let folder = tempdir()?;
    let app = launcher(testbed)?.app("scenario.Queues");
    let app = app.argument(format!("dir={}", folder.path().display())).argument(format!("mode={mode}"));
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let reports = reports(folder.path())?.iter().map(|file| read(file)).collect::<Result<_>>()?;
    Ok((ended.lines, reports))
}

fn queue_of(report: &Report) -> Queue {
    assert_eq!(report.pending.source, PendingSource::MessagesField, "{:#?}", report.pending);
    parse_queue(&report.pending)
}

/// A queued `java.util.Vector` is enough for a deadlock: printing the queue locks first the queue and then
/// the Vector, and main locks them in the reverse order.
#[test]
fn main_goes_on_where_it_posts_under_the_lock_of_a_queued_object() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let (said, reports) = play(testbed, "posting")?;
        assert!(said.iter().any(|line| line == "SCRIPT main goes on"), "{testbed}: {said:?}");
        let of = |wanted: fn(&DumpReason) -> bool| reports.iter().filter(|r| wanted(&r.meta.reason)).count();
        assert!(of(|reason| matches!(reason, DumpReason::Requested(_))) > 0, "{testbed}");
        assert!(of(|reason| matches!(reason, DumpReason::SigQuit)) > 0, "{testbed}");
        assert!(of(|reason| matches!(reason, DumpReason::Hang)) == 1, "{testbed}");
        for report in &reports {
            let waits = |entry: &PendingBody| matches!(entry, PendingBody::Message { what: 77, .. });
            assert!(
                queue_of(report).messages.iter().any(|entry| waits(&entry.body)),
                "{:#?}",
                report.pending
            );
        }
    }
    Ok(())
}

/// Main never waits for a report, however long its queue is.
#[test]
fn a_long_queue_is_read_while_main_holds_its_lock() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let (said, reports) = play(testbed, "locked")?;
        assert!(said.iter().any(|line| line == "SCRIPT report true"), "{testbed}: {said:?}");
        // Besides that of a hang, which posting that many may be.
        let asked = |report: &&Report| matches!(report.meta.reason, DumpReason::Requested(_));
        let report = reports.iter().find(asked).context("no report")?;
        let queue = queue_of(report);
        // The text has 64 KB.
        assert_eq!(queue.messages.len(), 200, "{testbed}");
        let whats = queue.messages.iter().map(|entry| match entry.body {
            PendingBody::Message { what, .. } => what,
            PendingBody::Barrier { .. } => 0,
        });
        assert!(whats.eq(1..=200), "{testbed}: the first ones, in their order");
        // A slow machine may not count to the end in time, and says so.
        match queue.total {
            Some(total) => {
                assert_eq!((total, report.pending.dropped_lines), (20_000, 19_800), "{testbed}");
                assert_eq!(queue.unread, [""; 0], "{testbed}");
            }
            None => assert!(queue.unread[0].starts_with("Loopbox: its messages could not be counted")),
        }
    }
    Ok(())
}

#[test]
fn a_queue_that_changes_while_it_is_read_shows_nothing_that_was_not_in_it() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let (_, reports) = play(testbed, "churn")?;
        assert!(reports.len() > 1, "{testbed}");
        for report in &reports {
            let queue = queue_of(report);
            for entry in &queue.messages {
                let PendingBody::Message { target, what, .. } = &entry.body else {
                    panic!("no barrier was posted: {:#?}", report.pending)
                };
                assert!(
                    target != "scenario.Queues$Foreign" && (1_000..1_064).contains(what),
                    "{testbed}: {:#?}",
                    report.pending
                );
            }
            let known =
                ["Loopbox: it changed while it was read", "Loopbox: its messages could not be counted"];
            assert!(
                queue.unread.iter().all(|line| known.iter().any(|known| line.starts_with(known))),
                "{queue:#?}"
            );
        }
    }
    Ok(())
}
