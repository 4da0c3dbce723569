//! Frames of every kind: what the sampler says is held against the dex files, stack by stack.

use anyhow::{Context, Result};
use loopbox_e2e::truth::{Tally, oracle};
use loopbox_e2e::{LIMIT, launcher, read};
use loopbox_format::model::{DumpReason, Report};
use loopbox_oracle::Oracle;
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
    let launcher = launcher(bed)?;
    let oracle = oracle(&launcher)?;
    println!("{bed}: phase, samples, pairs, longest stop, missed");
    // A directory keeps a bounded number of reports, so a few phases at a time.
    for phases in PHASES.chunks(6) {
        let folder = tempdir()?;
        let app = launcher.app("frames.Frames").property("loopbox.dir", folder.path().display());
        let app = phases.iter().fold(app.argument(phase_ms.to_string()), |app, phase| app.argument(*phase));
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let done = format!("phases done: {}", phases.len());
        assert!(ended.lines.contains(&done), "{:?}\n{}", ended.lines, ended.errors);
        let mut unseen = phases.to_vec();
        for file in reports(folder.path())? {
            let report = read(&file)?;
            let DumpReason::Requested(reason) = &report.meta.reason else { continue };
            let phase = reason.strip_prefix("phase ").context("a report of something else")?.to_owned();
            check_phase(&oracle, &phase, report)?;
            unseen.retain(|p| *p != phase);
        }
        assert_eq!(unseen, Vec::<&str>::new(), "phases without a report");
    }
    Ok(())
}

/// The running message is the phase; trees of the phases before are checked with their own reports.
fn check_phase(oracle: &Oracle, phase: &str, mut report: Report) -> Result<()> {
    let newest = report.trees.pop().with_context(|| format!("no stacks of {phase}"))?;
    report.trees = vec![newest];
    let mut tally = Tally::default();
    tally.add(oracle, &report, "Frames.main")?;
    let (samples, pairs, missed) = (tally.samples, tally.pairs_checked(), tally.missed);
    println!("{phase:>16} {samples:6} {pairs:7} {:8.1} us {missed:4}", tally.longest_stop_ns as f64 / 1e3);
    assert!(tally.wrong.is_empty(), "{phase}: {:#?}", tally.wrong);
    assert_eq!(tally.rootless, 0, "{phase}: stacks that do not end in main");
    assert!(tally.samples > 0, "{phase} was never sampled");
    assert!(tally.methods.keys().any(|m| m.contains(phase)), "{phase}: {:?}", tally.methods);
    Ok(())
}

#[test]
fn art_10_interpreted() -> Result<()> {
    check("art10", 300)
}
