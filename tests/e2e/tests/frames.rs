//! Frames of every kind: what the sampler says is held against the dex files, stack by stack.

use anyhow::{Context, Result};
use loopbox_e2e::truth::{Tally, named, oracle};
use loopbox_e2e::{LIMIT, launcher, read, stacks_of};
use loopbox_format::model::{DumpReason, Report};
use loopbox_oracle::Oracle;
use tempfile::tempdir;
use xtask::launch::{Launcher, reports};

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
        for (phase, report) in sample(&launcher, phases, phase_ms)? {
            check_phase(&oracle, &phase, &report)?;
        }
    }
    Ok(())
}

/// Runs some phases and returns the report of each, with the stacks of that phase only.
fn sample(launcher: &Launcher, phases: &[&str], phase_ms: u32) -> Result<Vec<(String, Report)>> {
    let folder = tempdir()?;
    let app = launcher.app("frames.Frames").property("loopbox.dir", folder.path().display());
    let app = phases.iter().fold(app.argument(phase_ms.to_string()), |app, phase| app.argument(*phase));
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let done = format!("phases done: {}", phases.len());
    assert!(ended.lines.contains(&done), "{:?}\n{}", ended.lines, ended.errors);
    let mut sampled = Vec::new();
    for file in reports(folder.path())? {
        let mut report = read(&file)?;
        let DumpReason::Requested(reason) = &report.meta.reason else { continue };
        let phase = reason.strip_prefix("phase ").context("a report of something else")?.to_owned();
        // The running message is the phase; the trees before it are of the phases before.
        let newest = report.trees.pop().with_context(|| format!("no stacks of {phase}"))?;
        report.trees = vec![newest];
        sampled.push((phase, report));
    }
    let names: Vec<_> = sampled.iter().map(|(phase, _)| phase.as_str()).collect();
    assert_eq!(names, phases, "one report a phase");
    Ok(sampled)
}

fn check_phase(oracle: &Oracle, phase: &str, report: &Report) -> Result<()> {
    let mut tally = Tally::default();
    tally.add(oracle, report, "Frames.main")?;
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

/// The oracle is no yes-man: it sees a dex pc that is off, and mostly a frame that is missing.
#[test]
fn the_oracle_sees_wrong_stacks() -> Result<()> {
    let launcher = launcher("art10")?;
    let oracle = oracle(&launcher)?;
    let (mut stacks, mut shifted, mut shortened) = (0, 0, 0);
    for (_, report) in sample(&launcher, &["Virtual", "Library"], 300)? {
        for (stack, _) in
            report.trees.iter().map(|tree| stacks_of(&report, tree)).collect::<Result<Vec<_>>>()?.concat()
        {
            let frames: Vec<_> = stack.iter().map(named).collect();
            let caller =
                frames.iter().skip(1).position(|f| f.dex_pc.is_some()).context("only native frames")? + 1;
            let mut wrong = frames.clone();
            wrong[caller].dex_pc = wrong[caller].dex_pc.map(|pc| pc + 1);
            shifted += usize::from(oracle.check(&wrong).is_err());
            let mut wrong = frames;
            wrong.remove(caller);
            shortened += usize::from(oracle.check(&wrong).is_err());
            stacks += 1;
        }
    }
    assert!(stacks > 0);
    assert_eq!(shifted, stacks, "every shifted dex pc is seen");
    assert!(shortened * 2 > stacks, "{shortened} of {stacks} missing frames were seen");
    Ok(())
}
