//! Packages of the machine's own Debian release, downloaded and unpacked without installing anything.
//!
//! The beds' downloads are pinned to the byte; a compiler from the security archive cannot be: the archive
//! drops a version when it gets the next. So the newest is taken, by apt with a state of its own, and apt's
//! signature checks are what vouches for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bed::apt_config;
use crate::bed::run::{command, run};

/// Keys of the Debian archive, from the package debian-archive-keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Libraries that are there wherever a C compiler is, and Rust itself needs one.
const PRESENT: [&str; 4] = ["libc6", "libc-dev", "libgcc", "libstdc++"];

/// The machine's Debian release, with an index read just now.
#[derive(Debug)]
pub(crate) struct Release {
    state: PathBuf,
}

impl Release {
    /// Reads the release's index into `state`. The addresses are those of the machine's own apt configuration.
    pub(crate) fn read(state: &Path) -> Result<Self> {
        let about = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
        let codename =
            apt_config::codename(&about).context("/etc/os-release names no release: not a Debian?")?;
        let repositories = apt_config::read_repositories(Path::new("/etc/apt"))?;
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(state.join(folder))
                .with_context(|| format!("cannot create {}", state.display()))?;
        }
        let list = source_list(&repositories, &codename);
        ensure!(!list.is_empty(), "the machine's apt configuration names no archive of Debian {codename}");
        write(&state.join("sources.list"), &list)?;
        write(&state.join("apt.conf"), &configuration(state))?;
        let release = Self { state: state.to_owned() };
        release.apt("apt-get", ["update"])?;
        Ok(release)
    }

    /// The named packages and the libraries they need, as `name=version`.
    pub(crate) fn with_libraries(&self, names: &[&str]) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let mut open: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        while !open.is_empty() {
            let depends =
                self.apt("apt-cache", ["depends", "--important"].into_iter().chain(words(&open)))?;
            found.append(&mut open);
            open = libraries(&depends).into_iter().filter(|name| !found.contains(name)).collect();
        }
        let about = self.apt("apt-cache", ["show", "--no-all-versions"].into_iter().chain(words(&found)))?;
        let versions = versions(&about);
        let wanted = |name: &String| {
            let version = versions.get(name.as_str());
            Ok(format!("{name}={}", version.with_context(|| format!("Debian has no package {name} here"))?))
        };
        found.iter().map(wanted).collect()
    }

    /// Downloads packages (`name=version`) and unpacks them all into `root`.
    pub(crate) fn unpack(&self, packages: &BTreeSet<String>, root: &Path) -> Result<()> {
        let downloads = root.join("downloads");
        fs::create_dir_all(&downloads).with_context(|| format!("cannot create {}", downloads.display()))?;
        let mut download = self.command("apt-get");
        run(download.arg("download").args(packages).current_dir(&downloads))?;
        for entry in fs::read_dir(&downloads)? {
            run(command("dpkg-deb", ["-x"]).arg(entry?.path()).arg(root))?;
        }
        fs::remove_dir_all(&downloads).with_context(|| format!("cannot remove {}", downloads.display()))
    }

    fn apt<'a>(&self, program: &str, arguments: impl IntoIterator<Item = &'a str>) -> Result<String> {
        run(self.command(program).args(arguments))
    }

    fn command(&self, program: &str) -> std::process::Command {
        let mut apt = command(program, ["-q=2", "-c"]);
        apt.arg(self.state.join("apt.conf")).env("LC_ALL", "C");
        apt
    }
}

/// The release itself, its updates and its security archive.
fn source_list(repositories: &[apt_config::Repository], codename: &str) -> String {
    let signed = if Path::new(KEYRING).is_file() { format!("[signed-by={KEYRING}] ") } else { String::new() };
    let suites = ["", "-updates", "-security"].map(|part| format!("{codename}{part}"));
    let wanted =
        |r: &&apt_config::Repository| suites.contains(&r.suite) && r.components.iter().any(|c| c == "main");
    let lines =
        repositories.iter().filter(wanted).map(|r| format!("deb {signed}{} {} main\n", r.uri, r.suite));
    lines.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Settings read after the machine's own, so that its proxies stay and everything else is ours.
fn configuration(state: &Path) -> String {
    let state = state.display();
    format!(
        "#clear APT::Update;\n\
         #clear DPkg::Post-Invoke;\n\
         Dir::Etc::sourcelist \"{state}/sources.list\";\n\
         Dir::Etc::sourceparts \"-\";\n\
         Dir::State::lists \"{state}/lists\";\n\
         Dir::Cache \"{state}/cache\";\n\
         Dir::Cache::pkgcache \"pkgcache.bin\";\n\
         Dir::Cache::srcpkgcache \"srcpkgcache.bin\";\n\
         APT::Sandbox::User \"root\";\n\
         Acquire::Languages \"none\";\n\
         Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n\
         Acquire::Retries \"2\";\n"
    )
}

fn words(names: &BTreeSet<String>) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str)
}

/// Package to version, of what `apt-cache show` says.
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

/// The libraries among the packages' dependencies, of alternatives the first: lines of `apt-cache depends`.
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

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
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
        let list = source_list(&apt_config::parse_list(text), "bookworm");
        assert_eq!(list.lines().count(), 3, "{list}");
        assert!(list.contains("http://s.example/security bookworm-security main"));
        assert!(!list.contains("contrib") && !list.contains("other") && !list.contains("vendor"));
        assert_eq!(source_list(&apt_config::parse_list(text), "trixie"), "");
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
