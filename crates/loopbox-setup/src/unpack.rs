//! Unpacks downloaded packages and source archives.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use zip::ZipArchive;

use crate::arch::Arch;
use crate::command::{command, run};
use crate::fetch::Deb;
use crate::files::files_and_links;
use crate::package::Source;

/// Unpacks packages over each other into one folder, as if it was `/`.
pub fn packages(debs: &[&Deb], root: &Path) -> Result<()> {
    for deb in debs {
        run(command("dpkg-deb", ["--extract"]).arg(&deb.file).arg(root))?;
    }
    Ok(())
}

/// Unpacks one file of a package. `member` is its path in the package, relative to the root.
pub fn one_file(deb: &Deb, member: &str, target: &Path) -> Result<()> {
    let mut archive = command("dpkg-deb", ["--fsys-tarfile"]);
    let mut archive = archive.arg(&deb.file).stdout(Stdio::piped()).spawn().context("cannot run dpkg-deb")?;
    let tar = archive.stdout.take().context("no output of dpkg-deb")?;
    let file = File::create(target).with_context(|| format!("cannot create {}", target.display()))?;
    let mut extract = command("tar", ["--extract", "--to-stdout", "--file", "-"]);
    let extracted =
        extract.arg(format!("./{member}")).stdin(tar).stdout(file).status().context("cannot run tar")?;
    let unpacked = archive.wait().context("cannot wait for dpkg-deb")?;
    ensure!(extracted.success() && unpacked.success(), "{} has no {member}", deb.file.display());
    fs::set_permissions(target, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", target.display()))
}

/// Changes links with absolute targets so that they point into the unpacked root, not into the machine's.
pub fn keep_links_inside(root: &Path) -> Result<()> {
    for link in files_and_links(root)? {
        let Ok(target) = fs::read_link(&link) else { continue };
        let Ok(inside) = target.strip_prefix("/") else { continue };
        let depth = link.strip_prefix(root).unwrap_or(&link).components().count() - 1;
        let relative = Path::new(&"../".repeat(depth)).join(inside);
        fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
        symlink(relative, &link).with_context(|| format!("cannot create {}", link.display()))?;
    }
    Ok(())
}

/// Unpacks the used part of a source archive.
pub fn source(archive: &Deb, source: &Source, folder: &Path) -> Result<()> {
    tar_members(&archive.file, &source.unpack, folder)
}

/// Unpacks some entries of a zip archive into a folder, each under its file name: the entries whose names
/// begin with `prefix`.
///
/// # Errors
/// When the archive cannot be read or has no such entry, or a file cannot be written.
pub fn zip_entries(archive: &Path, prefix: &str, folder: &Path) -> Result<()> {
    let context = || format!("cannot unpack {}", archive.display());
    let mut entries = ZipArchive::new(File::open(archive).with_context(context)?).with_context(context)?;
    let mut found = 0;
    for index in 0..entries.len() {
        let mut entry = entries.by_index(index).with_context(context)?;
        let name = entry.name().with_context(context)?.into_owned();
        let Some(name) = name.strip_prefix(prefix).filter(|name| !name.is_empty() && !name.contains('/'))
        else {
            continue;
        };
        let mut file = File::create(folder.join(name)).with_context(context)?;
        io::copy(&mut entry, &mut file).with_context(context)?;
        found += 1;
    }
    ensure!(found > 0, "{} has no {prefix}", archive.display());
    Ok(())
}

/// Unpacks some files of a tar archive, compressed or not, below a folder.
///
/// # Errors
/// When the archive does not have all of them.
pub fn tar_members<S: AsRef<OsStr>>(archive: &Path, members: &[S], folder: &Path) -> Result<()> {
    let mut tar = command("tar", ["--extract", "--no-same-owner", "--directory"]);
    run(tar.arg(folder).arg("--file").arg(archive).args(members))?;
    Ok(())
}

/// The folders below an unpacked root that hold libraries.
pub fn library_folders(root: &Path, arch: Arch) -> Vec<PathBuf> {
    arch.library_folders().iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()).collect()
}

/// Gathers the shared libraries of an unpacked root in one folder. Files become hard links, and links to
/// files of the same folder stay as they are. Other links (into packages that are not part of a testbed) are
/// left out.
pub fn gather_libraries(root: &Path, arch: Arch, lib: &Path) -> Result<()> {
    for folder in library_folders(root, arch) {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let name = entry.file_name();
            if !name.to_string_lossy().contains(".so") {
                continue;
            }
            let target = lib.join(&name);
            crate::files::remove(&target)?;
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
pub fn place(file: &Path, target: &Path) -> Result<()> {
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
        let folders = Arch::X86_64.library_folders();
        fs::create_dir(&lib).unwrap();
        for (dir, file) in [(&folders[0], "liba.so.0"), (&folders[2], "libz.so.1"), (&folders[1], "x.a")] {
            fs::create_dir_all(root.join(dir)).unwrap();
            fs::write(root.join(dir).join(file), file).unwrap();
        }
        symlink("liba.so.0", root.join(&folders[0]).join("liba.so")).unwrap();
        symlink("../../p7zip/7z.so", root.join(&folders[0]).join("lib7z.so")).unwrap();
        gather_libraries(&root, Arch::X86_64, &lib).unwrap();
        let mut names: Vec<_> = fs::read_dir(&lib).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["liba.so", "liba.so.0", "libz.so.1"]);
        assert_eq!(fs::read_to_string(lib.join("liba.so")).unwrap(), "liba.so.0");
    }

    #[test]
    fn the_entries_of_one_folder_of_an_archive_are_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let (archive, out) = (folder.path().join("a.whl"), folder.path().join("out"));
        let names = ["jars/a.jar", "jars/deeper/b.jar", "other/c.jar"];
        crate::jar::write(&archive, &names.map(|name| (name.to_owned(), name.into()))).unwrap();
        fs::create_dir(&out).unwrap();
        zip_entries(&archive, "jars/", &out).unwrap();
        assert_eq!(crate::files::files_below(&out).unwrap(), [out.join("a.jar")]);
        assert_eq!(fs::read_to_string(out.join("a.jar")).unwrap(), "jars/a.jar");
        assert!(zip_entries(&archive, "none/", &out).is_err());
    }

    #[test]
    fn absolute_links_stay_in_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("usr/lib/x")).unwrap();
        fs::create_dir_all(root.join("lib")).unwrap();
        fs::write(root.join("lib/libz.so.1"), "z").unwrap();
        symlink("/lib/libz.so.1", root.join("usr/lib/x/libz.so")).unwrap();
        symlink("libz.so", root.join("usr/lib/x/libzz.so")).unwrap();
        keep_links_inside(root).unwrap();
        assert_eq!(fs::read_to_string(root.join("usr/lib/x/libz.so")).unwrap(), "z");
        assert_eq!(fs::read_link(root.join("usr/lib/x/libzz.so")).unwrap(), Path::new("libz.so"));
    }
}
