//! Checks whether the folder of a release is what it claims to be, from its files alone.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_setup::files::files_below;

use crate::checksums::{self, with_ending};
use crate::make::REPOSITORY;
use crate::provenance::Claim;
use crate::signing::{Checker, SIGNATURE};
use crate::{archives, commands, listing, maven, provenance};

/// The checked parts of a release, and its claims.
#[derive(Debug, PartialEq, Eq)]
pub struct Verified {
    /// The number of archives.
    pub archives: usize,
    /// The number of machines that the release has a command for.
    pub commands: usize,
    /// The number of files.
    pub files: usize,
    /// The number of checked checksums.
    pub checksums: usize,
    /// The number of checked signatures; `None` when no keys to check them with were given.
    pub signatures: Option<usize>,
    /// The commit that the release claims to be built from.
    pub commit: Option<String>,
    /// The builder that the release names.
    pub builder: String,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { archives, commands, files, checksums, signatures, commit, builder } = self;
        writeln!(f, "{files} files are those that the list and the provenance name")?;
        writeln!(f, "{archives} archives have their metadata, list of components and symbols")?;
        writeln!(f, "{commands} commands are static, and have their list of components")?;
        writeln!(f, "{checksums} checksums are right")?;
        match signatures {
            Some(0) => writeln!(f, "nothing is signed")?,
            Some(count) => writeln!(f, "{count} signatures are by the given keys")?,
            None => writeln!(f, "signatures were not checked: no --keys were given")?,
        }
        let commit = commit.as_deref().unwrap_or("none: files differed from it");
        write!(f, "claimed, and not checked here: commit {commit}, built by {builder}")
    }
}

/// Checks the folder of a release. Nothing may be missing, added or changed since it was made, and the files
/// that accompany an archive must be about that archive. Where a file with public `keys` is given, every
/// signature must be by one of them.
///
/// # Errors
/// The first check that fails, with its file.
pub fn verify(folder: &Path, keys: Option<&Path>) -> Result<Verified> {
    let listed = listing::verify(folder)?;
    let Claim { commit, builder } = provenance::verify(folder, &listing::subjects(folder)?)?;
    let repository = folder.join(REPOSITORY);
    let files = files_below(&repository)?;
    let is_about_another = |file: &Path| {
        checksums::is_checksum(file) || file.extension().is_some_and(|extension| extension == SIGNATURE)
    };
    let own: Vec<_> = files.iter().filter(|file| !is_about_another(file)).cloned().collect();
    let mut checksums = 0;
    for file in &own {
        checksums += checksums::verify(file)?;
    }
    let archives = maven::archives(&repository, &own)?;
    ensure!(!archives.is_empty(), "{} has no archive", repository.display());
    for archive in &archives {
        archives::verify(archive)?;
        maven::verify_metadata(archive)?;
    }
    let commands = commands::verify(&folder.join(commands::FOLDER))?;
    let mut to_sign: Vec<_> = own.into_iter().filter(|file| !file.ends_with(maven::METADATA)).collect();
    to_sign.push(folder.join(listing::NAME));
    let signed = to_sign.iter().filter(|file| with_ending(file, SIGNATURE).is_file()).count();
    ensure!(
        signed == 0 || signed == to_sign.len(),
        "{signed} of {} files are signed: {} is not",
        to_sign.len(),
        to_sign
            .iter()
            .find(|file| !with_ending(file, SIGNATURE).is_file())
            .map_or("", |file| { file.file_name().and_then(|name| name.to_str()).unwrap_or_default() })
    );
    let signatures = match keys {
        Some(keys) if signed > 0 => {
            let checker = Checker::new(keys).context("signatures")?;
            to_sign.iter().try_for_each(|file| checker.check(file))?;
            Some(signed)
        }
        Some(_) => Some(0),
        None if signed == 0 => Some(0),
        None => None,
    };
    let (archives, files) = (archives.len(), listed.len());
    Ok(Verified { archives, commands, files, checksums, signatures, commit, builder })
}
