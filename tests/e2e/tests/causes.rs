//! The verdicts of hangs whose cause is known, on a real Android Runtime.

use anyhow::{Context, Result};
use loopbox_e2e::{LIMIT, launcher};
use loopbox_format::model::StackSource;
use loopbox_format::report::{Decoded, decode};
use loopbox_launch::App;
use loopbox_report::Analysis;
use loopbox_report::diagnose::{Diagnosis, diagnose};
use loopbox_setup::command::run;
use std::fs;
use std::process::Command;
use tempfile::tempdir;

fn verdict(cause: &str) -> Result<Diagnosis> {
    verdict_of("causes.Causes", cause)
}

fn verdict_of(class: &str, cause: &str) -> Result<Diagnosis> {
    verdict_with(class, cause, |app| app)
}

fn verdict_with(class: &str, cause: &str, with: impl FnOnce(App) -> App) -> Result<Diagnosis> {
    Ok(verdict_on(&report(class, cause, with)?, cause))
}

fn verdict_on(report: &Decoded, cause: &str) -> Diagnosis {
    let verdict = diagnose(&Analysis::new(report));
    println!("{cause:8} {:?} {}", verdict.confidence, verdict.headline);
    verdict
}

fn report(class: &str, cause: &str, with: impl FnOnce(App) -> App) -> Result<Decoded> {
    let folder = tempdir()?;
    let launcher = launcher("art10")?;
    let app = launcher.app(class).argument(folder.path().display().to_string()).argument(cause);
    let mut app = with(app).start()?;
    let told = app.wait_for("SCRIPT report", LIMIT)?;
    app.kill();
    let path = told.split_whitespace().nth(2).context("no path")?;
    Ok(decode(&fs::read(path).with_context(|| path.to_owned())?)?)
}

/// The rule is the verdict. For main that computes a machine that is short of CPU may stand above, and rightly; main that
/// waits for something else is not starved, however busy the machine is.
fn assert_found(cause: &str, rule: &str, culprit: Option<&str>) -> Result<()> {
    assert_is_first(&verdict(cause)?, cause, rule, culprit)
}

fn assert_is_first(verdict: &Diagnosis, cause: &str, rule: &str, culprit: Option<&str>) -> Result<()> {
    let waits = ["lock", "sleep", "io", "barrier", "binder", "native"].contains(&rule);
    let mut causes = verdict.causes.iter().filter(|c| waits || c.rule != "starved");
    let first = causes.next().with_context(|| format!("{cause}: nothing found: {verdict:#?}"))?;
    assert_eq!(first.rule, rule, "{cause}: {verdict:#?}");
    if let Some(culprit) = culprit {
        assert!(first.culprit.as_ref().is_some_and(|c| c.contains(culprit)), "{cause}: {verdict:#?}");
    }
    Ok(())
}

#[test]
fn a_message_that_computes() -> Result<()> {
    assert_found("busy", "current-slow", Some("causes.Causes"))
}

#[test]
fn a_victim_of_the_message_before() -> Result<()> {
    assert_found("victim", "history", None)
}

#[test]
fn a_flood() -> Result<()> {
    assert_found("flood", "flood", None)
}

#[test]
fn a_leaked_barrier() -> Result<()> {
    assert_found("barrier", "barrier", None)
}

#[test]
fn a_lock_that_another_thread_holds() -> Result<()> {
    let verdict = verdict("lock")?;
    let holder =
        verdict.causes.iter().find(|cause| cause.title.contains("held by thread holder in Thread.sleep"));
    let cause = holder.with_context(|| format!("{verdict:#?}"))?;
    assert!(
        cause.evidence.iter().any(|e| e.contains("called from causes.Causes$Work.sleep")),
        "{verdict:#?}"
    );
    assert!(cause.title.contains("the monitor of a java.lang.Object"), "{verdict:#?}");
    assert_is_first(&verdict, "lock", "lock", Some("causes.Causes"))
}

#[test]
fn a_deadlock() -> Result<()> {
    let verdict = verdict("deadlock")?;
    let found = verdict.causes.iter().any(|cause| {
        cause.title.starts_with("Deadlock: ") && cause.title.ends_with("in a cycle with holder")
    });
    assert!(found, "{verdict:#?}");
    assert_is_first(&verdict, "deadlock", "lock", Some("causes.Causes"))
}

#[test]
fn a_sleep() -> Result<()> {
    assert_found("sleep", "sleep", Some("causes.Causes$Work.sleep"))
}

