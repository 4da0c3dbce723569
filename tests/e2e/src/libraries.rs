//! Third-party libraries by which apps post messages, from Maven Central.

use anyhow::Result;
use loopbox_android_pack::ktx;
use loopbox_setup::jar;
use loopbox_setup::progress::Progress;
use loopbox_setup::registry::{Pinned, Registry};
use std::fs;
use std::path::{Path, PathBuf};

const fn jar(package: &'static str, version: &'static str, sha256: &'static str) -> Pinned<'static> {
    Pinned { registry: Registry::Maven, package, version, sha256, megabytes: 3 }
}

const COROUTINES: [Pinned<'static>; 2] = [
    ktx::COROUTINES,
    jar(
        "org.jetbrains.kotlinx:kotlinx-coroutines-android",
        "1.7.3",
        "59fffb26bee12c32dadcfa5d420c2a7db85d3253518128b170efda726613256d",
    ),
];

const RX: [Pinned<'_>; 2] = [
    jar(
        "io.reactivex.rxjava3:rxjava",
        "3.1.8",
        "6890becbd4646347928746a4421cc559fca9f34d06ef2a7a947bd7adf7473246",
    ),
    jar(
        "org.reactivestreams:reactive-streams",
        "1.0.4",
        "f75ca597789b3dac58f61857b9ac2e1034a68fa672db35055a8fb4509e325f28",
    ),
];

const RX_ANDROID: Pinned<'_> = jar(
    "io.reactivex.rxjava3:rxandroid@aar",
    "3.0.2",
    "18fc3d5a89e83df8b7cd4a5a4eb42a9ee525ce6477e1302794b3449f1d75cb02",
);

/// The jars of Kotlin's coroutines and of RxJava, with their Android parts. Files are unpacked into `folder`.
///
/// # Errors
/// When one cannot be had.
pub fn coroutines_and_rx(folder: &Path) -> Result<Vec<PathBuf>> {
    let progress = Progress::new("libraries");
    let [a, b] = COROUTINES;
    let [c, d] = RX;
    let mut jars = Pinned::ensure_all(&[a, b, c, d, RX_ANDROID], &progress)?;
    if let Some(archive) = jars.last_mut() {
        let of_android = folder.join("rxandroid.jar");
        fs::write(&of_android, jar::read_entry(archive, "classes.jar")?)?;
        *archive = of_android;
    }
    Ok(jars)
}
