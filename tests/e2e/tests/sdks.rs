//! Real SDKs and the recorder in one process, installed in either order: none of them loses messages, and the
//! SDKs continue to work after the recorder was removed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Build, reports};
use lab_reports::{LIMIT, feature, read};
use loopbox_e2e::machine::{is_root, quit_as_system};
use loopbox_e2e::peers::Bed;
use loopbox_format::model::{AnrVerdict, DumpReason, Feature, MainState, Report, SignalOrigin};
use loopbox_setup::command::for_each;
use tempfile::tempdir;

/// How many messages `peers.Together` posts for each SDK.
const MESSAGES: u64 = 300;
/// What `peers.Together` prints for an SDK that has seen each message once.
const NONE: &str = "lost [] again []";
/// The class of the message of other code that `peers.Together` posts in the middle.
const FOREIGN: &str = "peers.Together$Foreign";
/// The SDKs, by the names that `peers.Together` prints.
const SDKS: [&str; 8] = ["datadog", "blockcanary", "rx", "coroutines", "okhttp", "bugsnag", "acra", "xcrash"];
/// The hooks to test, by testbed.
const HOOKS: [(&str, [&str; 2]); 2] = [("art10", ["OBSERVER", "PRINTER"]), ("art11", ["PRINTER", "POLL"])];

fn testbed(name: &str) -> Result<Bed> {
    Bed::ensure(name, Build::Dev)
}

/// A testbed on which each SDK starts, xCrash with its native library.
fn phone(name: &str) -> Result<Bed> {
    testbed(name)?.with_phone().with_xcrash()
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

fn all_reports(folder: &Path) -> Result<Vec<Report>> {
    reports(folder)?.iter().map(|file| read(file)).collect()
}

/// What `peers.Together` says of one SDK.
struct Counts {
    /// The numbers of the messages that the SDK has not seen, or has seen more than once: `both` with the
    /// recorder, `alone` without it.
    both: String,
    alone: String,
    /// How many messages Looper has dispatched while this SDK was tested, including those of other code.
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
    let mut ours = Vec::new();
    for sdk in SDKS {
        ours.extend(all_reports(&folder.join(sdk))?);
    }
    let signals = ours.iter().filter(|report| report.anr.signal.is_some()).count();
    ensure!(signals == 1, "{signals} reports of the signal that xCrash got: {:?}", ended.lines);
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
                // Ours of the first hang comes again when that is over.
                let is_hang =
                    |line: &&String| line.contains("peers.Watching.hang") && !line.contains(" ms in all");
                lines.iter().filter(of).filter(is_hang).count()
            };
            ensure!(reports(of_both) > 0, "{watcher}: {:?}", ended.lines);
            ensure!((reports(alone) > 0) == (watcher != "loopbox"), "{watcher} alone: {:?}", ended.lines);
        }
        Ok(())
    })
}

/// Runs `peers.Dumps` on each testbed in both orders.
fn dumps(check: impl Fn(App, &Path) -> Result<()> + Sync) -> Result<()> {
    let mut ways = Vec::new();
    for testbed in ["art10", "art11"] {
        ways.push((testbed, phone(testbed)?));
    }
    let ways: Vec<_> = ways.iter().flat_map(|way| [(way, "first"), (way, "last")]).collect();
    for_each(&ways, |((testbed, bed), order)| {
        let folder = tempdir()?;
        let app = bed.app("peers.Dumps", folder.path()).argument(format!("dir={}", folder.path().display()));
        let app = app.argument(format!("order={order}")).argument("hangMs=2000");
        check(app, folder.path()).with_context(|| format!("{order} on {testbed}"))
    })
}

/// The texts of xCrash's files of a kind, oldest first.
fn tombstones(folder: &Path, kind: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join("tombstones")).context("xCrash has made no folder")? {
        let file = entry?.path();
        if file.display().to_string().ends_with(kind) {
            found.push(file);
        }
    }
    // Their names have the time.
    found.sort();
    found.iter().map(|file| Ok(fs::read_to_string(file)?)).collect()
}

#[test]
fn xcrash_and_the_recorder_answer_sigquit_and_xcrash_works_on_when_the_recorder_is_gone() -> Result<()> {
    if !is_root("sending signals as another user") {
        return Ok(());
    }
    dumps(|app, folder| {
        let mut app = app.start()?;
        for waits in ["SCRIPT waits", "SCRIPT waits alone"] {
            app.wait_for(waits, LIMIT)?;
            quit_as_system(app.pid())?;
        }
        let pid = app.pid();
        let ended = app.finish(LIMIT)?.success()?;
        let ours = all_reports(folder)?;
        let asked = |r: &&Report| r.meta.reason == DumpReason::Requested("at the end".into());
        let (last, signals): (Vec<_>, Vec<_>) = ours.iter().partition(asked);
        let [report] = signals[..] else { anyhow::bail!("{} reports", signals.len()) };
        let signal = report.anr.signal.context("no signal")?;
        ensure!((signal.origin, signal.count) == (SignalOrigin::System, 1), "{signal:?}");
        let is_anr = matches!(report.anr.verdict, AnrVerdict::Probable | AnrVerdict::Confirmed);
        ensure!(is_anr, "{:?}", report.anr);
        let last = last.first().context("no report at the end")?;
        let (on, how) = feature(last, Feature::SigQuit);
        ensure!(on && how == "handled on the main thread, then by another library's handler", "{how}");
        let texts = tombstones(folder, ".anr.xcrash")?;
        ensure!(texts.len() == 2, "{} tombstones", texts.len());
        for text in &texts {
            for part in ["'xCrash 3.1.0'", "'anr'", &format!("pid: {pid}  >>> com.example.shop <<<")] {
                ensure!(text.contains(part), "without {part}: {text}");
            }
        }
        // Ours and xCrash each pass a signal on.
        let caught = ended.errors.matches("reacting to signal 3").count();
        ensure!((2..=4).contains(&caught), "{caught} times: {}", ended.errors);
        let (_, section) = texts[0].split_once("\nloopbox:\n").with_context(|| texts[0].clone())?;
        ensure!(section.contains("peers.Dumps") && section.contains(".lbx"), "{section}");
        Ok(())
    })
}

#[test]
fn xcrash_reports_a_crash_in_native_code_with_the_recorder() -> Result<()> {
    dumps(|app, folder| {
        let app = app.argument("crash=on").start()?;
        let pid = app.pid();
        let ended = app.finish(LIMIT)?;
        // xCrash restores ART's own handler, which ends the process in one way or another.
        ensure!(!ended.status.success(), "{:?}", ended.lines);
        let texts = tombstones(folder, ".native.xcrash")?;
        let [text] = texts.as_slice() else { anyhow::bail!("{} tombstones: {}", texts.len(), ended.errors) };
        let main = format!("pid: {pid}, tid: {pid}, name: main  >>> com.example.shop <<<");
        for part in ["'native'", &main, "signal 11 (SIGSEGV)", "peers.Dumps.both"] {
            ensure!(text.contains(part), "without {part}: {text}");
        }
        Ok(())
    })
}
