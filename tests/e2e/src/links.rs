//! The links to crash SDKs: `integrate.Links` drives each as its SDK would, over the end of a process.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use loopbox_launch::App;
use tempfile::tempdir;

use crate::live::{quit, wait_for_signal_catcher};
use crate::{LIMIT, read};

/// The words that the system has for a process that does not respond.
const SAYS: &str = "says=Input dispatching timed out";

/// Plays an ANR and a hang that the system did not notice, each in a process that is killed in the middle of it and the next
/// start; `start` gets a program that runs `integrate.Links`. `knows_ends`: the Android version has `ApplicationExitInfo`.
///
/// # Errors
/// When a link does something else than it should.
pub fn check(start: &dyn Fn() -> App, knows_ends: bool) -> Result<()> {
    check_anr(start, knows_ends).context("an ANR")?;
    check_hang(start).context("a hang")
}

fn check_anr(start: &dyn Fn() -> App, knows_ends: bool) -> Result<()> {
    let (folder, again) = (tempdir()?, tempdir()?);
    let exit = live(start, folder.path(), "ANR")?;
    for file in fs::read_dir(folder.path())? {
        let file = file?.path();
        fs::copy(&file, again.path().join(file.file_name().context("a file")?))?;
    }
    let next = |folder: &Path, mode: &str| tell(start().argument(exit.clone()), folder, &exit, mode);
    let said = next(folder.path(), "others")?;
    expect(&said, "reports ", &["3"])?;
    ensure!(!said.iter().any(|line| line.contains("wrong")), "{said:?}");
    let verdict = if knows_ends { "CONFIRMED" } else { "null" };
    expect(&said, "bugsnag ", &[&format!("true {verdict}"), "false null"])?;
    expect(
        &said,
        "taken ",
        &["SIGQUIT false false false", "REQUESTED false false false", "ANR false true true"],
    )?;
    expect(&said, "recorded ", &[])?;
    ensure!(said.iter().any(|line| line.starts_with("acra true ANR loopbox-")), "{said:?}");
    expect(&said, "datadog ", &["[error ANR]"])?;
    expect(&said, "embrace ", &["1"])?;
    expect(&said, "logged ", &["ERROR ANR true"])?;
    expect(&said, "left ", &["2"])?;
    if !knows_ends {
        return Ok(());
    }
    let said = next(again.path(), "sentry")?;
    expect(&said, "other end: ", &["nothing null false"])?;
    let large = after(&said, "large: ");
    ensure!(
        large.len() == 1 && large[0].starts_with("nothing ") && large[0].ends_with(" bytes true"),
        "{said:?}"
    );
    for what in ["sampled away: ", "kept: "] {
        let attached = after(&said, what);
        ensure!(attached.len() == 1 && attached[0].ends_with(".lbx null true"), "{what}: {said:?}");
    }
    expect(&said, "then ", &["there: true", "gone"])
}

fn check_hang(start: &dyn Fn() -> App) -> Result<()> {
    let folder = tempdir()?;
    let exit = live(start, folder.path(), "HANG")?;
    let said = tell(start(), folder.path(), &exit, "others")?;
    expect(&said, "bugsnag ", &["true null", "false null"])?;
    expect(
        &said,
        "taken ",
        &["SIGQUIT false false false", "REQUESTED false false false", "HANG true true true"],
    )?;
    expect(&said, "recorded ", &["sleep true"])?;
    expect(&said, "logged ", &["ERROR HANG true"])
}

/// The process that hangs and is killed; returns what the system will say of its end.
fn live(start: &dyn Fn() -> App, folder: &Path, kind: &str) -> Result<String> {
    let mut app = start().argument("mode=live").argument(format!("kind={kind}")).argument("hangMs=1000");
    app = app.argument(format!("dir={}", folder.display()));
    if kind == "ANR" {
        app = app.argument(SAYS);
    }
    let mut app = app.start()?;
    app.wait_for("SCRIPT ready", LIMIT)?;
    wait_for_signal_catcher(app.pid())?;
    quit(&app)?;
    app.wait_for("SCRIPT hangs", LIMIT)?;
    let said = scripted(app.seen());
    ensure!(!said.iter().any(|line| line.contains("wrong")), "{said:?}");
    ensure!(said.iter().filter(|line| line.ends_with(" right")).count() == 18, "{said:?}");
    expect(&said, "sentry crash ", &["nothing null false"])?;
    let watchdog = after(&said, "sentry watchdog ");
    ensure!(watchdog[0].ends_with(".lbx null true"), "{said:?}");
    ensure!(watchdog[1] == "left 0 files", "the file that was written for it is gone: {said:?}");
    let newest = loopbox_launch::reports(folder)?.into_iter().next().context("no report")?;
    let process = read(&newest)?.meta.process;
    app.kill();
    let at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    Ok(format!("exits={}|{}|{at}|6|0|Input dispatching timed out", process.pid, process.name))
}

/// What the next start says.
fn tell(app: App, folder: &Path, exit: &str, mode: &str) -> Result<Vec<String>> {
    let at = exit.split('|').nth(2).context("no time")?;
    let app = app.argument(format!("mode={mode}")).argument(format!("ended={at}"));
    let ended = app.argument(format!("dir={}", folder.display())).start()?.finish(LIMIT)?.success()?;
    Ok(scripted(&ended.lines))
}

fn scripted(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| line.strip_prefix("SCRIPT ").map(str::to_owned)).collect()
}

fn after<'a>(said: &'a [String], word: &str) -> Vec<&'a str> {
    said.iter().filter_map(|line| line.strip_prefix(word)).collect()
}

fn expect(said: &[String], word: &str, wanted: &[&str]) -> Result<()> {
    let found = after(said, word);
    ensure!(found == wanted, "{word}: {found:?}, not {wanted:?}; of {said:?}");
    Ok(())
}
