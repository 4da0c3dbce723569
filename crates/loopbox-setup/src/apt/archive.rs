//! Package archives, read with a separate apt state.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use super::config::configuration;
use super::lock::Waiting;
use crate::command::command;
use crate::files::write_atomically;
use crate::progress::Progress;

/// An apt with a separate state, source list and cache in one folder.
#[derive(Debug, Clone)]
pub struct Archive {
    state: PathBuf,
    progress: Progress,
}

/// A file of an archive, as its signed index describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// The URI of the file.
    pub uri: String,
    /// The name that apt uses for the file.
    pub name: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// The SHA-256 of the file in hexadecimal digits.
    pub sha256: String,
}

impl Archive {
    /// Reads the package lists of the archives into the folder `state`. `sources` names the archives, in the
    /// format of sources.list(5).
    ///
    /// # Errors
    /// When apt fails: one line with the reason.
    pub fn open(state: &Path, sources: &str, arch: &str, progress: &Progress) -> Result<Self> {
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(state.join(folder))
                .with_context(|| format!("cannot create {}", state.display()))?;
        }
        write_atomically(&state.join("sources.list"), sources)?;
        write_atomically(&state.join("status"), "")?;
        write_atomically(&state.join("apt.conf"), configuration(state, arch))?;
        let archive = Self { state: state.to_owned(), progress: progress.clone() };
        archive.query("apt-get", &["update"])?;
        Ok(archive)
    }

    /// The files of the packages `names`. A name has the form `name` or `name=version`.
    ///
    /// # Errors
    /// When one of them is not in the archive.
    pub fn packages<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<Remote>> {
        let names = names.iter().map(AsRef::as_ref);
        remotes(
            &self.query(
                "apt-get",
                &["download", "--print-uris"].into_iter().chain(names).collect::<Vec<_>>(),
            )?,
        )
    }

    /// The files of a source package: `name=version`.
    ///
    /// # Errors
    /// When it is not in the archive.
    pub fn source(&self, name: &str) -> Result<Vec<Remote>> {
        remotes(&self.query("apt-get", &["source", "--download-only", "--print-uris", name])?)
    }

    /// The output of apt-get or apt-cache for some arguments.
    ///
    /// # Errors
    /// When the program fails: one line with the reason.
    pub fn query(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let made = Waiting::default().run(&self.progress, || {
            let mut apt = self.command(program);
            apt.arg("-qq").args(arguments);
            apt
        });
        made.map_err(|error| anyhow!(reason(&format!("{error:#}"))))
    }

    /// A program of apt that uses this state. It runs in the state's folder.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut apt = command(program, ["-c"]);
        apt.arg(self.state.join("apt.conf")).current_dir(&self.state).env("LC_ALL", "C");
        apt
    }
}

/// Reads `'uri' name size SHA256:digits`, the lines of `--print-uris`.
fn remotes(text: &str) -> Result<Vec<Remote>> {
    text.lines().filter(|line| line.starts_with('\'')).map(remote).collect()
}

fn remote(line: &str) -> Result<Remote> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [uri, name, size, hash] = words[..] else { bail!("apt describes a file in another way: {line}") };
    Ok(Remote {
        uri: uri.trim_matches('\'').to_owned(),
        name: name.to_owned(),
        size: size.parse().with_context(|| format!("not a size: {line}"))?,
        sha256: hash.strip_prefix("SHA256:").with_context(|| format!("no SHA-256: {line}"))?.to_owned(),
    })
}

/// The line of apt's output that gives the reason.
pub(super) fn reason(output: &str) -> String {
    let lines = || output.lines().map(str::trim);
    let telling =
        ["NO_PUBKEY", "Could not resolve", "Temporary failure", "Could not connect", "Unable to connect"];
    let reason = lines()
        .find(|line| telling.iter().any(|word| line.contains(word)))
        .or_else(|| lines().find(|line| line.starts_with("E:")))
        .or_else(|| lines().find(|line| line.starts_with("W:")))
        .unwrap_or(output);
    reason.trim_start_matches("E: ").trim_start_matches("W: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::test_archive::TestArchive;
    use super::*;

    #[test]
    fn files_are_described_with_size_and_hash() {
        let text = "'http://m/a%2bb_1.deb' a+b_1_all.deb 123 SHA256:00ff\nW: a warning\n";
        let expected = Remote {
            uri: "http://m/a%2bb_1.deb".into(),
            name: "a+b_1_all.deb".into(),
            size: 123,
            sha256: "00ff".into(),
        };
        assert_eq!(remotes(text).unwrap(), [expected]);
        assert!(remotes("'http://m/a' a 1 MD5Sum:00\n").is_err());
        assert!(remotes("'http://m/a' a\n").is_err());
    }

    #[test]
    fn a_package_that_is_not_there_is_named_in_one_line() {
        let test = TestArchive::new();
        let archive = test.open().unwrap();
        let found = archive.packages(&["loopbox-test=1.0"]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].size, &found[0].sha256), (test.content().len() as u64, &test.sha256()));
        let error = archive.packages(&["loopbox-test=2.0"]).unwrap_err().to_string();
        assert!(error.contains("'2.0'") && error.lines().count() == 1, "{error}");
    }

    #[test]
    fn apts_reason_is_found_in_its_output() {
        let output = "apt-get failed (exit status: 100)\n  E: Failed to fetch http://m/x  Temporary failure resolving 'm'\n  E: Some index files failed";
        assert!(reason(output).contains("Temporary failure resolving 'm'"));
        assert_eq!(reason("x\nE: Version '1' for 'p' was not found\n"), "Version '1' for 'p' was not found");
        assert_eq!(reason("plain"), "plain");
    }
}
