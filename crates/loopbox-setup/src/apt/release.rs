//! Packages of the machine's own Debian release, downloaded and unpacked without installing anything.
//!
//! Other downloads are pinned to the byte. A compiler from the security archive cannot be pinned, because the
//! archive drops a version when it gets the next one. So the newest version is taken, by apt with a separate
//! state, and apt's signature checks guarantee that it is genuine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::amount;
use super::archive::{Archive, Remote};
use super::download::download;
use super::sources::{self, Repository};
use crate::arch::Arch;
use crate::command::{command, run};
use crate::files::remove;
use crate::progress::Progress;

/// Libraries that every C compiler brings with it. Rust itself needs a C compiler, so they are on this
/// machine already.
const PRESENT: [&str; 4] = ["libc6", "libc-dev", "libgcc", "libstdc++"];

/// The machine's Debian release, with an index read just now.
#[derive(Debug)]
pub struct Release {
    archive: Archive,
}

impl Release {
    /// Reads the release's index for an architecture into `state`. The addresses come from the machine's own
    /// apt configuration.
    ///
    /// # Errors
    /// When this is not a Debian, or its archive cannot be reached.
    pub fn read(state: &Path, arch: Arch, progress: &Progress) -> Result<Self> {
        let codename = sources::own_codename()?;
        let list = source_list(&sources::read_repositories(&sources::folder())?, &codename, arch);
        ensure!(!list.is_empty(), "the machine's apt configuration names no archive of Debian {codename}");
        progress.say("read the package index");
        Ok(Self { archive: Archive::open(state, &list, arch.debian(), progress)? })
    }

    /// The named packages and the libraries they need, as `name=version`.
    ///
    /// # Errors
    /// When the release has no such package.
    pub fn with_libraries(&self, names: &[&str]) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let mut open: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        while !open.is_empty() {
            let depends = self.ask(&["depends", "--important"], &open)?;
            found.append(&mut open);
            open = libraries(&depends).into_iter().filter(|name| !found.contains(name)).collect();
        }
        let about = self.ask(&["show", "--no-all-versions"], &found)?;
        let versions = versions(&about);
        let wanted = |name: &String| {
            let version = versions.get(name.as_str());
            Ok(format!("{name}={}", version.with_context(|| format!("Debian has no package {name} here"))?))
        };
        found.iter().map(wanted).collect()
    }

    fn ask(&self, question: &[&str], packages: &BTreeSet<String>) -> Result<String> {
        let arguments: Vec<&str> = question.iter().copied().chain(words(packages)).collect();
        self.archive.query("apt-cache", &arguments)
    }

    /// Downloads packages (`name=version`) and unpacks them all into `root`. If an interrupted download has
    /// left parts in `downloads`, they are used.
    ///
    /// # Errors
    /// When a package cannot be had or unpacked.
    pub fn unpack(
        &self,
        packages: &BTreeSet<String>,
        downloads: &Path,
        root: &Path,
        progress: &Progress,
    ) -> Result<()> {
        let files = self.archive.packages(&words(packages).collect::<Vec<_>>())?;
        self.unpack_files(&files, downloads, root, progress)
    }

    /// As [`Self::unpack`], for one package of another architecture, whose index need not be available.
    /// Debian keeps the packages of one version next to each other, so the address follows from the address
    /// of the same package for this architecture.
    ///
    /// # Errors
    /// When the package cannot be had or unpacked.
    pub fn unpack_pinned(
        &self,
        package: &str,
        other: &PinnedPackage,
        downloads: &Path,
        root: &Path,
        progress: &Progress,
    ) -> Result<()> {
        let [own] = &self.archive.packages(&[package])?[..] else { bail!("{package} is not one package") };
        self.unpack_files(&[other.next_to(own)?], downloads, root, progress)
    }

    fn unpack_files(
        &self,
        files: &[Remote],
        downloads: &Path,
        root: &Path,
        progress: &Progress,
    ) -> Result<()> {
        fs::create_dir_all(downloads).with_context(|| format!("cannot create {}", downloads.display()))?;
        let bytes = files.iter().map(|file| file.size).sum();
        progress.say(format!("download {}", amount::planned(files.len(), "package", bytes)));
        download(&self.archive, files, downloads, progress)?;
        progress.say(format!("unpack {} packages", files.len()));
        for file in files {
            run(command("dpkg-deb", ["-x"]).arg(downloads.join(&file.name)).arg(root))?;
        }
        remove(downloads)
    }
}

/// A package of one architecture, pinned to the byte.
#[derive(Debug, Clone, Copy)]
pub struct PinnedPackage {
    /// Its architecture.
    pub arch: Arch,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal digits.
    pub sha256: &'static str,
}

