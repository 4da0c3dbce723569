//! ProGuard, which shrinks and renames as app builds do.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use loopbox_setup::workspace::{run, target};

/// Debian's ProGuard, unpacked below `target/`; nothing is installed.
///
/// # Errors
/// When it cannot be downloaded.
pub fn proguard() -> Result<PathBuf> {
    let folder = target().join("tools/proguard");
    let jar = folder.join("usr/share/java/proguard.jar");
    if jar.exists() {
        return Ok(jar);
    }
    let debs = folder.join("debs");
    fs::create_dir_all(&debs)?;
    let download = || run(Command::new("apt-get").args(["download", "libproguard-java"]).current_dir(&debs));
    if download().is_err() {
        run(Command::new("apt-get").arg("update"))?;
        download()?;
    }
    for deb in fs::read_dir(&debs)? {
        run(Command::new("dpkg").arg("-x").arg(deb?.path()).arg(&folder))?;
    }
    ensure!(jar.exists(), "the package has no {}", jar.display());
    Ok(jar)
}
