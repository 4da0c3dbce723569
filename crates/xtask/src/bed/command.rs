//! `cargo xtask bed`.

use anyhow::Result;
use clap::Args;

use super::{ensure, names};

/// Sets beds up: real Android Runtimes with the real message queue, to run tests on.
#[derive(Debug, Args)]
pub struct BedArgs {
    /// Which beds; without any, all are listed.
    names: Vec<String>,
    /// The beds of these names with the runtime's compiler: `art11 --jit` is `art11-jit`
    #[arg(long)]
    jit: bool,
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
        let name = if args.jit { format!("{name}-jit") } else { name.clone() };
        println!("{}", ensure(&name)?.dir.join("bed.toml").display());
    }
    Ok(())
}
