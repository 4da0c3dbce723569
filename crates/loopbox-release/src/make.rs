//! Puts a release together.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_setup::files::{files_below, remove};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::facts::Facts;
use crate::signing::Signer;
use crate::{checksums, commands, listing, maven, provenance};

/// The name of the folder in a release that has the Maven repository.
pub(crate) const REPOSITORY: &str = "maven";

/// What Maven Central takes: the repository without its lists of versions, which Maven Central writes itself.
pub(crate) const BUNDLE: &str = "maven-central-bundle.zip";

/// The parts of a release.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The Maven repository that the packer has made.
    pub repository: &'a Path,
    /// The folder with the commands, [packed](crate::commands::pack).
    pub commands: &'a Path,
}

/// Makes the folder of a release. What was in it is removed. With a `signer` every file for download is
/// signed, and there is a bundle for Maven Central, which accepts only signed files.
///
/// # Errors
/// When a file cannot be read, written or signed.
pub fn make(parts: Parts<'_>, folder: &Path, facts: &Facts, signer: Option<&Signer>) -> Result<()> {
    remove(folder)?;
    let repository = folder.join(REPOSITORY);
    copy(parts.repository, &repository)?;
    copy(parts.commands, &folder.join(commands::FOLDER))?;
    let mut files = files_below(&repository)?;
    let archives = maven::archives(&repository, &files)?;
    ensure!(!archives.is_empty(), "{} has no archive", parts.repository.display());
    for file in &files {
        if let Some(signer) = signer {
            signer.sign(file)?;
        }
    }
    for archive in &archives {
        files.push(maven::write_metadata(archive, facts.committed_s)?);
    }
    files.iter().try_for_each(|file| checksums::write(file))?;
    if signer.is_some() {
        bundle(&repository, &folder.join(BUNDLE))?;
    }
    provenance::write(folder, facts, &listing::subjects(folder)?)?;
    listing::write(folder)?;
    if let Some(signer) = signer {
        signer.sign(&folder.join(listing::NAME))?;
    }
    Ok(())
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let place = to.join(file.strip_prefix(from).context("a file elsewhere")?);
        fs::create_dir_all(place.parent().context("a file in no folder")?)?;
        fs::copy(&file, &place).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

/// Packs the files for Maven Central.
fn bundle(repository: &Path, to: &Path) -> Result<()> {
    let file = File::create(to).with_context(|| format!("cannot create {}", to.display()))?;
    let mut writer = ZipWriter::new(file);
    // Most of it is compressed already.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644);
    for file in files_below(repository)? {
        let name = listing::name_in(repository, &file)?;
        if name.contains(maven::METADATA) {
            continue;
        }
        writer.start_file(&*name, options).with_context(|| format!("cannot pack {name}"))?;
        let mut content = File::open(&file).with_context(|| format!("cannot read {}", file.display()))?;
        io::copy(&mut content, &mut writer).with_context(|| format!("cannot pack {name}"))?;
    }
    writer.finish().context("cannot finish the bundle")?;
    Ok(())
}
