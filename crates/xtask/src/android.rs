//! `cargo xtask android`: the library as it ships, for every ABI, built and checked without an NDK or with
//! one.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use loopbox_android_pack::against::{compare, table};
use loopbox_android_pack::symbols::SymbolList;
use loopbox_android_pack::{Abi, Options, data, pack};

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
    /// Print how many bytes each part of a library takes
    #[arg(long)]
    sizes: bool,
    /// Build each library a second time, in an empty folder, and compare the bytes
    #[arg(long)]
    twice: bool,
    /// Build nothing, but compare the list of Android's symbols with the libraries of devices: a folder laid
    /// out like one (`system`, `apex`), or one with such folders
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["bless", "update_toolchain", "sizes", "twice"])]
    against: Option<PathBuf>,
}

pub(crate) fn run(args: AndroidArgs) -> Result<()> {
    let AndroidArgs { abi, bless, update_toolchain, sizes, twice, against } = args;
    if let Some(folder) = against {
        let list = SymbolList::read(&data("bionic-symbols.toml"))?;
        let rows = compare(&list, &folder, &abi)?;
        print!("{}", table(&rows));
        let faults: usize = rows.iter().map(|row| row.faults.len()).sum();
        ensure!(faults == 0, "the list says {faults} times what is not so");
        return Ok(());
    }
    let abis = abi.into_iter().collect();
    pack(&Options { abis, bless, update_toolchain, sizes, twice })
}
