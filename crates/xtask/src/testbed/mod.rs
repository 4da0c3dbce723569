//! `cargo xtask testbed`.

mod local;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use loopbox_testbed::{Arch, Compiled, Name, ensure, names};

/// Sets testbeds up: real Android Runtimes with the real message queue, to run tests on.
#[derive(Debug, Args)]
pub(crate) struct TestbedArgs {
    /// Which testbeds; without any, all are listed.
    names: Vec<String>,
    /// Use the testbeds that have the runtime's JIT compiler: `art11 --jit` means `art11-jit`
    #[arg(long)]
    jit: bool,
    /// The testbeds of these names with all methods compiled ahead of time: `art11 --aot` is `art11-aot`
    #[arg(long, conflicts_with = "jit")]
    aot: bool,
    /// The testbeds of these names for an architecture: `art11 --arch arm64` is `art11-arm64`
    #[arg(long, default_value = "x86_64")]
    arch: Arch,
    /// After the set-up, run on each of these testbeds the tests that are run on every testbed
    #[arg(long, requires = "names")]
    test: bool,
    /// A folder with your own build for x86-64 (libart and the libraries that it links): all that is
    /// tested on every testbed is tested on it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["names", "jit", "aot", "arch", "test"])]
    local: Option<PathBuf>,
}

pub(crate) fn run(args: &TestbedArgs) -> Result<()> {
    if let Some(folder) = &args.local {
        return local::run(folder);
    }
    if args.names.is_empty() {
        println!("testbeds: {}", names()?.join(", "));
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
            name.compiled = Compiled::Aot;
        }
        let name = name.to_string();
        println!("{}", ensure(&name)?.dir.join("testbed.toml").display());
        if args.test {
            local::run_on(&name, None)?;
        }
    }
    Ok(())
}
