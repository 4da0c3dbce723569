//! `loopbox-ktx` on a real ART, with the oldest coroutines and the oldest Kotlin that it supports.

use anyhow::{Context, Result};
use lab_launch::Launcher;
use lab_reports::LIMIT;
use loopbox_android_pack::{half, ktx};
use loopbox_setup::jar;
use loopbox_setup::kotlin::Kotlin;
use loopbox_setup::progress::Progress;
use loopbox_setup::workspace::{root, target};
use loopbox_testbed::to_test_on;
use std::path::PathBuf;
use tempfile::tempdir;

/// What the app prints, in this order.
const LINES: [&str; 7] = [
    "SCRIPT installed true",
    "SCRIPT dumped first true",
    "SCRIPT collected true true",
    "SCRIPT removed",
    "SCRIPT left true left",
    "SCRIPT all first, second, left, new",
    "SCRIPT over null Config",
];

#[test]
fn reports_flow_until_the_collector_is_cancelled_and_requests_suspend() -> Result<()> {
    let work = tempdir()?;
    let compiled = half::compiled()?;
    let classes = work.path().join("kotlin");
    let class_path: Vec<PathBuf> = [compiled.library, compiled.ktx.clone(), compiled.android_jar]
        .into_iter()
        .chain(ktx::jars()?)
        .collect();
    let source = root().join("tests/ktx/Collected.kt");
    let kotlin = Kotlin::ensure(&Progress::new("kotlin"))?;
    kotlin.compile_library("app", ktx::LANGUAGE, &[source], &class_path, &classes)?;
    let mut parts = ktx::jars()?;
    for (name, classes) in [("app.jar", &classes), ("ktx.jar", &compiled.ktx)] {
        let packed = work.path().join(name);
        jar::pack(classes, &packed)?;
        parts.push(packed);
    }

    let tests = root().join("tests");
    let scenario = ["Options", "Phone", "PrintingListener", "Script"];
    let mut sources = scenario.map(|name| tests.join(format!("app/scenario/{name}.java"))).to_vec();
    sources.push(tests.join("integrate/Attached.java"));
    for testbed in to_test_on(&["art10", "art11"]) {
        let jar = target().join(format!("apps/{testbed}-ktx.jar"));
        let launcher = Launcher::of_sources(&testbed, &sources, jar.clone())?;
        let app = work.path().join(format!("{testbed}.jar"));
        launcher.testbed.dex_classes(&parts, &app)?;
        let folder = tempdir()?;
        let both = format!("{}:{}", jar.display(), app.display());
        let app = launcher.app_in(both.as_ref(), "integrate.Attached").argument("application=ktx.App");
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        for line in LINES {
            app.wait_for(line, LIMIT).with_context(|| testbed.clone())?;
        }
        app.kill();
    }
    Ok(())
}
