//! The effect of configuration values other than the defaults.

use anyhow::{Context, Result};
use lab_launch::reports;
use lab_reports::live::tree_of;
use lab_reports::{LIMIT, details, details_of, feature, read};
use loopbox_e2e::launcher;
use loopbox_e2e::scenario::{SHOP, Scenario};
use loopbox_format::looper::{PendingBody, parse_queue};
use loopbox_format::model::{
    Component, DumpReason, Feature, MainState, NamedBy, PendingSource, RecordKind, StackSource,
};
use loopbox_testbed as testbed;
use tempfile::tempdir;

const MS: u64 = 1_000_000;

/// Runs a scenario of `scenario.Choices` on ART 10.
fn run(arguments: &[&str]) -> Result<Scenario> {
    Scenario::run("scenario.Choices", "art10", &[], arguments)
}

/// The scenario has five messages of 60 to 400 ms. By default the last one would be a separate record, and
/// all would be kept by name.
#[test]
fn a_group_is_as_long_and_keeps_as_many_messages_as_the_app_configured() -> Result<()> {
    let scenario = run(&["mode=groups", "groupMs=10000", "detailsPerRecord=2"])?;
    let report = &scenario.report;
    let limits = &report.meta.limits;
    assert_eq!((limits.group_ns, limits.details_per_record), (10_000 * MS, 2));
    let [group] = &report.history[..] else { panic!("{:#?}", report.history) };
    assert_eq!(group.kind, RecordKind::Group);
    assert!(group.work_ns >= 640 * MS, "{group:?}");
    assert_eq!(group.details.len(), 2, "{group:#?}");
    assert!(group.dropped_details >= 3, "{group:#?}");

    let scenario = run(&["mode=groups", "groupMs=100"])?;
    let of_work: Vec<_> = scenario.report.history.iter().filter(|record| record.count > 0).collect();
    assert!(of_work.len() >= 3, "{:#?}", scenario.report.history);
    scenario.assert_whole();
    Ok(())
}

#[test]
fn no_more_trees_are_kept_than_the_app_configured() -> Result<()> {
    let scenario = run(&["mode=stacks", "minSamples=1", "trees=1"])?;
    let [tree, now] = &scenario.report.trees[..] else { panic!("{} trees", scenario.report.trees.len()) };
    assert!(tree.token > scenario.shop(1)?.token, "the newest replaces the oldest");
    // Main's stack of the moment is in every report, and kept nowhere.
    assert!(now.token.is_outside() && now.sample_deltas_ns.len() == 1, "{now:?}");
    Ok(())
}

/// A block monitor takes one stack of each long message.
#[test]
fn a_long_message_has_one_stack_where_the_app_wants_no_more() -> Result<()> {
    let scenario = run(&["mode=stacks", "sampleOnce=on", "sampleOnsetMs=200"])?;
    assert_eq!(scenario.report.meta.limits.sample_interval_ns, 0);
    for what in 1..=3 {
        let token = scenario.shop(what)?.token;
        let tree = tree_of(&scenario.report, token)
            .with_context(|| format!("no stack of {what}: {:#?}", scenario.report.trees))?;
        let [age_ns] = tree.sample_deltas_ns[..] else { panic!("{tree:?}") };
        assert!(age_ns >= 200 * MS, "{tree:?}");
        assert_eq!(tree.missed_samples, 0, "{tree:?}");
    }
    Ok(())
}

#[test]
fn without_sampling_there_is_one_stack_and_the_printer_names_the_running_message() -> Result<()> {
    for choice in ["sampling=off", "runningName=PRINTER"] {
        let scenario = run(&["mode=running", choice])?;
        assert_eq!(scenario.hook(), "Observer by reflection, class");
        if choice == "sampling=off" {
            assert_eq!(feature(&scenario.report, Feature::Sampler), (false, "switched off by the app"));
            let [tree] = &scenario.report.trees[..] else { panic!("{} trees", scenario.report.trees.len()) };
            assert_eq!(
                (tree.source, tree.sample_deltas_ns.len()),
                (StackSource::JavaApi, 1),
                "the report's own"
            );
        }
        let MainState::Running(running) = &scenario.report.main else { panic!("{:?}", scenario.report.main) };
        let message = running.message.as_ref().context("no name")?;
        assert_eq!((&*message.callback, &*message.target), ("scenario.Choices$1", "android.os.Handler"));
        assert_eq!(message.named_by, NamedBy::Printer);
    }
    Ok(())
}

#[test]
fn sigquit_is_left_alone_when_the_app_asks_for_that() -> Result<()> {
    let folder = tempdir()?;
    let app = launcher("art10")?.app("scenario.Quits").argument(format!("dir={}", folder.path().display()));
    let ended = app.argument("sigQuit=off").start()?.finish(LIMIT)?.success()?;
    let all = reports(folder.path())?;
    let [only] = &all[..] else { panic!("{all:?}") };
    let report = read(only)?;
    assert_eq!(report.meta.reason, DumpReason::Requested("at the end".into()));
    assert!(!feature(&report, Feature::SigQuit).0, "{:?}", report.features);
    assert!(ended.errors.contains("reacting to signal 3"), "the Signal Catcher has it: {}", ended.errors);
    Ok(())
}

