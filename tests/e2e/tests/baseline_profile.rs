//! The baseline profile of the archive: exactly the classes that an installation and a message need, in the
//! form of Android's tools.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Result, ensure};
use lab_reports::LIMIT;
use loopbox_e2e::launcher;
use loopbox_setup::workspace::root;
use tempfile::tempdir;

const PROFILE: &str = "jni-glue/android/baseline-prof.txt";

/// The recorder's classes that ART has loaded, by its own log: after the installation, after messages, and
/// after a request for the status.
#[derive(Default)]
struct Loaded {
    on_main: BTreeSet<String>,
    on_any: BTreeSet<String>,
}

fn load(testbed: &str, hook: &str, loaded: &mut Loaded) -> Result<()> {
    let folder = tempdir()?;
    let app =
        launcher(testbed)?.app("scenario.Switched").argument("how=busy").argument(format!("hook={hook}"));
    let app = app.option("-X").option("-verbose:class").argument(format!("dir={}", folder.path().display()));
    let mut app = app.start()?;
    app.wait_for("SCRIPT records", LIMIT)?;
    let (pid, log) = (app.pid().to_string(), app.kill());
    for line in log.lines() {
        let Some((before, after)) = line.split_once("Loaded class Lio/loopbox/") else { continue };
        let name = after.split(';').next().unwrap_or(after);
        // Another archive's, and what the dex compiler adds.
        if name.starts_with("inhouse/") || name.contains('-') {
            continue;
        }
        let class = format!("Lio/loopbox/{name};");
        // Process and thread are the last two words before the place in ART's source.
        if before.split_whitespace().rev().skip(1).take(2).all(|id| id == pid) {
            loaded.on_main.insert(class.clone());
        }
        loaded.on_any.insert(class);
    }
    Ok(())
}

#[test]
fn it_has_the_classes_that_the_main_thread_needs_for_a_start() -> Result<()> {
    let mut loaded = Loaded::default();
    for (testbed, hook) in [("art10", "OBSERVER"), ("art11", "AUTO"), ("art11", "POLL")] {
        load(testbed, hook, &mut loaded)?;
    }
    ensure!(loaded.on_main.len() > 20, "only {:?}", loaded.on_main);
    // A class, and its methods while the app starts and afterwards.
    let lines = |class: &String| format!("{class}\nHSP{class}->**(**)**\n");
    if std::env::var_os("LOOPBOX_BLESS").is_some() {
        fs::write(root().join(PROFILE), loaded.on_main.iter().map(lines).collect::<String>())?;
        return Ok(());
    }
    let profile = fs::read_to_string(root().join(PROFILE))?;
    let listed = profile.lines().filter(|line| line.starts_with('L')).map(str::to_owned);
    let listed: BTreeSet<String> = listed.collect();
    assert_eq!(profile, listed.iter().map(lines).collect::<String>(), "the form");
    // Another thread may have been quicker, this time.
    let missing: Vec<_> = loaded.on_main.difference(&listed).collect();
    let unused: Vec<_> = listed.difference(&loaded.on_any).collect();
    ensure!(missing.is_empty(), "not in {PROFILE}: {missing:?}; LOOPBOX_BLESS=1 writes it");
    ensure!(unused.is_empty(), "in {PROFILE}, and not loaded: {unused:?}; LOOPBOX_BLESS=1 writes it");
    Ok(())
}
