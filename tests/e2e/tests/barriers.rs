//! A main thread that sleeps while ordinary messages are due: a leaked sync barrier, without any SIGQUIT; and
//! cases that only resemble this one.

use anyhow::{Context, Result};
use lab_launch::{Running, reports};
use lab_reports::LIMIT;
use lab_reports::live::{quit, wait_until};
use loopbox_e2e::launcher;
use loopbox_format::model::{AnrVerdict, DumpReason, MainState, Report};
use loopbox_format::report::decode;
use loopbox_report::Analysis;
use loopbox_report::diagnose::{Confidence, Diagnosis, diagnose};
use loopbox_testbed as testbed;
use std::path::PathBuf;
use tempfile::{TempDir, tempdir};

const MS: u64 = 1_000_000;
/// The hang threshold of the apps here.
const HANG_MS: u64 = 2_600;
/// The file that lets the app continue.
const GATE: &str = "gate";

struct Played {
    folder: TempDir,
    app: Running,
}

impl Played {
    fn begin(testbed: &str, arguments: &[&str]) -> Result<Self> {
        Self::begin_with(testbed, arguments, "")
    }

    fn begin_with(testbed: &str, arguments: &[&str], fault: &str) -> Result<Self> {
        let folder = tempdir()?;
        let mut app = launcher(testbed)?.app("scenario.Barriers").env("LOOPBOX_FAULT", fault);
        app = app.argument(format!("dir={}", folder.path().display()));
        let gate = folder.path().join(GATE);
        app = app.argument(format!("hangMs={HANG_MS}")).argument(format!("gate={}", gate.display()));
        for argument in arguments {
            app = app.argument(*argument);
        }
        let app = app.start()?;
        Ok(Self { folder, app })
    }

    /// The complete report with which the app's listener is called, and its diagnosis.
    fn report(&mut self, why: &str) -> Result<(PathBuf, Report, Diagnosis)> {
        let line = loop {
            let line = self.app.wait_for("SCRIPT report", LIMIT)?;
            if line.ends_with(why) {
                break line;
            }
        };
        let path = PathBuf::from(line.split(' ').nth(2).context("no path")?);
        let decoded = decode(&std::fs::read(&path)?)?;
        let diagnosis = diagnose(&Analysis::new(&decoded));
        Ok((path, decoded.report, diagnosis))
    }

    fn open_gate(&self) -> Result<()> {
        std::fs::write(self.folder.path().join(GATE), "").context("cannot open the gate")
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        reports(self.folder.path())
    }
}

/// Checks that the report is one of a hang, without a signal, and that its cause is the barrier.
fn assert_barrier(report: &Report, diagnosis: &Diagnosis, has_stack: bool) {
    assert_eq!(report.meta.reason, DumpReason::Hang);
    assert_eq!(report.anr.verdict, AnrVerdict::Hang, "{:?}", report.anr);
    assert!(report.anr.ran_ns >= HANG_MS * MS && report.anr.signal.is_none(), "{:?}", report.anr);
    let cause = diagnosis.causes.first().filter(|cause| cause.rule == "barrier");
    // Whether the Looper waited is known by its stack.
    let sure = cause.is_some_and(|cause| cause.confidence == Confidence::High || !has_stack);
    assert!(sure, "{diagnosis:#?}");
}

/// Tests each hook and each way to watch main. The last run has the fault `unknown-art`: its stacks come from
/// `Thread.getStackTrace`.
#[test]
fn a_leaked_barrier_is_a_hang_without_any_signal() -> Result<()> {
    let printers = testbed::to_test_on(&["art10", "art11", "art14"]);
    let mut ways: Vec<_> = printers.iter().map(|testbed| (testbed.as_str(), "hook=PRINTER", "")).collect();
    ways.extend([
        ("art10", "hook=OBSERVER", ""),
        ("art11", "hook=NONE", ""),
        ("art11", "sampling=off", ""),
        ("art11", "watchInput=on", ""),
        ("art11", "hook=PRINTER", "unknown-art"),
    ]);
    for (testbed, option, fault) in ways {
        let way = format!("{option} {fault} on {testbed}");
        let mut played = Played::begin_with(testbed, &["mode=leaked", option], fault)?;
        let (_, report, diagnosis) = played.report("hang").with_context(|| way.clone())?;
        println!("{way}: {}", diagnosis.headline);
        assert!(matches!(report.main, MainState::Idle { .. } | MainState::Unknown), "{:?}", report.main);
        assert_barrier(&report, &diagnosis, option != "sampling=off");
        played.app.kill();
    }
    Ok(())
}

/// The queue's list is read by reflection, on the framework's real classes. The oldest level tested here is
/// the first one with a method that leaves a barrier. The newest is the last one whose queue is a list.
#[test]
fn a_leaked_barrier_is_a_hang_on_real_levels_whose_queue_is_a_list() -> Result<()> {
    for level in ["fw23", "fw28", "fw31", "fw35", "fw37-legacy"] {
        let mut played = Played::begin(&format!("art11-{level}"), &["mode=leaked"])?;
        let (_, report, diagnosis) = played.report("hang").with_context(|| level)?;
        println!("{level}: {}", diagnosis.headline);
        assert_barrier(&report, &diagnosis, true);
        played.app.kill();
    }
    Ok(())
}

