//! The framework's real class files of another API level, in place of the testbed's own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use loopbox_setup::cache::Key;
use loopbox_setup::files::{exclusive, files_below, remove, sha256_file};
use loopbox_setup::package::read_toml;
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::registry::{Pinned, Registry};
use loopbox_setup::{command, jar, workspace};
use serde::Deserialize;

use crate::builder::Builder;
use crate::hidden_api;
use crate::java::{Against, DexOf, d8, javac};
use crate::name::{Framework, Queue};

/// Where all jars are.
const PACKAGE: &str = "org.robolectric:android-all";

/// The ending of the lists of hidden members that apps may use, one for each class that has such.
const LIST: &str = "uau";

/// Classes that nothing here has: annotations, what only tests of Android itself ask for, and `ActivityThread`, which is the
/// tests' own (a class of the boot class path would hide it).
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

/// `tests/testbed/levels/levels.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Levels {
    pub(crate) in_tests: Vec<String>,
    keep: Vec<String>,
    classes: Vec<String>,
    frame_classes: Vec<String>,
    #[serde(rename = "level")]
    levels: Vec<Pin>,
}

/// The jar of one level.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    api: u32,
    version: String,
    sha256: String,
    megabytes: u32,
    /// The queues that it has behind a switch.
    #[serde(default)]
    queues: Vec<Queue>,
}

/// A level, with what is taken of it.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) framework: Framework,
    pin: Pin,
    keep: Vec<String>,
    classes: Vec<String>,
}

/// The products.
pub(crate) struct LevelClasses {
    /// The dexed classes, everything accessible.
    pub(crate) dexed: PathBuf,
    /// The same with the hidden members marked.
    pub(crate) hidden: PathBuf,
}

fn folder(specs: &Path) -> PathBuf {
    specs.join("levels")
}

impl Levels {
    pub(crate) fn load(specs: &Path) -> Result<Self> {
        read_toml(&folder(specs).join("levels.toml"))
    }

    /// One of them; an error names those that there are.
    pub(crate) fn level(&self, framework: Framework) -> Result<Level> {
        let known = || -> Vec<String> { self.all().iter().map(ToString::to_string).collect() };
        let pin = self.levels.iter().find(|level| level.api == framework.api);
        let pin = pin.filter(|pin| framework.queue.is_none_or(|queue| pin.queues.contains(&queue)));
        let pin =
            pin.with_context(|| format!("there is no {framework}; there are: {}", known().join(", ")))?;
        let classes = [&self.classes[..], &self.frame_classes].concat();
        Ok(Level { framework, pin: pin.clone(), keep: self.keep.clone(), classes })
    }

    /// Each level with each of its queues.
    pub(crate) fn all(&self) -> Vec<Framework> {
        let of = |pin: &Pin| -> Vec<Framework> {
            let queues = [None].into_iter().chain(pin.queues.iter().copied().map(Some));
            queues.map(|queue| Framework { api: pin.api, queue }).collect()
        };
        self.levels.iter().flat_map(of).collect()
    }
}

impl Level {
    /// What the level adds to the options of the VM.
    pub(crate) fn vm_options(&self) -> Option<String> {
        Some(format!("-Dloopbox.queue={}", self.framework.queue?.name()))
    }

    /// The part of the level's jar that is kept, which is a small part of it. The rest is dropped after the download.
    pub(crate) fn kept(&self, progress: &Progress) -> Result<PathBuf> {
        let api = self.pin.api;
        let pinned = Pinned {
            registry: Registry::Maven,
            package: PACKAGE,
            version: &self.pin.version,
            sha256: &self.pin.sha256,
            megabytes: self.pin.megabytes,
        };
        let key = Key::new("level", 1).with(&self.pin.sha256).with(&self.keep.join(" "));
        let folder = workspace::set_up().join("downloads/levels");
        let file = folder.join(format!("{api}-{}.jar", key.hex()));
        if file.is_file() {
            return Ok(file);
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let _lock = exclusive(&folder.join("lock"), || progress.say("wait for another download"))?;
        if !file.is_file() {
            let whole = pinned.ensure(progress)?;
            let wanted = |name: &&String| {
                let kind = name.rsplit_once('.');
                matches!(kind, Some((_, "class" | LIST)))
                    && self.keep.iter().any(|kept| name.starts_with(kept.as_str()))
            };
            let names = jar::names(&whole)?;
            let names: Vec<&String> = names.iter().filter(wanted).collect();
            let partial = file.with_extension("partial");
            jar::write(&partial, &jar::read_entries(&whole, &names)?)?;
            fs::rename(&partial, &file).with_context(|| format!("cannot create {}", file.display()))?;
            pinned.forget()?;
        }
        Ok(file)
    }

    /// Whether a class of the kept part goes into the testbed.
    fn takes(&self, entry: &str) -> bool {
        let Some(class) = entry.strip_suffix(".class") else { return false };
        let outer = class.split('$').next().unwrap_or(class);
        self.classes.iter().any(|wanted| wanted == outer)
    }
}

/// Compiles the stubs that the level needs, and dexes them with its classes. `core` and `framework` are jars of class files.
pub(crate) fn build(builder: &Builder<'_>, core: &Path, framework: &Path) -> Result<Option<LevelClasses>> {
    let Some(level) = &builder.spec.level else { return Ok(None) };
    let stubs = folder(&builder.spec.folder).join("stubs");
    let kept = level.kept(builder.progress)?;
    let key = builder
        .key("level")
        .with(&sha256_file(&kept)?)
        .with(&level.classes.join(" "))
        .with_path(core)?
        .with_path(framework)?
        .with_path(&stubs)?
        .with(R8::identity());
    let plain = builder.cache.step("level", &key, |out| {
        let taken: Vec<String> = jar::names(&kept)?.into_iter().filter(|entry| level.takes(entry)).collect();
        builder.progress.say(format!("dex {} classes of API level {}", taken.len(), level.pin.api));
        let [selected, classes, stub_jar] = ["selected.jar", "stubs", "stubs.jar"].map(|name| out.join(name));
        jar::write(&selected, &jar::read_entries(&kept, &taken.iter().collect::<Vec<_>>())?)?;
        let libraries = [core.to_owned(), framework.to_owned()];
        javac(builder.tools, &files_below(&stubs)?, &Against::Boot(&libraries), &classes)?;
        jar::pack(&classes, &stub_jar)?;
        remove(&classes)?;
        check(builder, &selected, &[&stub_jar, core, framework])?;
        d8(&builder.r8, &[selected, stub_jar], DexOf::Core, &libraries, &out.join("level.jar"))
    })?;
    let dexed = plain.join("level.jar");
    let hidden = hide(builder, level, &kept, &dexed)?;
    Ok(Some(LevelClasses { dexed, hidden }))
}

/// Fails where the level's classes call what is neither in the testbed's framework nor in the stubs.
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

/// Whether a line of the check is about a class that nothing here has. The class is the second or a later word of it.
fn is_absent(line: &str) -> bool {
    let (what, _) = line.split_once(" (referenced").unwrap_or((line, ""));
    ABSENT.iter().any(|absent| what.split([' ', '(']).any(|word| word.starts_with(absent)))
}

/// The classes with the hidden members marked, as the level's own list says it. A list is in the jars of API 30 and newer.
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
