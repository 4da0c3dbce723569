//! Rust programs for the testbeds of another architecture: the host program and the recorder as a Linux
//! library.
//!
//! The workspace's own Rust has no standard library for these architectures. The compiler that builds the
//! Android libraries supports them, too; clang and lld link with the testbed's C library.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use loopbox_android_pack::folder;
use loopbox_android_pack::toolchain::{Debian, cargo};
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::CompilerTools;
use loopbox_setup::workspace::{root, run, target};
use loopbox_testbed::{Arch, Testbed};

/// Builds packages of the workspace for a testbed's architecture; `what` are cargo's arguments that select
/// and configure them. Returns cargo's folder for the target, which has one folder per profile.
///
/// # Errors
/// When the compiler cannot be had, or the build fails.
pub(crate) fn build(arch: Arch, testbed: &Testbed, what: &[&str]) -> Result<PathBuf> {
    let triple = arch.rust_triple();
    run(cargo_for(arch, testbed, "build", &[])?.args(what))
        .with_context(|| format!("cannot build for {triple}"))?;
    Ok(products().join(triple))
}

/// Runs the unit tests and test programs of a package, built for a testbed of another architecture with the
/// testbed's C library.
///
/// # Errors
/// When the compiler cannot be had, or the tests do not compile, or fail; the error has what they print.
pub fn run_tests(testbed: &Testbed, package: &str) -> Result<()> {
    let arch = testbed.arch()?;
    let lib = testbed.dir.join("lib").display().to_string();
    let runner = &testbed.manifest.runner;
    // Programs find themselves by `/proc/self/exe`: not through a loader that was given them as an argument.
    let is_emulated = runner.first().is_some_and(|first| !first.ends_with(arch.loader()));
    // 32-bit Arm has none by itself for functions that cannot panic.
    let (mut flags, mut runs) = (vec!["-Cforce-unwind-tables=yes".to_owned()], String::new());
    if is_emulated {
        let variable = format!("LD_LIBRARY_PATH={lib}");
        let words: Vec<_> =
            runner.iter().chain([&"-E".to_owned(), &variable]).map(|w| format!("{w:?}")).collect();
        runs = format!("target.{}.runner=[{}]", arch.rust_triple(), words.join(", "));
    } else {
        flags.push(format!("-Clink-arg=-Wl,--dynamic-linker={lib}/{},-rpath,{lib}", arch.loader()));
    }
    let mut cargo = cargo_for(arch, testbed, "test", &flags)?;
    if !runs.is_empty() {
        cargo.args(["--config", &runs]);
    }
    let what = format!("tests of {package} for {}", arch.rust_triple());
    run(cargo.args(["--tests", "--package", package])).context(what).map(drop)
}

/// Packages that the development profile optimises. Here that would take longer than it saves, because only a
/// few tests run these programs.
const OPTIMISED: [&str; 5] =
    ["loopbox-agent", "loopbox-art", "loopbox-format", "loopbox-recorder", "loopbox-store"];

/// Cargo's target folder. All architectures share it: macros and build scripts run on this machine and are
/// compiled once.
fn products() -> PathBuf {
    target().join("linux")
}

/// Cargo with the compiler, the linker and the standard library for an architecture.
fn cargo_for(arch: Arch, testbed: &Testbed, word: &str, more: &[String]) -> Result<Command> {
    let progress = Progress::new(&testbed.manifest.name);
    let toolchain = Debian::ensure(&folder(), false, &progress)?;
    let standard = toolchain.linux_standard_library(arch, &progress)?;
    let tools = CompilerTools::ensure()?;
    let linker = tools.for_arch(arch, &testbed.sysroot()?);
    let mut flags = vec![
        format!("--sysroot={}", standard.display()),
        format!("-Clinker={}", Path::new(linker.get_program()).display()),
        "-Clinker-flavor=gcc".into(),
    ];
    flags.extend(linker.get_args().map(|argument| format!("-Clink-arg={}", argument.to_string_lossy())));
    flags.extend_from_slice(more);
    let mut cargo = cargo();
    cargo.current_dir(root()).args([word, "--quiet", "--locked", "--target", arch.rust_triple()]);
    for package in OPTIMISED {
        cargo.args(["--config", &format!("profile.dev.package.{package}.opt-level=0")]);
    }
    cargo.envs(toolchain.environment()?).env("CARGO_TARGET_DIR", products());
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    Ok(cargo)
}
