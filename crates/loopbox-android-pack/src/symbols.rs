//! What the library may import from Android: our own list of bionic's symbols; and the few symbols that it
//! exports.
//!
//! The lists are data in `jni-glue/android`: `bionic-symbols.toml` and `exports.txt`. The link stubs are made
//! from the first one, so that an import that is not listed fails at link time, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::abi::Abi;

/// Lowest API level that the library runs on, as the manifest's `minSdkVersion` says.
pub const MIN_API: u32 = 21;

/// The list in the form of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    library: Vec<Library>,
    #[serde(default)]
    optional: Vec<Optional>,
}

/// A group of symbols of one library that all exist at [`MIN_API`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Library {
    pub(crate) soname: String,
    pub(crate) version: String,
    /// The first API level whose library has the version node `version`, if that level is later than
    /// [`MIN_API`]. Linkers of earlier levels bind the unversioned symbol.
    pub(crate) version_since: Option<u32>,
    #[serde(default)]
    abis: Vec<String>,
    pub(crate) symbols: Vec<String>,
}

/// A symbol newer than [`MIN_API`]: only a weak reference may name it, and the code must work without it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Optional {
    pub(crate) symbol: String,
    pub(crate) since: u32,
    /// What happens on devices that lack it. Only people read this, so a test checks that it is there.
    without: String,
}

/// The symbols that one ABI's library may import.
#[derive(Debug)]
pub struct Imports {
    /// The symbols of each library, by version node.
    required: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// Symbols that only a weak reference may name.
    optional: BTreeSet<String>,
}

/// The whole list, for all ABIs.
#[derive(Debug)]
pub struct SymbolList {
    file: File,
}

impl SymbolList {
    /// Reads the list.
    ///
    /// # Errors
    /// When it cannot be read or contradicts itself.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", file.display()))
    }

    /// Reads the list from its text.
    ///
    /// # Errors
    /// When it contradicts itself.
    pub fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text)?;
        let known: Vec<&str> = crate::abi::ALL.iter().map(|abi| abi.name()).collect();
        for library in &file.library {
            for abi in &library.abis {
                ensure!(known.contains(&abi.as_str()), "{}: there is no ABI {abi}", library.soname);
            }
            ensure!(
                library.version_since.is_none_or(|since| since > MIN_API),
                "{}: every Android has that version node, leave version_since out",
                library.soname
            );
            ensure!(
                library.symbols.is_sorted(),
                "{}: the symbols are not in alphabetical order",
                library.soname
            );
        }
        for optional in &file.optional {
            ensure!(
                optional.since > MIN_API,
                "{} exists since API {}: list it with its library",
                optional.symbol,
                optional.since
            );
            ensure!(!optional.without.is_empty(), "{}: say what happens without it", optional.symbol);
        }
        Ok(Self { file })
    }

    /// The part of the list that applies to an ABI.
    pub fn of(&self, abi: Abi) -> Imports {
        let mut required: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for library in &self.file.library {
            let versions = required.entry(library.soname.clone()).or_default();
            if library.is_for(abi) {
                versions.entry(library.version.clone()).or_default().extend(library.symbols.iter().cloned());
            }
        }
        Imports { required, optional: self.file.optional.iter().map(|o| o.symbol.clone()).collect() }
    }

    /// The groups of symbols that apply to an ABI.
    pub(crate) fn groups(&self, abi: Abi) -> impl Iterator<Item = &Library> {
        self.file.library.iter().filter(move |library| library.is_for(abi))
    }

    /// The symbols that are newer than [`MIN_API`].
    pub(crate) fn optional(&self) -> &[Optional] {
        &self.file.optional
    }

    /// All listed symbols, to find those that nothing imports any more.
    pub fn all(&self) -> BTreeSet<&str> {
        let required = self.file.library.iter().flat_map(|l| l.symbols.iter().map(String::as_str));
        required.chain(self.file.optional.iter().map(|o| o.symbol.as_str())).collect()
    }
}

impl Library {
    fn is_for(&self, abi: Abi) -> bool {
        self.abis.is_empty() || self.abis.iter().any(|name| name == abi.name())
    }
}

