//! The API levels of the framework that are available, and their real class files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loopbox_setup::cache::Key;
use loopbox_setup::files::exclusive;
use loopbox_setup::package::read_toml;
use loopbox_setup::progress::Progress;
use loopbox_setup::registry::{Pinned, Registry};
use loopbox_setup::{jar, workspace};
use serde::Deserialize;

use crate::name::{Framework, Name, Queue};

/// The package of Maven Central whose versions are the jars of the levels.
const PACKAGE: &str = "org.robolectric:android-all";

/// The suffix of the lists of hidden members that apps may use; there is one list for each class that has
/// such members.
pub(crate) const LIST: &str = "uau";

/// `tests/testbed/levels/levels.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Levels {
    in_tests: Vec<String>,
    /// The levels whose class files tests read in every run, in addition to those of `in_tests`.
    read_in_tests: Vec<u32>,
    keep: Vec<String>,
    named: Vec<String>,
    classes: Vec<String>,
    frame_classes: Vec<String>,
    strict_mode_classes: Vec<String>,
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
    /// Whether this level keeps the classes that [`Levels`] lists in `named`.
    #[serde(default)]
    named: bool,
    /// The message queues of this level that a switch of the system selects.
    #[serde(default)]
    queues: Vec<Queue>,
    /// Additional classes and packages that are kept of this level only.
    #[serde(default)]
    keep: Vec<String>,
    /// Additional classes of this level for the testbed. They may refer to classes that the testbed lacks.
    #[serde(default)]
    classes: Vec<String>,
}

/// An API level: its jar, which part of the jar is kept after the download, and which classes of that part go
/// into the testbed.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) framework: Framework,
    pin: Pin,
    keep: Vec<String>,
    pub(crate) classes: Vec<String>,
    /// The classes that may refer to missing ones.
    partly: Vec<String>,
}

pub(crate) fn folder(specs: &Path) -> PathBuf {
    specs.join("levels")
}

/// The stubs that the level's classes need: those for every level, and those for this one alone, if any.
pub(crate) fn stubs(specs: &Path, framework: Framework) -> Vec<PathBuf> {
    let own = folder(specs).join(format!("stubs-{}", framework.api));
    let all = [folder(specs).join("stubs"), own];
    all.into_iter().filter(|folder| folder.is_dir()).collect()
}

impl Levels {
    pub(crate) fn load(specs: &Path) -> Result<Self> {
        read_toml(&folder(specs).join("levels.toml"))
    }

    /// The level with this name; the error names those that exist.
    pub(crate) fn level(&self, framework: Framework) -> Result<Level> {
        let known = || -> Vec<String> { self.all().iter().map(ToString::to_string).collect() };
        let pin = self.levels.iter().find(|level| level.api == framework.api);
        let pin = pin.filter(|pin| framework.queue.is_none_or(|queue| pin.queues.contains(&queue)));
        let pin =
            pin.with_context(|| format!("there is no {framework}; there are: {}", known().join(", ")))?;
        let partly = [&self.strict_mode_classes[..], &pin.classes].concat();
        let classes = [&self.classes[..], &self.frame_classes, &partly].concat();
        let named = if pin.named { &self.named[..] } else { &[] };
        let keep = [&self.keep[..], &pin.keep, named].concat();
        Ok(Level { framework, pin: pin.clone(), keep, classes, partly })
    }

    /// The names of the testbeds that every test run has and whose framework is of another API level than
    /// their runtime.
    pub(crate) fn testbeds_in_tests(&self) -> impl Iterator<Item = String> {
        self.in_tests.iter().map(|level| format!("art11-{level}"))
    }

    /// Downloads what every test run needs of the levels, with one run of the client.
    pub(crate) fn fetch_those_in_tests(&self, progress: &Progress) -> Result<()> {
        let read = self.read_in_tests.iter().map(|&api| Framework { api, queue: None });
        let mut missing = Vec::new();
        for framework in self.testbeds_in_tests().filter_map(|name| Name::parse(&name).framework).chain(read)
        {
            let level = self.level(framework)?;
            if !level.kept_file().is_file() {
                missing.push(level);
            }
        }
        missing.sort_by_key(|level| level.pin.api);
        missing.dedup_by_key(|level| level.pin.api);
        Pinned::ensure_all(&missing.iter().map(Level::pinned).collect::<Vec<_>>(), progress)?;
        missing.iter().try_for_each(|level| level.kept(progress).map(drop))
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
    /// The option that the level adds to those of the VM; `None` for the level's usual queue.
    pub(crate) fn vm_options(&self) -> Option<String> {
        Some(format!("-Dloopbox.queue={}", self.framework.queue?.name()))
    }

    /// The part of the level's jar that is kept, which is small. The rest is deleted after the download.
    pub(crate) fn kept(&self, progress: &Progress) -> Result<PathBuf> {
        let (folder, file) = (kept_folder(), self.kept_file());
        if file.is_file() {
            return Ok(file);
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let _lock = exclusive(&folder.join("lock"), || progress.say("wait for another download"))?;
        if !file.is_file() {
            let whole = self.pinned().ensure(progress)?;
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
            self.pinned().forget()?;
        }
        Ok(file)
    }

    fn kept_file(&self) -> PathBuf {
        let key = Key::new("level", 1).with(&self.pin.sha256).with(&self.keep.join(" "));
        kept_folder().join(format!("{}-{}.jar", self.pin.api, key.hex()))
    }

    fn pinned(&self) -> Pinned<'_> {
        let Pin { version, sha256, megabytes, .. } = &self.pin;
        Pinned { registry: Registry::Maven, package: PACKAGE, version, sha256, megabytes: *megabytes }
    }

    /// Whether a class of the kept part goes into the testbed.
    pub(crate) fn takes(&self, entry: &str) -> bool {
        self.classes.iter().any(|wanted| names(wanted, entry))
    }

    /// Whether the testbed must have every class that this class of the level refers to. `entry` is the name
    /// of the class's file.
    pub(crate) fn is_whole(&self, entry: &str) -> bool {
        !self.partly.iter().any(|partly| names(partly, entry))
    }
}

fn kept_folder() -> PathBuf {
    workspace::set_up().join("downloads/levels")
}

/// Whether a file of a jar belongs to `wanted`: a class with its nested classes, or a package, whose name
/// ends in `/`.
fn names(wanted: &str, entry: &str) -> bool {
    let Some(class) = entry.strip_suffix(".class") else { return false };
    if wanted.ends_with('/') { class.starts_with(wanted) } else { class.split('$').next() == Some(wanted) }
}
