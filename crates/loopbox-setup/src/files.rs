//! Small work on files: walk, hash, lock, write in one step, remove.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

/// Number of the next temporary file of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// All regular files below a folder, sorted; for a file, itself.
pub fn files_below(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let about = fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if about.is_dir() {
            for entry in fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))? {
                open.push(entry?.path());
            }
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Everything below a folder except folders; links are not followed.
pub fn files_and_links(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let list = if entry.file_type()?.is_dir() { &mut open } else { &mut found };
            list.push(entry.path());
        }
    }
    Ok(found)
}

/// SHA-256 of a file as hexadecimal digits.
pub fn sha256_file(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).with_context(|| format!("cannot read {}", path.display()))? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(buffer.get(..n).unwrap_or_default()),
        }
    }
}

/// SHA-256 of bytes as hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal digits in lower case.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Locks a file, which is created if missing, until the result is dropped or the process ends. `wait` is
/// called when it has to wait.
///
/// # Errors
/// When the file cannot be created or locked.
pub fn exclusive(file: &Path, wait: impl FnOnce()) -> Result<File> {
    let lock = File::create(file).with_context(|| format!("cannot create {}", file.display()))?;
    match lock.try_lock() {
        Ok(()) => return Ok(lock),
        Err(TryLockError::WouldBlock) => wait(),
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", file.display()));
        }
    }
    lock.lock().with_context(|| format!("cannot lock {}", file.display()))?;
    Ok(lock)
}

/// Writes a file by a rename: a reader sees either the old or the new content, and a killed writer leaves the
/// old content.
///
/// # Errors
/// When it cannot be written.
pub fn write_atomically(file: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let context = || format!("cannot write {}", file.display());
    fs::create_dir_all(file.parent().with_context(context)?).with_context(context)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut new = file.as_os_str().to_owned();
    new.push(format!(".new-{}-{number}", std::process::id()));
    fs::write(&new, content).with_context(context)?;
    fs::rename(&new, file).with_context(context)
}

/// Removes a folder or file if it is there.
pub fn remove(path: &Path) -> Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    result.with_context(|| format!("cannot remove {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // FIPS 180-2, B.1
        assert_eq!(sha256_file(&file).unwrap(), expected);
    }
}
