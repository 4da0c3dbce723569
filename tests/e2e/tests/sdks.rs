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

/// What `peers.Together` posts.
const MESSAGES: u64 = 300;
/// What has been seen.
const SDKS: [&str; 4] = ["datadog", "blockcanary", "rx", "coroutines"];
/// The hooks to test, by testbed.
const HOOKS: [(&str, [&str; 2]); 2] = [("art10", ["OBSERVER", "PRINTER"]), ("art11", ["PRINTER", "POLL"])];

/// An app on each testbed, by each hook, in both orders.
fn in_each_way(class: &str, check: impl Fn(App, &Path) -> Result<()> + Sync) -> Result<()> {
    for (testbed, hooks) in HOOKS {
        let bed = Bed::ensure(testbed, Build::Dev)?;
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

#[test]
fn no_message_is_lost_with_an_sdk_and_none_by_the_sdk_when_the_recorder_is_gone() -> Result<()> {
    in_each_way("peers.Together", |app, folder| {
        let ended = app.argument("hangMs=60000").start()?.finish(LIMIT)?.success()?;
        let ours = reports(folder)?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
        let token = |name: String| -> Result<u64> {
            let is = |report: &&Report| report.meta.reason == DumpReason::Requested(name.clone());
            let report = ours.iter().find(is).with_context(|| format!("no report {name}"))?;
            let MainState::Running(running) = &report.main else {
                anyhow::bail!("{name}: main is {:?}", report.main)
            };
            Ok(running.token.0)
        };
        for sdk in SDKS {
            let said = |when: &str| -> Result<u64> {
                let line = ended
                    .lines
                    .iter()
                    .find_map(|line| line.strip_prefix(&format!("SCRIPT {when} {sdk} ")))
                    .with_context(|| format!("{sdk} {when}: {:?}", ended.lines))?;
                Ok(line.parse()?)
            };
            ensure!(said("both")? == MESSAGES, "{sdk} has seen {} messages", said("both")?);
            // The one that asks at the end is one more.
            let recorded = token(format!("end {sdk}"))? - token(format!("begin {sdk}"))?;
            ensure!(recorded == MESSAGES + 1, "with {sdk} {recorded} messages were recorded");
            ensure!(said("alone")? == MESSAGES, "{sdk} has seen {} without us", said("alone")?);
        }
        Ok(())
    })
}

#[test]
fn each_watcher_reports_a_hang_with_the_recorder_and_without_it() -> Result<()> {
    in_each_way("peers.Watching", |app, _| {
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

/// They need classes of a phone that no testbed has, so they run only on a JVM (`real_sdks.rs`). None of them
/// watches main. When one starts here some day, it belongs to the SDKs above.
#[test]
fn bugsnag_acra_and_okhttp_do_not_start_for_want_of_a_phones_classes() -> Result<()> {
    const WANTED: [(&str, &str); 3] = [
        ("bugsnag", "Failed resolution of: Landroid/net/ConnectivityManager;"),
        (
            "acra",
            "Failed resolution of: Landroid/content/SharedPreferences$OnSharedPreferenceChangeListener;",
        ),
        ("okhttp", "Class not found using the boot class loader; no stack trace available"),
    ];
    let (bed, folder) = (Bed::ensure("art11", Build::Dev)?, tempdir()?);
    let ended = bed.app("peers.Starts", folder.path()).start()?.finish(LIMIT)?.success()?;
    let expected = WANTED
        .map(|(sdk, class)| format!("SCRIPT refused {sdk} java.lang.NoClassDefFoundError {class}"))
        .to_vec();
    assert_eq!(ended.lines, expected, "{}", ended.errors);
    Ok(())
}
