//! The app in Kotlin that the README shows, on a real ART.

use std::fs;

use anyhow::{Context, Result, ensure};
use lab_launch::Launcher;
use lab_reports::{LIMIT, read};
use loopbox_android_pack::half;
use loopbox_format::model::DumpReason;
use loopbox_setup::jar;
use loopbox_setup::kotlin::Kotlin;
use loopbox_setup::progress::Progress;
use loopbox_setup::workspace::{root, target};
use loopbox_testbed::to_test_on;
use tempfile::tempdir;

const IMPORTS: &str = "import android.app.Application\nimport android.content.Context\nimport io.loopbox.*\n";

#[test]
fn the_readmes_app_in_kotlin_records_and_is_given_its_report() -> Result<()> {
    let work = tempdir()?;
    let compiled = half::compiled()?;
    let readme = fs::read_to_string(root().join("README.md"))?;
    let (_, shown) = readme.split_once("```kotlin\n").context("no Kotlin in the README")?;
    let (shown, _) = shown.split_once("```").context("it has no end")?;
    let source = work.path().join("App.kt");
    fs::write(&source, format!("package shown\n{IMPORTS}{shown}"))?;
    let (kotlin, classes) = (Kotlin::ensure(&Progress::new("kotlin"))?, work.path().join("kotlin"));
    kotlin.compile(&[source], &[compiled.library, compiled.android_jar], &classes)?.into_text()?;
    let plain = work.path().join("classes.jar");
    jar::pack(&classes, &plain)?;
    let parts = [plain, kotlin.standard_library()?.to_owned()];

    let tests = root().join("tests");
    let scenario = ["Options", "Phone", "PrintingListener", "Script"];
    let mut sources = scenario.map(|name| tests.join(format!("app/scenario/{name}.java"))).to_vec();
    sources.push(tests.join("integrate/Attached.java"));
    for testbed in to_test_on(&["art10", "art11"]) {
        let jar = target().join(format!("apps/{testbed}-attached.jar"));
        let launcher = Launcher::of_sources(&testbed, &sources, jar.clone())?;
        let app = work.path().join(format!("{testbed}.jar"));
        launcher.testbed.dex_classes(&parts, &app)?;
        let folder = tempdir()?;
        let both = format!("{}:{}", jar.display(), app.display());
        let app = launcher.app_in(both.as_ref(), "integrate.Attached");
        let app = app.argument("application=shown.App");
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        app.wait_for("SCRIPT recording true", LIMIT)?;
        let line = app.wait_for(".lbx ", LIMIT)?;
        let file = line.split_whitespace().next().context("no file")?;
        let report = read(file.as_ref())?;
        ensure!(report.meta.reason == DumpReason::Requested("asked".to_owned()), "{:?}", report.meta.reason);
        let digest = report.digest.lines().nth(4).context("no digest")?;
        ensure!(!digest.is_empty() && line.ends_with(digest), "{line}, not {digest}");
        app.kill();
    }
    Ok(())
}
