//! The name of a message that a library dispatches: Kotlin's coroutines and RxJava, as apps ship them, on a
//! real ART.

use anyhow::{Context, Result, anyhow, ensure};
use lab_launch::{Build, Launcher};
use lab_reports::{LIMIT, read};
use loopbox_android_pack::half;
use loopbox_e2e::libraries::coroutines_and_rx;
use loopbox_format::report::Decoded;
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;
use loopbox_report::json::ReportView;
use loopbox_setup::jar;
use loopbox_setup::kotlin::Kotlin;
use loopbox_setup::progress::Progress;
use loopbox_setup::workspace::root;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::{TempDir, tempdir};

/// For each message: the report, the app's method that names the message, and a part of the Looper's name for
/// the message.
const MESSAGES: [(&str, &str, &str); 3] = [
    ("launched", "named.Feed$load$1.invokeSuspend", "kotlinx.coroutines."),
    ("resumed", "named.Feed$load$1.invokeSuspend", "kotlinx.coroutines."),
    ("observed", "named.Feed$observe$1.accept", "io.reactivex.rxjava3.android."),
];

/// The app with its libraries, as a dexed jar; made once, for every testbed. Dexing takes half a minute.
fn app() -> Result<&'static Path> {
    static APP: LazyLock<Result<(TempDir, PathBuf)>> = LazyLock::new(|| {
        let folder = tempdir()?;
        let app = make_app(&Launcher::new("art10", Build::Dev)?, folder.path())?;
        Ok((folder, app))
    });
    let (_, app) = APP.as_ref().map_err(|error| anyhow!("{error:#}"))?;
    Ok(app)
}

fn make_app(launcher: &Launcher, folder: &Path) -> Result<PathBuf> {
    let compiled = half::compiled()?;
    let (kotlin, classes) = (Kotlin::ensure(&Progress::new("kotlin"))?, folder.join("kotlin"));
    let mut parts = coroutines_and_rx(folder)?;
    let class_path: Vec<PathBuf> =
        [compiled.library, compiled.android_jar].into_iter().chain(parts.iter().cloned()).collect();
    kotlin.compile(&[root().join("tests/named/Named.kt")], &class_path, &classes)?.into_text()?;
    let plain = folder.join("classes.jar");
    jar::pack(&classes, &plain)?;
    parts.extend([plain, kotlin.standard_library()?.to_owned()]);
    let app = folder.join("app.jar");
    launcher.testbed.dex_classes(&parts, &app)?;
    Ok(app)
}

fn text(message: &Value) -> &str {
    message["text"].as_str().unwrap_or_default()
}

/// Checks a message's name. It comes from the message's text, for example that of a launched coroutine under
/// the Printer, or else from its stacks.
fn is_called(message: &Value, name: &str, by: &str) -> Result<()> {
    let callback = message["callback"].as_str().context("no callback")?;
    ensure!(text(message).starts_with(name), "{message} is not {name}");
    let by_itself = callback == name && message["by_stacks"].is_null();
    let by_stacks = message["by_stacks"] == name && callback.starts_with(by);
    ensure!(by_itself || by_stacks, "{message} is not by {by}");
    Ok(())
}

fn names_messages(testbed: &str, hook: &str) -> Result<()> {
    let reports = tempdir()?;
    let (launcher, app) = (Launcher::new(testbed, Build::Dev)?, app()?);
    let jars = launcher.class_path().last().context("no apps")?.display().to_string();
    let both = format!("{jars}:{}", app.display());
    let app = launcher.app_in(both.as_ref(), "named.NamedKt");
    let mut app = app.argument(reports.path().display().to_string()).argument(hook).start()?;
    let mut report = |what: &str| -> Result<Decoded> {
        let line = app.wait_for(&format!("SCRIPT {what} "), LIMIT)?;
        let path = line.split_whitespace().nth(2).context("no path")?;
        Ok(Decoded { report: read(path.as_ref())?, damage: Vec::new() })
    };
    for (what, name, by) in MESSAGES {
        let a = Analysis::new(&report(what)?);
        let verdict = diagnose(&a);
        let json = serde_json::to_value(ReportView::new(&a, &verdict))?;
        let message = &json["current"]["message"];
        is_called(message, name, by).context(what)?;
        let slow = verdict.causes.iter().find(|cause| cause.rule == "current-slow");
        let slow = slow.with_context(|| format!("{what}: {verdict:#?}"))?;
        ensure!(slow.evidence[0].contains(&format!("({})", text(message))), "{what}: {:?}", slow.evidence);
        let culprit = slow.culprit.as_deref().unwrap_or_default();
        ensure!(culprit.starts_with("named.Feed.parse"), "{what}: {culprit}");
    }
    // Over, they are called what they were called while they ran.
    let a = Analysis::new(&report("over")?);
    let json = serde_json::to_value(ReportView::new(&a, &diagnose(&a)))?;
    let records = json["history"].as_array().context("no history")?;
    let details = records.iter().filter_map(|record| record["details"].as_array()).flatten();
    let messages = details.filter(|detail| detail["has_tree"] == true).map(|detail| &detail["message"]);
    let named: Vec<&Value> = messages.filter(|message| text(message).starts_with("named.")).collect();
    ensure!(named.len() == MESSAGES.len(), "{named:#?}");
    for (message, (what, name, by)) in named.into_iter().zip(MESSAGES) {
        is_called(message, name, by).context(what)?;
    }
    app.kill();
    Ok(())
}

#[test]
fn coroutines_and_rx_are_called_after_the_apps_methods_by_observer() -> Result<()> {
    names_messages("art10", "OBSERVER")
}

#[test]
fn coroutines_and_rx_are_called_after_the_apps_methods_by_printer() -> Result<()> {
    names_messages("art11", "PRINTER")
}
