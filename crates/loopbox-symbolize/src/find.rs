//! Files by build id.

use crate::SymbolizeError;
use object::{Object, ReadCache};
use std::collections::HashMap;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// How much information a file has about its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Only the names of exported functions, because the file was stripped.
    Exports,
    /// The names of all functions.
    Names,
    /// Names, source files, lines and inlined functions.
    Sources,
}

/// A file with one of the wanted build ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolFile {
    /// Where it is.
    pub path: PathBuf,
    /// How much information it has.
    pub detail: Detail,
}

/// For each build id (lower-case hex) the file with the most information, if any file below the folders has
/// that id.
///
/// The places that debuggers search come first: `ab/cdef.debug` below each folder and below its `.build-id`;
/// then every ELF file, whatever its name. Files and folders in there that cannot be read are skipped.
///
/// # Errors
/// When one of the folders itself cannot be read.
pub fn find(folders: &[PathBuf], build_ids: &[&str]) -> Result<HashMap<String, SymbolFile>, SymbolizeError> {
    let mut found = HashMap::new();
    for folder in folders {
        let unreadable =
            |why: std::io::Error| SymbolizeError::Folder { path: folder.clone(), why: why.to_string() };
        std::fs::metadata(folder).map_err(unreadable)?;
        for id in build_ids {
            for path in debug_files(folder, id) {
                take_if_better(&path, build_ids, &mut found);
            }
        }
    }
    let complete = |found: &HashMap<String, SymbolFile>| {
        let known = |id: &&str| found.get(*id).is_some_and(|file| file.detail == Detail::Sources);
        build_ids.iter().all(known)
    };
    let files = folders.iter().flat_map(|folder| WalkDir::new(folder).sort_by_file_name()).flatten();
    for file in files.filter(|entry| entry.file_type().is_file()) {
        if complete(&found) {
            break;
        }
        take_if_better(file.path(), build_ids, &mut found);
    }
    Ok(found)
}

/// Where debuggers search for the symbols of this build id.
fn debug_files(folder: &Path, build_id: &str) -> Vec<PathBuf> {
    let Some((first, rest)) = build_id.split_at_checked(2) else { return Vec::new() };
    let below = |folder: PathBuf| folder.join(first).join(format!("{rest}.debug"));
    vec![below(folder.to_path_buf()), below(folder.join(".build-id"))]
}

/// Takes a file that has one of the build ids and more information than the files found before.
fn take_if_better(path: &Path, build_ids: &[&str], found: &mut HashMap<String, SymbolFile>) {
    let Some((id, detail)) = read(path) else { return };
    let better = found.get(&id).is_none_or(|known| known.detail < detail);
    if better && build_ids.contains(&id.as_str()) {
        found.insert(id, SymbolFile { path: path.to_path_buf(), detail });
    }
}

/// The build id of an ELF file, and how much information it has.
fn read(path: &Path) -> Option<(String, Detail)> {
    let mut file = File::open(path).ok()?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic).ok()?;
    if magic != *b"\x7fELF" {
        return None;
    }
    // Not the whole file: those with debug information have hundreds of megabytes.
    let file = ReadCache::new(file);
    let elf = object::File::parse(&file).ok()?;
    let id = elf.build_id().ok()??.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let has = |name: &str| elf.section_by_name(name).is_some();
    let detail = match (has(".debug_info"), has(".symtab")) {
        (true, _) => Detail::Sources,
        (false, true) => Detail::Names,
        (false, false) => Detail::Exports,
    };
    Some((id, detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn own() -> (PathBuf, String) {
        let path = std::env::current_exe().unwrap();
        let (id, detail) = read(&path).unwrap();
        assert_eq!(detail, Detail::Sources, "of a build with debug information");
        (path, id)
    }

    #[test]
    fn find_takes_a_file_of_any_name_by_its_build_id() {
        let (own, id) = own();
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("obj/arm64");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("notes.txt"), "\x7fELF, but not really").unwrap();
        fs::write(deep.join("empty.so"), "").unwrap();
        fs::copy(&own, deep.join("libapp.so")).unwrap();
        let found = find(&[folder.path().to_path_buf()], &[&id, "00ff"]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[&id], SymbolFile { path: deep.join("libapp.so"), detail: Detail::Sources });
    }

    #[test]
    fn find_searches_where_debuggers_do() {
        let (own, id) = own();
        for below in ["", ".build-id"] {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join(below).join(&id[..2]);
            fs::create_dir_all(&place).unwrap();
            let file = place.join(format!("{}.debug", &id[2..]));
            fs::copy(&own, &file).unwrap();
            // A name is only a name.
            let other = folder.path().join("ab");
            fs::create_dir_all(&other).unwrap();
            fs::copy(&own, other.join("cd.debug")).unwrap();
            let found = find(&[folder.path().to_path_buf()], &[&id, "abcd", ""]).unwrap();
            assert_eq!(found[&id].path, file);
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }

    #[test]
    fn find_says_which_folder_is_not_there() {
        let error = find(&["/no/such/folder".into()], &["ab"]).unwrap_err();
        assert!(error.to_string().starts_with("/no/such/folder: "), "{error}");
    }
}
