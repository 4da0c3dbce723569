//! Results of build steps, found again by the hash of all their inputs.
//!
//! A result is a folder `<step>-<key>`. It appears by one rename, so a killed build leaves nothing
//! incomplete. A step whose inputs are unchanged is not run again: its folder is there.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use crate::files::{exclusive, files_below, hex, remove};

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
    /// A key for one kind of step; `version` is the version of the step's code.
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

/// Notes that a result is in use now.
pub fn mark_used(result: &Path) -> Result<()> {
    File::create(result.join(USED)).with_context(|| format!("cannot write to {}", result.display()))?;
    Ok(())
}

/// The folder that holds the results.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Opens the cache in a folder, and creates the folder if it is missing.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// The result of a step. If there is none yet, `make` makes it in an empty folder that it gets. If
    /// another thread or process is making it, this call waits for that.
    pub fn step(&self, step: &str, key: &Key, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let result = self.folder.join(format!("{step}-{}", key.hex()));
        if !result.is_dir() {
            let sibling = |end: &str| self.folder.join(format!("{step}-{}.{end}", key.hex()));
            let file = sibling("lock");
            let lock = exclusive(&file, || ())?;
            let made = if result.is_dir() { Ok(()) } else { make_in(&sibling, &result, make) };
            // After a failure one who waits for this lock and one who comes later may both make it: the first
            // result counts.
            remove(&file)?;
            drop(lock);
            made?;
        }
        mark_used(&result)?;
        Ok(result)
    }

    /// Removes the results that were not used for two weeks, and the remains of killed builds. What is in
    /// `keep` is never removed.
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

/// Makes a result in a new folder, and gives it its name.
fn make_in(
    sibling: &impl Fn(&str) -> PathBuf,
    result: &Path,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let (process, number) = (std::process::id(), WORK.fetch_add(1, Ordering::Relaxed));
    let work = sibling(&format!("work-{process}-{number}"));
    remove(&work)?;
    fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
    if let Err(error) = make(&work) {
        // The reason of the failure is what counts, not whether its remains could be removed.
        let _ = remove(&work);
        return Err(error);
    }
    if let Err(error) = fs::rename(&work, result) {
        remove(&work)?;
        if !result.is_dir() {
            return Err(error).with_context(|| format!("cannot create {}", result.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_distinguish_inputs() {
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
    fn what_two_want_at_once_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let (made, start) = (AtomicU32::new(0), std::sync::Barrier::new(4));
        let results: Vec<_> = std::thread::scope(|scope| {
            let want = || {
                start.wait();
                let result = cache.step("s", &Key::new("s", 1), |out| {
                    made.fetch_add(1, Ordering::Relaxed);
                    Ok(fs::write(out.join("done"), "x")?)
                });
                let result = result.unwrap();
                assert_eq!(fs::read_to_string(result.join("done")).unwrap(), "x");
                result
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(want)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn the_first_of_two_results_counts() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let key = Key::new("s", 1);
        let result = folder.path().join(format!("s-{}", key.hex()));
        let made = cache.step("s", &key, |out| {
            fs::write(out.join("done"), "second")?;
            fs::create_dir(&result)?;
            Ok(fs::write(result.join("done"), "first")?)
        });
        assert_eq!(fs::read_to_string(made.unwrap().join("done")).unwrap(), "first");
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
}
