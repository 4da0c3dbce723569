//! The library that ships, unchanged, on real ARTs: linked for Android, stripped, loaded by `System.loadLibrary`.

use anyhow::{Context, Result};
use loopbox_e2e::live::{quit, running_tree, wait_for_ring};
use loopbox_e2e::{LIMIT, feature, read, stacks_of};
use loopbox_format::model::{DumpReason, Feature, MainState, Report};
use loopbox_launch::{Launcher, wait_for_report};
use loopbox_testbed::to_test_on;
use tempfile::tempdir;

/// An app hangs, SIGQUIT comes, the report is read.
fn hang(launcher: &Launcher) -> Result<Report> {
    let folder = tempdir()?;
    let mut app =
        launcher.app("scenario.Demo").argument(format!("dir={}", folder.path().display())).start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    let sampled = |report: &Report| running_tree(report).is_some_and(|t| t.sample_deltas_ns.len() >= 10);
    wait_for_ring("the hang is sampled", folder.path(), app.pid(), sampled)?;
    quit(&app)?;
    let report = read(&wait_for_report(folder.path(), LIMIT)?);
    app.kill();
    report
}

#[test]
fn it_hooks_records_samples_and_reports() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11", "art11-arm64"]) {
        let report = hang(&Launcher::shipped(&testbed)?)?;
        assert_eq!(report.meta.reason, DumpReason::SigQuit);
        let abi = if testbed.ends_with("-arm64") { "arm64-v8a" } else { "x86_64" };
        assert_eq!(report.meta.process.abi, abi);
        for part in [Feature::Hook, Feature::Sampler, Feature::Ring, Feature::SigQuit] {
            let (on, detail) = feature(&report, part);
            assert!(on, "{testbed}: {part:?}: {detail}");
        }
        assert!(report.history.len() > 5, "{testbed}: {} records", report.history.len());
        let MainState::Running(running) = &report.main else { panic!("{testbed}: {:?}", report.main) };
        let tree = report.trees.last().with_context(|| format!("{testbed}: no stacks"))?;
        assert_eq!(tree.token, running.token, "{testbed}: the last stacks are the running message's");
        let stacks = stacks_of(&report, tree)?;
        let hung =
            stacks.iter().filter(|(frames, _)| frames.iter().any(|f| f.short() == "CheckoutActivity.onPay"));
        assert!(hung.count() * 10 > stacks.len() * 9, "{testbed}: {} stacks", stacks.len());
    }
    Ok(())
}
