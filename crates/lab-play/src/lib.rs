#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod apk;
mod app;
mod chain;

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result};
use tempfile::tempdir;

use app::App;
use chain::Chain;

/// The device that a download is measured for.
const ABI: &str = "arm64-v8a";

/// The sizes and properties of the archives in an app from Google Play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// How many bytes the recorder adds to the download of a device with arm64, compressed as in the store.
    pub download_bytes: u64,
    /// The part of `download_bytes` that is the native library.
    pub library_bytes: u64,
    /// The part of `download_bytes` that is classes and resources.
    pub classes_bytes: u64,
    /// How many ABIs have a library that was found aligned.
    pub abis: usize,
    /// How many methods of the recorder are in the compiled baseline profile.
    pub profile_methods: usize,
}

impl fmt::Display for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { download_bytes, library_bytes, classes_bytes, abis, profile_methods } = self;
        writeln!(
            f,
            "the sample as Google Play takes it: manifests merged, {abis} libraries stored at 16 KiB, signatures verified, \
             {profile_methods} methods in the baseline profile"
        )?;
        write!(
            f,
            "the archives add {download_bytes} bytes to a download for arm64: library {library_bytes}, classes and notices {classes_bytes}"
        )
    }
}

/// Builds the sample app twice, with the archives of a Maven repository and without the recorder, and checks
/// what a device would get.
///
/// # Errors
/// When a tool cannot be had or fails, or the app is not as it should be.
pub fn check(repository: &Path, version: &str) -> Result<Added> {
    let chain = Chain::ensure()?;
    let work = tempdir().context("no folder to build in")?;
    let with = App::build(&chain, repository, version, "loopbox", &work.path().join("with"))?;
    let without = App::build(&chain, repository, version, "loopbox-noop", &work.path().join("without"))?;
    with.ensure_is_whole()?;
    let profile_methods = with.profile_methods();
    let (with, without) = (with.download_bytes(ABI)?, without.download_bytes(ABI)?);
    let classes_bytes = with.classes.saturating_sub(without.classes);
    Ok(Added {
        download_bytes: with.library + classes_bytes,
        library_bytes: with.library,
        classes_bytes,
        abis: loopbox_android_pack::ALL.len(),
        profile_methods,
    })
}
