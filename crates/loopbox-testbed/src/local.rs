//! The testbed `local`: a user's own build of a runtime for x86-64, in a folder with the libraries that it
//! links.
//!
//! The version of the runtime is found by its code: it is the version of the row in `offsets/` that matches
//! the code. The version decides which patches libcore 10 needs for this runtime.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use goblin::elf::Elf;
use goblin::elf::symver::VER_NDX_GLOBAL;
use loopbox_setup::arch::Arch;
use loopbox_setup::files::remove;
use loopbox_setup::package::{Package, read_toml};
use serde::Deserialize;

use crate::libart;
use crate::spec::{RuntimeSpec, Spec};

/// The testbed's name.
pub const LOCAL: &str = "local";
/// The environment variable that names the folder with the user's build.
pub const FOLDER: &str = "LOOPBOX_LOCAL_ART";

/// The library's possible names: in AOSP's build, and in Debian's.
const LIBART: [&str; 2] = ["libart.so", "libart.so.0"];
const NATIVEHELPER: [&str; 2] = ["libnativehelper.so", "libnativehelper.so.0"];
/// Libraries of the C compiler and the C library. The loader finds them by itself, in the machine or in the
/// folder.
const OF_THE_MACHINE: [&str; 9] =
    ["ld-linux", "libc.", "libdl.", "libgcc_s.", "libm.", "libpthread.", "librt.", "libstdc++.", "libc++"];
/// Native libraries of libcore. The runtime opens them by itself. The testbed builds these libraries, and
/// they replace the libraries of the same names in the user's folder.
const OF_JAVA: [&str; 3] = ["libjavacore.", "libopenjdk", "libandroidio."];

/// `tests/testbed/local/runtime.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalSpec {
    #[serde(rename = "package")]
    packages: Vec<Package>,
    #[serde(rename = "fit")]
    fits: Vec<Fit>,
}

/// What makes libcore 10 fit the runtimes of some rows of the tables in `offsets/`. `rows` has the beginning
/// of the rows' ids: `29` for `29-arm64`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fit {
    rows: Vec<String>,
    /// Native methods that the runtimes of these rows register; `lacks` has native methods that they do not
    /// register.
    #[serde(default)]
    registers: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    art: String,
    api_level: u32,
    /// Folders below `tests/testbed/patches`.
    patches: Vec<String>,
    /// Additional options of the VM.
    #[serde(default)]
    vm_options: Vec<String>,
}

/// The folder that the environment names, if any.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// The specification of the testbed.
///
/// # Errors
/// When the environment names no folder, or one without a runtime whose version is known.
pub(crate) fn load(specs: &Path) -> Result<Spec> {
    let runtime = folder()
        .with_context(|| format!("the testbed {LOCAL} is the runtime of the folder that {FOLDER} names"))?;
    let runtime = fs::canonicalize(&runtime).with_context(|| format!("cannot find {}", runtime.display()))?;
    Ok(Spec {
        folder: specs.to_owned(),
        arch: Arch::X86_64,
        common: read_toml(&specs.join("common.toml"))?,
        testbed: spec(specs, &runtime)?,
        compiler: None,
        aot: None,
        foreign: None,
        libcxx: None,
        level: None,
        local: Some(runtime),
    })
}

/// What the testbed is built from.
///
/// # Errors
/// When the folder has no runtime, or one whose version is not known.
fn spec(specs: &Path, folder: &Path) -> Result<RuntimeSpec> {
    let local: LocalSpec = read_toml(&specs.join("local/runtime.toml"))?;
    let names = names(folder)?;
    let has = |name: &&str| names.contains(*name);
    let libart = LIBART.into_iter().find(has);
    let libart = libart.with_context(|| format!("{} has no {}", folder.display(), LIBART.join(" or ")))?;
    let report = libart::compare(&folder.join(libart))?;
    let path = folder.join(libart);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let fit = fit(&local.fits, &report.matches(), |native| has_text(&bytes, native))
        .with_context(|| format!("{}\n{report}", path.display()))?;
    let helper = NATIVEHELPER.into_iter().find(has).unwrap_or(NATIVEHELPER[1]);
    // ART 10 loads it by the first name.
    let links = if names.contains(NATIVEHELPER[0]) {
        BTreeMap::new()
    } else {
        [(NATIVEHELPER[0].to_owned(), helper.to_owned())].into()
    };
    let loader = Arch::X86_64.loader();
    let own_libc = names.contains("libc.so.6");
    ensure!(
        own_libc == names.contains(loader),
        "{} has one of libc.so.6 and {loader}; it takes both or none",
        folder.display()
    );
    let mut dlopen_first = vec![NATIVEHELPER[0].to_owned()];
    dlopen_first.extend(needed(folder, libart, &names)?.into_iter().filter(|name| name != helper));
    Ok(RuntimeSpec {
        name: LOCAL.to_owned(),
        art: fit.art,
        api_level: fit.api_level,
        package_version: report.build_id().to_owned(),
        libart: libart.to_owned(),
        dlopen_first,
        preload: names.iter().find(|name| name.starts_with("libsigchain.so")).cloned().into_iter().collect(),
        links,
        own_libc,
        patches: fit.patches,
        vm_options: fit.vm_options,
        code_patches: None,
        jit_code_patches: None,
        packages: local.packages,
        pins: BTreeMap::new(),
        off: BTreeMap::new(),
    })
}

