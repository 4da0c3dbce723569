//! The links to crash SDKs: `integrate.Links` drives each link as its SDK would, across the end of a process.
//!
//! What arrives where is written only in the table of `jni-glue/integrations/README.md`; these runs are
//! compared with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Running};
use lab_reports::live::{quit, running_tree, wait_for_ring, wait_for_signal_catcher};
use lab_reports::{LIMIT, read};
use loopbox_format::model::Report;
use loopbox_setup::workspace::root;
use tempfile::tempdir;

/// The words that the system has for a process that does not respond.
const SAYS: &str = "says=Input dispatching timed out";

/// `ApplicationExitInfo.REASON_CRASH`; `ANR` is `REASON_ANR`.
const CRASH: u32 = 4;
const ANR: u32 = 6;

/// The columns of the table, in their order.
const COLUMNS: [&str; 4] = ["live", "last", "hang", "crash"];

/// What each SDK gets from Loopbox: a file, a digest, or both. The key is one of `COLUMNS` and an SDK. An SDK
/// that gets nothing in a column is left out.
type Arrived = BTreeMap<(String, String), BTreeSet<String>>;

/// Checks what the links deliver for an ANR, for a hang that the system did not notice, and for a crash. For
/// each of these cases, a process hangs and ends, and the app starts again. `start` returns the app, which
/// runs `integrate.Links`. `knows_ends`: whether the Android version has `ApplicationExitInfo`. Without it,
/// the crash is left out, and what arrives is not compared with the table in the README.
///
/// # Errors
/// When a link delivers something other than expected.
pub fn check(start: &dyn Fn() -> App, knows_ends: bool) -> Result<()> {
    let mut arrived = Arrived::new();
    check_anr(start, knows_ends, &mut arrived).context("an ANR")?;
    check_hang(start, &mut arrived).context("a hang")?;
    if knows_ends {
        check_crash(start, &mut arrived).context("a crash")?;
        let documented = documented(&fs::read_to_string(root().join("jni-glue/integrations/README.md"))?)?;
        ensure!(arrived == documented, "what arrives: {arrived:#?}, in the table: {documented:#?}");
    }
    Ok(())
}

fn check_anr(start: &dyn Fn() -> App, knows_ends: bool, arrived: &mut Arrived) -> Result<()> {
    let (folder, again) = (tempdir()?, tempdir()?);
    let (exit, said) = live(start, folder.path(), "ANR")?;
    let watchdog = after(&said, "sentry watchdog ");
    ensure!(watchdog[0].ends_with(".lbx null true"), "{said:?}");
    ensure!(watchdog[1] == "left 0 files", "the file that was written for it is gone: {said:?}");
    note(&said, arrived)?;
    copy(folder.path(), again.path())?;
    let next =
        |folder: &Path, mode: &str| run_links(start().argument(exit.clone()), folder, &exit, mode, "last");
    let said = next(folder.path(), "others")?;
    note(&said, arrived)?;
    expect(&said, "reports ", &["3"])?;
    ensure!(!said.iter().any(|line| line.contains("wrong")), "{said:?}");
    let verdict = if knows_ends { "CONFIRMED" } else { "null" };
    expect(&said, "bugsnag ", &[&format!("true {verdict}"), "false null"])?;
    expect(
        &said,
        "taken ",
        &["SIGQUIT false false false", "REQUESTED false false false", "ANR false false true"],
    )?;
    expect(&said, "recorded ", &[])?;
    ensure!(said.iter().any(|line| line.starts_with("acra true ANR loopbox-")), "{said:?}");
    expect(&said, "acra left ", &["null"])?;
    expect(&said, "datadog ", &["[]"])?;
    expect(&said, "embrace ", &["before it starts 0", "1"])?;
    expect(&said, "logged ", &["ERROR ANR true"])?;
    expect(&said, "left ", &["2"])?;
    if !knows_ends {
        return Ok(());
    }
    let said = next(again.path(), "sentry")?;
    note(&said, arrived)?;
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

fn check_hang(start: &dyn Fn() -> App, arrived: &mut Arrived) -> Result<()> {
    let (folder, again) = (tempdir()?, tempdir()?);
    let (exit, said) = live(start, folder.path(), "HANG")?;
    expect(&said, "sentry crash ", &["nothing null false"])?;
    note(&said, arrived)?;
    copy(folder.path(), again.path())?;
    let said = run_links(start(), again.path(), &exit, "hangs", "hang")?;
    note(&said, arrived)?;
    expect(&said, "bugsnag hang ", &["SIGQUIT false true", "REQUESTED false true", "HANG true true"])?;
    expect(&said, "sentry hang ", &["SIGQUIT false true", "REQUESTED false true", "HANG true false"])?;
    let said = run_links(start(), folder.path(), &exit, "others", "hang")?;
    note(&said, arrived)?;
    expect(&said, "bugsnag ", &["true null", "false null"])?;
    expect(
        &said,
        "taken ",
        &["SIGQUIT false false false", "REQUESTED false false false", "HANG true true true"],
    )?;
    expect(&said, "recorded ", &["sleep true"])?;
    expect(&said, "of a class with its package: ", &["true"])?;
    let keys = "true [loopbox, loopbox_fingerprint, loopbox_time_ms, loopbox_version]";
    expect(&said, "keys of it ", &[keys])?;
    expect(&said, "logged ", &["ERROR HANG true"])
}

/// Copies all files of a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in fs::read_dir(from)? {
        let file = file?.path();
        fs::copy(&file, to.join(file.file_name().context("a file")?))?;
    }
    Ok(())
}

