//! An app as it ships: ProGuard renames and inlines it, a real Android Runtime runs it, and its mapping puts the names
//! of the source back into the report.

use loopbox_format::model::Token;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loopbox_e2e::proguard::proguard;
use loopbox_e2e::{LIMIT, details_of, launcher, read};
use loopbox_format::report::Decoded;
use loopbox_launch::{java_below, reports};
use loopbox_report::retrace::Mapping;
use loopbox_report::{Analysis, Frame};
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::{root, run};
use tempfile::tempdir;

/// What is kept: what the recorder's library and the testbed look up by name, and the way in.
const RULES: &str = "
-dontwarn **
-dontnote **
-ignorewarnings
-keep class io.loopbox.** { *; }
-keep class android.** { *; }
-keep class scenario.Demo { public static void main(java.lang.String[]); }
-keepattributes SourceFile,LineNumberTable
-renamesourcefileattribute SourceFile
-optimizationpasses 3
-allowaccessmodification
";

/// The scripted apps, obfuscated and dexed for a testbed; returns the jar and the mapping.
fn obfuscated(testbed: &loopbox_testbed::Testbed, folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let sources = java_below(&[
        root().join("jni-glue/java"),
        root().join("jni-glue/java-stubs"),
        root().join("jni-glue/inhouse/java"),
        root().join("jni-glue/startup/java"),
        root().join("tests/app"),
    ])?;
    let boot: Vec<String> = testbed.java_class_path().iter().map(|jar| jar.display().to_string()).collect();
    let [classes, plain, jar, mapping] =
        ["classes", "plain.jar", "app.jar", "mapping.txt"].map(|name| folder.join(name));
    fs::create_dir(&classes)?;
    let tools = Tools::ensure()?;
    let mut javac = tools.javac();
    javac.args(["-nowarn", "-Xlint:none", "-source", "8", "-target", "8", "-g", "-encoding", "UTF-8"]);
    run(javac.args(["-bootclasspath", &boot.join(":"), "-d"]).arg(&classes).args(&sources))?;
    let mut java = tools.java();
    java.arg("-jar").arg(proguard()?).arg("-injars").arg(&classes).arg("-outjars").arg(&plain);
    for library in &boot {
        java.args(["-libraryjars", library]);
    }
    let rules = folder.join("rules.pro");
    fs::write(&rules, RULES)?;
    run(java.arg("-printmapping").arg(&mapping).arg(format!("@{}", rules.display())))?;
    testbed.dex_classes(&[plain], &jar)?;
    Ok((jar, mapping))
}

fn shop_frames(a: &Analysis, token: Token) -> Vec<Vec<&Frame>> {
    let Some(tree) = a.tree(token) else { return Vec::new() };
    let stacks = tree.stack_runs().into_iter().map(|run| tree.stack(run.top));
    stacks
        .map(|stack| {
            let frames = stack.into_iter().map(|frame| &a.frames[frame]);
            frames.filter(|frame| frame.class.starts_with("com.example.shop.")).collect()
        })
        .collect()
}

#[test]
fn the_mapping_of_a_shipped_app_puts_its_source_back() -> Result<()> {
    let launcher = launcher("art10")?;
    let folder = tempdir()?;
    let (jar, mapping) = obfuscated(&launcher.testbed, folder.path())?;
    let files = folder.path().join("reports");
    fs::create_dir(&files)?;
    let app = launcher.app_in(&jar, "scenario.Demo").argument(format!("dir={}", files.display()));
    app.argument("self=2000").start()?.finish(LIMIT)?;
    let file = reports(&files)?.pop().context("no report")?;
    let mut decoded = Decoded { report: read(&file)?, damage: Vec::new() };
    let loopbox_format::model::MainState::Running(running) = &decoded.report.main else {
        panic!("{:?}", decoded.report.main)
    };
    let token = running.token;
    let raw = Analysis::new(&decoded);
    assert!(shop_frames(&raw, token).iter().all(Vec::is_empty), "the app is obfuscated");
    assert_eq!(details_of(&decoded.report, "com.example.shop.ShopHandler").count(), 0);

    Mapping::parse(fs::read(mapping)?)?.retrace(&mut decoded.report)?;
    assert!(
        details_of(&decoded.report, "com.example.shop.ShopHandler").count() > 0,
        "messages have their names"
    );
    let retraced = Analysis::new(&decoded);
    assert_eq!(retraced.issues, []);
    let stacks = shop_frames(&retraced, token);
    assert!(!stacks.is_empty());
    for stack in &stacks {
        // ProGuard made one method of them; each line that it noted calls the frame above it.
        assert!(stack.len() >= 4, "{stack:?}");
        for pair in stack.windows(2) {
            let [caller, callee] = pair else { continue };
            let source = root().join("tests/app/com/example/shop").join(&caller.file);
            let text = fs::read_to_string(&source).with_context(|| source.display().to_string())?;
            let line =
                text.lines().nth(caller.line.context("no line")? as usize - 1).context("no such line")?;
            let called = callee.method.split('$').next().unwrap_or_default();
            assert!(line.contains(&format!("{called}(")), "{} does not call {called}: {line}", caller.full());
        }
    }
    let names: Vec<&str> = stacks[0].iter().map(|frame| frame.method.as_str()).collect();
    assert_eq!(names[..3], ["handleMessage", "onPay", "total"]);
    Ok(())
}