impl Imports {
    /// The libraries by SONAME, including those of which this ABI needs nothing.
    pub fn libraries(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, BTreeSet<String>>)> {
        self.required.iter().map(|(soname, versions)| (soname.as_str(), versions))
    }

    /// Whether a library of this SONAME may be among the needed ones (`DT_NEEDED`).
    pub fn allows_library(&self, soname: &str) -> bool {
        self.required.contains_key(soname)
    }

    /// Whether a version node may be referred to.
    pub fn allows_version(&self, soname: &str, version: &str) -> bool {
        self.required.get(soname).is_some_and(|versions| versions.contains_key(version))
    }

    /// Whether a reference of this strength may import a symbol.
    pub fn allows(&self, symbol: &str, weak: bool) -> bool {
        self.library_of(symbol).is_some() || (weak && self.optional.contains(symbol))
    }

    /// The library that has a symbol.
    pub fn library_of(&self, symbol: &str) -> Option<&str> {
        let has =
            |versions: &BTreeMap<String, BTreeSet<String>>| versions.values().any(|s| s.contains(symbol));
        self.required.iter().find(|(_, versions)| has(versions)).map(|(soname, _)| soname.as_str())
    }
}

/// The names in a file like `exports.txt`: one in each line; `#` starts a comment.
///
/// # Errors
/// When it cannot be read.
pub fn read_names(file: &Path) -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(parse_exports(&text))
}

fn parse_exports(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.split('#').next()).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const LIST: &str = r#"
        [[library]]
        soname = "libc.so"
        version = "LIBC"
        symbols = ["abort", "open"]
        [[library]]
        soname = "libc.so"
        version = "LIBC"
        abis = ["armeabi-v7a", "x86"]
        symbols = ["mmap64"]
        [[library]]
        soname = "liblog.so"
        version = "LIBLOG"
        symbols = ["__android_log_write"]
        [[optional]]
        symbol = "getrandom"
        since = 28
        without = "reads /dev/urandom"
    "#;

    pub(crate) fn list() -> SymbolList {
        SymbolList::parse(LIST).unwrap()
    }

    #[test]
    fn an_abi_gets_the_common_symbols_and_its_own() {
        let arm = list().of(Abi::Arm);
        let arm64 = list().of(Abi::Arm64);
        assert!(arm.allows("mmap64", false) && !arm64.allows("mmap64", false));
        assert!(arm.allows("abort", false) && arm64.allows("abort", true));
        assert_eq!(arm64.library_of("__android_log_write"), Some("liblog.so"));
        assert!(arm64.allows_version("liblog.so", "LIBLOG") && !arm64.allows_version("libc.so", "GLIBC_2.2"));
        assert_eq!(list().all().len(), 5);
    }

    #[test]
    fn newer_symbols_are_for_weak_references_only() {
        let imports = list().of(Abi::Arm64);
        assert!(imports.allows("getrandom", true));
        assert!(!imports.allows("getrandom", false));
        assert!(!imports.allows("memfd_create", true));
    }

    #[test]
    fn faults_of_the_list_are_named() {
        let fault =
            |from: &str, to: &str| SymbolList::parse(&LIST.replace(from, to)).unwrap_err().to_string();
        assert!(fault("since = 28", "since = 21").contains("list it with its library"));
        assert!(fault("\"x86\"", "\"mips\"").contains("no ABI mips"));
        assert!(fault("\"abort\", \"open\"", "\"open\", \"abort\"").contains("alphabetical"));
        assert!(fault("\"LIBLOG\"", "\"LIBLOG\"\nversion_since = 21").contains("leave version_since out"));
        assert!(fault("reads /dev/urandom", "").contains("what happens"));
        assert!(fault("version = \"LIBLOG\"", "versoin = \"LIBLOG\"").contains("versoin"));
    }

    #[test]
    fn exports_are_read_without_comments() {
        let names = parse_exports("# why\nJNI_OnLoad  # the only way in\n\n");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["JNI_OnLoad"]);
    }
}
