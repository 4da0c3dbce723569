//! The main use: an app hangs on a real Android Runtime, SIGQUIT comes, and the report shows what happened.

use anyhow::{Context, Result};
use lab_launch::wait_for_report;
use lab_reports::live::{quit, running_tree, uptime_ns, wait_for_ring};
use lab_reports::{LIMIT, details, details_of, feature, read, stacks_of};
use loopbox_e2e::{HANG_REPORT_LATE, launcher};
use loopbox_format::model::{
    Component, Detail, DumpReason, End, Feature, MainState, NamedBy, PendingSource, Record, RecordKind,
    Report, StackTree, Token,
};
use loopbox_testbed as testbed;
use std::sync::{Mutex, PoisonError};
use tempfile::tempdir;

const MS: u64 = 1_000_000;

/// Runs the scripted app to its hang, sends SIGQUIT, reads the report that it leaves.
fn hang(testbed: &str, options: &[&str], arguments: &[&str]) -> Result<Report> {
    // One at a time: each keeps a processor busy, and starving its neighbours would test only that.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempdir()?;
    let launcher = launcher(testbed)?;
    let mut app = launcher.app("scenario.Demo").argument(format!("dir={}", folder.path().display()));
    app = app.argument(HANG_REPORT_LATE);
    for option in options {
        app = app.option(option);
    }
    for argument in arguments {
        app = app.argument(*argument);
    }
    let mut app = app.start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    let sampled = |report: &Report| running_tree(report).is_some_and(|tree| hang_is_sampled(report, tree));
    wait_for_ring("both phases of the hang are sampled", folder.path(), app.pid(), sampled)?;
    let signalled_ns = uptime_ns();
    quit(&app)?;
    let line = app.wait_for("SCRIPT report", LIMIT)?;
    let report = wait_for_report(folder.path(), LIMIT)?;
    assert!(line.contains(&*report.to_string_lossy()), "the listener was called with {line}");
    let report = read(&report)?;
    if let MainState::Running(running) = &report.main {
        assert!(running.as_of_ns >= signalled_ns, "the age is as of {signalled_ns} or later: {running:?}");
    }
    Ok(report)
}

/// Whether the tree has at least five stacks, and they show both phases of the hang.
fn hang_is_sampled(report: &Report, tree: &StackTree) -> bool {
    let stacks = stacks_of(report, tree).unwrap_or_default();
    let shows = |method: &str| stacks.iter().any(|(stack, _)| stack.iter().any(|f| f.short() == method));
    stacks.len() >= 5 && shows("Prices.open") && shows("Prices.parse")
}

