//! What a release was made from, and where.

use std::env;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::folder;
use loopbox_android_pack::publisher::Publisher;
use loopbox_setup::command::run;
use loopbox_setup::files::sha256_file;
use loopbox_setup::workspace::root;

/// The variable with the URI of the builder, which SLSA requires: for example the URI of a CI's workflow.
const BUILDER: &str = "LOOPBOX_BUILDER";

/// The builder's URI when `LOOPBOX_BUILDER` is not set.
const SOMEBODY: &str = "urn:loopbox:builder:unnamed";

/// The inputs of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The version of the workspace.
    pub version: String,
    /// The commit, in hexadecimal digits; `None` when the work tree differs from it.
    pub commit: Option<String>,
    /// The time of the commit, as a Unix time in seconds.
    pub committed_s: u64,
    /// The place of the sources; `None` when it is not known.
    pub repository: Option<String>,
    /// SHA-256 of the lock file with the crates.
    pub lock_sha256: String,
    /// The packages of the compiler, each as name and version.
    pub compiler: Vec<(String, String)>,
    /// The URI of the builder.
    pub builder: String,
}

impl Facts {
    /// The facts of this workspace and its last build.
    ///
    /// # Errors
    /// When git or a file of the build cannot be read.
    pub fn of_workspace() -> Result<Self> {
        let git = |arguments: &[&str]| {
            let text = run(Command::new("git").arg("-C").arg(root()).args(arguments)).context("git")?;
            anyhow::Ok(text.trim().to_owned())
        };
        let is_clean = git(&["status", "--porcelain"])?.is_empty();
        let head = git(&["rev-parse", "HEAD"])?;
        let record = folder().join("toolchain.txt");
        // A build by an NDK leaves no record: its compiler is in the list of components alone.
        let record = if record.is_file() { fs::read_to_string(record)? } else { String::new() };
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: is_clean.then_some(head),
            committed_s: git(&["log", "-1", "--format=%ct"])?.parse().context("the time of the commit")?,
            repository: Publisher::read(&root())?.repository().map(str::to_owned),
            lock_sha256: sha256_file(&root().join("Cargo.lock"))?,
            compiler: packages(&record)?,
            builder: env::var(BUILDER).unwrap_or_else(|_| SOMEBODY.to_owned()),
        })
    }

    /// What a person must decide or fill in before publication, one sentence each.
    #[must_use]
    pub fn open_points(&self) -> Vec<String> {
        let mut open = Vec::new();
        if self.builder == SOMEBODY {
            open.push(format!("{BUILDER} names nobody: provenance says `{SOMEBODY}`."));
        }
        if self.commit.is_none() {
            open.push("Files differ from the commit: provenance names none. Do not publish this.".to_owned());
        }
        open
    }
}

/// Reads the record of the compiler, which has a line `name=version` for each package.
fn packages(record: &str) -> Result<Vec<(String, String)>> {
    let package = |line: &str| {
        let parts = line.split_once('=').filter(|(name, version)| !name.is_empty() && !version.is_empty());
        ensure!(parts.is_some(), "the record of the compiler has the line `{line}`");
        Ok(parts.map(|(name, version)| (name.to_owned(), version.to_owned())).unwrap_or_default())
    };
    record.lines().map(package).collect()
}

#[cfg(test)]
impl Facts {
    /// Facts for tests.
    pub(crate) fn for_test() -> Self {
        Self {
            version: "1.2.3".into(),
            commit: Some("c0ffee".into()),
            committed_s: 1_795_000_000,
            repository: Some("https://example.org/loopbox".into()),
            lock_sha256: "00".repeat(32),
            compiler: vec![("rustc-web".into(), "1.96.0+dfsg1-1".into())],
            builder: "https://ci.example.org/release".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_the_compiler_is_read_line_by_line() {
        let read = packages("libc6=1:2.3-4\nrustc=1.96.0+dfsg1-1\n").unwrap();
        assert_eq!(read[0], ("libc6".to_owned(), "1:2.3-4".to_owned()));
        assert_eq!(read.len(), 2);
        assert!(packages("rustc 1.96").unwrap_err().to_string().contains("`rustc 1.96`"));
    }

    #[test]
    fn what_is_open_is_said() {
        let mut facts = Facts::for_test();
        assert_eq!(facts.open_points(), [""; 0]);
        facts.commit = None;
        facts.builder = SOMEBODY.into();
        assert_eq!(facts.open_points().len(), 2);
    }
}
