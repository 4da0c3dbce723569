//! Rust programs for the testbeds of another architecture: the host program and the recorder as a Linux
//! library.
//!
//! The workspace's own Rust has no standard library for them. The compiler that builds the Android libraries
//! knows their target too; clang and lld link, against the testbed's own C library.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use loopbox_android_pack::folder;
use loopbox_android_pack::toolchain::{Debian, cargo};
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::CompilerTools;
use loopbox_setup::workspace::{root, run, target};
use loopbox_testbed::{Arch, Testbed};

/// Builds packages of the workspace for a testbed's architecture; `what` are cargo's words for which and how.
/// Returns cargo's folder for the target, which has one folder per profile.
///
/// # Errors
/// When the compiler cannot be had, or the build fails.
pub(crate) fn build(arch: Arch, testbed: &Testbed, what: &[&str]) -> Result<PathBuf> {
    let progress = Progress::new(&testbed.manifest.name);
    let toolchain = Debian::ensure(&folder(), false, &progress)?;
    let triple = arch.rust_triple();
    let standard = toolchain.linux_standard_library(arch, &progress)?;
    let tools = CompilerTools::ensure()?;
    let linker = tools.for_arch(arch, &testbed.sysroot()?);
    let mut flags = vec![
        format!("--sysroot={}", standard.display()),
        format!("-Clinker={}", Path::new(linker.get_program()).display()),
        "-Clinker-flavor=gcc".into(),
    ];
    flags.extend(linker.get_args().map(|argument| format!("-Clink-arg={}", argument.to_string_lossy())));
    let products = target().join(arch.name());
    let mut cargo = cargo();
    cargo.current_dir(root()).args(["build", "--quiet", "--locked", "--target", triple]).args(what);
    cargo.envs(toolchain.environment()?).env("CARGO_TARGET_DIR", &products);
    run(cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")))
        .with_context(|| format!("cannot build for {triple}"))?;
    Ok(products.join(triple))
}
