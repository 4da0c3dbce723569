//! SIGQUIT: our report first, then ART's own trace, whatever other code in the process handles the signal.

use anyhow::{Context, Result};
use lab_launch::{Ended, reports, wait_for_report};
use lab_reports::{LIMIT, feature, read};
use loopbox_e2e::taking::Taking;
use loopbox_e2e::{HANG_REPORT_LATE, launcher};
use loopbox_format::model::{AnrVerdict, DumpReason, Feature, MainState, Report, SignalOrigin, Token};
use tempfile::tempdir;

/// What the Signal Catcher logs when it gets its signal.
const CAUGHT: &str = "reacting to signal 3";

struct Scenario {
    /// The reports by SIGQUIT, oldest first.
    quits: Vec<Report>,
    /// The report that the app asked for at the end.
    last: Report,
    ended: Ended,
}

impl Scenario {
    fn run(testbed: &str, arguments: &[&str]) -> Result<Self> {
        let folder = tempdir()?;
        let mut app =
            launcher(testbed)?.app("scenario.Quits").argument(format!("dir={}", folder.path().display()));
        for argument in arguments {
            app = app.argument(*argument);
        }
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let all = reports(folder.path())?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
        // Not by their order: what the app asks for may be written before the answer to a signal of the same
        // moment.
        let (last, quits): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|report| report.meta.reason == DumpReason::Requested("at the end".into()));
        let last = last.into_iter().next().context("no report at the end")?;
        Ok(Self { quits, last, ended })
    }

    fn said(&self, words: &str) -> bool {
        self.ended.lines.iter().any(|line| line == &format!("SCRIPT {words}"))
    }

    fn caught(&self) -> usize {
        self.ended.errors.matches(CAUGHT).count()
    }
}

#[test]
fn each_signal_leaves_a_report_and_reaches_the_signal_catcher() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let scenario = Scenario::run(testbed, &["times=3", "each=answered"])?;
        let reported = scenario.ended.lines.iter().filter(|line| line.ends_with(" sigquit")).count();
        assert_eq!(
            (reported, scenario.quits.len()),
            (3, 1),
            "{testbed}: one message, one file, written anew each time"
        );
        assert_eq!(scenario.caught(), 3, "{testbed}");
        assert!(!scenario.ended.errors.contains("could not be forwarded"), "{}", scenario.ended.errors);
        for quit in &scenario.quits {
            assert_eq!(quit.meta.reason, DumpReason::SigQuit);
            let MainState::Running(running) = &quit.main else { panic!("{:?}", quit.main) };
            assert_eq!(running.token, Token(1));
            let signal = quit.anr.signal.context("no signal")?;
            assert_eq!((signal.origin, signal.count), (SignalOrigin::SameProcess, 3));
            assert_eq!(quit.anr.verdict, AnrVerdict::Responsive, "{:?}", quit.anr);
            let pid = quit.statistics.iter().find(|f| f.name == "sigquit.sender_pid").context("no sender")?;
            assert_eq!(pid.value, quit.meta.process.pid.to_string(), "the process sent it itself");
        }
    }
    Ok(())
}

/// The history does not name such a message, and so never says how long it took.
#[test]
fn a_report_about_a_short_message_is_closed_when_the_message_is_over() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let folder = tempdir()?;
        let unnamed = ["groupMs=9000", "detailMs=8000", "hangMs=60000"];
        let mut app = Taking::start(testbed, folder.path(), &unnamed)?;
        app.order("quit")?;
        let report = read(&wait_for_report(folder.path(), LIMIT)?)?;
        assert!(matches!(report.main, MainState::Running(_)), "{testbed}: {:?}", report.main);
        let taken = app.take_all(1)?;
        assert!(taken[0].0.starts_with("SIGQUIT RESPONSIVE complete"), "{testbed}: {taken:?}");
        let report = read(&taken[0].1)?;
        assert_eq!(report.anr.ended_after_ns, None, "{testbed}");
        app.end()?;
    }
    Ok(())
}

#[test]
fn a_storm_of_signals_does_no_harm() -> Result<()> {
    let scenario = Scenario::run("art10", &["times=500"])?;
    assert!(!scenario.quits.is_empty());
    assert!(scenario.caught() >= 1);
    assert!(feature(&scenario.last, Feature::SigQuit).0);
    assert!(feature(&scenario.last, Feature::Sampler).0, "{:?}", scenario.last.features);
    Ok(())
}

