//! The hooks, the history, the queue and frames on the framework's real classes of several API levels. `cargo
//! xtask stress levels` has all of them.

use anyhow::{Context, Result, ensure};
use lab_reports::LIMIT;
use loopbox_e2e::launcher;
use loopbox_e2e::levels::{Seen, run_on};
use tempfile::tempdir;

/// Checks that nothing is missing with this hook.
fn whole(level: &str, hook: &str, expected: &str, source: &str) -> Result<()> {
    let seen = run_on(level, hook, &[])?;
    assert_eq!(seen.faults(), [""; 0], "{level}");
    ensure!(seen.hook.starts_with(expected), "{level}: {}", seen.hook);
    ensure!(seen.source == source, "{level}: {}", seen.source);
    Ok(())
}

/// API 23 is the oldest level whose `Looper.dump` prints the same as that of newer levels.
#[test]
fn api_23_is_seen_whole_by_the_printer() -> Result<()> {
    whole("fw23", "AUTO", "Printer", "MessagesField")
}

#[test]
fn api_28_is_seen_whole_by_the_printer() -> Result<()> {
    whole("fw28", "AUTO", "Printer", "MessagesField")
}

/// Android 9 has no `Looper.sObserver`. Both ways to it (reflection, and a native thread) fail, as on a
/// platform that closes them.
#[test]
fn status_names_each_way_to_the_observer_that_was_refused() -> Result<()> {
    let app = launcher("art11-fw28")?.app("scenario.Demo");
    let folder = tempdir()?;
    let app = app.argument(format!("dir={}", folder.path().display()));
    let ended = app.argument("hook=OBSERVER").argument("access=native").start()?.finish(LIMIT)?;
    let line = ended.lines.iter().find_map(|line| line.strip_prefix("SCRIPT not installed: "));
    let expected =
        "off: the Observer hook is refused: no Observer by reflection: java.lang.NoSuchFieldException: ";
    let rest = line.and_then(|line| line.strip_prefix(expected));
    let rest = rest.with_context(|| format!("{:?}", ended.lines))?;
    let native = ", by native thread: java.lang.NoSuchFieldException: Looper.sObserver, from a native thread";
    ensure!(rest.contains("sObserver") && rest.ends_with(native), "{rest}");
    Ok(())
}

/// API 31 is the first level with `Looper.loopOnce`.
#[test]
fn api_31_is_seen_whole_by_both_hooks() -> Result<()> {
    whole("fw31", "AUTO", "Printer", "MessagesField")?;
    whole("fw31", "OBSERVER", "Observer", "MessagesField")
}

#[test]
fn api_35_is_seen_whole_by_both_hooks() -> Result<()> {
    whole("fw35", "AUTO", "Printer", "MessagesField")?;
    whole("fw35", "OBSERVER", "Observer", "MessagesField")
}

#[test]
fn the_concurrent_queue_of_api_36_is_seen_whole() -> Result<()> {
    whole("fw36-concurrent", "AUTO", "Printer", "LooperDump")
}

#[test]
fn api_37_is_seen_whole_by_both_hooks() -> Result<()> {
    whole("fw37", "AUTO", "Printer", "LooperDump")?;
    whole("fw37", "OBSERVER", "Observer", "LooperDump")
}

#[test]
fn the_queue_with_a_lock_of_api_37_is_seen_whole() -> Result<()> {
    whole("fw37-legacy", "AUTO", "Printer", "MessagesField")
}

/// The poll is a static method on API 21 and 22. API 36 and API 37 have new queues.
#[test]
fn each_queue_is_seen_whole_by_its_poll() -> Result<()> {
    let levels = [
        ("fw21", "MessagesField"),
        ("fw23", "MessagesField"),
        ("fw35", "MessagesField"),
        ("fw36-concurrent", "LooperDump"),
        ("fw37", "LooperDump"),
    ];
    levels.into_iter().try_for_each(|(level, source)| whole(level, "POLL", "Poll", source))
}

/// `MessageQueue.mMessages` is hidden from apps that target 37, by the level's own list. Nothing else is
/// lost.
#[test]
fn a_queue_that_is_hidden_from_the_app_is_said_to_be_unknown() -> Result<()> {
    let hidden = |level: &str| run_on(level, "AUTO", &["--hidden-api"]);
    assert_eq!(hidden("fw35")?.faults(), [""; 0]);
    let Seen { source, queue, hook, counted, frames, .. } = hidden("fw37-legacy")?;
    ensure!(
        source.starts_with("Unavailable") && queue.messages.is_empty() && !queue.whole,
        "{source}: {queue:?}"
    );
    let seen = run_on("fw37-legacy", "AUTO", &[])?;
    assert_eq!((hook, counted, frames), (seen.hook, seen.counted, seen.frames));
    Ok(())
}
