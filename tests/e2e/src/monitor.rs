//! kill -9 of processes that append to one file of the performance monitor: only the line in flight is lost.

use crate::launcher;
use anyhow::{Context, Result, ensure};
use lab_reports::LIMIT;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The results of all runs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Appended {
    /// How many processes were killed.
    pub runs: usize,
    /// Lines that the processes had announced, all of which are in the file.
    pub announced: u64,
    /// Lines in the file that the processes had not announced.
    pub in_flight: u64,
    /// Lines that are cut off, because their process was killed while it wrote them. `in_flight` does not
    /// include them.
    pub torn: u64,
}

/// Kills `runs` processes that append to the same file, each after it has announced some lines.
///
/// # Errors
/// When an announced line is missing, or a damaged line is not the last one of its process.
pub fn kill_appending(testbed: &str, folder: &Path, runs: usize) -> Result<Appended> {
    let launcher = launcher(testbed)?;
    let mut announced = Vec::new();
    for run in 0..runs {
        let app = launcher.app("scenario.MonitorAppends").argument(format!("dir={}", folder.display()));
        let mut app = app.argument(format!("run={run}")).start()?;
        // Another line each time; whatever it does then is cut off.
        app.wait_for(&format!("SCRIPT wrote {}", 5 + run % 40), LIMIT)?;
        app.kill();
        while app.wait_for("SCRIPT wrote", LIMIT).is_ok() {}
        let last = app.seen().iter().rev().find_map(|line| line.strip_prefix("SCRIPT wrote "));
        announced.push(last.context("nothing was announced")?.parse::<u64>()?);
        ensure!(!app.seen().iter().any(|line| line.contains("did not write")), "run {run}");
    }
    // The kernel stops a write between two pages when its process is killed: then the last line is cut,
    // within a character even.
    let text = fs::read(folder.join("uiperf-2026-11-22.jsonl")).context("no file")?;
    let text = String::from_utf8_lossy(&text);
    let mut found = vec![0_u64; runs];
    let mut appended = Appended { runs, ..Appended::default() };
    for line in text.lines().filter(|line| !line.is_empty()) {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            appended.torn += 1;
            continue;
        };
        let run = line["run"].as_u64().context("no run")? as usize;
        if let Some(number) = line["n"].as_u64() {
            found[run] += 1;
            ensure!(number == found[run], "run {run}: line {number} after {}", found[run] - 1);
        }
    }
    for (run, (&announced, &found)) in announced.iter().zip(&found).enumerate() {
        ensure!(
            found >= announced && found <= announced + 1,
            "run {run}: {found} lines, {announced} announced"
        );
        appended.announced += announced;
        appended.in_flight += found - announced;
    }
    ensure!(
        appended.torn + appended.in_flight <= runs as u64,
        "more than one line of a process: {appended:?}"
    );
    Ok(appended)
}