/// Checks what any hook must record of the script.
fn assert_script(report: &Report) -> Result<()> {
    assert_eq!(report.meta.reason, DumpReason::SigQuit);

    // Nothing is missing or counted twice: tokens run on from record to record.
    let mut next = 1;
    for record in &report.history {
        assert_eq!(record.wall_ns, record.work_ns + record.idle_ns, "{record:?}");
        if matches!(record.kind, RecordKind::Group | RecordKind::Single) {
            assert_eq!(record.first_token, Token(next), "a gap before {record:?}");
            next += u64::from(record.count);
        }
    }

    // 150 messages of 3 ms are at least 450 ms of work: one full group or more, of how many a busy machine
    // decides.
    let full = |r: &Record| r.kind == RecordKind::Group && r.work_ns >= 300 * MS && r.count > 1;
    assert!(report.history.iter().any(full), "{:#?}", report.history);

    let shop: Vec<_> = details_of(report, "com.example.shop.ShopHandler").collect();
    for (what, ms) in [(2, 60), (3, 120), (4, 200), (5, 80)] {
        let found = shop.iter().find(|d| d.message.as_ref().is_some_and(|m| m.what == Some(what)));
        let found = found.with_context(|| format!("message {what} is not named: {shop:?}"))?;
        assert!(found.wall_ns >= ms * MS, "{found:?}");
    }

    // Component messages are named however short they are: by their Handler, or by their Runnable on any
    // Handler.
    let component =
        details_of(report, "android.app.ActivityThread$H").next().context("no component message")?;
    let message = component.message.as_ref().context("no name")?;
    assert_eq!((message.what, message.component), (Some(159), Some(Component::ActivityThread)));
    let of_component = |component| {
        details(report)
            .filter_map(|d| d.message.as_ref())
            .find(|message| message.component == Some(component))
    };
    let frame = of_component(Component::Frame).context("no frame")?;
    assert_eq!(frame.target, "android.view.Choreographer$FrameHandler");
    let receiver = of_component(Component::Receiver).context("no broadcast")?;
    assert_eq!(receiver.callback, "android.app.LoadedApk$ReceiverDispatcher$Args");
    assert_eq!(receiver.target, "android.os.Handler");

    // 700 ms stand alone. On a busy machine others may, too.
    let is_decoder = |detail: &Detail| {
        detail.message.as_ref().is_some_and(|message| message.callback == "com.example.shop.ImageDecoder")
    };
    let decoder = |r: &&Record| r.kind == RecordKind::Single && r.details.first().is_some_and(is_decoder);
    let single = report.history.iter().find(decoder).context("no single record of the decoder")?;
    assert!(single.wall_ns >= 700 * MS, "{single:?}");
    assert_eq!((single.count, single.slowest.map(|slowest| slowest.token)), (1, Some(single.first_token)));

    // How late the sampler woke up is a measure of how busy the machine was.
    assert!(report.history.iter().any(|r| r.checktime_late_ns.is_some()), "{:#?}", report.history);

    // The pause is a separate record.
    let pause = report.history.iter().find(|r| r.kind == RecordKind::Idle).context("no idle record")?;
    assert!(pause.wall_ns >= 300 * MS && pause.work_ns == 0, "{pause:?}");

    // What the messages carried was not kept.
    assert!(details(report).all(|d| d.message.as_ref().is_none_or(|m| !m.target.contains('@'))));
    Ok(())
}

/// Checks the present: the hung message, and the stacks it went through.
fn assert_hang(report: &Report) -> Result<()> {
    let MainState::Running(running) = &report.main else { panic!("main is {:?}", report.main) };
    assert!(running.age_ns() >= 600 * MS, "its second phase was sampled before: {running:?}");
    let tree = running_tree(report).context("no stacks of the hung message")?;
    let stacks = stacks_of(report, tree)?;
    assert!(stacks.len() >= 5, "{} stacks", stacks.len());
    let mut phases = Vec::new();
    for (stack, _) in &stacks {
        let names: Vec<_> = stack.iter().map(lab_reports::Frame::short).collect();
        let path = ["Prices.load", "Cart.total", "CheckoutActivity.onPay", "CheckoutActivity.handleMessage"];
        let at = names
            .iter()
            .position(|n| n == path[0])
            .with_context(|| format!("no {} in {names:?}", path[0]))?;
        assert_eq!(names[at..at + 4], path, "{names:?}");
        assert_eq!(names.last().map(String::as_str), Some("Demo.main"), "{names:?}");
        for frame in &stack[at..at + 4] {
            assert!(frame.dex_pc.is_some() || frame.line.is_some(), "{frame:?}");
        }
        phases.extend(
            names[..at].iter().find(|n| ["Prices.open", "Prices.parse"].contains(&n.as_str())).cloned(),
        );
    }
    phases.dedup();
    assert_eq!(phases, ["Prices.open", "Prices.parse"], "order in time is kept");

    let statistic = |name: &str| {
        let statistic = report.statistics.iter().find(|statistic| statistic.name == name);
        statistic.map(|statistic| statistic.value.as_str()).with_context(|| format!("no {name}"))
    };
    assert!(statistic("sampler.windows")?.parse::<usize>()? >= stacks.len());
    assert!(statistic("sampler.stopped_ns")?.parse::<u64>()? >= tree.total_stop_ns);
    assert!(statistic("sampler.longest_stop_ns")?.parse::<u64>()? > 0);
    assert_eq!(statistic("sampler.timeouts")?, "0");
    assert!(statistic("sampler.findings")?.starts_with("thread_list="));
    Ok(())
}

