#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod aar;
mod abi;
pub mod against;
mod archives;
mod artifact;
mod build;
pub mod build_machine;
mod check;
pub mod class_file;
pub mod device;
pub mod half;
mod java;
pub mod ktx;
mod library;
mod link;
pub mod linked;
pub mod platform;
mod project;
pub mod publisher;
pub mod sbom;
mod size;
mod strip;
mod stubs;
pub mod symbols;
pub mod toolchain;
mod unwinding;

#[cfg(test)]
mod sample;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Result, bail, ensure};
use loopbox_setup::cache::Cache;
use loopbox_setup::command::for_each;
use loopbox_setup::progress::Progress;
use loopbox_setup::workspace::root;

pub use abi::{ALL, Abi};
pub use library::{Library, ensure};
pub use project::{data, folder};

use library::Shown;
use project::{INHOUSE, LIBRARY, Product};
use size::Ratchet;
use symbols::SymbolList;
use toolchain::Toolchain;

/// What to build, and what else to do.
#[derive(Debug, Default)]
pub struct Options {
    /// Build only these; all when empty.
    pub abis: BTreeSet<Abi>,
    /// Record the sizes of this build as the accepted ones.
    pub bless: bool,
    /// Ask the Debian archive for newer compilers instead of using those that are there.
    pub update_toolchain: bool,
    /// Print how many bytes of each library belong to each crate and section.
    pub sizes: bool,
    /// Build each library a second time, in an empty folder, and compare the bytes.
    pub twice: bool,
}

/// Builds, checks and prints the results.
///
/// # Errors
/// When a library cannot be built, fails a check, or has outgrown its recorded size.
pub fn pack(options: &Options) -> Result<()> {
    let abis = if options.abis.is_empty() { ALL.into() } else { options.abis.clone() };
    let progress = Progress::new("android");
    let toolchain = Toolchain::ensure(&folder(), options.update_toolchain, &progress)?;
    progress.say(format!("with {}", toolchain.name()));
    let list = SymbolList::read(&data("bionic-symbols.toml"))?;
    let shown = if options.sizes { Shown::Sizes } else { Shown::Checks };
    let make = |product: Product, abi: Abi| {
        let library = library::make(product, abi, &toolchain, &list, shown, &progress)?;
        if options.twice {
            let target = toolchain.target(abi, &list.of(abi), &progress)?;
            library::ensure_built_alike(product, abi, &target, &progress)?;
        }
        anyhow::Ok(library)
    };
    // What each needs first is one standard library, which keeps one processor busy; the libraries themselves
    // share a folder.
    let all: Vec<Abi> = abis.iter().copied().collect();
    for_each(&all, |&abi| toolchain.target(abi, &list.of(abi), &progress).map(drop))?;
    let (mut libraries, mut inhouse) = (Vec::new(), Vec::new());
    for abi in abis {
        libraries.push(make(LIBRARY, abi)?);
        inhouse.push(make(INHOUSE, abi)?);
    }
    let mut archives = None;
    if ALL.iter().all(|abi| libraries.iter().any(|library| library.abi == *abi)) {
        ensure_list_is_short(&list, libraries.iter().chain(&inhouse))?;
        progress.say("compile and pack the Java half");
        let java = half::all(&java::Java::ensure(&progress)?)?;
        java.ensure_api_is_recorded()?;
        let archive = aar::pack(
            aar::Libraries { own: &libraries, inhouse: &inhouse, compiler: &toolchain.name() },
            &java,
        )?;
        println!("{}: {} bytes", archive.display(), fs::metadata(&archive)?.len());
        let sizes = aar::sizes(&folder().join("maven"))?;
        for (name, bytes) in &sizes {
            println!("{bytes:>9}  {name}");
        }
        archives = Some(sizes);
    }
    // What was made of earlier sources.
    Cache::open(&folder().join("cache"))?.prune(&[])?;
    weigh(&libraries, archives, &toolchain.name(), options.bless)
}

/// Checks that each symbol of the list of Android's symbols is imported by at least one library: people read
/// the list as a contract.
fn ensure_list_is_short<'a>(
    list: &SymbolList,
    libraries: impl Iterator<Item = &'a Library> + Clone,
) -> Result<()> {
    let used = |symbol: &&&str| libraries.clone().any(|library| library.imports.contains(**symbol));
    let all = list.all();
    let unused: Vec<&str> = all.iter().filter(|symbol| !used(symbol)).copied().collect();
    ensure!(
        unused.is_empty(),
        "no library imports these any more, take them out of the list: {}",
        unused.join(", ")
    );
    Ok(())
}

/// Compares the libraries' sizes with the recorded ones, or records the new ones. Sizes of the archives are
/// recorded only when all archives were packed.
fn weigh(
    libraries: &[Library],
    archives: Option<BTreeMap<String, u64>>,
    toolchain: &str,
    bless: bool,
) -> Result<()> {
    let file = data("size.toml");
    if bless {
        let mut ratchet = if file.is_file() { Ratchet::read(&file)? } else { Ratchet::default() };
        for library in libraries {
            ratchet.record(toolchain, library.abi, library.sizes.clone());
        }
        if let Some(sizes) = archives {
            archives::write(&root().join("docs/size.md"), &sizes)?;
            ratchet.archives = sizes;
        }
        return ratchet.write(&file);
    }
    let ratchet = Ratchet::read(&file)?;
    if ratchet.is_of_another(toolchain) {
        println!("the recorded sizes are of another compiler: only the budget was checked");
    }
    let faults: Vec<String> =
        libraries.iter().flat_map(|library| ratchet.faults(toolchain, library.abi, &library.sizes)).collect();
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}