/// Checks what arrives of a process that crashed while its main thread was busy.
fn check_crash(start: &dyn Fn() -> App, arrived: &mut Arrived) -> Result<()> {
    let folder = tempdir()?;
    let mut app = begin(start, folder.path(), "NONE").start()?;
    to_hang(&mut app)?;
    let sampled =
        |report: &Report| running_tree(report).is_some_and(|tree| tree.sample_deltas_ns.len() >= 120);
    let process = wait_for_ring("the hang is sampled", folder.path(), app.pid(), sampled)?.meta.process;
    app.kill();
    let exit = ended(process.pid, &process.name, CRASH)?;
    let said = run_links(start().argument(exit.clone()), folder.path(), &exit, "others", "crash")?;
    note(&said, arrived)?;
    expect(
        &said,
        "taken ",
        &["SIGQUIT false false false", "REQUESTED false false false", "CRASH false false false"],
    )?;
    expect(&said, "embrace ", &["before it starts 0", "0"])
}

/// The app of a process that will hang, with `kind=` and the arguments that go with it.
fn begin(start: &dyn Fn() -> App, folder: &Path, kind: &str) -> App {
    let hang = if kind == "NONE" { 60_000 } else { 1_000 };
    let app =
        start().argument("mode=live").argument(format!("kind={kind}")).argument(format!("hangMs={hang}"));
    let app = app.argument(format!("dir={}", folder.display()));
    if kind == "ANR" { app.argument(SAYS) } else { app }
}

/// Sends SIGQUIT when the app is ready. Waits until the app hangs, and has printed the links' results.
fn to_hang(app: &mut Running) -> Result<()> {
    app.wait_for("SCRIPT ready", LIMIT)?;
    wait_for_signal_catcher(app.pid())?;
    quit(app)?;
    app.wait_for("SCRIPT hangs", LIMIT)?;
    Ok(())
}

/// Runs the process that hangs and is killed. Returns what the system will report of its end, and what it
/// printed.
fn live(start: &dyn Fn() -> App, folder: &Path, kind: &str) -> Result<(String, Vec<String>)> {
    let mut app = begin(start, folder, kind).start()?;
    to_hang(&mut app)?;
    let said = scripted(app.seen());
    ensure!(!said.iter().any(|line| line.contains("wrong")), "{said:?}");
    ensure!(said.iter().filter(|line| line.ends_with(" right")).count() == 18, "{said:?}");
    let newest = lab_launch::reports(folder)?.into_iter().next().context("no report")?;
    let process = read(&newest)?.meta.process;
    app.kill();
    Ok((ended(process.pid, &process.name, ANR)?, said))
}

/// The app's argument that makes the simulated system report the end of this process.
fn ended(pid: u32, name: &str, reason: u32) -> Result<String> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    Ok(format!("exits={pid}|{name}|{at}|{reason}|0|Input dispatching timed out"))
}

/// Starts the app again after a process has ended, and runs the links. `exit` is the argument with what the
/// system reports of that end. Returns what the app printed. `mode` and `column` are arguments of
/// `integrate.Links`.
fn run_links(app: App, folder: &Path, exit: &str, mode: &str, column: &str) -> Result<Vec<String>> {
    let at = exit.split('|').nth(2).context("no time")?;
    let app = app
        .argument(format!("mode={mode}"))
        .argument(format!("ended={at}"))
        .argument(format!("column={column}"));
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

/// Reads the lines `arrives COLUMN SDK: WHAT`. Several lines may be about the same cell: then what they
/// report is combined.
fn note(said: &[String], arrived: &mut Arrived) -> Result<()> {
    for line in after(said, "arrives ") {
        let (cell, what) = line.split_once(':').with_context(|| line.to_owned())?;
        let (column, sdk) = cell.split_once(' ').with_context(|| line.to_owned())?;
        ensure!(COLUMNS.contains(&column), "no such column: {line}");
        let what: BTreeSet<String> = what.split_whitespace().map(str::to_owned).collect();
        if !what.is_empty() {
            arrived.entry((column.to_owned(), sdk.to_owned())).or_default().extend(what);
        }
    }
    Ok(())
}

/// The cells of the page's table of what arrives. Each cell contains `file`, `digest`, both, or neither.
fn documented(page: &str) -> Result<Arrived> {
    let table = page.split_once("| | ANR of a living process |").context("no table of what arrives")?.1;
    let mut cells = Arrived::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let mut parts = row.trim_matches('|').split('|').map(str::trim);
        let sdk = parts.next().context("an SDK")?;
        let parts: Vec<&str> = parts.collect();
        ensure!(parts.len() == COLUMNS.len(), "{row}");
        for (column, text) in COLUMNS.iter().zip(parts) {
            let said = |word: &&str| text.split(|c: char| !c.is_alphabetic()).any(|found| found == *word);
            let what: BTreeSet<String> =
                ["file", "digest"].iter().filter(|word| said(word)).map(|w| (*w).to_owned()).collect();
            if !what.is_empty() {
                cells.insert(((*column).to_owned(), sdk.to_owned()), what);
            }
        }
    }
    ensure!(!cells.is_empty(), "the table of what arrives is empty");
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_what_arrives_are_compared_cell_by_cell() {
        let page = "x\n| | ANR of a living process | b | c | d |\n|---|---|---|---|---|\n\
                    | A B | file and digest, later | | nothing | digest of a hang before it |\n| `C` | | files | | |\n\nend | | |";
        let mut arrived = Arrived::new();
        let said =
            ["arrives live A B: file digest", "arrives live `C`:", "other", "arrives crash A B: digest"];
        let said = said.map(str::to_owned);
        note(&said, &mut arrived).unwrap();
        assert_eq!(arrived, documented(page).unwrap(), "`files` is another word");
        assert!(note(&["arrives late A: file".to_owned()], &mut arrived).is_err());
        assert!(documented("no table").is_err());
    }
}
