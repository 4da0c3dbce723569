//! The library that ships, unchanged, on real ARTs: linked for Android, stripped, loaded by
//! `System.loadLibrary`.

use anyhow::{Context, Result};
use lab_launch::{Launcher, wait_for_report};
use lab_reports::live::{quit, running_tree, wait_for_ring};
use lab_reports::{LIMIT, feature, read, stacks_of};
use loopbox_e2e::HANG_REPORT_LATE;
use loopbox_format::model::{DumpReason, Feature, MainState, Report};
use loopbox_testbed::to_test_on;
use tempfile::tempdir;

/// The variable that limits how many pthread keys the library may make (`shim.c`).
const KEYS: &str = "SHIM_PTHREAD_KEYS";

/// An app hangs, SIGQUIT comes, the report is read.
fn hang(launcher: &Launcher) -> Result<Report> {
    let folder = tempdir()?;
    let app = launcher.app("scenario.Demo").argument(format!("dir={}", folder.path().display()));
    let app = app.argument(HANG_REPORT_LATE);
    // Thread-local variables are made of the C library's keys there, of which a process has few.
    let mut app = app.env(KEYS, "1").start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    let sampled = |report: &Report| running_tree(report).is_some_and(|t| t.sample_deltas_ns.len() >= 10);
    wait_for_ring("the hang is sampled", folder.path(), app.pid(), sampled)?;
    quit(&app)?;
    let report = read(&wait_for_report(folder.path(), LIMIT)?);
    app.kill();
    report
}

#[test]
fn without_a_pthread_key_the_app_runs_without_it() -> Result<()> {
    let folder = tempdir()?;
    let launcher = Launcher::shipped("art10")?;
    let app = launcher.app("scenario.Demo").argument(format!("dir={}", folder.path().display()));
    let mut app = app.env(KEYS, "0").start()?;
    let status = app.wait_for("SCRIPT not installed", LIMIT)?;
    assert!(status.contains("no pthread key left"), "{status}");
    app.finish(LIMIT)?.success()?;
    Ok(())
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
