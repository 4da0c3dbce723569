//! `cargo xtask stress fuzz`: every decoder under LLVM's libFuzzer, guided by coverage.
//!
//! The stable toolchain can instrument code for it; only cargo-fuzz, which adds sanitizers, needs a nightly
//! one.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use loopbox_setup::workspace::{cargo, root, run, target};

/// Arguments of the fuzz stress.
#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// Targets to run, see tests/fuzz/src/lib.rs; all when none is named
    targets: Vec<String>,
    /// Seconds of each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// The arguments that `cargo fuzz` passes to the compiler, without those of the sanitizer.
const INSTRUMENTED: &str = "--cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";
/// The target triple, which cargo gets as an argument so that build scripts are not instrumented.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// No target takes longer inputs than this.
const LONGEST: &str = "-max_len=65536";

pub(crate) fn fuzz(args: &FuzzArgs) -> Result<()> {
    let package = root().join("tests/fuzz");
    let folder = target().join("fuzz");
    let mut build = cargo();
    build.args([
        "build",
        "--quiet",
        "--locked",
        "--release",
        "--package",
        "loopbox-fuzz",
        "--features",
        "libfuzzer",
    ]);
    build
        .args(["--bins", "--target", TRIPLE])
        .env("RUSTFLAGS", INSTRUMENTED)
        .env("CARGO_TARGET_DIR", &folder);
    run(&mut build).context("the targets need a C++ compiler")?;
    let mut targets = args.targets.clone();
    if targets.is_empty() {
        for seeds in fs::read_dir(package.join("seeds")).context("no seeds")? {
            targets.push(seeds?.file_name().to_string_lossy().into_owned());
        }
        targets.sort();
    }
    let mut failed = Vec::new();
    for name in &targets {
        println!("\n== {name}");
        // What it finds stays for the next run.
        let (found, failures) = (folder.join("found").join(name), folder.join("failures").join(name));
        fs::create_dir_all(&found)
            .and_then(|()| fs::create_dir_all(&failures))
            .context("no folder for inputs")?;
        let mut program = Command::new(folder.join(TRIPLE).join("release").join(name));
        program.args([&found, &package.join("seeds").join(name)]);
        program.args([LONGEST, "-timeout=30", "-rss_limit_mb=1024", "-print_final_stats=1"]);
        program.arg(format!("-max_total_time={}", args.seconds));
        program.arg(format!("-artifact_prefix={}/", failures.display()));
        if run(&mut program).is_err() {
            failed.push(format!("{name} (inputs in {})", failures.display()));
        }
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}
