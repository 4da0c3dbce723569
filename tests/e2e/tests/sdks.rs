//! Real SDKs and the recorder in one process, in both orders: none of them loses messages, and the SDKs work
//! on after the recorder was removed.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Build, reports};
use lab_reports::{LIMIT, read};
use loopbox_e2e::peers::Bed;
use loopbox_format::model::{DumpReason, MainState, Report};
use loopbox_setup::command::for_each;
use tempfile::tempdir;

/// How many messages `peers.Together` posts for each SDK.
const MESSAGES: u64 = 300;
/// What `peers.Together` prints for an SDK that has seen each message once.
const NONE: &str = "lost [] again []";
/// The class of the message of other code that `peers.Together` posts in the middle.
const FOREIGN: &str = "peers.Together$Foreign";
/// The SDKs, by the names that `peers.Together` prints.
const SDKS: [&str; 7] = ["datadog", "blockcanary", "rx", "coroutines", "okhttp", "bugsnag", "acra"];
/// The hooks to test, by testbed.
const HOOKS: [(&str, [&str; 2]); 2] = [("art10", ["OBSERVER", "PRINTER"]), ("art11", ["PRINTER", "POLL"])];

fn testbed(name: &str) -> Result<Bed> {
    Bed::ensure(name, Build::Dev)
}

/// A testbed on which each SDK starts.
fn phone(name: &str) -> Result<Bed> {
    Ok(testbed(name)?.with_phone())
}

/// Runs an app on each testbed, by each hook, in both orders, and checks the results.
fn in_each_way(
    bed: impl Fn(&str) -> Result<Bed>,
    class: &str,
    check: impl Fn(App, &Path) -> Result<()> + Sync,
) -> Result<()> {
    for (testbed, hooks) in HOOKS {
        let bed = bed(testbed)?;
        let ways: Vec<_> = hooks.into_iter().flat_map(|hook| [(hook, "first"), (hook, "last")]).collect();
        for_each(&ways, |(hook, order)| {
            let folder = tempdir()?;
            let app = bed.app(class, folder.path()).argument(format!("dir={}", folder.path().display()));
            let app = app.argument(format!("hook={hook}")).argument(format!("order={order}"));
            check(app, folder.path()).with_context(|| format!("{hook} {order} on {testbed}"))
        })?;
    }
    Ok(())
}

/// What `peers.Together` says of one SDK.
struct Counts {
    /// The numbers of the messages that the SDK has not seen, or has seen more than once: `both` with the
    /// recorder, `alone` without it.
    both: String,
    alone: String,
    /// How many messages Looper has dispatched meanwhile, including those of other code.
    dispatched: u64,
    /// The places where the recorder has counted another number of messages than Looper, with the messages'
    /// names.
    differences: String,
    /// The names of the messages of other code.
    foreign: String,
    /// How many messages are recorded between two reports.
    recorded: u64,
}

/// Runs an app of `peers.Together`. Returns all that it says, by SDK.
fn counts(app: App, folder: &Path) -> Result<Vec<(&'static str, Counts)>> {
    let ended = app.argument("hangMs=60000").start()?.finish(LIMIT)?.success()?;
    let ours = reports(folder)?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
    let token = |name: String| -> Result<u64> {
        let is = |report: &&Report| report.meta.reason == DumpReason::Requested(name.clone());
        let report = ours.iter().find(is).with_context(|| format!("no report {name}: {:?}", ended.lines))?;
        let MainState::Running(running) = &report.main else {
            anyhow::bail!("{name}: main is {:?}", report.main)
        };
        Ok(running.token.0)
    };
    let of = |sdk: &'static str| -> Result<(&'static str, Counts)> {
        let line = |what: &str| -> Result<String> {
            let found =
                ended.lines.iter().find_map(|line| line.strip_prefix(&format!("SCRIPT {what} {sdk} ")));
            Ok(found.with_context(|| format!("{sdk} {what}: {:?}", ended.lines))?.to_owned())
        };
        let recorded = line("recorded")?;
        let (dispatched, differences) = recorded.split_once(' ').context("no number")?;
        let counts = Counts {
            both: line("both")?,
            alone: line("alone")?,
            dispatched: dispatched.parse()?,
            differences: differences.to_owned(),
            foreign: line("foreign")?,
            recorded: token(format!("end {sdk}"))? - token(format!("begin {sdk}"))?,
        };
        Ok((sdk, counts))
    };
    SDKS.into_iter().map(of).collect()
}

#[test]
fn no_message_is_lost_with_an_sdk_and_none_by_the_sdk_when_the_recorder_is_gone() -> Result<()> {
    in_each_way(phone, "peers.Together", |app, folder| {
        for (sdk, of_it) in counts(app, folder)? {
            let foreign = &of_it.foreign;
            ensure!(of_it.both == NONE, "{sdk} with us: {}; others' messages: {foreign}", of_it.both);
            ensure!(of_it.differences == "[]", "the recorder with {sdk}: {}", of_it.differences);
            // The one that asks at the end is one more.
            ensure!(
                of_it.recorded == of_it.dispatched,
                "the reports have {} of {} messages with {sdk}, of them {MESSAGES} and {foreign}",
                of_it.recorded,
                of_it.dispatched
            );
            ensure!(of_it.alone == NONE, "{sdk} without us: {}", of_it.alone);
            ensure!(of_it.dispatched > MESSAGES + 1 && foreign.contains(FOREIGN), "nobody's: {foreign}");
        }
        Ok(())
    })
}

#[test]
fn a_message_that_no_printer_sees_is_named_as_lost() -> Result<()> {
    let bed = phone("art11")?;
    for order in ["first", "last"] {
        let folder = tempdir()?;
        let app = bed.app("peers.Together", folder.path());
        let app = app.argument(format!("dir={}", folder.path().display())).argument("hook=PRINTER");
        let app = app.argument(format!("order={order}")).argument("lose=on");
        for (sdk, of_it) in counts(app, folder.path())? {
            let is_printer = ["datadog", "blockcanary"].contains(&sdk);
            let of_sdk = if is_printer { "lost [200] again []" } else { NONE };
            ensure!((of_it.both.as_str(), of_it.alone.as_str()) == (of_sdk, of_sdk), "{sdk}: {}", of_it.both);
            ensure!(
                of_it.differences.starts_with("[0 recorded up to number 200 of ["),
                "{}",
                of_it.differences
            );
            ensure!(of_it.recorded + 1 == of_it.dispatched, "{} of {}", of_it.recorded, of_it.dispatched);
        }
    }
    Ok(())
}

#[test]
fn each_watcher_reports_a_hang_with_the_recorder_and_without_it() -> Result<()> {
    in_each_way(testbed, "peers.Watching", |app, _| {
        let ended = app.argument("hangMs=1000").start()?.finish(LIMIT)?.success()?;
        let both = ended.lines.iter().position(|line| line == "SCRIPT both").context("no hang of both")?;
        let (of_both, alone) = ended.lines.split_at(both);
        for watcher in ["loopbox", "anrwatchdog", "sentry", "datadog-anr"] {
            let reports = |lines: &[String]| {
                let of = |line: &&String| {
                    line.starts_with("SCRIPT report ") && line.split(' ').nth(3) == Some(watcher)
                };
                lines.iter().filter(of).filter(|line| line.contains("peers.Watching.hang")).count()
            };
            ensure!(reports(of_both) > 0, "{watcher}: {:?}", ended.lines);
            ensure!((reports(alone) > 0) == (watcher != "loopbox"), "{watcher} alone: {:?}", ended.lines);
        }
        Ok(())
    })
}