#[test]
fn files() -> Result<()> {
    assert_found("files", "io", Some("causes.Causes$Files.writeForEver"))
}

#[test]
fn a_collection_that_was_asked_for() -> Result<()> {
    assert_found("gc", "gc", Some("causes.Causes"))
}

#[test]
fn a_lock_of_java_util_concurrent() -> Result<()> {
    let verdict = verdict("reentrant")?;
    assert_is_first(&verdict, "reentrant", "lock", Some("causes.Waits$Ledger.book"))?;
    let cause = &verdict.causes[0];
    let held = "waits for a java.util.concurrent.locks.ReentrantLock, held by thread holder in Thread.sleep";
    assert!(cause.title.ends_with(held), "{verdict:#?}");
    let does = cause.evidence.iter().find(|line| line.starts_with("thread holder "));
    assert!(does.is_some_and(|does| does.contains("called from causes.Causes$Work.sleep")), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_deadlock_of_java_util_concurrent() -> Result<()> {
    let verdict = verdict("crossed")?;
    assert_is_first(&verdict, "crossed", "lock", Some("causes.Waits$Ledger.book"))?;
    let title = &verdict.causes[0].title;
    assert!(title.starts_with("Deadlock: ") && title.ends_with("in a cycle with holder"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_wait_to_be_notified() -> Result<()> {
    assert_found("wait", "lock", Some("causes.Waits$Mailbox.take"))
}

#[test]
fn a_thread_that_does_not_end() -> Result<()> {
    assert_found("join", "lock", Some("causes.Waits$Crew.finish"))
}

#[test]
fn a_result_that_does_not_come() -> Result<()> {
    assert_found("future", "lock", Some("causes.Waits$Quote.fetch"))
}

#[test]
fn a_thread_that_parks_itself() -> Result<()> {
    assert_found("park", "lock", Some("causes.Waits$Loader.block"))
}

#[test]
fn a_server_that_does_not_answer() -> Result<()> {
    assert_found("network", "io", Some("causes.Waits$Api.read"))
}

#[test]
fn an_idle_handler() -> Result<()> {
    assert_found("idle", "outside", None)
}

#[test]
fn an_input_handler() -> Result<()> {
    let verdict = verdict("touch")?;
    assert_is_first(&verdict, "touch", "outside", Some("causes.Causes"))?;
    let cause = verdict.causes.iter().find(|cause| cause.rule == "outside").context("not outside")?;
    assert!(cause.title.contains("outside of messages, in input"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_cold_start() -> Result<()> {
    let verdict = verdict_of("causes.ColdStart", "")?;
    assert_is_first(&verdict, "cold start", "current-slow", Some("causes."))?;
    let cause = verdict.causes.iter().find(|cause| cause.rule == "current-slow").context("not slow")?;
    assert!(cause.evidence.iter().any(|line| line.contains("BIND_APPLICATION is given 10")), "{verdict:#?}");
    Ok(())
}

/// Preferences are a stand-in under the platform's names; the file that does not come is real, a pipe.
#[test]
fn preferences_that_are_read() -> Result<()> {
    let verdict = verdict("load")?;
    assert_is_first(&verdict, "load", "io", Some("causes.Platform$Settings.theme"))?;
    assert!(verdict.causes[0].title.contains("waits for shared preferences"), "{verdict:#?}");
    Ok(())
}

/// The system stops an Activity, and waits for what the app has changed: no method of the app does. As above.
#[test]
fn preferences_that_are_written() -> Result<()> {
    let verdict = verdict("apply")?;
    assert_is_first(&verdict, "apply", "io", None)?;
    let title = &verdict.causes[0].title;
    assert!(title.contains("waits for shared preferences, in QueuedWork.processPendingWork"), "{verdict:#?}");
    // The thread that writes them has the lock: the second cause names what it does.
    let writer = verdict.causes.iter().find(|cause| cause.rule == "lock").context("no writer")?;
    assert!(writer.evidence.iter().any(|line| line.starts_with("thread queued-work-loo")), "{verdict:#?}");
    Ok(())
}

/// There is no SQLite on a testbed: a stand-in waits under the platform's names, in native code.
#[test]
fn a_query() -> Result<()> {
    let verdict = verdict("query")?;
    assert_is_first(&verdict, "query", "io", Some("causes.Platform$Orders.list"))?;
    assert!(verdict.causes[0].title.contains("works on a database"), "{verdict:#?}");
    Ok(())
}

/// The same stand-in, whose pool of connections is Java as on a device.
#[test]
fn a_database_that_another_thread_works_on() -> Result<()> {
    let verdict = verdict("connection")?;
    assert_is_first(&verdict, "connection", "io", Some("causes.Platform$Orders.list"))?;
    let title = &verdict.causes[0].title;
    assert!(title.contains("works on a database, in SQLiteConnectionPool.waitForConnection"), "{verdict:#?}");
    Ok(())
}

/// There is no Binder driver on a testbed: a stand-in under the platform's names reads from a socket without a writer.
#[test]
fn a_binder_call() -> Result<()> {
    let verdict = verdict("binder")?;
    assert_is_first(&verdict, "binder", "binder", Some("causes.Platform$Shop.open"))?;
    assert!(
        verdict.causes[0].title.contains("ICatalog.price, called from Platform$Shop.open"),
        "{verdict:#?}"
    );
    Ok(())
}

#[test]
fn a_wait_in_native_code() -> Result<()> {
    let verdict = verdict("native")?;
    assert_is_first(&verdict, "native", "native", Some("causes.Platform$Codec.configure"))?;
    let title = &verdict.causes[0].title;
    assert!(title.contains("waits in native code, in Platform$Codec.configure"), "{verdict:#?}");
    Ok(())
}

/// The dex file that does not come is a pipe.
#[test]
fn classes_that_are_loaded() -> Result<()> {
    let verdict = verdict("dex")?;
    assert_is_first(&verdict, "dex", "io", Some("causes.Platform$Plugins.load"))?;
    assert!(verdict.causes[0].title.contains("loads code"), "{verdict:#?}");
    Ok(())
}

/// The library's constructor does not end, and the linker keeps its lock for as long, from the app's start on: the recorder
/// finds ART, samples and reports without the linker.
#[test]
fn a_library_that_is_loaded() -> Result<()> {
    let folder = tempdir()?;
    let (source, library) = (folder.path().join("engine.c"), folder.path().join("libengine.so"));
    let constructor = "__attribute__((constructor)) static void start(void) { for (;;) pause(); }";
    fs::write(&source, format!("#include <unistd.h>\n{constructor}\n"))?;
    run(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source))?;
    let with = |app: App| app.property("causes.library", library.display());
    let report = report("causes.Causes", "library", with)?;
    let verdict = verdict_on(&report, "library");
    assert_is_first(&verdict, "library", "io", Some("causes.Platform$Engine.start"))?;
    assert!(verdict.causes[0].title.contains("loads code"), "{verdict:#?}");
    assert!(
        report.report.trees.iter().any(|tree| tree.source == StackSource::Art),
        "{:?}",
        report.report.features
    );
    Ok(())
}

/// Main computes, and a pool of the app's own does, with many more threads than there are processors. It is the pool that is
/// named, not the machine, however loaded that is.
#[test]
fn a_pool_that_takes_the_processors() -> Result<()> {
    let verdict = verdict("pool")?;
    let first = verdict.causes.first().context("no cause")?;
    assert_eq!(first.rule, "starved", "{verdict:#?}");
    assert!(first.title.starts_with("The app's own threads left main hardly any CPU"), "{verdict:#?}");
    assert!(first.title.ends_with("of pool-N-thread-N were running"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_flood_of_many_kinds() -> Result<()> {
    let verdict = verdict("kinds")?;
    assert_is_first(&verdict, "kinds", "history", None)?;
    let cause = verdict.causes.iter().find(|cause| cause.rule == "history").context("no history")?;
    assert!(cause.title.starts_with("Main was busy with many messages"), "{verdict:#?}");
    let shares = cause.evidence.iter().find(|line| line.starts_with("of those kept by name"));
    let shares = shares.with_context(|| format!("{verdict:#?}"))?;
    for handler in ["causes.Crowd$Prices", "causes.Crowd$Badges", "causes.Crowd$Banners"] {
        assert!(shares.contains(handler), "{shares}");
    }
    Ok(())
}

/// Nothing hangs: no rule may blame the app.
#[test]
fn an_idle_main_thread_is_not_blamed() -> Result<()> {
    let verdict = verdict("free")?;
    let blamed =
        verdict.causes.iter().find(|c| !["starved", "main-free", "outside", "no-data"].contains(&c.rule));
    assert!(blamed.is_none(), "{verdict:#?}");
    Ok(())
}
