//! The links to crash SDKs whose real classes a registry has, compiled against those: what the other tests compile them against was
//! written down by hand.

use std::fs;

use anyhow::{Context, Result};
use loopbox_android_pack::{aar, half};
use loopbox_setup::files::files_below;
use loopbox_setup::jvm;
use loopbox_setup::progress::Progress;
use loopbox_setup::registry::{Pinned, Registry};
use loopbox_setup::unpack;
use loopbox_setup::workspace::root;

/// Brings the Android SDK of Bugsnag along, as archives.
const BUGSNAG: Pinned<'_> = Pinned {
    registry: Registry::Npm,
    package: "@bugsnag/react-native",
    version: "9.0.0",
    sha256: "6c4c783009553cb47ed063edceb9f22d1663341cbb1a48ccda9ae79304a4df94",
    megabytes: 15,
};

/// That SDK's version.
const BUGSNAG_ANDROID: &str = "6.25.0";

#[test]
fn the_link_to_bugsnag_fits_the_real_one() -> Result<()> {
    let work = tempfile::tempdir()?;
    let compiled = half::compiled()?;
    let package = BUGSNAG.ensure(&Progress::new("Bugsnag"))?;
    let name = "bugsnag-android-core";
    let member = format!("package/android/com/bugsnag/{name}/{name}-{BUGSNAG_ANDROID}.aar");
    unpack::tar_members(&package, std::slice::from_ref(&member), work.path())?;
    let archive = aar::unpack(&work.path().join(&member))?;
    let sdk = work.path().join("bugsnag.jar");
    fs::write(&sdk, archive.get("classes.jar").context("no classes in the archive")?)?;
    let sources = files_below(&root().join("jni-glue/integrations/bugsnag/java"))?;
    let classes = work.path().join("link");
    fs::create_dir(&classes)?;
    jvm::compile(&sources, &[sdk, compiled.library, compiled.android_jar], &classes)
}
