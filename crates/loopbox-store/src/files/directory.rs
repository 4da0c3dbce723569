//! Making the directory of reports and rings.
//!
//! To make a directory, the standard library takes paths apart. That is 2 KB of code which nothing else here
//! uses: our paths are compared and extended as bytes.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Makes a directory and those of its parents that do not exist.
///
/// # Errors
/// The system's error for the first one that cannot be made.
pub fn create_directory(dir: &Path) -> io::Result<()> {
    let mut made = fs::create_dir(dir);
    if made.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ENOENT))
        && let path = dir.as_os_str().as_bytes()
        && let Some(parent) = path.iter().rposition(|byte| *byte == b'/').and_then(|end| path.get(..end))
        && !parent.is_empty()
    {
        create_directory(Path::new(OsStr::from_bytes(parent)))?;
        made = fs::create_dir(dir);
    }
    match made {
        // It is there, or another thread was faster.
        Err(_) if fs::metadata(dir).is_ok_and(|about| about.is_dir()) => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_all_directories_of_a_path() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a", "b/c/d", "b/c", "e//f/", "b/../g/h"] {
            let path = folder.path().join(path);
            create_directory(&path).unwrap();
            create_directory(&path).unwrap();
            assert!(path.is_dir(), "{}", path.display());
        }
    }

    #[test]
    fn fails_where_a_file_is_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(create_directory(&file).unwrap_err().raw_os_error(), Some(libc::EEXIST));
        let below = create_directory(&file.join("a/b")).unwrap_err();
        assert_eq!(below.raw_os_error(), Some(libc::ENOTDIR));
        assert!(create_directory(Path::new("")).is_err());
    }
}
