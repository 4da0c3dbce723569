//! Beds: real Android Runtimes in plain Linux processes, with the real API-29 message queue.
//!
//! A bed is a folder `target/bed/<name>` with a `bed.toml` ([`Manifest`]). It is made out of Debian's packages:
//! the runtime as Debian built it, libcore 10 and the queue classes of frameworks/base 10 compiled from Debian's
//! sources. What is in it, and why, is data below `tests/bed`; `docs/beds.md` explains it.

mod ahead;
pub(crate) mod apt_config;
mod arch;
mod blueprint;
mod build;
pub(crate) mod cache;
mod code_patch;
pub mod command;
mod compiler;
mod dex;
pub(crate) mod fetch;
mod framework;
mod hidden_api;
pub(crate) mod jar;
mod java;
mod libcore;
mod manifest;
mod patch;
pub(crate) mod paths;
pub(crate) mod progress;
pub(crate) mod run;
pub(crate) mod spec;
pub(crate) mod tools;
pub(crate) mod unpack;

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result, ensure};

pub use arch::Arch;
pub use manifest::{Bed, Build, Manifest};

use build::{ASSEMBLY, Builder, VERSION};
use cache::{Key, remove};
use progress::Progress;
use spec::Spec;
use tools::{CompilerTools, Tools};

/// Names of all beds.
///
/// # Errors
/// When `tests/bed` cannot be read.
pub fn names() -> Result<Vec<String>> {
    spec::names(&paths::specs())
}

/// The beds that a test runs on: its usual ones, and those that `LOOPBOX_BEDS` names beside them, with commas in
/// between (`LOOPBOX_BEDS=art14`). Each once.
#[must_use]
pub fn to_test_on(usual: &[&str]) -> Vec<String> {
    usual_and_named(usual, &std::env::var("LOOPBOX_BEDS").unwrap_or_default())
}

fn usual_and_named(usual: &[&str], named: &str) -> Vec<String> {
    let mut beds: Vec<String> = Vec::new();
    for bed in usual.iter().copied().chain(named.split(',')).map(str::trim) {
        if !bed.is_empty() && !beds.iter().any(|known| known == bed) {
            beds.push(bed.to_owned());
        }
    }
    beds
}

/// The bed called `name`, set up if it is not there or out of date.
///
/// The first time takes a minute or two and downloads about 100 MB; nothing changed costs a fraction of a second.
/// Processes that use an older build of the bed are not disturbed. Progress goes to standard error.
///
/// # Errors
/// In one line: an unknown name, a missing compiler and how to install it, a package that cannot be had and why.
pub fn ensure(name: &str) -> Result<Bed> {
    ensure!(cfg!(target_arch = "x86_64"), "the beds are Debian's amd64 packages; this machine is none");
    let progress = Progress::new(name);
    let spec = Spec::load(&paths::specs(), name)?;
    let tools = Tools::ensure(&progress)?;
    let beds = paths::beds();
    fs::create_dir_all(beds.join("store")).with_context(|| format!("cannot create {}", beds.display()))?;
    let link = beds.join(name);
    let key = bed_key(&spec, &tools, &beds, &progress)?;
    if let Some(bed) = current(&link, &key) {
        return Ok(bed);
    }
    let _lock = lock(&beds, &progress)?;
    if let Some(bed) = current(&link, &bed_key(&spec, &tools, &beds, &progress)?) {
        return Ok(bed); // somebody else has just made it
    }
    let builder = Builder::new(&spec, &tools, &progress)?;
    // Downloads may have fixed the version of floating packages.
    let key = bed_key(&spec, &tools, &beds, &progress)?;
    let home = beds.join("store").join(format!("{name}-{key}"));
    let work = beds.join("store").join(format!("{name}-{key}.work"));
    remove(&work)?;
    builder.build(&work, &home, &key)?;
    remove(&home)?;
    fs::rename(&work, &home).with_context(|| format!("cannot create {}", home.display()))?;
    build::publish(&link, &home)?;
    builder.cache.prune(&[])?;
    build::prune(&beds)?;
    let bed = Bed::open(&link)?;
    progress.say(format!("ready, {} MB in {}", megabytes(&home)?, link.display()));
    Ok(bed)
}

/// What `target/bed/<name>` is, if it was made from exactly this.
fn current(link: &Path, key: &str) -> Option<Bed> {
    Bed::open(link).ok().filter(|bed| bed.manifest.build.key == key)
}

/// Hash of everything a bed is made from: specifications, stubs, patches, compilers, the versions of floating
/// packages, this code's version, and the place (the manifest holds absolute paths).
fn bed_key(spec: &Spec, tools: &Tools, beds: &Path, progress: &Progress) -> Result<String> {
    let mut key = Key::new(&spec.bed.name, VERSION)
        .with(&ASSEMBLY.to_string())
        .with(&tools.identity()?)
        .with(&beds.display().to_string());
    key = key.with_path(&spec.folder)?;
    if spec.compiler.is_some() || spec.foreign.is_some() {
        key = key.with(&CompilerTools::ensure(progress)?.identity()?);
    }
    let floating = beds.join("dl/floating.toml");
    if floating.is_file() {
        key = key.with_path(&floating)?;
    }
    Ok(key.hex())
}

/// Lets one set-up at a time work in `target/bed`.
fn lock(beds: &Path, progress: &Progress) -> Result<File> {
    let file = beds.join("lock");
    let lock = File::create(&file).with_context(|| format!("cannot create {}", file.display()))?;
    match lock.try_lock() {
        Ok(()) => return Ok(lock),
        Err(TryLockError::WouldBlock) => progress.say("wait for another set-up of a bed"),
        Err(TryLockError::Error(error)) => return Err(error).context("cannot lock target/bed"),
    }
    lock.lock().context("cannot lock target/bed")?;
    Ok(lock)
}

fn megabytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for file in cache::files_below(folder)? {
        let about = fs::symlink_metadata(&file)?;
        if about.is_file() {
            bytes += about.len();
        }
    }
    Ok(bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::usual_and_named;

    #[test]
    fn named_beds_come_beside_the_usual_ones() {
        assert_eq!(usual_and_named(&["art10", "art11"], ""), ["art10", "art11"]);
        assert_eq!(usual_and_named(&["art11"], "art14, art11,,art10"), ["art11", "art14", "art10"]);
    }
}
