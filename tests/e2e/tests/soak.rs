//! Very many messages: memory stays as it is, and no message is lost or counted twice.

use anyhow::{Context, Result};
use loopbox_e2e::{LIMIT, details, launcher, read};
use tempfile::tempdir;
use xtask::launch::wait_for_report;

/// Runs that many messages and returns the anonymous memory of the process in KiB, early and late.
fn soak(messages: u64, arguments: &[&str]) -> Result<(u64, u64)> {
    let folder = tempdir()?;
    let mut app = launcher("art10")?.app("scenario.Soak");
    app = app.argument(format!("dir={}", folder.path().display())).argument(format!("messages={messages}"));
    for argument in arguments {
        app = app.argument(*argument);
    }
    let ended = app.start()?.finish(LIMIT * 4)?.success()?;
    let memory = |when: &str| {
        let line = ended.lines.iter().find_map(|line| line.strip_prefix(&format!("SCRIPT {when} ")));
        line.with_context(|| format!("no memory {when} in {:?}", ended.lines))?
            .parse()
            .context("not a number")
    };
    let report = read(&wait_for_report(folder.path(), LIMIT)?)?;
    // The last message is still running.
    let newest = report.history.last().context("no history")?;
    assert_eq!(newest.first_token + u64::from(newest.count), messages);
    let oldest = report.history.first().context("no history")?;
    let counted: u64 = report.history.iter().map(|record| u64::from(record.count)).sum();
    assert_eq!(oldest.first_token + counted, messages, "records follow each other without a gap");
    assert!(report.history.len() <= 101, "100 records and the open one, not {}", report.history.len());
    assert!(details(&report).any(|detail| detail.message.is_some()));
    Ok((memory("early")?, memory("late")?))
}

#[test]
fn a_million_messages_leave_memory_as_it_was() -> Result<()> {
    for (messages, hook) in [(1_000_000, "hook=AUTO"), (200_000, "hook=PRINTER")] {
        let (early, late) = soak(messages, &[hook])?;
        println!("{hook}: {messages} messages, {early} KiB early, {late} KiB late");
        // A byte for each of a million messages would be a megabyte; the Java heap settles within a few.
        assert!(late < early + 3_000, "{hook}: memory grew from {early} to {late} KiB");
    }
    Ok(())
}
