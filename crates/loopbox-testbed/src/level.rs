//! The framework's real class files of another API level, in place of the testbed's own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use loopbox_setup::files::{files_below, remove, sha256_file};
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::{command, jar};

use crate::builder::Builder;
use crate::hidden_api;
use crate::java::{Against, DexOf, d8, javac};
use crate::levels::{LIST, Level, stubs};

/// Classes that no testbed has: annotations, classes that only Android's own tests need, and
/// `ActivityThread`, of which the tests have their own (a class of the boot class path would hide it).
const ABSENT: [&str; 9] = [
    "android.annotation.",
    "android.app.ActivityThread",
    "android.app.Instrumentation",
    "android.compat.annotation.",
    "android.internal.perfetto.protos.",
    "android.ravenwood.annotation.",
    "androidx.annotation.",
    "com.android.internal.annotations.",
    "com.google.errorprone.annotations.",
];

/// The products of [`build`].
pub(crate) struct LevelClasses {
    /// The dexed classes without marks of hidden members: apps can access every member.
    pub(crate) dexed: PathBuf,
    /// The dexed classes with the hidden members marked.
    pub(crate) hidden: PathBuf,
}

/// Compiles the stubs that the level needs, and converts them to dex together with its classes. `core` and
/// `framework` are jars of class files.
pub(crate) fn build(builder: &Builder<'_>, core: &Path, framework: &Path) -> Result<Option<LevelClasses>> {
    let Some(level) = &builder.spec.level else { return Ok(None) };
    let stubs = stubs(&builder.spec.folder, level.framework);
    let kept = level.kept(builder.progress)?;
    let mut key = builder
        .key("level")
        .with(&sha256_file(&kept)?)
        .with(&level.classes.join(" "))
        .with_path(core)?
        .with_path(framework)?
        .with(R8::identity());
    for folder in &stubs {
        key = key.with_path(folder)?;
    }
    let plain = builder.cache.step("level", &key, |out| {
        let taken: Vec<String> = jar::names(&kept)?.into_iter().filter(|entry| level.takes(entry)).collect();
        builder.progress.say(format!("dex {} classes of API level {}", taken.len(), level.framework.api));
        let [selected, whole, classes, stub_jar] =
            ["selected.jar", "whole.jar", "stubs", "stubs.jar"].map(|name| out.join(name));
        jar::write(&selected, &jar::read_entries(&kept, &taken.iter().collect::<Vec<_>>())?)?;
        let checked: Vec<&String> = taken.iter().filter(|entry| level.is_whole(entry)).collect();
        jar::write(&whole, &jar::read_entries(&kept, &checked)?)?;
        let libraries = [core.to_owned(), framework.to_owned()];
        let files = stubs.iter().map(|folder| files_below(folder)).collect::<Result<Vec<_>>>()?.concat();
        let declared = out.join("declared.jar");
        jar::write(&declared, &readable(jar::read_entries(&selected, &taken.iter().collect::<Vec<_>>())?))?;
        let level_first = [declared.clone(), core.to_owned(), framework.to_owned()];
        javac(builder.tools, &files, &Against::Boot(&level_first), &classes)?;
        remove(&declared)?;
        jar::pack(&classes, &stub_jar)?;
        remove(&classes)?;
        check(builder, &whole, &[&selected, &stub_jar, core, framework])?;
        d8(&builder.r8, &[selected, stub_jar], DexOf::Core, &libraries, &out.join("level.jar"))
    })?;
    let dexed = plain.join("level.jar");
    let hidden = hide(builder, level, &kept, &dexed)?;
    Ok(Some(LevelClasses { dexed, hidden }))
}

/// Lowers the version of class files to one that our javac reads. javac only needs their declarations, which
/// newer versions write in the same way.
fn readable(mut classes: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    /// The class file version of Java 17.
    const NEWEST: u16 = 61;
    for (_, bytes) in &mut classes {
        if let Some(version) = bytes.get_mut(6..8) {
            let known = u16::from_be_bytes([version[0], version[1]]).min(NEWEST);
            version.copy_from_slice(&known.to_be_bytes());
        }
    }
    classes
}

/// Fails where the level's classes call something that is neither in the testbed's framework nor in the
/// stubs.
fn check(builder: &Builder<'_>, selected: &Path, libraries: &[&Path]) -> Result<()> {
    let mut trace = builder.r8.command(Program::TraceReferences);
    trace.arg("--check");
    for library in libraries {
        trace.arg("--lib").arg(library);
    }
    let outcome = command::outcome(trace.arg("--source").arg(selected))?;
    let text = format!("{}\n{}", outcome.text, outcome.errors);
    let missing = text.lines().map(|line| line.strip_prefix("Error: ").unwrap_or(line));
    let missing = missing.filter(|line| line.starts_with("Missing "));
    let missing: BTreeSet<&str> = missing.filter(|line| !is_absent(line)).collect();
    let missing: Vec<&str> = missing.into_iter().collect();
    ensure!(
        missing.is_empty(),
        "the classes of the level need what is not there\n  {}",
        missing.join("\n  ")
    );
    Ok(())
}

/// Whether a line that the check printed is about a class that no testbed has. The class is the second or a
/// later word of the line.
fn is_absent(line: &str) -> bool {
    let (what, _) = line.split_once(" (referenced").unwrap_or((line, ""));
    ABSENT.iter().any(|absent| what.split([' ', '(']).any(|word| word.starts_with(absent)))
}

/// The classes with the hidden members marked according to the level's own list. The jars of API 30 and newer
/// have a list.
fn hide(builder: &Builder<'_>, level: &Level, kept: &Path, dexed: &Path) -> Result<PathBuf> {
    let is_list = |entry: &String| matches!(entry.rsplit_once('.'), Some((_, LIST)));
    let lists: Vec<String> = jar::names(kept)?.into_iter().filter(is_list).collect();
    let blocked = &builder.spec.common.framework.blocked;
    // The newest level below its own is the highest that a runtime knows.
    let known = builder.spec.testbed.api_level - 1;
    let target = level.framework.api;
    let key = builder
        .key("level-hidden")
        .with(&sha256_file(kept)?)
        .with(&format!("{known} {target}"))
        .with(&blocked.join(" "))
        .with_path(dexed)?;
    let result = builder.cache.step("level-hidden", &key, |out| {
        let texts = jar::read_entries(kept, &lists.iter().collect::<Vec<_>>())?;
        let texts: Vec<String> =
            texts.into_iter().map(|(_, text)| String::from_utf8_lossy(&text).into_owned()).collect();
        let rule = hidden_api::Rule::of_level(blocked, &texts, known, target);
        let marked = hidden_api::mark(&jar::read_entry(dexed, "classes.dex")?, &rule)?;
        jar::write(&out.join("level-hidden.jar"), &[("classes.dex".to_owned(), marked)])
    })?;
    Ok(result.join("level-hidden.jar"))
}
