//! Another library replaces the hook, and in some cases the queue's idle handlers, too. Time in which
//! messages may have run unseen never counts as idle.

use anyhow::{Context, Result};
use lab_launch::{reports, wait_for_report};
use lab_reports::live::wait_for_ring;
use lab_reports::{LIMIT, details_of, feature};
use loopbox_e2e::launcher;
use loopbox_format::model::{Detail, Feature, MainState, RecordKind, Report};
use loopbox_format::report::decode;
use loopbox_report::Analysis;
use loopbox_report::diagnose::{Diagnosis, diagnose};
use loopbox_testbed as testbed;
use tempfile::tempdir;

const MS: u64 = 1_000_000;
/// After the hook was taken out, `MESSAGES` messages come, and each takes `MESSAGE_MS`.
const MESSAGES: usize = 8;
const MESSAGE_MS: u64 = 150;

/// How many of the messages are in the history by name.
fn seen(report: &Report) -> usize {
    let last = i32::try_from(MESSAGES).unwrap_or(i32::MAX);
    let what = |detail: &Detail| detail.message.as_ref().and_then(|message| message.what);
    let shop = details_of(report, loopbox_e2e::scenario::SHOP);
    shop.filter(|detail| what(detail).is_some_and(|what| (1..=last).contains(&what))).count()
}

/// How long the messages that are not in the history took, at least.
fn missing_ns(report: &Report) -> u64 {
    (MESSAGES - seen(report)) as u64 * MESSAGE_MS * MS
}

fn unseen_ns(report: &Report) -> u64 {
    let unseen = report.history.iter().filter(|record| record.kind == RecordKind::Unseen);
    unseen.map(|record| record.wall_ns).sum()
}

struct Played {
    report: Report,
    diagnosis: Diagnosis,
    said: Vec<String>,
}

impl Played {
    fn play(testbed: &str, arguments: &[&str]) -> Result<Self> {
        let folder = tempdir()?;
        let mut app = launcher(testbed)?.app("scenario.Blinded");
        app = app.argument(format!("dir={}", folder.path().display()));
        for argument in arguments {
            app = app.argument(*argument);
        }
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let file = wait_for_report(folder.path(), LIMIT)?;
        let others = reports(folder.path())?;
        assert_eq!(others.len(), 1, "no hang is reported: {others:?} {:?}", ended.lines);
        let decoded = decode(&std::fs::read(file)?)?;
        let diagnosis = diagnose(&Analysis::new(&decoded));
        Ok(Self { report: decoded.report, diagnosis, said: ended.lines })
    }

    /// Whether the status's text about the hook begins like this.
    fn said(&self, when: &str, words: &str) -> bool {
        let begin = format!("SCRIPT {when} {words}");
        self.said.iter().any(|line| line.starts_with(&begin))
    }

    fn hook(&self) -> (bool, &str) {
        feature(&self.report, Feature::Hook)
    }

    fn seen(&self) -> usize {
        seen(&self.report)
    }

    fn unseen_ns(&self) -> u64 {
        unseen_ns(&self.report)
    }

    /// Checks that the diagnosis does not say that main was free.
    fn assert_not_free(&self) {
        let rules: Vec<_> = self.diagnosis.causes.iter().map(|cause| cause.rule).collect();
        let verdict = (&self.diagnosis.headline, rules);
        assert!(!verdict.1.contains(&"main-free"), "{verdict:?}: {:#?}", self.report.history);
        assert!(!verdict.0.contains("was free"), "{verdict:?}");
    }
}

/// Runs a mode with the Printer on each testbed, and with the Observer where there is one, and checks the
/// results.
fn on_each(mode: &str, check: impl Fn(&Played)) -> Result<()> {
    let printers = testbed::to_test_on(&["art10", "art11"]);
    let mut hooks: Vec<_> = printers.iter().map(|testbed| (testbed.as_str(), "Printer")).collect();
    hooks.push(("art10", "Observer"));
    for (testbed, hook) in hooks {
        let (choice, other) = (format!("hook={}", hook.to_uppercase()), format!("other={hook}"));
        let mode = format!("mode={mode}");
        let played = Played::play(testbed, &[&mode, &choice, &other])
            .with_context(|| format!("{mode}, {hook} on {testbed}"))?;
        println!("{mode}, {hook} on {testbed}: {:?}, {}", played.hook(), played.diagnosis.headline);
        played.assert_not_free();
        check(&played);
    }
    Ok(())
}

#[test]
fn a_hook_without_idle_handlers_comes_back_before_the_next_message() -> Result<()> {
    for mode in ["replaced", "nulled"] {
        on_each(mode, |played| {
            let (on, how) = played.hook();
            assert!(on && how.ends_with(", armed again 1 time"), "{how}");
            assert_eq!(played.seen(), MESSAGES, "{:#?}", played.report.history);
            assert!(played.said("hook", "true"), "{:?}", played.said);
        })?;
    }
    Ok(())
}

