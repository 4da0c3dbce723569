//! What the archive in Kotlin is compiled with and against. Apps with an older compiler, library or
//! coroutines cannot use it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::java::Java;
use loopbox_setup::cache::Key;
use loopbox_setup::kotlin::Kotlin;
use loopbox_setup::progress::Progress;
use loopbox_setup::registry::{Pinned, Registry};

/// The archive's name, and that of its module for Kotlin's compiler.
pub(crate) const NAME: &str = "loopbox-ktx";

/// The Kotlin version that the archive is written in. Compilers of this version, of the one before it, and
/// newer ones can read the result.
pub const LANGUAGE: &str = "2.1";

/// Kotlin's standard library of version [`LANGUAGE`].
pub const STANDARD_LIBRARY: Pinned<'static> = jar(
    "org.jetbrains.kotlin:kotlin-stdlib",
    "2.1.0",
    "d6f91b7b0f306cca299fec74fb7c34e4874d6f5ec5b925a0b4de21901e119c3f",
);

/// The oldest version of the coroutines that the archive is tested with.
pub const COROUTINES: Pinned<'static> = jar(
    "org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm",
    "1.7.3",
    "1ab3acc38f3e7355c4f9d1ec62107a46fa73c899f3070d055e5d4373dfe67e12",
);

const fn jar(package: &'static str, version: &'static str, sha256: &'static str) -> Pinned<'static> {
    Pinned { registry: Registry::Maven, package, version, sha256, megabytes: 2 }
}

/// The jars that the archive depends on, downloaded once.
///
/// # Errors
/// When one cannot be had.
pub fn jars() -> Result<Vec<PathBuf>> {
    Pinned::ensure_all(&[COROUTINES, STANDARD_LIBRARY], &Progress::new("ktx"))
}

/// Adds to a key what the classes depend on in addition to the sources.
pub(crate) fn add_to(key: Key) -> Key {
    let compiler = [Kotlin::identity(), LANGUAGE, COROUTINES.sha256, STANDARD_LIBRARY.sha256];
    compiler.into_iter().fold(key, Key::with)
}

/// Compiles the archive's sources against other archives' classes.
pub(crate) fn compile(java: &Java, sources: &[PathBuf], on: &[PathBuf], classes: &Path) -> Result<()> {
    let class_path: Vec<PathBuf> =
        on.iter().cloned().chain([java.android_jar.clone()]).chain(jars()?).collect();
    let kotlin = Kotlin::ensure(&Progress::new("kotlin"))?;
    kotlin
        .compile_library(NAME, LANGUAGE, sources, &class_path, classes)
        .context("the Kotlin sources do not compile")
}
