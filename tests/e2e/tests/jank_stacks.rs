//! Which frames and messages have stacks, from which age on, and which code is on top of them.

use anyhow::{Context, Result, bail};
use lab_reports::{Frame, LIMIT, read, stacks_of};
use loopbox_e2e::launcher;
use loopbox_format::model::{Report, StackTree};
use std::collections::BTreeSet;
use tempfile::tempdir;

const MS: u64 = 1_000_000;
/// The lengths of the slow frames, in milliseconds.
const LENGTHS: [u64; 4] = [55, 75, 102, 731];
/// How many processes are tried. In a frame of 55 ms the sampler has 30 ms for a stack, and may be too late
/// when other threads use the processors.
const TRIES: usize = 10;

/// What a run of `smooth.Culprits` leaves.
struct Run {
    said: Vec<String>,
    before: Report,
    scroll: Report,
    after: Report,
}

impl Run {
    fn new(testbed: &str, arguments: &[&str]) -> Result<Self> {
        let folder = tempdir()?;
        let launcher = launcher(testbed)?;
        let mut app = launcher.app("smooth.Culprits").argument(format!("dir={}", folder.path().display()));
        for argument in arguments {
            app = app.argument(*argument);
        }
        let said = app.start()?.finish(LIMIT)?.success()?.lines;
        let report = |what: &str| {
            let path = said.iter().find_map(|line| line.strip_prefix(&format!("SCRIPT {what} ")));
            read(path.with_context(|| format!("no report {what}"))?.as_ref())
        };
        let (before, scroll, after) = (report("before")?, report("scroll")?, report("after")?);
        Ok(Self { said, before, scroll, after })
    }

    /// The frame time of the frame with this length, in whole milliseconds.
    fn frame_ms(&self, length: u64) -> Result<u64> {
        let ms = self.said.iter().find_map(|line| line.strip_prefix(&format!("SCRIPT frame {length} ")));
        Ok(ms.context("no such frame")?.parse()?)
    }
}

/// The first method that is not `System.nanoTime` or `Work.busy`.
fn on_top(stack: &[Frame]) -> Option<String> {
    let mut names = stack.iter().map(Frame::short);
    names.find(|name| !["System.nanoTime", "Work.busy"].contains(&name.as_str()))
}

/// The age of the message, in nanoseconds, at each stack of the tree. Only stacks with this method on top
/// count.
fn ages_of(report: &Report, tree: &StackTree, method: &str) -> Result<Vec<u64>> {
    let mut age_ns = 0;
    let mut ages = Vec::new();
    for ((stack, _), delta_ns) in stacks_of(report, tree)?.iter().zip(&tree.sample_deltas_ns) {
        age_ns += delta_ns;
        if on_top(stack).as_deref() == Some(method) {
            ages.push(age_ns);
        }
    }
    Ok(ages)
}

/// As [`ages_of`], for all trees of the report.
fn all_ages_of(report: &Report, method: &str) -> Result<Vec<u64>> {
    let ages: Result<Vec<_>> = report.trees.iter().map(|tree| ages_of(report, tree, method)).collect();
    Ok(ages?.concat())
}

/// Repeats runs until `is_enough` returns true.
fn try_runs(
    testbed: &str,
    arguments: &[&str],
    mut is_enough: impl FnMut(&Run) -> Result<bool>,
) -> Result<()> {
    for _ in 0..TRIES {
        if is_enough(&Run::new(testbed, arguments)?)? {
            return Ok(());
        }
    }
    bail!("the sampler came too late in {TRIES} runs")
}

fn slow_frames_have_their_code_on_top(testbed: &str, hook: &str) -> Result<()> {
    /// The age from which a frame is sampled: one and a half refreshes.
    const ONSET: u64 = 25 * MS;
    /// The age from which messages other than slow frames would be sampled. By default only slow frames and
    /// hangs keep stacks.
    const USUAL_ONSET: u64 = 50 * MS;

    let (mut named, mut early) = (BTreeSet::new(), false);
    try_runs(testbed, &[hook], |run| {
        for length in LENGTHS {
            let frame_ms = run.frame_ms(length)?;
            let janks = &run.scroll.frames.janks;
            let jank = janks.iter().find(|jank| jank.frame_time_ns.0 / MS == frame_ms);
            let jank =
                jank.with_context(|| format!("no frame of {length} ms at {frame_ms} in {janks:#?}"))?;
            assert!(jank.own_ns >= Some(length * MS), "{length}: {jank:#?}");
            let mut trees = run.scroll.trees.iter();
            let Some(tree) = trees.find(|tree| Some(tree.token) == jank.tree_token) else { continue };
            let first_ns = tree.sample_deltas_ns.first().copied();
            assert!(first_ns >= Some(ONSET), "{length}: {tree:#?}");
            early |= first_ns < Some(USUAL_ONSET);
            if !ages_of(&run.scroll, tree, &format!("Culprits$Rows.take{length}"))?.is_empty() {
                named.insert(length);
            }
        }
        for report in [&run.before, &run.after] {
            for method in ["Culprits$Before.run", "Culprits$After.run"] {
                assert_eq!(all_ages_of(report, method)?, Vec::<u64>::new());
            }
        }
        println!(
            "{testbed}: of {LENGTHS:?} ms have their code on top: {named:?}; some before 50 ms: {early}"
        );
        Ok(early && named.len() == LENGTHS.len())
    })
}

#[test]
fn frames_of_50_to_731_ms_have_their_code_on_top() -> Result<()> {
    slow_frames_have_their_code_on_top("art10", "hook=AUTO")?;
    slow_frames_have_their_code_on_top("art11", "hook=PRINTER")
}

#[test]
fn they_have_in_compiled_code() -> Result<()> {
    slow_frames_have_their_code_on_top("art11-jit", "hook=PRINTER")
}

/// In this run a message keeps its stacks even if there is only one.
fn nothing_younger_than_50_ms_is_sampled_without_a_session(testbed: &str, hook: &str) -> Result<()> {
    try_runs(testbed, &[hook, "minSamples=1"], |run| {
        let before = all_ages_of(&run.before, "Culprits$Before.run")?;
        let after = all_ages_of(&run.after, "Culprits$After.run")?;
        println!("{testbed}: first stacks at {:?} and {:?} ns", before.iter().min(), after.iter().min());
        assert!(before.iter().chain(&after).all(|&age_ns| age_ns >= 50 * MS), "{before:?}, {after:?}");
        Ok(!before.is_empty() && !after.is_empty())
    })
}

#[test]
fn a_message_is_sampled_from_50_ms_on_when_nothing_scrolls() -> Result<()> {
    nothing_younger_than_50_ms_is_sampled_without_a_session("art10", "hook=AUTO")?;
    nothing_younger_than_50_ms_is_sampled_without_a_session("art11", "hook=PRINTER")?;
    nothing_younger_than_50_ms_is_sampled_without_a_session("art11-jit", "hook=AUTO")
}
