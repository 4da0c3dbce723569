//! Frames of every kind: what the sampler says is held against the dex files, stack by stack.

use anyhow::{Context, Result};
use loopbox_e2e::truth::{Tally, oracle};
use loopbox_e2e::{LIMIT, launcher, read};
use loopbox_format::model::DumpReason;
use tempfile::tempdir;
use xtask::launch::reports;

const PHASES: [&str; 17] = [
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

/// Runs every phase for `phase_ms` under a collector that moves objects, and checks every stack of every report.
fn check(bed: &str, phase_ms: u32) -> Result<()> {
    let folder = tempdir()?;
    let launcher = launcher(bed)?;
    let oracle = oracle(&launcher)?;
    let app = launcher.app("frames.Frames").property("loopbox.dir", folder.path().display());
    let ended = app.argument(phase_ms.to_string()).start()?.finish(LIMIT)?.success()?;
    assert!(ended.lines.iter().any(|l| l == &format!("phases done: {}", PHASES.len())), "{:?}", ended.lines);
    let mut unseen = PHASES.to_vec();
    println!("{bed}: phase, samples, pairs, wrong, longest stop, missed");
    for file in reports(folder.path())? {
        let mut report = read(&file)?;
        let DumpReason::Requested(reason) = &report.meta.reason else { continue };
        let phase = reason.strip_prefix("phase ").context("a report of something else")?.to_owned();
        // The running message is the phase; trees of the phases before were checked with their own reports.
        let newest = report.trees.pop().with_context(|| format!("no stacks of {phase}"))?;
        report.trees = vec![newest];
        let mut tally = Tally::default();
        tally.add(&oracle, &report, "Frames.main")?;
        println!(
            "{phase:>16} {:6} {:7} {:3} {:8.1} us {:4}",
            tally.samples,
            tally.pairs_checked(),
            tally.wrong.len(),
            tally.longest_stop_ns as f64 / 1e3,
            tally.missed
        );
        assert!(tally.wrong.is_empty(), "{phase}: {:#?}", tally.wrong);
        assert_eq!(tally.rootless, 0, "{phase}: stacks that do not end in main");
        assert!(tally.samples > 0, "{phase} was never sampled");
        assert!(tally.methods.keys().any(|m| m.contains(&phase)), "{phase}: {:?}", tally.methods);
        unseen.retain(|p| *p != phase);
    }
    assert_eq!(unseen, Vec::<&str>::new(), "phases without a report");
    Ok(())
}

#[test]
fn art_10_interpreted() -> Result<()> {
    check("art10", 300)
}