/// The configuration that is recommended for production: it works on every level, but cannot see whether it
/// replaces another library's Printer.
#[test]
fn with_public_api_only_the_printer_records_until_it_is_displaced() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let run = |mode| {
            Scenario::run(
                "scenario.Hooks",
                &testbed,
                &["--hidden-api"],
                &[mode, "hiddenApi=NONE", "printerCheckMs=100"],
            )
        };
        let scenario = run("mode=throws")?;
        assert_eq!(scenario.hook(), "Printer", "{testbed}");
        let named = scenario.shop(21)?.message.as_ref().context("no name")?;
        assert_eq!(named.named_by, NamedBy::Printer);

        let scenario = run("mode=displaced-unseen")?;
        assert!(scenario.has_shop(1) && !scenario.has_shop(2), "{testbed}: {:#?}", scenario.report.history);
        let (on, how) = feature(&scenario.report, Feature::Hook);
        assert_eq!((on, how), (false, "displaced by another library; was Printer"), "{testbed}");
    }
    Ok(())
}

#[test]
fn services_and_jobs_are_named_however_short_they_are() -> Result<()> {
    for hook in ["hook=AUTO", "hook=PRINTER"] {
        let scenario = run(&["mode=components", hook])?;
        let of = |class| details_of(&scenario.report, class).find_map(|d| d.message.as_ref());
        let service = of("android.app.ActivityThread$H").context("no service")?;
        assert_eq!((service.what, service.component), (Some(114), Some(Component::ActivityThread)));
        let job = of("android.app.job.JobServiceEngine$JobHandler").context("no job")?;
        assert_eq!(job.component, Some(Component::Job));
    }
    Ok(())
}

#[test]
fn no_more_lines_of_the_queue_are_kept_than_the_app_configured() -> Result<()> {
    let scenario = run(&["mode=queue", "pendingLines=10", "pendingMs=2000"])?;
    let pending = &scenario.report.pending;
    // And the total.
    assert_eq!((&pending.source, pending.lines.len()), (&PendingSource::MessagesField, 11));
    assert_eq!((parse_queue(pending).total, pending.dropped_lines), (Some(30), 20), "{pending:#?}");
    Ok(())
}

/// One obj's toString takes four seconds, and another's throws. They run only where the app wants the texts
/// of objects, and delay nothing else.
#[test]
fn objects_print_themselves_only_where_the_app_wants_it() -> Result<()> {
    let printed =
        |scenario: &Scenario| scenario.said.iter().filter(|line| line.contains("printed on")).count();
    for (mode, unread, object) in [
        ("mode=slow", &["Loopbox: not complete within 2000 ms"][..], "…"),
        ("mode=throwing", &[], "(java.lang.IllegalStateException)"),
    ] {
        let scenario = run(&[mode, "pendingMs=2000"])?;
        assert_eq!(printed(&scenario), 0, "{:?}", scenario.said);
        let queue = parse_queue(&scenario.report.pending);
        assert_eq!((queue.messages.len(), queue.unread.len()), (3, 0), "{queue:#?}");

        let scenario = run(&[mode, "pendingMs=2000", "keepObjects=on"])?;
        assert!(scenario.said("printed on loopbox-objects"), "{:?}", scenario.said);
        assert_eq!(printed(&scenario), 1, "{:?}", scenario.said);
        let pending = &scenario.report.pending;
        assert_eq!(pending.source, PendingSource::MessagesField);
        assert!(!pending.lines.iter().any(|line| line.contains("4929") || line.contains("late words")));
        let queue = parse_queue(pending);
        assert_eq!((queue.messages.len(), queue.total), (3, Some(3)), "{queue:#?}");
        assert_eq!(queue.unread, unread, "{queue:#?}");
        let PendingBody::Message { object: text, .. } = &queue.messages[1].body else { panic!("{queue:#?}") };
        assert_eq!(text.as_deref(), Some(object));
        assert!(details_of(&scenario.report, SHOP).count() == 1 && details(&scenario.report).count() >= 1);
    }
    Ok(())
}

/// Without reflection the queue could only be printed, which runs app code under the queue's lock.
#[test]
fn a_queue_that_may_not_be_walked_is_not_printed_either() -> Result<()> {
    let scenario = run(&["mode=queue", "hiddenApi=NONE", "hook=PRINTER"])?;
    let PendingSource::Unavailable(why) = &scenario.report.pending.source else {
        panic!("{:#?}", scenario.report.pending)
    };
    assert_eq!(
        why,
        "hiddenApi NONE forbids to walk it; printing it would run code of the app under its lock"
    );
    Ok(())
}