impl PinnedPackage {
    /// The file of this package in the folder of another architecture's package.
    fn next_to(&self, own: &Remote) -> Result<Remote> {
        let renamed = |text: &str| -> Result<String> {
            let (name, _) = text.rsplit_once('_').with_context(|| format!("no architecture in {text}"))?;
            Ok(format!("{name}_{}.deb", self.arch.debian()))
        };
        let (uri, name) = (renamed(&own.uri)?, renamed(&own.name)?);
        Ok(Remote { uri, name, size: self.size, sha256: self.sha256.to_owned() })
    }
}

/// The source list for apt: the suites of the release itself, of its updates and of its security archive.
fn source_list(repositories: &[Repository], codename: &str, arch: Arch) -> String {
    let arch = arch.debian();
    let signed = sources::signed_by();
    let suites = ["", "-updates", "-security"].map(|part| format!("{codename}{part}"));
    let wanted = |r: &&Repository| suites.contains(&r.suite) && r.components.iter().any(|c| c == "main");
    let lines = repositories
        .iter()
        .filter(wanted)
        .map(|r| format!("deb [arch={arch}{signed}] {} {} main\n", r.uri, r.suite));
    lines.collect::<BTreeSet<_>>().into_iter().collect()
}

fn words(names: &BTreeSet<String>) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str)
}

/// The version of each package in the output of `apt-cache show`.
fn versions(about: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    let mut name = "";
    for line in about.lines() {
        if let Some(package) = line.strip_prefix("Package: ") {
            name = package;
        } else if let Some(version) = line.strip_prefix("Version: ") {
            found.insert(name, version);
        }
    }
    found
}

/// The libraries among the packages' dependencies, from lines of `apt-cache depends`; of alternative
/// dependencies only the first one counts.
fn libraries(depends: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut decided = false;
    for line in depends.lines() {
        let (alternative, rest) = match line.trim_start().strip_prefix('|') {
            Some(rest) => (true, rest),
            None => (false, line.trim_start()),
        };
        let name = rest.strip_prefix("Depends: ").or_else(|| rest.strip_prefix("PreDepends: "));
        if let Some(name) = name {
            let needed = name.starts_with("lib") && !PRESENT.iter().any(|present| name.starts_with(present));
            if needed && !decided {
                found.push(name.trim().to_owned());
            }
            decided = alternative;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_releases_own_archives_are_asked() {
        let text = "deb http://m.example/archive bookworm main contrib\n\
            deb http://m.example/archive bookworm-updates main\n\
            deb http://s.example/security bookworm-security main\n\
            deb http://other.example/apt bookworm-tools main\n\
            deb http://vendor.example/linux bookworm stable\n";
        let list = source_list(&sources::parse_list(text), "bookworm", Arch::Arm64);
        assert_eq!(list.matches("[arch=arm64").count(), 3, "{list}");
        assert_eq!(list.lines().count(), 3, "{list}");
        assert!(list.contains("http://s.example/security bookworm-security main"));
        assert!(!list.contains("contrib") && !list.contains("other") && !list.contains("vendor"));
        assert_eq!(source_list(&sources::parse_list(text), "trixie", Arch::X86_64), "");
    }

    #[test]
    fn package_of_another_architecture_is_next_to_this_ones() {
        let own = Remote {
            uri: "http://m/pool/r/lib_1.0%2bx-1_amd64.deb".into(),
            name: "lib_1.0+x-1_amd64.deb".into(),
            size: 1,
            sha256: "00".into(),
        };
        let other = PinnedPackage { arch: Arch::X86, size: 2, sha256: "ff" }.next_to(&own).unwrap();
        let expected = Remote {
            uri: "http://m/pool/r/lib_1.0%2bx-1_i386.deb".into(),
            name: "lib_1.0+x-1_i386.deb".into(),
            size: 2,
            sha256: "ff".into(),
        };
        assert_eq!(other, expected);
    }

    #[test]
    fn libraries_are_found_among_the_dependencies() {
        let depends = "rustc-web\n  Depends: libc6\n  Depends: libgcc-s1\n  Depends: libstd-rust-web-dev\n\
            \x20 Depends: gcc\n |Depends: liba1\n  Depends: liba2\n  PreDepends: libb\n  Depends: <libc-dev>\n\
            \x20   libc6-dev\nlibb\n  Depends: libd\n  Conflicts: libe\n";
        assert_eq!(libraries(depends), ["libstd-rust-web-dev", "liba1", "libb", "libd"]);
    }

    #[test]
    fn versions_are_read_with_their_packages() {
        let about = "Package: a\nVersion: 1:2~x\nDescription: Version: none\n\nPackage: b\nVersion: 3\n";
        assert_eq!(versions(about), BTreeMap::from([("a", "1:2~x"), ("b", "3")]));
    }
}
