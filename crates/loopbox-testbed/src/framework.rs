//! The real API-29 classes of frameworks/base for the message queue and for frames, compiled against our
//! stubs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::builder::Builder;
use crate::hidden_api::{self, Rule};
use crate::java::{Against, DexOf, d8, javac};
use crate::patch::Tree;
use loopbox_setup::files::files_below;
use loopbox_setup::jar;
use loopbox_setup::r8::R8;
use loopbox_setup::unpack;

/// The products of the framework's sources.
pub(crate) struct Framework {
    /// Plain class files.
    pub(crate) classes: PathBuf,
    /// The dexed classes, everything accessible.
    pub(crate) dexed: PathBuf,
    /// The dexed classes with the hidden members marked.
    pub(crate) hidden: PathBuf,
}

/// The used part of frameworks/base, patched.
pub(crate) fn source(builder: &Builder<'_>) -> Result<PathBuf> {
    let spec = &builder.spec.common.framework;
    let patches = builder.spec.folder.join("patches/framework");
    let archive = builder.source(&spec.source)?;
    let key = builder
        .key("framework-source")
        .with(&archive.sha256)
        .with(&format!("{:?} {:?} {:?}", spec.source.unpack, spec.files, spec.roots))
        .with_path(&patches)?;
    builder.cache.step("framework-source", &key, |out| {
        builder.progress.say("unpack and patch frameworks/base");
        let whole = out.join("whole");
        fs::create_dir(&whole).with_context(|| format!("cannot create {}", whole.display()))?;
        unpack::source(&archive, &spec.source, &whole)?;
        let java = out.join("java");
        for file in &spec.files {
            let mut places = spec.roots.iter().map(|root| whole.join(root).join(file));
            let place = places.find(|place| place.exists());
            let place = place.with_context(|| format!("frameworks/base has no {file}"))?;
            unpack::place(&place, &java.join(file))?;
        }
        loopbox_setup::files::remove(&whole)?;
        Tree::in_place(&java).apply_folder(&patches)
    })
}

/// Compiles and dexes the classes; `core` is the jar of libcore's class files.
pub(crate) fn java(builder: &Builder<'_>, source: &Path, core: &Path) -> Result<Framework> {
    let stubs = builder.spec.folder.join("framework-stubs");
    let key = builder
        .key("framework")
        .with(&source.file_name().unwrap_or_default().to_string_lossy())
        .with_path(core)?
        .with_path(&stubs)?
        .with(R8::identity());
    let plain = builder.cache.step("framework", &key, |out| {
        let mut files = files_below(&source.join("java"))?;
        files.extend(files_below(&stubs)?.into_iter().filter(|f| f.extension().is_some_and(|e| e == "java")));
        builder.progress.say(format!("compile the framework: {} Java files", files.len()));
        let core = [core.to_owned()];
        let classes = out.join("classes");
        javac(builder.tools, &files, &Against::Boot(&core), &classes)?;
        jar::pack(&classes, &out.join("classes.jar"))?;
        loopbox_setup::files::remove(&classes)?;
        d8(&builder.r8, &[out.join("classes.jar")], DexOf::Core, &core, &out.join("framework.jar"))
    })?;
    let dexed = plain.join("framework.jar");
    Ok(Framework { classes: plain.join("classes.jar"), hidden: hide(builder, &dexed)?, dexed })
}

/// The framework with the blocked members marked as hidden.
fn hide(builder: &Builder<'_>, dexed: &Path) -> Result<PathBuf> {
    let blocked = &builder.spec.common.framework.blocked;
    let key = builder.key("hidden-api").with_path(dexed)?.with(&blocked.join(" "));
    let result = builder.cache.step("hidden-api", &key, |out| {
        let dex = jar::read_entry(dexed, "classes.dex")?;
        let marked = hidden_api::mark(&dex, &Rule::blocked(blocked))
            .context("the list of blocked members does not fit the framework")?;
        jar::write(&out.join("framework-hidden.jar"), &[("classes.dex".to_owned(), marked)])
    })?;
    Ok(result.join("framework-hidden.jar"))
}
