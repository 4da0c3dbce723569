//! The workspace and the tools that build it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Cargo, run in the workspace.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    // What cargo set for this program must not leak into the one it builds.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        cargo.env_remove(name);
    }
    cargo
}

/// Runs a command with its output going to ours, and fails when it fails.
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
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The folder of what is set up once and then used by everything: downloads and testbeds. It is `target` of the
/// repository, also when cargo's own target folder is another, unless `LOOPBOX_SETUP_DIR` names one.
pub fn set_up() -> PathBuf {
    std::env::var_os("LOOPBOX_SETUP_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}
