//! `cargo xtask android`: the library as it ships, for every ABI, built and checked without an NDK or with one.
//!
//! Everything lands in `target/android`: `jni/<abi>/libloopbox.so` is what goes into an app,
//! `symbols/<abi>/libloopbox.so` is the same with its symbols, for reading tombstones. What Android has to offer
//! and what the library may weigh is data in `jni-glue/android`.

pub mod aar;
mod abi;
mod apt;
mod build;
mod check;
mod java;
mod link;
pub(crate) mod linux;
pub(crate) mod shim;
mod size;
mod strip;
mod stubs;
mod symbols;
mod toolchain;

#[cfg(test)]
mod sample;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use goblin::elf::Elf;

pub use abi::Abi;

use check::Rules;
use size::{Ratchet, Sizes};
use symbols::SymbolList;
use toolchain::Toolchain;

use crate::bed::progress::Progress;
use crate::workspace::root;

/// Arguments of `cargo xtask android`.
#[derive(Debug, Args)]
pub struct AndroidArgs {
    /// Build only this ABI; may be given several times
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

/// A library that was built and passed its checks.
#[derive(Debug)]
pub struct Library {
    /// The machine type it is for.
    pub abi: Abi,
    /// The file that ships.
    pub file: PathBuf,
    /// The same file with its symbols.
    pub symbols: PathBuf,
    imports: BTreeSet<String>,
    sizes: Sizes,
}

impl Library {
    #[cfg(test)]
    fn for_test(abi: Abi, file: PathBuf) -> Self {
        let sizes = Sizes { stripped: 0, crates: std::collections::BTreeMap::new() };
        Self { abi, symbols: file.clone(), file, imports: BTreeSet::new(), sizes }
    }
}

/// Builds, checks and prints.
///
/// # Errors
/// When a library cannot be built, breaks one of its promises or outgrew its recorded size.
pub fn run(args: &AndroidArgs) -> Result<()> {
    let abis: BTreeSet<Abi> =
        if args.abi.is_empty() { abi::ALL.into() } else { args.abi.iter().copied().collect() };
    let progress = Progress::new("android");
    let toolchain = Toolchain::ensure(&folder(), args.update_toolchain, &progress)?;
    progress.say(format!("with {}", toolchain.name()));
    let list = SymbolList::read(&data("bionic-symbols.toml"))?;
    let mut libraries = Vec::new();
    for abi in abis {
        libraries.push(library(abi, &toolchain, &list, args.sizes, &progress)?);
        if args.twice {
            ensure_built_alike(abi, &toolchain.target(abi, &list.of(abi), &progress)?, &progress)?;
        }
    }
    if abi::ALL.iter().all(|abi| libraries.iter().any(|library| library.abi == *abi)) {
        ensure_list_is_short(&list, &libraries)?;
        progress.say("compile and pack the Java half");
        let archive = aar::pack(&libraries, &java::library(&java::Java::ensure(&progress)?)?)?;
        println!("{}: {} bytes", archive.display(), fs::metadata(&archive)?.len());
    }
    weigh(&libraries, &toolchain.name(), args.bless)
}

/// Builds and checks one library, as `cargo xtask android --abi` does, but does not look at its size.
///
/// # Errors
/// When it cannot be built or breaks a promise.
pub fn ensure(abi: Abi) -> Result<Library> {
    let progress = Progress::new("android");
    let toolchain = Toolchain::ensure(&folder(), false, &progress)?;
    library(abi, &toolchain, &SymbolList::read(&data("bionic-symbols.toml"))?, false, &progress)
}

/// Builds a library again where nothing is left of the first time, and compares all of it, symbols included.
fn ensure_built_alike(abi: Abi, target: &toolchain::Target, progress: &Progress) -> Result<()> {
    let elsewhere = tempfile::tempdir().context("no folder to build in")?;
    progress.say(format!("build {abi} again"));
    let read = |file: &Path| fs::read(file).with_context(|| format!("cannot read {}", file.display()));
    let again = read(&build::compile(abi, target, elsewhere.path())?)?;
    let first = read(&folder().join("symbols").join(abi.name()).join(link::SONAME))?;
    ensure!(first == again, "{abi}: two builds of the same sources differ");
    println!("{abi}: a second build has the same {} bytes", again.len());
    Ok(())
}

/// A bed in which the library of an ABI loads as it ships, and the folder of that library.
///
/// # Errors
/// When it cannot be built, or imports something that nobody knows to be the same in glibc.
pub(crate) fn shipped(abi: Abi, bed: &crate::bed::Bed) -> Result<shim::Shipped> {
    let list = SymbolList::read(&data("bionic-symbols.toml"))?;
    shim::shipped(&ensure(abi)?, &list.of(abi), bed)
}

/// The folder of all products.
pub fn folder() -> PathBuf {
    root().join("target/android")
}

/// A data file of the Android build.
fn data(name: &str) -> PathBuf {
    root().join("jni-glue/android").join(name)
}

/// Builds one library, checks it and puts it in its place.
fn library(
    abi: Abi,
    toolchain: &Toolchain,
    list: &SymbolList,
    show_sizes: bool,
    progress: &Progress,
) -> Result<Library> {
    let imports = list.of(abi);
    let target = toolchain.target(abi, &imports, progress)?;
    progress.say(format!("build {abi}"));
    let built = build::compile(abi, &target, &folder().join("build"))?;
    let unstripped = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
    let stripped = strip::strip(&unstripped).with_context(|| format!("cannot strip {}", built.display()))?;

    let exports = symbols::read_exports(&data("exports.txt"))?;
    let rules = Rules {
        abi,
        soname: link::SONAME,
        imports: &imports,
        exports: &exports,
        forbidden: &build::traces(toolchain),
    };
    let checks = check::check(&stripped, &rules)?;
    println!("{abi}: {} bytes, {} with symbols", stripped.len(), unstripped.len());
    for check in &checks {
        println!("  {check}");
    }
    let sizes = Sizes::measure(&unstripped, &stripped)?;
    if show_sizes {
        print!("{}", sizes.table());
    }
    check::verdict(&checks).with_context(|| format!("{}", built.display()))?;

    let elf = Elf::parse(&stripped).context("the stripped library")?;
    let imports = check::imported(&elf).into_iter().map(|(name, _)| name.to_owned()).collect();
    let place = |kind: &str| folder().join(kind).join(abi.name()).join(link::SONAME);
    put(&place("jni"), &stripped)?;
    put(&place("symbols"), &unstripped)?;
    Ok(Library { abi, file: place("jni"), symbols: place("symbols"), imports, sizes })
}

/// The list of Android's symbols holds what is imported and no more: it is read as the contract it is.
fn ensure_list_is_short(list: &SymbolList, libraries: &[Library]) -> Result<()> {
    let used = |symbol: &&&str| libraries.iter().any(|library| library.imports.contains(**symbol));
    let all = list.all();
    let unused: Vec<&str> = all.iter().filter(|symbol| !used(symbol)).copied().collect();
    ensure!(
        unused.is_empty(),
        "no library imports these any more, take them out of the list: {}",
        unused.join(", ")
    );
    Ok(())
}

/// Compares with the recorded sizes, or records the new ones.
fn weigh(libraries: &[Library], toolchain: &str, bless: bool) -> Result<()> {
    let file = data("size.toml");
    if bless {
        let mut ratchet = if file.is_file() { Ratchet::read(&file)? } else { Ratchet::default() };
        for library in libraries {
            ratchet.record(toolchain, library.abi, library.sizes.clone());
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

/// Writes a product by a rename: who reads it meets the old or the new one.
fn put(file: &Path, bytes: &[u8]) -> Result<()> {
    let context = || format!("cannot write {}", file.display());
    let parent = file.parent().with_context(context)?;
    fs::create_dir_all(parent).with_context(context)?;
    let new = file.with_extension(format!("new-{}", std::process::id()));
    fs::write(&new, bytes).with_context(context)?;
    fs::rename(&new, file).with_context(context)
}
