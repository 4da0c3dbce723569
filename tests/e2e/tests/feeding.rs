//! What an app does in calls from the recorder must not keep the recorder busy for ever.

use anyhow::{Context, Result};
use lab_launch::wait_for_report;
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use std::path::Path;
use tempfile::tempdir;

/// Runs `scenario.Feeding`. Returns what it printed at its end: how often it was called with a report, how
/// often without one, and the status's text about requests.
fn fed(folder: &Path, mode: &str, ms: u32) -> Result<(u32, u32, String)> {
    let app = launcher("art10")?.app("scenario.Feeding").argument(format!("dir={}", folder.display()));
    let mut app = app.argument(format!("mode={mode}")).argument(format!("ms={ms}")).start()?;
    let line = app.wait_for("SCRIPT called", LIMIT)?;
    let words: Vec<_> = line.split_whitespace().collect();
    let ["SCRIPT", "called", called, "nulls", nulls, "status", status @ ..] = &words[..] else {
        panic!("{line}")
    };
    app.finish(LIMIT)?.success()?;
    Ok((called.parse()?, nulls.parse()?, status.join(" ")))
}

#[test]
fn a_listener_that_asks_for_a_report_gets_none() -> Result<()> {
    let folder = tempdir()?;
    // The first one, and the one that the callback was called with null for.
    assert_eq!(fed(folder.path(), "dump", 1_000)?, (1, 1, "1 reports refused".to_owned()));
    // It is notified of that a second later, and asks again.
    let folder = tempdir()?;
    let (called, nulls, status) = fed(folder.path(), "async", 3_500)?;
    assert_eq!(called, 1);
    assert!((1..=3).contains(&nulls), "{nulls}");
    assert_eq!(status, format!("{} reports refused", nulls + 1));
    Ok(())
}

/// The first requests are granted, because it is not known yet that they continue for ever.
#[test]
fn who_asks_for_ever_gets_ten_reports_a_minute() -> Result<()> {
    let folder = tempdir()?;
    let ms = 8_000;
    let (called, nulls, status) = fed(folder.path(), "thread", ms)?;
    assert!((64..=64 + 1 + ms / 6_000 + 1).contains(&called), "{called}");
    assert!(nulls > 0);
    assert_eq!(status, format!("{nulls} reports refused"));
    let report = read(&wait_for_report(folder.path(), LIMIT)?)?;
    assert!(report.statistics.iter().any(|statistic| statistic.name == "report.first_file_ns"));
    Ok(())
}

/// ART's Signal Catcher gets each signal.
#[test]
fn a_process_that_sends_itself_a_signal_for_each_report_gets_no_more_reports() -> Result<()> {
    let folder = tempdir()?;
    let (called, _, status) = fed(folder.path(), "signal", 100_000)?;
    assert!((64..64 + 100 / 6).contains(&called), "{called}");
    assert!(status.ends_with(" reports refused"), "{status}");
    Ok(())
}

#[test]
fn annotations_without_end_are_saved_ten_times_a_second() -> Result<()> {
    let folder = tempdir()?;
    let app = launcher("art10")?.app("scenario.Feeding").argument(format!("dir={}", folder.path().display()));
    let mut app = app.argument("mode=annotate").argument("ms=3000").start()?;
    let woken = app.wait_for("SCRIPT woken", LIMIT)?;
    let dumped = app.wait_for("SCRIPT dumped", LIMIT)?;
    app.finish(LIMIT)?.success()?;
    let number =
        |at: usize| -> Result<u64> { Ok(woken.split_whitespace().nth(at).context("cut off")?.parse()?) };
    let (wakes, changes) = (number(2)?, number(4)?);
    // A change wakes it, and so does the time when that is to be saved; some are of the start.
    assert!(changes > 100 && wakes <= 90, "{woken}");
    let file = dumped.split_whitespace().nth(2).context("no report")?;
    let report = read(Path::new(file))?;
    let last = ("count".to_owned(), changes.to_string());
    assert!(report.meta.annotations.contains(&last), "{:?}", report.meta.annotations);
    // What the Redactor itself sets is left out.
    assert!(report.meta.annotations.iter().all(|(name, _)| name != "redacted"));
    Ok(())
}
