//! Results of build steps, found again by the hash of everything that went into them.
//!
//! A result is a folder `<step>-<key>`. It appears by one rename, so a killed build leaves
//! nothing half done, and a step whose inputs are unchanged costs one look at the file system.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

/// Results that were not used for this long are removed.
const KEEP: Duration = Duration::from_hours(14 * 24);

/// Number of the next working folder of this process.
static WORK: AtomicU32 = AtomicU32::new(0);

/// Time stamp of the last use of a result.
const USED: &str = ".used";

/// Hash of a step's inputs, built up part by part.
#[derive(Clone)]
pub struct Key(Sha256);

impl Key {
    /// A key for one kind of step; `version` is that of the code that does the step.
    pub fn new(step: &str, version: u32) -> Self {
        Self(Sha256::new()).with(step).with(&version.to_string())
    }

    /// Adds a piece of text. Pieces are length-prefixed: `ab`+`c` is not `a`+`bc`.
    #[must_use]
    pub fn with(mut self, text: &str) -> Self {
        self.bytes(text.as_bytes());
        self
    }

    /// Adds a file's bytes, or all files of a folder with their relative names, in sorted order.
    pub fn with_path(mut self, path: &Path) -> Result<Self> {
        for file in files_below(path)? {
            let name = file.strip_prefix(path).unwrap_or(&file);
            self.bytes(name.as_os_str().as_encoded_bytes());
            let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            self.bytes(&content);
        }
        Ok(self)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The first 20 hexadecimal digits of the hash.
    pub fn hex(&self) -> String {
        let mut digits = hex(&self.0.clone().finalize());
        digits.truncate(20);
        digits
    }
}

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

/// Notes that a result is in use now.
pub fn mark_used(result: &Path) -> Result<()> {
    File::create(result.join(USED)).with_context(|| format!("cannot write to {}", result.display()))?;
    Ok(())
}

/// Everything below a folder that is no folder, links unresolved and not followed.
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

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The folder that holds the results.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Uses a folder, which is created.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// The result of a step: found, or made now by `make` in the empty folder that it is given.
    pub fn step(&self, step: &str, key: &Key, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let result = self.folder.join(format!("{step}-{}", key.hex()));
        if !result.is_dir() {
            // Threads and processes may make the same at the same time: each its own, the first one counts.
            let (process, number) = (std::process::id(), WORK.fetch_add(1, Ordering::Relaxed));
            let work = self.folder.join(format!("{step}-{}.work-{process}-{number}", key.hex()));
            remove(&work)?;
            fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
            if let Err(error) = make(&work) {
                // The reason of the failure is what counts, not whether its remains could be removed.
                let _ = remove(&work);
                return Err(error);
            }
            if let Err(error) = fs::rename(&work, &result) {
                remove(&work)?;
                if !result.is_dir() {
                    return Err(error).with_context(|| format!("cannot create {}", result.display()));
                }
            }
        }
        mark_used(&result)?;
        Ok(result)
    }

    /// Removes results that were not used for two weeks and the remains of killed builds, but nothing of `keep`.
    pub fn prune(&self, keep: &[PathBuf]) -> Result<()> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Ok(()) };
        for entry in entries {
            let path = entry?.path();
            if fs::canonicalize(&path).is_ok_and(|real| keep.contains(&real)) {
                continue;
            }
            let stamp = fs::metadata(path.join(USED)).or_else(|_| fs::metadata(&path));
            let used = stamp.and_then(|s| s.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            if used.elapsed().is_ok_and(|age| age > KEEP) {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

/// Locks a file, which is created, until the result is dropped or the process ends. `wait` says that it has to wait.
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

/// Writes a file by a rename: a reader sees the old or the new content, and a killed writer leaves the old.
///
/// # Errors
/// When it cannot be written.
pub fn write_atomically(file: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let context = || format!("cannot write {}", file.display());
    fs::create_dir_all(file.parent().with_context(context)?).with_context(context)?;
    let number = WORK.fetch_add(1, Ordering::Relaxed);
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
    fn keys_tell_inputs_apart() {
        let key = |parts: &[&str]| parts.iter().fold(Key::new("s", 1), |k, p| k.with(p)).hex();
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab", "c"]), key(&["abc"]));
        assert_ne!(Key::new("s", 1).hex(), Key::new("s", 2).hex());
        assert_ne!(Key::new("s", 1).hex(), Key::new("t", 1).hex());
        assert_eq!(key(&[]).len(), 20);
    }

    #[test]
    fn a_folders_key_depends_on_names_and_content_only() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let key = || Key::new("s", 1).with_path(folder.path()).unwrap().hex();
        write("b/x", "1");
        write("a", "2");
        let first = key();
        write("a", "2"); // same content, new time
        assert_eq!(key(), first);
        write("a", "3");
        assert_ne!(key(), first);
        write("a", "2");
        fs::rename(folder.path().join("a"), folder.path().join("c")).unwrap();
        assert_ne!(key(), first);
    }

    #[test]
    fn a_step_is_done_once_per_key_and_leaves_nothing_when_it_fails() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        let key = Key::new("s", 1).with("in");
        let failed = cache.step("s", &key, |out| {
            fs::write(out.join("half"), "")?;
            anyhow::bail!("broken")
        });
        assert_eq!(failed.unwrap_err().to_string(), "broken");
        assert_eq!(fs::read_dir(folder.path().join("cache")).unwrap().count(), 0);

        let mut runs = 0;
        for _ in 0..2 {
            let result = cache
                .step("s", &key, |out| {
                    runs += 1;
                    Ok(fs::write(out.join("done"), "x")?)
                })
                .unwrap();
            assert_eq!(fs::read_to_string(result.join("done")).unwrap(), "x");
        }
        assert_eq!(runs, 1);
        cache.step("s", &key.clone().with("more"), |_| Ok(())).unwrap();
        cache.prune(&[]).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("cache")).unwrap().count(), 2);
    }

    #[test]
    fn the_same_step_made_twice_at_once_gives_one_result() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let both_started = std::sync::Barrier::new(2);
        let make = || {
            cache.step("s", &Key::new("s", 1), |out| {
                both_started.wait();
                Ok(fs::write(out.join("done"), "x")?)
            })
        };
        let (one, two) = std::thread::scope(|scope| {
            let other = scope.spawn(make);
            (make().unwrap(), other.join().unwrap().unwrap())
        });
        assert_eq!(one, two);
        assert_eq!(fs::read_to_string(one.join("done")).unwrap(), "x");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn old_results_go_unless_they_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let old = SystemTime::now() - KEEP - Duration::from_mins(1);
        let result = |step: &str| {
            let result = cache.step(step, &Key::new(step, 1), |_| Ok(())).unwrap();
            File::options().write(true).open(result.join(USED)).unwrap().set_modified(old).unwrap();
            fs::canonicalize(result).unwrap()
        };
        let (gone, kept, used) = (result("gone"), result("kept"), result("used"));
        cache.step("used", &Key::new("used", 1), |_| panic!("it is there")).unwrap();
        cache.prune(std::slice::from_ref(&kept)).unwrap();
        assert!(!gone.exists() && kept.exists() && used.exists());
    }

    #[test]
    fn hashes_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // FIPS 180-2, B.1
        assert_eq!(sha256_file(&file).unwrap(), expected);
    }
}
