//! The programs that a bed is built with: found on the machine, installed when missing and allowed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::arch::Arch;
use super::progress::Progress;
use super::run::{command, run};

/// A program and the Debian packages that bring it, the preferred one first.
struct Needed {
    program: &'static str,
    packages: &'static [&'static str],
}

/// What every bed needs. A JDK newer than 17 works as long as its javac still compiles for Java 8.
const NEEDED: &[Needed] = &[
    Needed { program: "g++", packages: &["g++"] },
    Needed { program: "javac", packages: &["openjdk-17-jdk-headless", "openjdk-21-jdk-headless"] },
    Needed { program: "tar", packages: &["tar"] },
    Needed { program: "xz", packages: &["xz-utils"] },
    Needed { program: "apt-get", packages: &["apt"] },
    Needed { program: "dpkg-deb", packages: &["dpkg"] },
];

/// What the build of a runtime's compiler needs beside that. The sources of ART are written for clang.
const NEEDED_FOR_COMPILER: &[Needed] = &[
    Needed { program: "clang++", packages: &["clang"] },
    Needed { program: "ld.lld", packages: &["lld"] },
    Needed { program: "python3", packages: &["python3-minimal"] },
    Needed { program: "patch", packages: &["patch"] },
];

/// The compilers of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    pub(crate) cxx: PathBuf,
    pub(crate) javac: PathBuf,
    pub(crate) java: PathBuf,
}

impl Tools {
    /// Finds all tools. As root, missing ones are installed by the machine's own apt; else the error says what
    /// to install.
    pub(crate) fn ensure(progress: &Progress) -> Result<Self> {
        install_missing(NEEDED, progress)?;
        Self::locate()
    }

    fn locate() -> Result<Self> {
        // javac and java must be of one JDK: what javac compiles, dx runs on.
        let javac = tool("javac")?;
        let real = fs::canonicalize(&javac).with_context(|| format!("cannot resolve {}", javac.display()))?;
        let sibling = real.with_file_name("java");
        let java = if sibling.is_file() { sibling } else { tool("java")? };
        Ok(Self { cxx: tool("g++")?, javac, java })
    }

    /// Text that changes when a compiler does.
    pub(crate) fn identity(&self) -> Result<String> {
        let cxx = run(&mut command(&self.cxx, ["-dumpfullversion", "-dumpmachine"]))?;
        let real = fs::canonicalize(&self.javac)?;
        // The JDK's release file saves a 0.3 s start of javac.
        let release = real.parent().and_then(Path::parent).map(|home| home.join("release"));
        let jdk = match release.and_then(|file| fs::read_to_string(file).ok()) {
            Some(text) => text,
            None => run(&mut command(&self.javac, ["-version"]))?,
        };
        Ok(format!("{cxx}{jdk}"))
    }
}

/// The programs that build a runtime's compiler.
#[derive(Debug, Clone)]
pub(crate) struct CompilerTools {
    pub(crate) clang: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) patch: PathBuf,
}

impl CompilerTools {
    /// Finds or installs them, as [`Tools::ensure`] does.
    pub(crate) fn ensure(progress: &Progress) -> Result<Self> {
        install_missing(NEEDED_FOR_COMPILER, progress)?;
        Ok(Self { clang: tool("clang++")?, python: tool("python3")?, patch: tool("patch")? })
    }

    /// The C++ compiler for another architecture, with all that it needs of a system below `sysroot`.
    pub(crate) fn for_arch(&self, arch: Arch, sysroot: &Path) -> Command {
        let mut clang = command(&self.clang, ["-fuse-ld=lld"]);
        clang.arg(format!("--target={}", arch.triplet())).arg("--sysroot").arg(sysroot);
        clang
    }

    /// Text that changes when the compiler does.
    pub(crate) fn identity(&self) -> Result<String> {
        run(&mut command(&self.clang, ["--version"]))
    }
}

/// A program that should be there by now.
fn tool(program: &str) -> Result<PathBuf> {
    find(program, search_path().as_ref())
        .with_context(|| format!("{program} is still missing after its installation"))
}

fn install_missing(needed: &'static [Needed], progress: &Progress) -> Result<()> {
    let missing = missing(needed, search_path().as_ref());
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root()? {
        bail!("{}", advice(&missing));
    }
    let names: Vec<&str> = missing.iter().map(|n| n.program).collect();
    progress.say(format!("install {} (missing on this machine)", names.join(", ")));
    run(&mut apt_get(["update", "-qq"]))?;
    missing.into_iter().try_for_each(install)
}

fn search_path() -> Option<OsString> {
    env::var_os("PATH")
}

/// Where a program is on a search path.
fn find(program: &str, path: Option<&OsString>) -> Option<PathBuf> {
    env::split_paths(path?).map(|folder| folder.join(program)).find(|file| {
        fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

fn missing(needed: &'static [Needed], path: Option<&OsString>) -> Vec<&'static Needed> {
    needed.iter().filter(|needed| find(needed.program, path).is_none()).collect()
}

fn advice(missing: &[&Needed]) -> String {
    let programs: Vec<&str> = missing.iter().map(|n| n.program).collect();
    let packages: Vec<&str> = missing.iter().filter_map(|n| n.packages.first().copied()).collect();
    format!(
        "missing on this machine: {}; install with: apt-get install {}",
        programs.join(", "),
        packages.join(" ")
    )
}

fn install(needed: &Needed) -> Result<()> {
    let mut reasons = Vec::new();
    for package in needed.packages {
        match run(&mut apt_get(["install", "-y", "-qq", "--no-install-recommends", package])) {
            Ok(_) => return Ok(()),
            Err(error) => reasons.push(format!("{package}: {error}")),
        }
    }
    bail!("cannot install {}: {}", needed.program, reasons.join("; "))
}

fn apt_get<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut apt = command("apt-get", arguments);
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    apt
}

fn is_root() -> Result<bool> {
    let status = fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    Ok(effective_user(&status) == Some(0))
}

/// The effective user id in a `/proc/<pid>/status`: the second number of the `Uid:` line.
fn effective_user(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_named_with_what_to_install() {
        let folder = tempfile::tempdir().unwrap();
        for program in ["g++", "tar", "xz", "apt-get"] {
            let file = folder.path().join(program);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(folder.path().join("dpkg-deb"), "").unwrap(); // there, but not a program
        let path = folder.path().as_os_str().to_owned();
        let advice = advice(&missing(NEEDED, Some(&path)));
        assert_eq!(
            advice,
            "missing on this machine: javac, dpkg-deb; install with: apt-get install openjdk-17-jdk-headless dpkg"
        );
    }

    #[test]
    fn reads_the_effective_user() {
        assert_eq!(effective_user("Name:\tx\nUid:\t1000\t0\t1000\t1000\n"), Some(0));
        assert_eq!(effective_user("Name:\tx\n"), None);
    }
}
