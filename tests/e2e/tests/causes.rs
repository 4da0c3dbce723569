//! What the verdict says of hangs whose cause is known, on a real Android Runtime.

use anyhow::{Context, Result};
use loopbox_e2e::{LIMIT, launcher};
use loopbox_format::report::decode;
use loopbox_report::Analysis;
use loopbox_report::diagnose::{Diagnosis, diagnose};
use tempfile::tempdir;

fn verdict(cause: &str) -> Result<Diagnosis> {
    let folder = tempdir()?;
    let launcher = launcher("art10")?;
    let app = launcher.app("causes.Causes").argument(folder.path().display().to_string()).argument(cause);
    let mut app = app.start()?;
    let told = app.wait_for("SCRIPT report", LIMIT)?;
    app.kill();
    let path = told.split_whitespace().nth(2).context("no path")?;
    let decoded = decode(&std::fs::read(path).with_context(|| path.to_owned())?)?;
    let verdict = diagnose(&Analysis::new(&decoded));
    println!("{cause:8} {:?} {}", verdict.confidence, verdict.headline);
    Ok(verdict)
}

/// The rule is the verdict. For main that computes a machine that is short of CPU may stand above, and rightly; main that
/// waits for something else is not starved, however busy the machine is.
fn assert_found(cause: &str, rule: &str, culprit: Option<&str>) -> Result<()> {
    assert_is_first(&verdict(cause)?, cause, rule, culprit)
}

fn assert_is_first(verdict: &Diagnosis, cause: &str, rule: &str, culprit: Option<&str>) -> Result<()> {
    let waits = ["lock", "sleep", "io", "barrier"].contains(&rule);
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
    // Who holds it no runtime says; the thread in the same code is named.
    let hint = verdict.causes[0].evidence.iter().find(|line| line.starts_with("thread holder "));
    assert!(hint.is_some_and(|hint| hint.contains("causes.Waits$Ledger.audit")), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_deadlock_of_java_util_concurrent() -> Result<()> {
    let verdict = verdict("crossed")?;
    assert_is_first(&verdict, "crossed", "lock", Some("causes.Waits$Ledger.book"))?;
    let cause = verdict.causes.iter().find(|cause| cause.rule == "lock").context("no lock")?;
    assert!(cause.title.ends_with(", perhaps in a deadlock with holder"), "{verdict:#?}");
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
fn a_server_that_says_nothing() -> Result<()> {
    assert_found("network", "io", Some("causes.Waits$Api.read"))
}

#[test]
fn an_idle_handler() -> Result<()> {
    assert_found("idle", "outside", None)
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
