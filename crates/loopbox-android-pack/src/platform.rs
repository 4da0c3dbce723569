//! The platform's classes and members that the Java half uses, and those of them that a supported level lacks
//! (`jni-glue/android/platform-api.toml`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::class_file::{ClassFile, Used};
use crate::data;
use loopbox_setup::files::files_below;
use loopbox_setup::package::read_toml;

/// `platform-api.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The oldest supported level.
    pub oldest: u32,
    /// What came after the oldest level.
    pub newer: Vec<Newer>,
    /// Classes and members that the platform hides: no API level offers them to all apps.
    pub hidden: Vec<Hidden>,
}

/// Classes and members that the platform has only since a level above the oldest supported one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Newer {
    /// Classes and members.
    pub uses: Vec<Used>,
    /// The first level that has them.
    pub since: u32,
    /// What prevents a failed lookup on older platforms.
    pub guard: Guard,
    /// The class that has the guard.
    pub guarded_in: String,
}

/// Classes and members that the platform hides: no level offers them to all apps.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hidden {
    /// Classes and members.
    pub uses: Vec<Used>,
    /// What prevents a failed lookup on platforms that lack these classes and members.
    pub guard: Guard,
    /// The class that has the guard.
    pub guarded_in: String,
}

/// What prevents a failed lookup on platforms without a class or member.
#[derive(Debug, Clone, Copy, Deserialize)]
pub enum Guard {
    /// A check of the API level.
    #[serde(rename = "SDK_INT")]
    Level,
    /// The lookup throws a `LinkageError`, which is caught.
    LinkageError,
}

impl Known {
    /// Reads the recorded uses.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read() -> Result<Self> {
        read_toml(&data("platform-api.toml"))
    }
}

/// Each class, such as `io/loopbox/Loopbox`, with what it uses.
pub type Uses = BTreeMap<String, BTreeSet<Used>>;

/// The class files below a folder.
///
/// # Errors
/// When one cannot be read.
pub fn classes_below(folder: &Path) -> Result<Vec<ClassFile>> {
    let is_class = |file: &Path| file.extension().is_some_and(|kind| kind == "class");
    files_below(folder)?
        .into_iter()
        .filter(|file| is_class(file))
        .map(|file| {
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            ClassFile::parse(&bytes).with_context(|| file.display().to_string())
        })
        .collect()
}

/// What all classes below a folder use.
///
/// # Errors
/// When one cannot be read.
pub fn uses_below(folder: &Path) -> Result<Uses> {
    Ok(classes_below(folder)?.into_iter().map(|class| (class.name, class.uses)).collect())
}
