//! `loopbox-testing` in an app's unit tests: on a JVM, with the SDK's `android.jar`, in which every method
//! throws.

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use loopbox_android_pack::half::{self, Compiled};
use loopbox_format::model::{AnrVerdict, DumpReason, MainState, Report};
use loopbox_format::report::decode;
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, invariant_violations, text};
use loopbox_setup::command::{path_list, run};
use loopbox_setup::kotlin::Kotlin;
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::root;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::tempdir;

/// What a unit test sees with either archive.
const WITH_EITHER: &str = "\
on [true, , [hook on (Printer), sampler off (no table )]]
off [false, memory is short, []]
warning [-7, 4, 15000, 30000]
warning [ANR 1 of type 5, 10000 of 20000 ms]
stall [2, 412.5, 5, 6]
stall [a.B, Feed, a.B.run(B.java:1), {\"a\":1}]
stall [{}]
window [58.5, 120.0, 412.25, HIGH, 7]
window [Feed, 3, BEST]
gesture [1.5, 2000, 700, 1300, 100]
gesture [50.0, 12.5, 99.5, 1]
gesture [2, 3, false]
process [, 1200, 20000.0, 60.0, 0.5]
process [0.0, 16.0, 0, 0]
process [0, 0, 0, 0]
process [0, 0.0, {}]
scenes [1, 1]
scene [com.shop.Feed , 600, 10000.0, 60.0, 1.0]
scene [5.0, 150.5, 9, 4]
scene [1, 2, 3, 5]
scene [90, 20.0, {layout_measure=3, in put x=1}]
gesture [1.5, 2000, 700, 1300, 100]
gesture [50.0, 12.5, 99.5, 1]
gesture [2, 3, false]
empty [, 0, 0.0, 0.0, 0.0]
empty [0.0, 0.0, 0, 0]
empty [0, 0, 0, 0]
empty [0, 0.0, {}]
";

/// The further lines that a unit test prints with the recorder's archive.
const REPORTS: &str = "\
report [ANR, CONFIRMED, sigquit, true, Cart.total]
fields [, com.shop, 77, 1700000000123, one line]
fields [5.2, 502, {user=7f3a, scene=pay \u{fc}}, 7001]
fields [main, 0123abcd, Cart.total, ANR 8 of type -4, 15000 of 30000 ms]
stack [java.lang.Thread.sleep(Native Method), com.shop.Cart$1.total(Cart.java:88), com.shop.Cart.run(Unknown Source)]
profile [/profiles/7, 0, false]
report [ANR, PROBABLE, sigquit, true, java.lang.Thread.sleep]
report [HANG, HANG, hang, true, java.lang.Thread.sleep]
report [RECOVERED, HANG, recovered, true, java.lang.Thread.sleep]
report [CRASH, HANG, crash, true, java.lang.Thread.sleep]
report [REQUESTED, RESPONSIVE, requested, true, java.lang.Thread.sleep]
report [SIGQUIT, RESPONSIVE, sigquit, true, java.lang.Thread.sleep]
report [UNKNOWN, UNKNOWN, unreadable, false, ]
report [REQUESTED, RESPONSIVE, requested, true, main idle]
report [HANG, HANG, hang, false, main unknown]
names [loopbox-202-66000-1.lbx, loopbox-202-66000-2.lbx]
refused [a report of the verdict CONFIRMED is none of the kind HANG]
refused [a report of the verdict HANG is none of the kind ANR]
refused [a report of the verdict HANG is none of the kind SIGQUIT]
pending [2]
taken [first, true]
taken [second, true]
left [0, 1]
";

/// Compiles a unit test and runs it.
fn unit_test(half: &Compiled, of: &Path, folder: &Path) -> Result<String> {
    let classes = tempdir()?;
    let tools = Tools::ensure()?;
    let on: Vec<PathBuf> = [classes.path(), of, &half.testing, &half.android_jar].map(Path::to_owned).into();
    let on = path_list(&on);
    let mut javac = tools.javac();
    javac.args(["-Werror", "-Xlint:all,-options,-classfile", "-cp", &on, "-d"]).arg(classes.path());
    run(javac.arg(root().join("tests/jvm/Made.java")))?;
    let mut app = tools.java();
    run(app.args(["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp", &on, "Made"]).arg(folder))
}

fn file(folder: &Path, pid: u32) -> Result<Report> {
    let name = format!("loopbox-{pid}-");
    let found = reports(folder)?.into_iter().find(|path| path.to_string_lossy().contains(&name));
    let decoded = decode(&fs::read(found.with_context(|| format!("none of {pid}"))?)?)?;
    assert_eq!(decoded.damage, []);
    let analysis = Analysis::new(&decoded);
    assert_eq!((&analysis.issues[..], &invariant_violations(&analysis)[..]), (&[][..], &[][..]));
    let shown = text::show(&analysis, &diagnose(&analysis), text::Options::default());
    ensure!(shown.contains(&decoded.report.meta.process.name), "{shown}");
    Ok(decoded.report)
}

#[test]
fn unit_test_makes_each_value_and_reports_are_files_that_the_command_reads() -> Result<()> {
    let half = half::compiled()?;
    let folder = tempdir()?;
    assert_eq!(
        unit_test(&half, &half.library, folder.path())?.trim(),
        [WITH_EITHER, REPORTS].concat().trim()
    );

    let full = file(&folder.path().join("full"), 77)?;
    assert_eq!((&full.meta.reason, full.anr.verdict), (&DumpReason::SigQuit, AnrVerdict::Confirmed));
    assert_eq!(
        (full.meta.dumped_at.unix_ms, &*full.meta.process.app_version),
        (1_700_000_000_123, "5.2 (502)")
    );
    let notes: Vec<(&str, &str)> = full.meta.annotations.iter().map(|(n, v)| (&**n, &**v)).collect();
    assert_eq!(notes, [("user", "7f3a"), ("scene", "pay \u{fc}"), ("system_profile", "/profiles/7")]);
    let MainState::Running(running) = &full.main else { anyhow::bail!("{:?}", full.main) };
    assert_eq!((running.age_ns(), full.anr.ran_ns), (7_001_000_000, 7_001_000_000));
    let warned: Vec<_> = full.anr_warnings.iter().map(|w| (w.id, w.kind, w.timeout_ms)).collect();
    assert_eq!(warned, [(1, 5, 2), (8, -4, 30_000)]);
    let stack = loopbox_format::stacks::stacks(&full.trees[0])?.last().context("no stack")?;
    let names = stack.iter().map(|location| full.symbols.methods[location.0 as usize].name.as_str());
    assert!(names.eq(["run", "total", "sleep"]), "{stack:?}");

    let reasons = [
        (DumpReason::SigQuit, AnrVerdict::Probable),
        (DumpReason::Hang, AnrVerdict::Hang),
        (DumpReason::Recovered { crash_signal: None }, AnrVerdict::Hang),
        (DumpReason::Recovered { crash_signal: Some(11) }, AnrVerdict::Hang),
        (DumpReason::Requested(String::new()), AnrVerdict::Responsive),
        (DumpReason::SigQuit, AnrVerdict::Responsive),
    ];
    for (pid, wanted) in (100..).zip(reasons) {
        let report = file(folder.path(), pid)?;
        assert_eq!((report.meta.reason, report.anr.verdict), wanted);
    }
    let idle = file(folder.path(), 200)?;
    assert_eq!(idle.meta.reason, DumpReason::Requested("by me".to_owned()));
    ensure!(matches!(idle.main, MainState::Idle { .. }) && idle.trees.is_empty(), "{idle:?}");
    Ok(())
}

#[test]
fn archive_without_effect_has_the_same_values_and_knows_nothing_of_reports() -> Result<()> {
    let half = half::compiled()?;
    let folder = tempdir()?;
    let said = unit_test(&half, &half.noop, folder.path())?;
    let rest = said.strip_prefix(WITH_EITHER).with_context(|| format!("other values: {said}"))?;
    let known = rest.lines().filter(|line| line.starts_with("report "));
    assert!(known.eq(["report [UNKNOWN, UNKNOWN, unreadable, false, ]"; 10]), "{rest}");
    ensure!(rest.contains("\npending [0]\nleft [0, 2]\n"), "{rest}");
    file(&folder.path().join("full"), 77)?;
    Ok(())
}

/// The unit test in `docs/integrate.md` needs the app's own classes and those of a test library. Short
/// replacements of both are compiled with it.
#[test]
fn unit_test_that_the_page_shows_runs() -> Result<()> {
    let page = fs::read_to_string(root().join("docs/integrate.md"))?;
    let blocks = page.split("\n```").filter_map(|block| block.strip_prefix("kotlin\n"));
    let shown =
        blocks.into_iter().find(|block| block.contains("class UploadTest")).context("no UploadTest")?;
    let folder = tempdir()?;
    let source = folder.path().join("UploadTest.kt");
    let app = "class Uploads { val sent = mutableListOf<String>()\n\
               fun send(file: java.io.File, title: String) { check(file.length() > 0); sent += title } }\n\
               class Sender(private val to: Uploads) : Listener {\n\
               override fun onReport(report: Report) { if (report.kind == Report.Kind.ANR) \
               to.send(report.file, \"${report.annotations[\"scene\"]}: ${report.title}\") } }\n\
               annotation class Test\n\
               fun assertEquals(wanted: Any?, found: Any?) = check(wanted == found) { \"$found, not $wanted\" }\n\
               fun main() { UploadTest().`an ANR is sent with its screen`(); println(\"passed\") }\n";
    fs::write(
        &source,
        format!("import io.loopbox.*\nimport io.loopbox.testing.*\nimport java.io.File\n{shown}\n{app}"),
    )?;
    let half = half::compiled()?;
    let classes = folder.path().join("classes");
    let on = [half.library.clone(), half.testing.clone(), half.android_jar.clone()];
    let kotlin = Kotlin::ensure(&Progress::new("kotlin"))?;
    kotlin.compile(&[source], &on, &classes)?.into_text()?;
    let all = on.iter().chain([&classes]).map(PathBuf::as_path).chain([kotlin.standard_library()?]);
    let all = path_list(all);
    let tmp = format!("-Djava.io.tmpdir={}", folder.path().display());
    let mut app = Tools::ensure()?.java();
    let said = run(app.arg(tmp).args(["-cp", &all, "UploadTestKt"]))?;
    ensure!(said.contains("passed"), "{said}");
    Ok(())
}
