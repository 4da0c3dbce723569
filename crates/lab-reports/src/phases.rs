//! The reports of the app of frames (`tests/app/frames`), one for each phase, and whether the stacks in them
//! are possible.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use lab_oracle::Oracle;
use loopbox_format::model::{DumpReason, Feature, MainState, Report, StackSource};

use crate::truth::Tally;
use crate::{feature, read};

/// The phases of `frames.Frames`, in its order.
pub const PHASES: [&str; 17] = [
    "Recursion",
    "InlinedChain",
    "HotLoop",
    "Virtual",
    "Reflective",
    "Proxied",
    "Handles",
    "NativeCallback",
    "Library",
    "Exceptions",
    "NullChecks",
    "StackOverflow",
    "Contended",
    "Waits",
    "Sleeps",
    "Allocation",
    "ClassLoading",
];

/// The bottom of the main thread's stacks. In the host program it is the app's `main`. In Android's
/// `app_process` it is the method that calls `main`.
const BOTTOM: [&str; 2] = ["Frames.main", "RuntimeInit.main"];

/// The results of one run of all phases.
#[derive(Debug, Default)]
pub struct Figures {
    /// How many stacks were checked.
    pub samples: usize,
    /// How many pairs of neighbouring frames were checked.
    pub pairs: usize,
    /// Pairs that cannot be true, in words, and how often.
    pub wrong: BTreeMap<String, usize>,
    /// How many samples were due and could not be taken.
    pub missed: u64,
    /// The longest time that one sample kept the main thread stopped.
    pub longest_stop_ns: u64,
    /// How many suspensions the runtime gave up.
    pub timeouts: u64,
    /// Phases that had ended before their first stack, and were run again for longer.
    pub again: Vec<&'static str>,
    /// How many methods the runtime reports as compiled.
    pub compiled: usize,
    /// All other failures, such as a phase that was never seen.
    pub faults: Vec<String>,
}

impl Figures {
    /// Whether nothing was wrong.
    pub fn good(&self) -> bool {
        self.wrong.is_empty() && self.faults.is_empty()
    }

    /// Checks the stacks of a phase's report. Returns whether the phase's method is in any of them. It may be
    /// in none when the sampler was late: then the phase's message was already writing the report.
    ///
    /// # Errors
    /// When a tree contradicts itself.
    pub fn add(&mut self, oracle: &Oracle, phase: &str, report: &Report) -> Result<bool> {
        // Stacks of Thread.getStackTrace have no signatures and no dex pcs: there is nothing to compare them
        // with, and a runtime that was sampled in another process must not be unknown in this one.
        if report.trees.iter().any(|tree| tree.source == StackSource::JavaApi) {
            let (on, how) = feature(report, Feature::Sampler);
            if on && !how.starts_with("by Thread.getStackTrace") {
                // A report that was asked for before the sampler was ready has the only stack that could be
                // had.
                return Ok(false);
            }
            self.faults.push(format!("{phase} was sampled {how}"));
            return Ok(true);
        }
        let mut tally = Tally::default();
        tally.add(oracle, report, &BOTTOM)?;
        self.samples += tally.samples;
        self.pairs += tally.pairs_checked();
        self.missed += tally.missed;
        self.longest_stop_ns = self.longest_stop_ns.max(tally.longest_stop_ns);
        for (why, count) in &tally.wrong {
            *self.wrong.entry(format!("{phase}: {why}")).or_default() += count;
        }
        if tally.rootless > 0 {
            self.faults.push(format!("{phase}: {} stacks do not end in main", tally.rootless));
        }
        Ok(tally.methods.keys().any(|method| method.contains(phase)))
    }
}

/// The reports of phases among these files, in order, each with the stacks of that phase only.
///
/// # Errors
/// When a file is no intact report, or its phase had ended before the report.
pub fn phase_reports(files: &[PathBuf]) -> Result<Vec<(String, Report)>> {
    let mut sampled = Vec::new();
    for file in files {
        let mut report = read(file)?;
        let DumpReason::Requested(reason) = &report.meta.reason else { continue };
        let phase = reason.strip_prefix("phase ").context("a report of something else")?.to_owned();
        // The running message is the phase; other trees are of the phases before.
        let MainState::Running(running) = &report.main else { bail!("{phase} is over in its own report") };
        let token = running.token;
        report.trees.retain(|tree| tree.token == token);
        sampled.push((phase, report));
    }
    Ok(sampled)
}