/// Whether a library has a string, which ends with a zero byte.
fn has_text(library: &[u8], text: &str) -> bool {
    let text = [b"\0", text.as_bytes(), b"\0"].concat();
    library.windows(text.len()).any(|window| window == text)
}

/// The only version that fits the matching rows and the natives that the runtime registers.
fn fit(fits: &[Fit], rows: &[&str], registers: impl Fn(&str) -> bool) -> Result<Fit> {
    let versions: BTreeSet<&str> = rows.iter().filter_map(|row| row.split('-').next()).collect();
    let agrees = |fit: &&Fit| {
        fit.rows.iter().any(|row| versions.contains(row.as_str()))
            && fit.registers.iter().all(|native| registers(native))
            && !fit.lacks.iter().any(|native| registers(native))
    };
    let found: Vec<&Fit> = fits.iter().filter(agrees).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] if rows.is_empty() => bail!("no row of the tables fits this library"),
        [] => bail!("there are no patches that make libcore 10 fit the ART of row {}", rows.join(", ")),
        several => {
            let versions: Vec<_> = several.iter().map(|fit| fit.art.as_str()).collect();
            bail!("by the tables this is any of ART {}", versions.join(", "))
        }
    }
}

/// The names of the libraries in a folder.
fn names(folder: &Path) -> Result<BTreeSet<String>> {
    let context = || format!("cannot read {}", folder.display());
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        let path = entry.with_context(context)?.path();
        let name = path.file_name().and_then(OsStr::to_str);
        if let Some(name) = name.filter(|name| name.contains(".so") && path.is_file()) {
            names.insert(name.to_owned());
        }
    }
    Ok(names)
}

/// Copies the libraries over those of the same names. It makes no hard links, because the folder is the
/// user's.
pub(crate) fn copy_libraries(folder: &Path, to: &Path) -> Result<()> {
    for name in names(folder)? {
        let (from, to) = (folder.join(&name), to.join(&name));
        remove(&to)?;
        let sibling = fs::read_link(&from).ok().filter(|target| target.components().count() == 1);
        let copied = match sibling {
            Some(target) => symlink(target, &to),
            None => fs::copy(&from, &to).map(drop),
        };
        copied.with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
}

/// A library of the folder.
struct Library {
    /// Names of the libraries that it requires.
    asks_for: Vec<String>,
    defines: BTreeSet<String>,
    /// Unversioned symbols that it needs: nothing says which library has them.
    lacks: Vec<String>,
}

impl Library {
    fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let elf = Elf::parse(&bytes).with_context(|| format!("{} is no library", path.display()))?;
        let mut library = Self {
            asks_for: elf.libraries.iter().map(|name| (*name).to_owned()).collect(),
            defines: BTreeSet::new(),
            lacks: Vec::new(),
        };
        for (at, symbol) in elf.dynsyms.iter().enumerate() {
            let Some(name) = elf.dynstrtab.get_at(symbol.st_name) else { continue };
            // Those of the C libraries have a version, with the name of the library, which is asked for.
            let version =
                elf.versym.as_ref().and_then(|all| all.get_at(at)).map_or(0, |symbol| symbol.version());
            if symbol.is_import() && version <= VER_NDX_GLOBAL {
                library.lacks.push(name.to_owned());
            } else if symbol.st_shndx != 0 {
                library.defines.insert(name.to_owned());
            }
        }
        Ok(library)
    }
}

