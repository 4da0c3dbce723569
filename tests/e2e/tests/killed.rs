//! A process that is killed in the middle of a hang: the next launch finds what it recorded.

use anyhow::{Context, Result};
use lab_reports::live::{running_tree, wait_for_ring};
use lab_reports::{Frame, LIMIT, details_of, read, stacks_of};
use loopbox_e2e::kill::{self, Recording};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, Feature, MainState, RecordKind, Report};
use std::fs;
use tempfile::tempdir;

/// These processes wait most of the time, so two processors are enough for 50 of them; `cargo xtask stress
/// kill` runs more.
#[test]
fn processes_killed_at_random_moments_lose_half_a_second_at_the_most() -> Result<()> {
    const RUNS: usize = 50;
    let figures = kill::run(Recording { testbed: "art10", hook: "AUTO", known_ends: false }, RUNS, 6)?;
    println!("{figures:?}");
    assert_eq!(figures.runs, RUNS);
    assert!(figures.named > 0 && figures.starved < RUNS);
    assert_eq!(figures.hangs, figures.named + figures.too_young + figures.careful);
    Ok(())
}

#[test]
fn a_killed_hang_is_reported_at_the_next_launch() -> Result<()> {
    ["art10", "art11-x86"].into_iter().try_for_each(killed_in_its_hang)
}

fn killed_in_its_hang(testbed: &str) -> Result<()> {
    let folder = tempdir()?;
    let launcher = launcher(testbed)?;
    let directory = format!("dir={}", folder.path().display());
    let mut first = launcher.app("scenario.Demo").argument(&*directory).start()?;
    first.wait_for("SCRIPT hang", LIMIT)?;
    let pid = first.pid();
    let saved = |report: &Report| {
        let MainState::Running(running) = &report.main else { return false };
        running_tree(report).is_some() && running.message.is_some()
    };
    wait_for_ring("the hang's stacks and name are in the ring", folder.path(), pid, saved)?;
    first.kill();

    let mut second = launcher.app("scenario.Demo").argument(&*directory).start()?;
    let line = second.wait_for("SCRIPT report", LIMIT)?;
    let path = line.split_whitespace().nth(2).context("no path")?.to_owned();
    assert!(line.ends_with(" recovered"), "{line}");
    second.wait_for("SCRIPT hang", LIMIT)?;
    second.kill();

    let report = read(path.as_ref())?;
    assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: None });
    assert_eq!(report.meta.process.pid, pid);
    assert!(report.history.iter().any(|r| r.kind == RecordKind::Single));
    assert!(details_of(&report, "com.example.shop.ShopHandler").count() >= 3);
    let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
    let message = running.message.as_ref().context("the running message has no name")?;
    assert_eq!(message.target, "com.example.shop.CheckoutActivity");
    let tree = running_tree(&report).context("no stacks of the hang")?;
    for (stack, _) in stacks_of(&report, tree)? {
        let names: Vec<_> = stack.iter().map(Frame::short).collect();
        assert!(
            names.iter().any(|n| n == "Prices.load") && names.last().is_some_and(|n| n == "Demo.main"),
            "{names:?}"
        );
    }
    assert!(report.features.iter().any(|f| f.feature == Feature::Sampler && f.on));

    // Only the second process's ring is left, for the third launch.
    let rings =
        fs::read_dir(folder.path())?.flatten().filter(|e| e.file_name().to_string_lossy().contains(".lbr"));
    assert_eq!(rings.count(), 1);
    Ok(())
}
