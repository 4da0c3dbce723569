//! Runs another maker's library for Android, unchanged, in a Linux process.
//!
//! It is separate from `shim.rs` because this repository has no list of what such a library may import. What
//! the library needs is read from its own ELF tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use goblin::elf::Elf;
use loopbox_android_pack::data;
use loopbox_setup::cache::{Cache, Key};
use loopbox_testbed::Testbed;

use super::shim::{Needed, RECIPE, load_first};

/// A testbed, described in `folder`, that can load a library linked for Android's C library. `sources` has a
/// `shim.c` and a `plain.txt` for the functions that this library imports and the recorder's library does
/// not.
///
/// # Errors
/// When the file is no library, or imports something that is not known to be the same in glibc.
pub fn with_foreign_library(
    testbed: &Testbed,
    library: &Path,
    sources: &Path,
    folder: &Path,
) -> Result<Testbed> {
    let context = || format!("cannot read {}", library.display());
    let bytes = fs::read(library).with_context(context)?;
    let needed = of(&Elf::parse(&bytes).with_context(context)?)?;
    let ours = data("shim");
    let key = Key::new("foreign", RECIPE).with_path(&ours)?.with_path(sources)?;
    let key = key.with(&format!("{needed:?}")).with(&testbed.manifest.arch);
    let cache = Cache::open(&loopbox_android_pack::folder().join("cache"))?;
    let made = cache.step("foreign", &key, |out| needed.make(&[&ours, sources], testbed, out))?;
    let first: Vec<_> = needed.libraries.keys().map(|soname| made.join(soname)).collect();
    load_first(testbed, &first, folder)
}

/// What a library needs. An import without a version is looked for by its name alone, so it does not matter
/// which library has it.
fn of(elf: &Elf<'_>) -> Result<Needed> {
    let mut needed = Needed::default();
    let text = |at| elf.dynstrtab.get_at(at).context("a name is out of its table");
    // The SONAME of the library that has a version, by the version's number.
    let mut versions = BTreeMap::new();
    for library in &elf.libraries {
        needed.add_library(library, None);
    }
    for library in elf.verneed.iter().flatten() {
        let soname = text(library.vn_file)?;
        for version in &library {
            needed.add_library(soname, Some(text(version.vna_name)?));
            versions.insert(version.vna_other, soname);
        }
    }
    let any = elf.libraries.first().context("it needs no library")?;
    for (at, symbol) in elf.dynsyms.iter().enumerate() {
        if symbol.is_import() && symbol.st_name != 0 {
            let version = elf.versym.as_ref().and_then(|table| table.get_at(at));
            let soname = version.and_then(|version| versions.get(&version.version())).unwrap_or(any);
            needed.imports.insert(text(symbol.st_name)?.to_owned(), (*soname).to_owned());
        }
    }
    Ok(needed)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use loopbox_setup::command::run;
    use loopbox_setup::workspace::root;

    #[test]
    fn translations_for_peers_have_the_structures_of_bionic() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("check");
        let source = root().join("tests/peers/shim/check.c");
        run(Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source)).unwrap();
        run(&mut Command::new(program)).unwrap();
    }
}
