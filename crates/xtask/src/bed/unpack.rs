//! Unpacks downloaded packages and source archives.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::fetch::Deb;
use super::run::{command, run};
use super::spec::Source;

/// Where Debian puts libraries of this architecture, below the root of a package.
const LIBRARY_FOLDERS: [&str; 3] =
    ["usr/lib/x86_64-linux-gnu/android", "usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];

/// Unpacks packages over each other into one folder, as if it was `/`.
pub(crate) fn packages(debs: &[&Deb], root: &Path) -> Result<()> {
    for deb in debs {
        run(command("dpkg-deb", ["--extract"]).arg(&deb.file).arg(root))?;
    }
    Ok(())
}

/// Unpacks the used part of a source archive.
pub(crate) fn source(archive: &Deb, source: &Source, folder: &Path) -> Result<()> {
    let mut tar = command("tar", ["--extract", "--no-same-owner", "--directory"]);
    tar.arg(folder).arg("--file").arg(&archive.file).args(&source.unpack);
    run(&mut tar)?;
    Ok(())
}

/// The folders below an unpacked root that hold libraries.
pub(crate) fn library_folders(root: &Path) -> Vec<PathBuf> {
    LIBRARY_FOLDERS.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()).collect()
}

/// Gathers the shared libraries of an unpacked root in one folder: files by hard link, links to files of the
/// same folder as they are. Other links (into packages that are not part of a bed) are left out.
pub(crate) fn gather_libraries(root: &Path, lib: &Path) -> Result<()> {
    for folder in library_folders(root) {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let name = entry.file_name();
            if !name.to_string_lossy().contains(".so") {
                continue;
            }
            let target = lib.join(&name);
            super::cache::remove(&target)?;
            if !entry.file_type()?.is_symlink() {
                place(&entry.path(), &target)?;
                continue;
            }
            let to = fs::read_link(entry.path())?;
            if to.components().count() == 1 {
                symlink(&to, &target).with_context(|| format!("cannot create {}", target.display()))?;
            }
        }
    }
    Ok(())
}

/// Puts a file at another place, by hard link when both are on one file system.
pub(crate) fn place(file: &Path, target: &Path) -> Result<()> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    if fs::hard_link(file, target).is_err() {
        fs::copy(file, target)
            .with_context(|| format!("cannot copy {} to {}", file.display(), target.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathers_libraries_of_all_folders_and_leaves_foreign_links_out() {
        let folder = tempfile::tempdir().unwrap();
        let (root, lib) = (folder.path().join("root"), folder.path().join("lib"));
        fs::create_dir(&lib).unwrap();
        for (dir, file) in [
            (LIBRARY_FOLDERS[0], "liba.so.0"),
            (LIBRARY_FOLDERS[2], "libz.so.1"),
            (LIBRARY_FOLDERS[1], "x.a"),
        ] {
            fs::create_dir_all(root.join(dir)).unwrap();
            fs::write(root.join(dir).join(file), file).unwrap();
        }
        symlink("liba.so.0", root.join(LIBRARY_FOLDERS[0]).join("liba.so")).unwrap();
        symlink("../../p7zip/7z.so", root.join(LIBRARY_FOLDERS[0]).join("lib7z.so")).unwrap();
        gather_libraries(&root, &lib).unwrap();
        let mut names: Vec<_> = fs::read_dir(&lib).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["liba.so", "liba.so.0", "libz.so.1"]);
        assert_eq!(fs::read_to_string(lib.join("liba.so")).unwrap(), "liba.so.0");
    }
}
