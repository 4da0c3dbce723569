//! Very many messages: the recorder's memory does not grow, and no message is lost or counted twice.
//!
//! `LOOPBOX_SOAK_MESSAGES` sends more than CI does, for example a million.

use anyhow::{Context, Result};
use lab_launch::wait_for_report;
use lab_reports::{LIMIT, feature, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{Feature, MainState, RecordKind, Report, Token};
use std::time::Duration;
use tempfile::tempdir;

const MESSAGES: u64 = 100_000;
/// How much memory may be added between the first quarter and the end. A leak of 16 bytes per message would
/// be 1.2 MB.
const MALLOC_GROWTH: i64 = 256 << 10;
/// How much resident memory may be added: pages that Java's collector has not given back come and go.
const RESIDENT_GROWTH: i64 = 2 << 20;

/// The state at a quarter of the run.
#[derive(Debug, Clone, Copy)]
struct Mark {
    messages: u64,
    resident: i64,
    malloc: i64,
}

fn mark(line: &str) -> Result<Mark> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["SCRIPT", "mark", messages, resident, malloc] = words[..] else {
        anyhow::bail!("not a mark: {line}")
    };
    Ok(Mark { messages: messages.parse()?, resident: resident.parse()?, malloc: malloc.parse()? })
}

fn soak(testbed: &str, hook: &str) -> Result<()> {
    let messages = match std::env::var("LOOPBOX_SOAK_MESSAGES") {
        Ok(number) => number.parse().context("LOOPBOX_SOAK_MESSAGES is not a number")?,
        Err(_) => MESSAGES,
    };
    let folder = tempdir()?;
    let app = launcher(testbed)?.app("scenario.Soak").argument(format!("dir={}", folder.path().display()));
    let app = app.argument(format!("hook={hook}")).argument(format!("messages={messages}"));
    let app = app.argument(format!("slowEach={}", messages / 100));
    let mut app = app.start()?;
    // Half a millisecond for each message is plenty, also for a debug build on a loaded machine.
    let limit = LIMIT + Duration::from_micros(messages * 500);
    let mut marks = Vec::new();
    for _ in 0..4 {
        marks.push(mark(&app.wait_for("SCRIPT mark", limit)?)?);
    }
    app.wait_for("SCRIPT end", limit)?;
    let report = read(&wait_for_report(folder.path(), LIMIT)?)?;
    println!("{testbed} {hook}: {marks:?}");
    assert_constant(&marks);
    assert_all_counted(&report, messages);
    assert!(feature(&report, Feature::Sampler).0, "{:?}", report.features);
    Ok(())
}

fn assert_constant(marks: &[Mark]) {
    let (first, last) = (marks[0], marks[marks.len() - 1]);
    assert_eq!(last.messages, first.messages * 4);
    let malloc = last.malloc - first.malloc;
    assert!(malloc <= MALLOC_GROWTH, "malloc grew by {malloc} bytes: {marks:?}");
    let resident = last.resident - first.resident;
    assert!(resident <= RESIDENT_GROWTH, "the process grew by {resident} bytes: {marks:?}");
}

fn assert_all_counted(report: &Report, messages: u64) {
    // The report was asked for by the last message.
    let MainState::Running(running) = &report.main else { panic!("main is {:?}", report.main) };
    assert_eq!(running.token, Token(messages));
    let counting = |kind| matches!(kind, RecordKind::Group | RecordKind::Single);
    let records: Vec<_> = report.history.iter().filter(|r| counting(r.kind)).collect();
    // The history reaches back as far as it has room for; within it nothing is missing.
    let mut next = records.first().expect("a history").first_token;
    for record in &records {
        assert_eq!(record.first_token, next, "a gap before {record:?}");
        next = next.plus(record.count.into());
    }
    assert_eq!(next, Token(messages), "all but the running message are in records");
    let named = records.iter().flat_map(|r| &r.details).filter(|d| d.message.is_some()).count();
    assert!(named > 0, "the long messages have names");
}

#[test]
fn many_messages_with_the_observer_on_art_10() -> Result<()> {
    soak("art10", "OBSERVER")
}

#[test]
fn many_messages_with_the_printer_on_art_10() -> Result<()> {
    soak("art10", "PRINTER")
}

#[test]
fn many_messages_with_the_printer_on_art_11() -> Result<()> {
    soak("art11", "PRINTER")
}