/// The libraries of the folder that `library` needs, each after those that it needs itself. Debian's
/// libraries do not list the libraries whose functions they call, so all libraries of the folder are searched
/// for these functions.
fn needed(folder: &Path, library: &str, names: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut libraries = BTreeMap::new();
    let others = [&OF_THE_MACHINE[..], &OF_JAVA].concat();
    let is_its =
        |name: &&String| name.starts_with("lib") && !others.iter().any(|other| name.starts_with(other));
    for name in names.iter().filter(is_its) {
        let path = folder.join(name);
        // Of several names for one file the file's own.
        if fs::canonicalize(&path).is_ok_and(|real| real.file_name() == path.file_name()) {
            libraries.insert(name.clone(), Library::read(&path)?);
        }
    }
    let real = |name: &str| {
        let real = fs::canonicalize(folder.join(name)).ok()?;
        Some(real.file_name()?.to_str()?.to_owned())
    };
    let mut found = Vec::new();
    let first = real(library).with_context(|| format!("cannot read {library}"))?;
    add_needed(&first, &libraries, &real, &mut BTreeSet::new(), &mut found);
    found.pop();
    Ok(found)
}

fn add_needed(
    name: &str,
    libraries: &BTreeMap<String, Library>,
    real: &impl Fn(&str) -> Option<String>,
    begun: &mut BTreeSet<String>,
    found: &mut Vec<String>,
) {
    let Some(library) = libraries.get(name).filter(|_| begun.insert(name.to_owned())) else { return };
    let asked = library.asks_for.iter().filter_map(|name| real(name));
    let defining = |symbol: &String| libraries.iter().find(|(_, other)| other.defines.contains(symbol));
    let called = library.lacks.iter().filter_map(defining).map(|(name, _)| name.clone());
    for other in asked.chain(called).collect::<BTreeSet<_>>() {
        add_needed(&other, libraries, real, begun, found);
    }
    found.push(name.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;
    use loopbox_setup::workspace::root;

    fn fits() -> Vec<Fit> {
        read_toml::<LocalSpec>(&paths::specs().join("local/runtime.toml")).unwrap().fits
    }

    #[test]
    fn the_rows_say_which_patches_fit() {
        let of = |rows: &[&str], natives: &[&str]| {
            let found = fit(&fits(), rows, |native| natives.contains(&native));
            found.map(|fit| fit.art).map_err(|error| error.to_string())
        };
        assert_eq!(of(&["29-x86_64-debian"], &[]).as_deref(), Ok("10"));
        assert_eq!(of(&["33-x86_64", "33m-x86_64"], &[]).as_deref(), Ok("13"));
        assert_eq!(of(&["34-x86_64-debian"], &[]).as_deref(), Ok("14"));
        assert_eq!(of(&["34-x86_64", "34m-x86_64"], &[]).as_deref(), Ok("14"), "of one version");
        // With LLVM's C++ library the code of ART 11 loads from the places of both rows.
        let (same, eleven) = (["29-x86_64", "30-x86_64"], "setDisabledCompatChangesNative");
        assert_eq!(of(&same, &[]).as_deref(), Ok("10"));
        assert_eq!(of(&same, &[eleven]).as_deref(), Ok("11"));
        assert_eq!(
            of(&["30-x86_64", "34-x86_64"], &[eleven]).unwrap_err(),
            "by the tables this is any of ART 11, 14"
        );
        // What its code loads from is the same in all of them.
        let newest = ["34q3-x86_64", "35-x86_64", "35m-x86_64", "36-x86_64", "36q2-x86_64"];
        let (sixteen, qpr2) = ("getExecutableMethodFileOffsetsNative", "parkVirtualInternal");
        assert_eq!(of(&newest, &[]).as_deref(), Ok("15"));
        assert_eq!(of(&newest, &[sixteen]).as_deref(), Ok("16"));
        assert_eq!(of(&newest, &[sixteen, qpr2]).as_deref(), Ok("16 QPR2"));
        assert!(of(&["28-x86_64"], &[]).unwrap_err().contains("fit the ART of row 28-x86_64"));
        assert!(of(&[], &[]).unwrap_err().contains("no row"));
    }

    #[test]
    fn a_native_is_registered_by_its_whole_name() {
        assert!(has_text(b"\0(I)V\0park\0", "park"));
        assert!(!has_text(b"\0unpark\0parkVirtual\0", "park"));
    }

    #[test]
    fn every_row_and_patch_that_is_named_exists() {
        let tables = loopbox_art_tables::load(&root().join("offsets")).unwrap();
        let ids: Vec<&str> = tables.iter().flat_map(|table| &table.rows).map(|row| row.id.as_str()).collect();
        for fit in fits() {
            for row in &fit.rows {
                assert!(ids.iter().any(|id| id.split('-').next() == Some(row)), "{row}");
            }
            for patches in &fit.patches {
                assert!(paths::specs().join("patches").join(patches).is_dir(), "{patches}");
            }
        }
    }

    #[test]
    fn a_folder_without_a_runtime_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = spec(&paths::specs(), folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("has no libart.so or libart.so.0"), "{error}");
    }
}
