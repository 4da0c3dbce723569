//! `cargo xtask bed`.

use anyhow::Result;
use clap::Args;

use super::spec::{Compiled, Name};
use super::{Arch, ensure, names};

/// Sets beds up: real Android Runtimes with the real message queue, to run tests on.
#[derive(Debug, Args)]
pub struct BedArgs {
    /// Which beds; without any, all are listed.
    names: Vec<String>,
    /// The beds of these names with the runtime's compiler: `art11 --jit` is `art11-jit`
    #[arg(long)]
    jit: bool,
    /// The beds of these names with all methods compiled ahead of time: `art11 --aot` is `art11-aot`
    #[arg(long, conflicts_with = "jit")]
    aot: bool,
    /// The beds of these names for an architecture: `art11 --arch arm64` is `art11-arm64`
    #[arg(long, default_value = "x86_64")]
    arch: Arch,
}

/// Runs the command.
///
/// # Errors
/// When a bed cannot be set up; the message says what is missing.
pub fn run(args: &BedArgs) -> Result<()> {
    if args.names.is_empty() {
        println!("beds: {}", names()?.join(", "));
    }
    for name in &args.names {
        let mut name = Name::parse(name);
        if args.arch != Arch::X86_64 {
            name.arch = args.arch;
        }
        if args.jit {
            name.compiled = Compiled::Jit;
        }
        if args.aot {
            name.compiled = Compiled::Ahead;
        }
        println!("{}", ensure(&name.to_string())?.dir.join("bed.toml").display());
    }
    Ok(())
}
