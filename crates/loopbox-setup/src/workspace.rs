//! The workspace and the tools that build it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A folder that exists only in this workspace.
const MARK: &str = "crates/loopbox-setup";

/// Root of the repository that the running program belongs to.
///
/// It need not be the repository that the program was compiled in: cargo uses existing programs in a copied
/// clone. So it is determined at run time: from cargo, which reports the package that it runs, then from the
/// program's path, then from the current folder.
pub fn root() -> PathBuf {
    let of_cargo = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let places = [of_cargo, env::current_exe().ok(), env::current_dir().ok()];
    let found = places.into_iter().flatten().find_map(|place| root_above(&place));
    found.unwrap_or_else(|| PathBuf::from("."))
}

/// The folder at or above a place that is the root of this workspace.
fn root_above(place: &Path) -> Option<PathBuf> {
    let is_root = |folder: &&Path| folder.join("Cargo.toml").is_file() && folder.join(MARK).is_dir();
    place.ancestors().find(is_root).map(Path::to_owned)
}

/// Cargo, run in the workspace.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    // What cargo set for this program must not leak into the one it builds.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        cargo.env_remove(name);
    }
    cargo
}

/// Runs a command and shows its output.
///
/// # Errors
/// When it cannot be started or says that it failed.
pub fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    let arguments: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
    ensure!(status.success(), "`{name} {}` failed ({status})", arguments.join(" "));
    Ok(())
}

/// Cargo's target folder for this workspace.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The folder for everything that is set up once: downloads and testbeds. It is `target` of the repository,
/// even when cargo uses another target folder, unless `LOOPBOX_SETUP_DIR` names another folder.
pub fn set_up() -> PathBuf {
    env::var_os("LOOPBOX_SETUP_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_root_is_that_of_the_program_s_own_clone() {
        let folder = tempfile::tempdir().unwrap();
        let clone = folder.path().join("clone");
        let inside = clone.join("target/debug");
        fs::create_dir_all(&inside).unwrap();
        assert_eq!(root_above(&inside), None);
        fs::create_dir_all(clone.join(MARK)).unwrap();
        fs::write(clone.join("Cargo.toml"), "").unwrap();
        assert_eq!(root_above(&inside.join("program")).unwrap(), clone);
        assert_eq!(root_above(&clone).unwrap(), clone);
        assert!(root().join(MARK).is_dir());
    }
}
