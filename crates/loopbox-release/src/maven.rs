//! `maven-metadata.xml`: which versions of an archive a Maven repository has.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loopbox_setup::files::write_atomically;
use quick_xml::escape::escape;

/// The name of the file that lists the versions.
pub(crate) const METADATA: &str = "maven-metadata.xml";

/// A version of an archive: a folder of a Maven repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Archive {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The folder with the archive's files.
    pub(crate) folder: PathBuf,
}

impl Archive {
    /// One of the archive's files, by the suffix after name and version.
    pub(crate) fn file(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}-{}{suffix}", self.name, self.version))
    }
}

/// The archives of a repository: folders with a POM, `group/name/version`.
pub(crate) fn archives(repository: &Path, files: &[PathBuf]) -> Result<Vec<Archive>> {
    let mut found = Vec::new();
    for pom in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "pom")) {
        let folder = pom.parent().context("a POM in no folder")?;
        let path = folder.strip_prefix(repository).context("a POM outside of the repository")?;
        let parts: Vec<String> =
            path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        let [group @ .., name, version] = parts.as_slice() else {
            anyhow::bail!("{} is not in the folder of a version", pom.display());
        };
        found.push(Archive {
            group: group.join("."),
            name: name.clone(),
            version: version.clone(),
            folder: folder.to_owned(),
        });
    }
    Ok(found)
}

/// Writes the list of versions of an archive, with this version only. `updated_s` is a Unix time in seconds:
/// the time of the sources, so that the same sources give the same bytes.
pub(crate) fn write_metadata(archive: &Archive, updated_s: u64) -> Result<PathBuf> {
    let Archive { group, name, version, folder } = archive;
    let updated = date(updated_s);
    let (group, name, version) = (escape(group), escape(name), escape(version));
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metadata>\n  <groupId>{group}</groupId>\n  \
         <artifactId>{name}</artifactId>\n  <versioning>\n    <latest>{version}</latest>\n    \
         <release>{version}</release>\n    <versions>\n      <version>{version}</version>\n    </versions>\n    \
         <lastUpdated>{updated}</lastUpdated>\n  </versioning>\n</metadata>\n"
    );
    let file = folder.parent().context("a version in no folder")?.join(METADATA);
    write_atomically(&file, text)?;
    Ok(file)
}

/// A Unix time as Maven writes it: `yyyyMMddHHmmss`, UTC.
fn date(unix_s: u64) -> String {
    let time = chrono::DateTime::from_timestamp(i64::try_from(unix_s).unwrap_or(i64::MAX), 0);
    time.unwrap_or_default().format("%Y%m%d%H%M%S").to_string()
}

/// Checks that there is a list that names this version.
pub(crate) fn verify_metadata(archive: &Archive) -> Result<()> {
    let file = archive.folder.parent().context("a version in no folder")?.join(METADATA);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let version = format!("<version>{}</version>", escape(&archive.version));
    let name = format!("<artifactId>{}</artifactId>", escape(&archive.name));
    anyhow::ensure!(text.contains(&version) && text.contains(&name), "{} lacks {version}", file.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_names_the_version_and_the_time_of_the_sources() {
        let folder = tempfile::tempdir().unwrap();
        let pom = folder.path().join("io/loopbox/loopbox/1.2.3/loopbox-1.2.3.pom");
        let archives = archives(folder.path(), &[pom]).unwrap();
        let [archive] = archives.as_slice() else { panic!("{archives:?}") };
        assert_eq!((&*archive.group, &*archive.name, &*archive.version), ("io.loopbox", "loopbox", "1.2.3"));
        assert!(verify_metadata(archive).is_err());
        let file = write_metadata(archive, 1_795_000_000).unwrap();
        assert_eq!(file, folder.path().join("io/loopbox/loopbox/maven-metadata.xml"));
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains("<lastUpdated>20261118110640</lastUpdated>"), "{text}");
        verify_metadata(archive).unwrap();
    }
}