/// With `keepObjects`, the texts of the objects in pending messages come from the app's own `toString`. The
/// first file is on the disk before that code runs.
#[test]
fn the_first_file_is_there_before_the_app_is_asked_anything() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let scenario = Scenario::run(testbed, &["mode=printed", "each=answered", "keepObjects=on"])?;
        let printed: Vec<_> =
            scenario.ended.lines.iter().filter(|line| line.contains("printed with")).collect();
        // At the signal, and at the end.
        assert_eq!(printed, ["SCRIPT printed with 1 reports", "SCRIPT printed with 2 reports"], "{testbed}");
        let [quit] = scenario.quits.as_slice() else { panic!("{} reports", scenario.quits.len()) };
        assert!(!quit.pending.lines.is_empty(), "{testbed}: {:?}", quit.pending);
        assert!(quit.statistics.iter().any(|statistic| statistic.name == "report.first_file_ns"));
    }
    Ok(())
}

/// Neither a listener nor a message that prints itself nor a disk can delay ART's trace. And when nothing
/// records any more, a signal still reaches the Signal Catcher, whichever thread gets it.
#[test]
fn the_signal_is_forwarded_whatever_code_of_the_app_does() -> Result<()> {
    for testbed in ["art10", "art11"] {
        for (mode, at_least) in [("listener", 2), ("queue", 2), ("disk", 1), ("ended", 1)] {
            let folder = tempdir()?;
            let app = launcher(testbed)?.app("scenario.Forwarded").env("LOOPBOX_FAULT", mode);
            let app = app.argument(format!("dir={}", folder.path().display()));
            let ended = app.argument(format!("mode={mode}")).start()?.finish(LIMIT)?.success()?;
            assert!(
                ended.lines.iter().any(|line| line == "SCRIPT forwarded"),
                "{testbed}, {mode}: {:?}",
                ended.lines
            );
            let caught = ended.errors.matches(CAUGHT).count();
            assert!(caught >= at_least, "{testbed}, {mode}: {caught} of {at_least}\n{}", ended.errors);
        }
    }
    Ok(())
}

/// Runs a scenario with one signal and another library on each testbed.
fn on_each(mode: &str, check: impl Fn(&Scenario, (bool, &str))) -> Result<()> {
    for testbed in ["art10", "art11"] {
        let scenario = Scenario::run(testbed, &[mode, "each=answered"])?;
        println!("{testbed}: {mode}");
        check(&scenario, feature(&scenario.last, Feature::SigQuit));
    }
    Ok(())
}

/// Checks that there is one report, and that the Signal Catcher got its signal. Another signal may have come
/// after the recorder was removed. The Signal Catcher may not have had time to log that one.
fn assert_caught(scenario: &Scenario) {
    assert!(scenario.quits.len() == 1 && (1..=2).contains(&scenario.caught()), "{}", scenario.ended.errors);
}

#[test]
fn a_handler_that_was_there_before_is_called_too() -> Result<()> {
    on_each("mode=before", |scenario, _| {
        assert_caught(scenario);
        assert!(scenario.said("others 1") && scenario.said("others 2"), "{:?}", scenario.ended.lines);
    })
}

#[test]
fn a_handler_that_came_after_is_called_after_ours_also_when_we_are_gone() -> Result<()> {
    on_each("mode=after", |scenario, (on, how)| {
        assert_caught(scenario);
        assert!(scenario.said("others 1") && scenario.said("others 2"), "{:?}", scenario.ended.lines);
        assert!(on && how == "handled on the main thread, then by another library's handler", "{how}");
    })
}

/// The other library's handler does not pass the signal on. The recorder and ART get it nevertheless.
#[test]
fn a_handler_that_keeps_the_signal_to_itself_keeps_it_from_nobody() -> Result<()> {
    on_each("mode=swallowed", |scenario, (on, how)| {
        assert_caught(scenario);
        assert!(scenario.said("others 1"), "{:?}", scenario.ended.lines);
        assert!(on && how == "handled on the main thread, then by another library's handler", "{how}");
    })
}

/// When another library has claimed the signal in ART's chain, the recorder keeps no handler and does not
/// unblock the signal. So ART gets the signal first.
#[test]
fn where_no_handler_is_kept_the_signal_is_noticed_once_art_has_got_it() -> Result<()> {
    for testbed in ["art10", "art11"] {
        // In the very moment of the installation, and no hang's report takes its place.
        let scenario = Scenario::run(testbed, &["mode=claimed", "each=answered", HANG_REPORT_LATE])?;
        assert_caught(&scenario);
        let [quit] = scenario.quits.as_slice() else { panic!("{testbed}: {} reports", scenario.quits.len()) };
        let signal = quit.anr.signal.context("no signal")?;
        assert_eq!((signal.origin, signal.count), (SignalOrigin::Other, 1), "{testbed}");
        let (on, how) = feature(&scenario.last, Feature::SigQuit);
        assert!(on && how.ends_with("another library has claimed SIGQUIT in ART's signal chain"), "{how}");
    }
    Ok(())
}

