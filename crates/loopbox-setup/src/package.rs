//! Debian packages as data: which ones, and exactly which files they must be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::arch::Arch;

/// The use of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// Android's own libraries, which go into the testbed's `lib` folder.
    Android,
    /// Other shared libraries that Android's libraries need, which go into the testbed's `lib` folder, too.
    Runtime,
    /// Headers for the natives.
    Headers,
    /// Shared libraries that the natives are linked to. Every testbed has its own version of them.
    Link,
    /// ICU for Java, at compile time only.
    Icu4j,
    /// The emulator for programs of another architecture.
    Emulator,
}

/// A Debian binary package.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Debian release to take it from.
    pub suite: String,
    /// `amd64` or `all`.
    pub arch: String,
    /// Its use.
    #[serde(rename = "use")]
    pub purpose: Use,
    /// The version of a pinned package; `sha256` is the hash of its file. Both are `None` for a floating
    /// package.
    version: Option<String>,
    sha256: Option<String>,
}

/// The exact file that a pinned package must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin<'a> {
    /// Its version.
    pub version: &'a str,
    /// Its SHA-256 in hexadecimal digits.
    pub sha256: &'a str,
}

impl Package {
    /// The exact file that the package must be; `None` for a floating package.
    pub fn pin(&self) -> Option<Pin<'_>> {
        Some(Pin { version: self.version.as_deref()?, sha256: self.sha256.as_deref()? })
    }

    /// Whether it has a version without a hash, or a hash without a version: an error in a specification.
    pub fn is_half_pinned(&self) -> bool {
        self.version.is_some() != self.sha256.is_some()
    }

    /// The same package for another architecture; `pins` has the SHA-256 of the packages for it.
    #[must_use]
    pub fn for_arch(mut self, arch: Arch, pins: &Pins) -> Self {
        if arch != Arch::X86_64 && self.arch == "amd64" {
            arch.debian().clone_into(&mut self.arch);
            self.sha256 = pins.get(&self.name).cloned();
        }
        self
    }

    /// The file name that apt uses; the `:` of an epoch is escaped.
    pub fn file_name(&self, version: &str) -> String {
        format!("{}_{}_{}.deb", self.name, version.replace(':', "%3a"), self.arch)
    }
}

/// A Debian source package, of which one upstream archive is used.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Debian release to take it from.
    pub suite: String,
    /// The upstream archive.
    pub file: String,
    /// SHA-256 of that archive.
    pub sha256: String,
    /// Files and folders of the archive that are used.
    pub unpack: Vec<String>,
}

/// SHA-256 of the files of pinned packages for another architecture, by name; the versions are the same as
/// for amd64.
pub type Pins = BTreeMap<String, String>;

/// Reads a TOML file; the error names the file.
///
/// # Errors
/// When it cannot be read or is not valid.
pub fn read_toml<T: DeserializeOwned>(file: &Path) -> Result<T> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not valid", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_escape_the_epoch() {
        let package: Package = toml::from_str(
            "name='a-b'\nsuite='s'\narch='amd64'\nuse='android'\nversion='1:2.3'\nsha256='00'\n",
        )
        .unwrap();
        assert_eq!(package.file_name(package.pin().unwrap().version), "a-b_1%3a2.3_amd64.deb");
    }
}
