//! Checks that the disk has room for the files of the test command. A full disk shows as a linker that dies
//! of SIGBUS, or as a test that finds half a file.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rustix::fs::statvfs;
use walkdir::WalkDir;

const GIB: u64 = 1 << 30;
/// Size of the target folder after a complete run from a fresh clone, including downloads.
const ALL: u64 = 10 * GIB;
/// What a run writes even where everything exists: programs that are linked again, files of tests.
const AT_LEAST: u64 = 2 * GIB;

/// Fails when a run would fill the disk that `target` is on.
pub(super) fn check(target: &Path) -> Result<()> {
    fs::create_dir_all(target).with_context(|| format!("cannot create {}", target.display()))?;
    let disk = statvfs(target).with_context(|| format!("cannot ask for the room on {}", target.display()))?;
    check_room(target, size_of(target), disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn check_room(target: &Path, has: u64, free: u64) -> Result<()> {
    let needed = ALL.saturating_sub(has).max(AT_LEAST);
    ensure!(
        free >= needed,
        "the tests write about {} GB more into {}, and its disk has {} GB left: make room, or point CARGO_TARGET_DIR to another disk",
        needed.div_ceil(GIB),
        target.display(),
        free / GIB
    );
    Ok(())
}

/// The size of the files; a file that disappears meanwhile counts as empty.
fn size_of(folder: &Path) -> u64 {
    let files = WalkDir::new(folder).into_iter().flatten();
    files.filter_map(|file| file.metadata().ok()).filter(fs::Metadata::is_file).map(|file| file.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_would_be_full_is_an_error_that_says_what_to_do() {
        let at = Path::new("target");
        assert!(check_room(at, 0, ALL).is_ok() && check_room(at, ALL * 2, AT_LEAST).is_ok());
        let error = check_room(at, 0, 4 * GIB + 1).unwrap_err().to_string();
        assert!(error.contains("10 GB more into target") && error.contains("4 GB left"), "{error}");
        assert!(check_room(at, ALL * 2, AT_LEAST - 1).is_err());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
        let error = check(Path::new("/proc/nowhere")).unwrap_err().to_string();
        assert_eq!(error, "cannot create /proc/nowhere");
    }

    #[test]
    fn a_folder_is_as_large_as_its_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deps")).unwrap();
        fs::write(folder.path().join("a"), [0; 100]).unwrap();
        fs::write(folder.path().join("deps/b"), [0; 23]).unwrap();
        assert_eq!(size_of(folder.path()), 123);
    }
}