/// Checks the future: the messages that wait in the queue.
fn assert_pending(report: &Report) {
    assert_eq!(report.pending.source, PendingSource::MessagesField);
    let lines = &report.pending.lines;
    let scrolls = lines.iter().filter(|l| l.contains("callback=com.example.shop.Scroll")).count();
    assert!(
        scrolls + report.pending.dropped_lines as usize >= 150,
        "{scrolls} scrolls in {} lines",
        lines.len()
    );
}

#[test]
fn art_10_with_the_observer_by_reflection() -> Result<()> {
    let report = hang("art10", &[], &[])?;
    let (on, how) = feature(&report, Feature::Hook);
    assert!(on && how.contains("Observer by reflection"), "{how}");
    assert!(feature(&report, Feature::Sampler).0, "{:?}", report.features);
    assert_script(&report)?;
    // Only the observer sees an exception, and the time that a message was due.
    let thrown = details_of(&report, "com.example.shop.BrokenCoupon").next();
    assert!(thrown.is_none_or(|d| d.end == End::Threw), "{thrown:?}");
    assert!(details(&report).all(|d| d.message.as_ref().is_none_or(|m| m.named_by == NamedBy::Observer)));
    assert!(details(&report).any(|d| d.wait_ns.is_some()));
    assert_hang(&report)?;
    // The observer is called with a message at its end; until then the stack names it, all but its code.
    let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
    let message = running.message.as_ref().context("the hung message has no name")?;
    assert_eq!((&*message.target, message.what), ("com.example.shop.CheckoutActivity", None));
    assert_eq!(message.named_by, NamedBy::Stack);
    assert_pending(&report);
    Ok(())
}

#[test]
fn art_10_with_the_printer() -> Result<()> {
    let report = hang("art10", &[], &["hook=PRINTER"])?;
    let (on, how) = feature(&report, Feature::Hook);
    assert!(on && how.contains("Printer"), "{how}");
    assert_script(&report)?;
    assert!(details(&report).all(|d| d.wait_ns.is_none()), "a Printer does not know when a message was due");
    assert_hang(&report)?;
    // The Printer knows the running message by its start line.
    let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
    let message = running.message.as_ref().context("the hung message has no name")?;
    assert_eq!((&*message.target, message.what), ("com.example.shop.CheckoutActivity", Some(42)));
    assert_eq!(message.named_by, NamedBy::Printer);
    Ok(())
}

/// Hidden members are checked as on a device, so `Looper.sObserver` is blocked.
#[test]
fn art_10_with_hidden_api_checks_falls_back_to_the_printer() -> Result<()> {
    let report = hang("art10", &["--hidden-api"], &[])?;
    let (on, how) = feature(&report, Feature::Hook);
    assert!(on && how.contains("Printer"), "{how}");
    assert_script(&report)
}

#[test]
fn art_10_with_hidden_api_checks_and_the_native_thread_has_the_observer() -> Result<()> {
    let report = hang("art10", &["--hidden-api"], &["access=native"])?;
    let (on, how) = feature(&report, Feature::Hook);
    assert!(on && how.contains("Observer by native thread"), "{how}");
    assert_script(&report)
}

/// Where the platform has no Observer that we use, the Printer is used: on ART 11 always, and on the testbeds
/// that `LOOPBOX_TESTBEDS` names (`LOOPBOX_TESTBEDS=art14`), which take longer to set up.
#[test]
fn later_arts_with_the_printer() -> Result<()> {
    for testbed in testbed::to_test_on(&["art11"]) {
        let report = hang(&testbed, &[], &[])?;
        println!("{testbed}: {:?}", report.features);
        assert!(feature(&report, Feature::Hook).1.contains("Printer"), "{:?}", report.features);
        assert!(feature(&report, Feature::Sampler).0, "{:?}", report.features);
        assert_script(&report)?;
        assert_hang(&report)?;
        assert_pending(&report);
    }
    Ok(())
}
