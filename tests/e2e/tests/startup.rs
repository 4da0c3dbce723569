//! The recorder installed by App Startup, in the message that binds the app, as the manifest says.

use anyhow::{Context, Result};
use lab_launch::{App, reports};
use lab_reports::live::{running_tree, wait_until};
use lab_reports::{LIMIT, read, stacks_of};
use loopbox_e2e::launcher;
use loopbox_format::model::DumpReason;
use loopbox_testbed::to_test_on;
use tempfile::tempdir;

fn app(testbed: &str, manifest: &str, folder: &std::path::Path) -> Result<App> {
    let app =
        launcher(testbed)?.app("phone.Main").argument("install=startup").argument(format!("meta={manifest}"));
    Ok(app.argument(format!("dir={}", folder.display())))
}

#[test]
fn a_hang_in_on_create_is_reported_where_the_manifest_wants_the_recorder() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        // What comes before onCreate is part of the same message, and may take long on a busy machine.
        let manifest =
            "io.loopbox.enabled=true,io.loopbox.hangMs=6000,io.loopbox.hook=PRINTER,com.example.key=1";
        let app = app(&testbed, manifest, folder.path())?;
        let mut app = app.argument("hang=application").argument("how=lock").argument("ms=3600000").start()?;
        app.wait_for("SCRIPT hangs at application", LIMIT)?;
        let said = app.seen().iter().find(|line| line.contains("initialized: ")).context("no status")?;
        assert!(said.contains("initialized: on: ") && said.contains("hook on (Printer"), "{said}");
        let report = wait_until("the hang's report", || {
            let all = reports(&folder.path().join("loopbox")).unwrap_or_default();
            Ok(all
                .iter()
                .filter_map(|file| read(file).ok())
                .find(|report| report.meta.reason == DumpReason::Hang))
        })?;
        app.kill();
        assert!(
            report.digest.contains("main runs android.app.ActivityThread$H what=110 "),
            "{}",
            report.digest
        );
        let tree = running_tree(&report).context("no stacks")?;
        let stacks = stacks_of(&report, tree)?;
        let in_on_create =
            stacks.iter().any(|(frames, _)| frames.iter().any(|f| f.short() == "PhoneApplication.onCreate"));
        assert!(in_on_create, "{stacks:?}");
        assert_eq!(report.meta.process.app_version, "2.1 (210)", "the Context is the app's");
        let foreground = report.meta.annotations.iter().find(|(name, _)| name == "foreground");
        assert_eq!(foreground.map(|(_, value)| value.as_str()), Some("no"), "known from the start");
    }
    Ok(())
}

#[test]
fn the_app_starts_without_the_recorder_where_the_manifest_does_not_want_it_or_is_wrong() -> Result<()> {
    let cases = [
        "",
        "io.loopbox.hangMs=1000",
        "io.loopbox.enabled=false",
        "io.loopbox.enabled=true,io.loopbox.hangMs=1",
        "io.loopbox.enabled=true,io.loopbox.hangMs=soon",
        "io.loopbox.enabled=true,io.loopbox.hook=FISH",
        "io.loopbox.enabled=true,io.loopbox.unknown=1",
        "io.loopbox.enabled=true,io.loopbox.hook=1",
        "io.loopbox.enabled=true,io.loopbox.hangMs=4000.5",
    ];
    for manifest in cases {
        let folder = tempdir()?;
        let ended = app("art10", manifest, folder.path())?.start()?.finish(LIMIT)?.success()?;
        let said = |words: &str| ended.lines.iter().any(|line| line.ends_with(words));
        assert!(
            said("initialized: off: not installed") && said("SCRIPT done"),
            "{manifest}: {:?}",
            ended.lines
        );
        assert!(!folder.path().join("loopbox").exists(), "{manifest}");
    }
    Ok(())
}

/// aapt stores a text in the manifest as a number if the text can be read as a number.
#[test]
fn a_version_that_the_build_made_a_number_of_is_the_apps_version() -> Result<()> {
    for version in ["5.2", "12", "5.2.1"] {
        let folder = tempdir()?;
        let manifest = format!("io.loopbox.enabled=true,io.loopbox.appVersion={version}");
        let app = app("art10", &manifest, folder.path())?.argument("dump=on");
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let dumped = ended.lines.iter().find_map(|line| line.strip_prefix("SCRIPT dumped "));
        let dumped = dumped.with_context(|| format!("{version}: {:?}", ended.lines))?;
        let report = read(std::path::Path::new(dumped)).with_context(|| dumped.to_owned())?;
        assert_eq!(report.meta.process.app_version, version);
    }
    Ok(())
}