#[test]
fn a_hook_that_may_not_come_back_yet_is_off_and_nothing_is_idle() -> Result<()> {
    on_each("fought", |played| {
        let (on, how) = played.hook();
        assert!(!on && how.starts_with("displaced by another library until the next try"), "{how}");
        assert!(
            played.said("came back", "true") && played.said("hook", "false displaced"),
            "{:?}",
            played.said
        );
        assert_eq!(played.seen(), 0, "{:#?}", played.report.history);
    })
}

#[test]
fn what_ran_until_the_other_library_put_the_hook_back_is_unseen() -> Result<()> {
    on_each("back", |played| {
        assert_eq!(played.seen(), 0, "{:#?}", played.report.history);
        assert!(played.unseen_ns() >= MESSAGES as u64 * MESSAGE_MS * MS, "{:#?}", played.report.history);
        assert!(played.hook().0 && played.said("hook", "true"), "{:?}", played.said);
    })
}

#[test]
fn a_library_that_stops_passing_on_is_noticed_at_the_next_report() -> Result<()> {
    on_each("stops-at-rest", |played| {
        // By main's stack it may be noticed before.
        let doubted = played.said("hook", "false perhaps displaced");
        let back = played
            .said
            .iter()
            .any(|line| line.starts_with("SCRIPT hook true") && line.contains("armed again"));
        assert!(doubted || back, "{:?}", played.said);
        assert!(played.said("then", "true"), "{:?}", played.said);
        let (on, how) = played.hook();
        let doubted = !on && how.starts_with("perhaps displaced");
        let missing = missing_ns(&played.report);
        let (said, report) = (&played.said, &played.report);
        assert!(
            doubted || played.unseen_ns() >= missing,
            "{how}: {:#?} {:#?} {said:?}",
            report.main,
            report.history
        );
    })
}

/// The process may be killed before another message shows that the hook has missed some.
#[test]
fn a_process_that_is_killed_after_its_hook_came_back_leaves_no_idle_time_in_place_of_messages() -> Result<()>
{
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let app = launcher(&testbed)?.app("scenario.Blinded");
        let app = app.argument(format!("dir={}", folder.path().display()));
        let app = app.argument("mode=stops-at-rest").argument("hook=PRINTER").argument("other=Printer");
        let app = app.argument("end=killed").start()?;
        let what = format!("the time without the hook, {testbed}");
        wait_for_ring(&what, folder.path(), app.pid(), |report| unseen_ns(report) >= missing_ns(report))?;
    }
    Ok(())
}

/// The library has passed on the start of a message but not its end. So the message seems to run on, but
/// main's stack shows that it has ended.
#[test]
fn a_library_that_stops_passing_on_in_a_message_is_noticed_by_mains_stack() -> Result<()> {
    on_each("stops", |played| {
        let (on, how) = played.hook();
        assert!(on && how.ends_with(", armed again 1 time"), "{how}");
        assert_eq!(played.seen(), MESSAGES, "{:#?}", played.report.history);
    })
}

/// The message ends when the next one starts, or when an idle handler is called. Without either it would run
/// on, and count as a hang.
#[test]
fn the_message_that_the_recorder_was_installed_in_ends_without_idle_handlers() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let played = Played::play(&testbed, &["mode=adopted", "hook=PRINTER", "hangMs=2500"])?;
        assert!(matches!(played.report.main, MainState::Idle { .. }), "{testbed}: {:?}", played.report.main);
        assert!(played.said("hook", "true Printer"), "{:?}", played.said);
    }
    Ok(())
}

/// With public API only, the recorder may not read which Printer the Looper has. Main's processor time shows
/// that the hook may be displaced.
#[test]
fn with_public_api_only_a_hook_without_idle_handlers_is_doubted_where_main_has_run() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        // A status that is asked for while main decides does not take back what it decided.
        for how in [["work=busy", "askers=8"], ["work=sleep", "askers=1"]] {
            let who = ["mode=replaced", "hook=PRINTER", "hiddenApi=NONE", "other=Printer"];
            let arguments = [&who[..], &how].concat();
            let played = Played::play(&testbed, &arguments)?;
            played.assert_not_free();
            let noticed = ["false perhaps displaced", "false displaced"].map(|how| played.said("hook", how));
            assert!(noticed.contains(&true), "{testbed}: {:?}", played.said);
            let gone = "false displaced by another library; was Printer";
            assert!(played.said("then", gone), "{testbed}: {:?}", played.said);
        }
    }
    Ok(())
}
