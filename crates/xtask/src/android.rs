//! `cargo xtask android`: the library as it ships, for every ABI, built and checked without an NDK or with one.

use anyhow::Result;
use clap::Args;
use loopbox_android_pack::{Abi, Options, pack};

/// Arguments of `cargo xtask android`.
#[derive(Debug, Args)]
pub(crate) struct AndroidArgs {
    /// Build only this ABI (arm64-v8a, armeabi-v7a, x86_64, x86); may be given several times
    #[arg(long)]
    abi: Vec<Abi>,
    /// Record the sizes of this build as the accepted ones
    #[arg(long)]
    bless: bool,
    /// Ask the Debian archive for newer compilers instead of using those that are there
    #[arg(long)]
    update_toolchain: bool,
    /// Print what the bytes of each library went to
    #[arg(long)]
    sizes: bool,
    /// Build each library a second time, in an empty folder, and compare the bytes
    #[arg(long)]
    twice: bool,
}

pub(crate) fn run(args: AndroidArgs) -> Result<()> {
    let AndroidArgs { abi, bless, update_toolchain, sizes, twice } = args;
    pack(&Options { abis: abi.into_iter().collect(), bless, update_toolchain, sizes, twice })
}
