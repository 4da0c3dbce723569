//! Builds one library, checks it and puts it in its place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use goblin::elf::Elf;
use loopbox_setup::files::write_atomically;
use loopbox_setup::progress::Progress;

use crate::abi::Abi;
use crate::check::{self, Rules};
use crate::project::{LIBRARY, Product, data, folder};
use crate::size::Sizes;
use crate::symbols::{self, SymbolList};
use crate::toolchain::{Target, Toolchain};
use crate::{build, strip, unwinding};

/// A library that was built and passed its checks.
#[derive(Debug)]
pub struct Library {
    /// The machine type it is for.
    pub abi: Abi,
    /// The file that ships.
    pub file: PathBuf,
    /// The library with its symbols, which `file` does not have.
    pub symbols: PathBuf,
    /// The symbols that it imports from Android.
    pub imports: BTreeSet<String>,
    pub(crate) sizes: Sizes,
}

impl Library {
    #[cfg(test)]
    pub(crate) fn for_test(abi: Abi, file: PathBuf) -> Self {
        let sizes = Sizes { stripped: 0, crates: std::collections::BTreeMap::new() };
        Self { abi, symbols: file.clone(), file, imports: BTreeSet::new(), sizes }
    }
}

/// What is printed about a library that passed its checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shown {
    /// Nothing is printed: the library is only used.
    Nothing,
    /// The library's size, and the result of each check.
    Checks,
    /// The same as [`Checks`](Self::Checks), and what the library's bytes are used for.
    Sizes,
}

/// Builds one library, checks it and puts it in its place.
pub(crate) fn make(
    product: Product,
    abi: Abi,
    toolchain: &Toolchain,
    list: &SymbolList,
    shown: Shown,
    progress: &Progress,
) -> Result<Library> {
    let imports = list.of(abi);
    let target = toolchain.target(abi, &imports, progress)?;
    progress.say(format!("build {} for {abi}", product.soname));
    let built = build::compile(product, abi, &target, &folder().join("build"))?;
    let unstripped = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
    let stripped = strip::strip(&unstripped).with_context(|| format!("cannot strip {}", built.display()))?;

    let exports = symbols::read_names(&data(product.exports))?;
    let rules = Rules {
        unwound: &unwinding::wanted(&Elf::parse(&unstripped).context("the library with its symbols")?),
        abi,
        soname: product.soname,
        imports: &imports,
        exports: &exports,
        forbidden: &build::traces(toolchain),
    };
    let checks = check::check(&stripped, &rules)?;
    if shown >= Shown::Checks {
        println!("{abi}: {} {} bytes, {} with symbols", product.soname, stripped.len(), unstripped.len());
        for check in &checks {
            println!("  {check}");
        }
    }
    let sizes = Sizes::measure(&unstripped, &stripped)?;
    if shown >= Shown::Sizes {
        print!("{}", sizes.table());
    }
    check::verdict(&checks).with_context(|| format!("{}", built.display()))?;

    let elf = Elf::parse(&stripped).context("the stripped library")?;
    let imports = check::imported(&elf).into_iter().map(|(name, _)| name.to_owned()).collect();
    let place = |kind: &str| folder().join(kind).join(abi.name()).join(product.soname);
    write_atomically(&place("jni"), &stripped)?;
    write_atomically(&place("symbols"), &unstripped)?;
    Ok(Library { abi, file: place("jni"), symbols: place("symbols"), imports, sizes })
}

/// Builds and checks one library, as `cargo xtask android --abi` does, but does not check its size.
///
/// # Errors
/// When it cannot be built, or a check fails.
pub fn ensure(abi: Abi) -> Result<Library> {
    let progress = Progress::new("android");
    let toolchain = Toolchain::ensure(&folder(), false, &progress)?;
    let list = SymbolList::read(&data("bionic-symbols.toml"))?;
    make(LIBRARY, abi, &toolchain, &list, Shown::Nothing, &progress)
}

/// Builds a library a second time, in an empty folder, and compares all bytes, symbols included.
pub(crate) fn ensure_built_alike(
    product: Product,
    abi: Abi,
    target: &Target,
    progress: &Progress,
) -> Result<()> {
    let elsewhere = tempfile::tempdir().context("no folder to build in")?;
    progress.say(format!("build {} for {abi} again", product.soname));
    let read = |file: &Path| fs::read(file).with_context(|| format!("cannot read {}", file.display()));
    let again = read(&build::compile(product, abi, target, elsewhere.path())?)?;
    let first = read(&folder().join("symbols").join(abi.name()).join(product.soname))?;
    ensure!(first == again, "{abi}: two builds of {} from the same sources differ", product.soname);
    println!("{abi}: a second build has the same {} bytes", again.len());
    Ok(())
}
