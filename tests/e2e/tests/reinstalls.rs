//! An app that installs and uninstalls the recorder very often: nothing accumulates.

use std::time::Duration;

use anyhow::{Context, Result};
use lab_reports::LIMIT;
use loopbox_e2e::launcher;
use tempfile::tempdir;

/// How many installations there are in CI. `LOOPBOX_REINSTALLS` asks for more.
const TIMES: u64 = 800;
/// How many bytes the recorder's heap may grow between the first measurement, after a quarter of the
/// installations, and the last one, after all of them. The heap keeps memory for at most sixteen notices of
/// reports that once waited for the listener. A leak of two bytes per installation would exceed this limit.
const RECORDER_GROWTH: i64 = 1 << 10;
/// How many mappings may be added: libraries' arenas and Java's collector make mappings and split them. A
/// thread's stack that stays would be two mappings each time.
const MAPPINGS: i64 = 100;

/// The state after a quarter of the run.
#[derive(Debug, Clone, Copy)]
struct Mark {
    installed: i64,
    malloc: i64,
    recorder: i64,
    resident: i64,
    mappings: i64,
}

fn mark(line: &str) -> Result<Mark> {
    let value = |name: &str| -> Result<i64> {
        let words = line.split_whitespace();
        let word = words.filter_map(|word| word.split_once('=')).find(|(key, _)| *key == name);
        Ok(word.with_context(|| format!("no {name} in {line}"))?.1.parse()?)
    };
    Ok(Mark {
        installed: value("installed")?,
        malloc: value("malloc")?,
        recorder: value("recorder")?,
        resident: value("resident")?,
        mappings: value("mappings")?,
    })
}

#[test]
fn what_is_installed_and_uninstalled_often_leaves_nothing() -> Result<()> {
    let times = std::env::var("LOOPBOX_REINSTALLS").map_or(Ok(TIMES), |number| number.parse())?;
    for testbed in ["art10", "art11"] {
        let folder = tempdir()?;
        let app = launcher(testbed)?.app("scenario.Reinstalls");
        let app = app.argument(format!("dir={}", folder.path().display()));
        let mut app = app.argument(format!("times={times}")).start()?;
        let limit = LIMIT + Duration::from_millis(times * 100);
        let mut marks = Vec::new();
        for _ in 0..4 {
            marks.push(mark(&app.wait_for("SCRIPT installed", limit)?)?);
        }
        app.finish(limit)?.success()?;
        let (first, last) = (marks[0], marks[marks.len() - 1]);
        let grown = last.recorder - first.recorder;
        let each = |growth: i64| growth / (last.installed - first.installed);
        let (malloc, resident) = (each(last.malloc - first.malloc), each(last.resident - first.resident));
        println!("{testbed}: bytes each: {malloc} of malloc, {resident} resident; {marks:#?}");
        assert!(first.recorder > 0, "the library does not count");
        assert!(grown <= RECORDER_GROWTH, "{testbed}: the recorder has {grown} bytes more: {marks:#?}");
        assert!(last.mappings - first.mappings <= MAPPINGS, "{testbed}: {marks:#?}");
    }
    Ok(())
}