/// The recorder can read this queue only by printing it, which runs code of the app. So it reads the queue at
/// SIGQUIT and not before: it reports no hang by itself, and the report at SIGQUIT names the barrier.
#[test]
fn a_barrier_in_a_queue_without_a_list_is_found_by_the_signal() -> Result<()> {
    for level in ["fw36-concurrent", "fw37"] {
        let mut played = Played::begin(&format!("art11-{level}"), &["mode=leaked", "left=say"])?;
        played.app.wait_for("SCRIPT left for long", LIMIT)?;
        assert!(played.files()?.is_empty(), "{level}: {:?}", played.files());
        quit(&played.app)?;
        let (_, report, diagnosis) = played.report("sigquit").with_context(|| level)?;
        println!("{level}: {}", diagnosis.headline);
        assert_eq!(report.meta.reason, DumpReason::SigQuit);
        assert_eq!(
            diagnosis.causes.first().map(|cause| cause.rule),
            Some("barrier"),
            "{level}: {diagnosis:#?}"
        );
        played.app.kill();
    }
    Ok(())
}

/// The recorder reports the hang before the system's signal comes. The report at the signal replaces the
/// first one, in the same file.
#[test]
fn the_signal_that_comes_later_goes_into_the_same_file() -> Result<()> {
    let mut played = Played::begin("art11", &["mode=leaked"])?;
    let (path, report, diagnosis) = played.report("hang")?;
    assert_barrier(&report, &diagnosis, true);
    quit(&played.app)?;
    let (again, report, diagnosis) = played.report("sigquit")?;
    assert_eq!((&again, played.files()?.len()), (&path, 1));
    assert_eq!(report.meta.reason, DumpReason::SigQuit);
    assert_eq!(diagnosis.causes.first().map(|cause| cause.rule), Some("barrier"), "{diagnosis:#?}");
    played.app.kill();
    Ok(())
}

#[test]
fn messages_behind_a_barrier_that_do_not_wake_main_are_noticed() -> Result<()> {
    for mode in ["mode=early", "mode=animated"] {
        let mut played = Played::begin("art11", &[mode])?;
        let (_, report, diagnosis) = played.report("hang").with_context(|| mode)?;
        println!("{mode}: {}", diagnosis.headline);
        assert_barrier(&report, &diagnosis, true);
        played.app.kill();
    }
    Ok(())
}

/// No thread of the recorder wakes up for the barrier before main has run.
#[test]
fn a_barrier_that_comes_while_main_sleeps_is_noticed_once_main_has_run() -> Result<()> {
    let mut played = Played::begin("art11", &["mode=asleep"])?;
    played.app.wait_for("SCRIPT leaked", LIMIT)?;
    played.open_gate()?;
    let (_, report, diagnosis) = played.report("hang")?;
    assert_barrier(&report, &diagnosis, true);
    played.app.kill();
    Ok(())
}

#[test]
fn a_message_that_is_due_and_woke_nobody_is_a_hang_and_no_free_main_thread() -> Result<()> {
    let mut played = Played::begin("art11", &["mode=unwoken"])?;
    let (_, report, diagnosis) = played.report("hang")?;
    assert_eq!(report.anr.verdict, AnrVerdict::Hang, "{:?}", report.anr);
    let rules: Vec<_> = diagnosis.causes.iter().map(|cause| cause.rule).collect();
    assert!(!rules.contains(&"main-free"), "{diagnosis:#?}");
    played.app.kill();
    Ok(())
}

#[test]
fn a_barrier_that_was_taken_away_is_reported_once_and_the_next_one_again() -> Result<()> {
    let mut played = Played::begin("art11", &["mode=leaked", "cleared=on"])?;
    let (first, ..) = played.report("hang")?;
    played.open_gate()?;
    played.app.wait_for("SCRIPT cleared", LIMIT)?;
    assert_eq!(played.files()?.len(), 1);
    let (second, report, diagnosis) = played.report("hang")?;
    assert_barrier(&report, &diagnosis, true);
    assert!(second != first && played.files()?.len() == 2);
    played.app.kill();
    Ok(())
}

#[test]
fn the_barriers_of_frames_are_no_hang() -> Result<()> {
    for hook in ["hook=PRINTER", "hook=NONE"] {
        let mut played = Played::begin("art11", &["mode=frames", hook])?;
        played.app.wait_for("SCRIPT frames are over", LIMIT)?;
        assert!(played.files()?.is_empty(), "{hook}: {:?}", played.files());
        played.app.kill();
    }
    Ok(())
}

#[test]
fn an_app_with_nothing_but_messages_of_the_future_wakes_nobody() -> Result<()> {
    for (testbed, hook) in [("art10", "hook=OBSERVER"), ("art11", "hook=PRINTER")] {
        let mut played = Played::begin(testbed, &["mode=idle", hook])?;
        let mut counted = Vec::new();
        wait_until("a time in which nobody is woken", || {
            let line = played.app.wait_for("SCRIPT ", LIMIT)?;
            counted.push(line.clone());
            Ok(line.starts_with("SCRIPT rested").then_some(()))
        })
        .with_context(|| format!("{counted:#?}"))?;
        println!("{testbed}, {hook}: {counted:#?}");
        assert!(played.files()?.is_empty(), "{:?}", played.files());
        played.app.kill();
    }
    Ok(())
}
