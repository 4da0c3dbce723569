//! The files with checksums that a Maven repository has for each of its files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use loopbox_setup::files::{hex, write_atomically};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

/// The suffix of a checksum's file, and how the checksum is computed from a file's bytes.
type Kind = (&'static str, fn(&[u8]) -> String);

/// Maven requires the first two, and newer clients the others.
const KINDS: [Kind; 4] = [
    ("md5", digits::<Md5>),
    ("sha1", digits::<Sha1>),
    ("sha256", digits::<Sha256>),
    ("sha512", digits::<Sha512>),
];

fn digits<D: Digest>(bytes: &[u8]) -> String {
    hex(&D::digest(bytes))
}

/// Whether a file contains the checksum of another file.
pub(crate) fn is_checksum(file: &Path) -> bool {
    KINDS.iter().any(|(kind, _)| file.extension().is_some_and(|extension| extension == *kind))
}

/// Writes the checksums of a file next to it.
pub(crate) fn write(file: &Path) -> Result<()> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    KINDS.iter().try_for_each(|(kind, of)| write_atomically(&with_ending(file, kind), of(&bytes)))
}

/// Compares a file's checksums with its bytes. Returns the number of checksums.
pub(crate) fn verify(file: &Path) -> Result<usize> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    for (kind, of) in KINDS {
        let place = with_ending(file, kind);
        let written =
            fs::read_to_string(&place).with_context(|| format!("cannot read {}", place.display()))?;
        ensure!(written == of(&bytes), "{} is not that of {}", place.display(), file.display());
    }
    Ok(KINDS.len())
}

/// The path of a file with one more extension appended to its name.
pub(crate) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_usual_programs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.aar");
        fs::write(&file, "abc").unwrap();
        write(&file).unwrap();
        for (program, kind) in
            [("md5sum", "md5"), ("sha1sum", "sha1"), ("sha256sum", "sha256"), ("sha512sum", "sha512")]
        {
            let line = loopbox_setup::command::run(std::process::Command::new(program).arg(&file)).unwrap();
            let written = fs::read_to_string(with_ending(&file, kind)).unwrap();
            assert_eq!(line.split_whitespace().next(), Some(&*written), "{program}");
        }
        assert_eq!(verify(&file).unwrap(), 4);
    }

    #[test]
    fn a_file_that_changed_or_lost_a_checksum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.pom");
        fs::write(&file, "abc").unwrap();
        write(&file).unwrap();
        fs::write(&file, "abd").unwrap();
        assert!(verify(&file).unwrap_err().to_string().contains("a.pom.md5 is not that of"));
        write(&file).unwrap();
        fs::remove_file(with_ending(&file, "sha512")).unwrap();
        assert!(verify(&file).unwrap_err().to_string().contains("a.pom.sha512"));
    }
}