#[test]
fn handlers_that_end_up_in_each_others_chain_do_not_run_endlessly() -> Result<()> {
    on_each("mode=circle", |scenario, _| {
        // Of the recorder that is there when the signal comes, not of the one before, whose worker may not
        // have ended yet.
        let answers: Vec<_> = scenario.quits.iter().map(|report| (&report.meta, &report.main)).collect();
        assert_eq!((answers.len(), scenario.caught()), (1, 1), "{answers:#?}");
        assert!(scenario.said("others 1"), "{:?}", scenario.ended.lines);
    })
}

/// The other library's handler is removed: the library restores the default action, which it had found.
/// Without ART's signal chain the next signal would end the app.
#[test]
fn a_handler_that_was_there_before_and_goes_does_not_take_the_app_with_it() -> Result<()> {
    on_each("mode=removed", |scenario, state| {
        assert_caught(scenario);
        assert!(scenario.said("others 0"), "it is not called any more: {:?}", scenario.ended.lines);
        assert_eq!(state, (true, "handled on the main thread"));
    })
}

#[test]
fn what_is_set_past_arts_signal_chain_is_noticed_and_repaired() -> Result<()> {
    on_each("mode=bypassed", |scenario, (on, how)| {
        assert_caught(scenario);
        let repaired = "; put back from the default action: 1; put back from being ignored: 1";
        assert!(on && how == format!("handled on the main thread{repaired}"), "{how}");
    })
}

#[test]
fn a_library_that_blocks_the_signal_again_is_noticed_and_repaired_at_the_next_message() -> Result<()> {
    on_each("mode=unregistered", |scenario, state| {
        assert_caught(scenario);
        assert!(scenario.said("others 0"), "{:?}", scenario.ended.lines);
        assert_eq!(state, (true, "handled on the main thread; unblocked again: 1"));
    })
}

#[test]
fn a_handler_that_came_after_and_goes_leaves_ours_in_front() -> Result<()> {
    on_each("mode=left", |scenario, state| {
        assert_caught(scenario);
        assert!(scenario.said("others 0"), "{:?}", scenario.ended.lines);
        assert_eq!(state, (true, "handled on the main thread"));
    })
}

/// xCrash dumps on a separate thread, which also forwards the signal to the Signal Catcher. The recorder
/// forwards it too, so ART gets it twice.
#[test]
fn a_library_that_dumps_on_a_separate_thread_and_ours_both_work_in_either_order() -> Result<()> {
    for mode in ["mode=dumper-before", "mode=dumper-after"] {
        on_each(mode, |played, (on, how)| {
            assert_eq!(played.quits.len(), 1, "{}", played.ended.errors);
            assert!(played.caught() >= 1, "{}", played.ended.errors);
            assert!(played.said("others 1") && played.said("dumps 1"), "{:?}", played.ended.lines);
            assert!(on && how == "handled on the main thread, then by another library's handler", "{how}");
        })?;
    }
    // It puts back what it has found: ours, and the signal unblocked.
    on_each("mode=dumper-goes", |played, (on, how)| {
        assert_eq!(played.quits.len(), 1, "{}", played.ended.errors);
        assert!(played.said("others 0") && played.said("dumps 0"), "{:?}", played.ended.lines);
        assert!(on && how == "handled on the main thread", "{how}");
    })
}

/// The other library's handler bypasses ART's signal chain and passes nothing on. There is no report for the
/// signal; the report of the hang that the recorder detects itself has the reason.
#[test]
fn a_handler_that_keeps_the_signal_from_us_is_named_in_the_hangs_report() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let played = Scenario::run(testbed, &["mode=past", "hangMs=2000"])?;
        assert!(played.said("others 1") && played.caught() == 0, "{:?}", played.ended.lines);
        let [hang] = played.quits.as_slice() else { panic!("{testbed}: {} reports", played.quits.len()) };
        assert_eq!((&hang.meta.reason, hang.anr.signal), (&DumpReason::Hang, None), "{testbed}");
        let (on, how) = feature(hang, Feature::SigQuit);
        let front = "another library's SIGQUIT handler is installed in front of ours";
        assert_eq!((on, how), (true, front), "{testbed}");
    }
    Ok(())
}
