//! `SHA256SUMS`: every file of a release, in the form that `sha256sum --check` reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};
use loopbox_setup::files::{files_below, sha256_file, write_atomically};

use crate::provenance;

/// The name of the list's file.
pub(crate) const NAME: &str = "SHA256SUMS";

/// Writes the list of a folder. A signature of the list itself is not listed.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let mut text = String::new();
    for (name, sha256) in present(folder)? {
        let _ = writeln!(text, "{sha256}  {name}");
    }
    write_atomically(&folder.join(NAME), text)
}

/// Compares the list with the existing files. Returns the listed SHA-256 of each file.
pub(crate) fn verify(folder: &Path) -> Result<BTreeMap<String, String>> {
    let file = folder.join(NAME);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut listed = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let parts = line.split_once("  ");
        let (sha256, name) = parts
            .with_context(|| format!("{}, line {}: no checksum and name", file.display(), number + 1))?;
        ensure!(is_inside(name), "{}, line {}: {name} leaves the folder", file.display(), number + 1);
        listed.insert(name.to_owned(), sha256.to_owned());
    }
    let present = present(folder)?;
    for (name, sha256) in &listed {
        let own = present.get(name).with_context(|| format!("{NAME} lists {name}, which is not there"))?;
        ensure!(own == sha256, "{name} is not the file that {NAME} lists: its SHA-256 is {own}");
    }
    let more = present.keys().find(|name| !listed.contains_key(*name));
    ensure!(more.is_none(), "{} is not in {NAME}", more.map_or("", String::as_str));
    Ok(listed)
}

/// Every file except the list and its signature, by its path from the folder, with its SHA-256.
fn present(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut present = BTreeMap::new();
    for file in files_below(folder)? {
        let name = name_in(folder, &file)?;
        if !name.starts_with(NAME) {
            present.insert(name, sha256_file(&file)?);
        }
    }
    Ok(present)
}

/// The subjects of the provenance: every file except the provenance, the list and its signature, with its
/// SHA-256.
pub(crate) fn subjects(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut subjects = present(folder)?;
    subjects.remove(provenance::NAME);
    Ok(subjects)
}

/// A file's path from the folder, with slashes.
pub(crate) fn name_in(folder: &Path, file: &Path) -> Result<String> {
    let path = file.strip_prefix(folder).with_context(|| format!("{} is elsewhere", file.display()))?;
    let parts: PathBuf = path.components().collect();
    Ok(parts.to_string_lossy().into_owned())
}

fn is_inside(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_setup::command::run;
    use std::process::Command;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        for name in ["a", "b/c"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        write(folder.path()).unwrap();
        folder
    }

    #[test]
    fn the_usual_program_reads_the_list() {
        let folder = folder();
        run(Command::new("sha256sum").args(["--check", "--strict", NAME]).current_dir(folder.path()))
            .unwrap();
        fs::write(folder.path().join("SHA256SUMS.asc"), "signature").unwrap();
        assert_eq!(verify(folder.path()).unwrap().into_keys().collect::<Vec<_>>(), ["a", "b/c"]);
    }

    #[test]
    fn a_file_that_is_changed_missing_new_or_outside_is_named() {
        let refusal = |change: &dyn Fn(&Path)| {
            let folder = folder();
            change(folder.path());
            verify(folder.path()).unwrap_err().to_string()
        };
        let changed = refusal(&|folder| fs::write(folder.join("b/c"), "x").unwrap());
        assert!(changed.starts_with("b/c is not the file"), "{changed}");
        let missing = refusal(&|folder| fs::remove_file(folder.join("a")).unwrap());
        assert!(missing.contains("lists a, which is not there"), "{missing}");
        let new = refusal(&|folder| fs::write(folder.join("d"), "x").unwrap());
        assert!(new.starts_with("d is not in"), "{new}");
        let outside = refusal(&|folder| fs::write(folder.join(NAME), "00  ../a\n").unwrap());
        assert!(outside.contains("line 1: ../a leaves the folder"), "{outside}");
    }
}
