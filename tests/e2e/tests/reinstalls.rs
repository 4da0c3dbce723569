//! An app that installs and uninstalls the recorder very often: nothing of it adds up.

use std::time::Duration;

use anyhow::{Context, Result};
use loopbox_e2e::{LIMIT, launcher};
use tempfile::tempdir;

/// `LOOPBOX_REINSTALLS` asks for more than CI does.
const TIMES: u64 = 800;
/// What malloc may have given more for each, after the first quarter. On this machine ART takes 48 for each thread that ever
/// was, and a recording attaches four; blocks that malloc keeps for threads to come count as well. The 144 bytes that each
/// recording once leaked were above it.
const MALLOC_EACH: i64 = 400;
/// Libraries' arenas and Java's collector make mappings and split them; a thread's stack that stays would be two each time.
const MAPPINGS: i64 = 100;

/// After a quarter of the run.
#[derive(Debug, Clone, Copy)]
struct Mark {
    installed: i64,
    malloc: i64,
    resident: i64,
    descriptors: i64,
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
        resident: value("resident")?,
        descriptors: value("descriptors")?,
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
        let each = (last.malloc - first.malloc) / (last.installed - first.installed);
        let resident = (last.resident - first.resident) >> 10;
        println!("{testbed}: {each} bytes of malloc each, {resident} KiB resident in all; {marks:#?}");
        assert!(each <= MALLOC_EACH, "{testbed}: {each} bytes of malloc each: {marks:#?}");
        assert_eq!(first.descriptors, last.descriptors, "{testbed}: {marks:#?}");
        assert!(last.mappings - first.mappings <= MAPPINGS, "{testbed}: {marks:#?}");
    }
    Ok(())
}
