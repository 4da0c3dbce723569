//! Adopts, at the next launch, the rings of processes that have ended.

use crate::files::file_age::Clock;
use crate::layout::MAX_RING_BYTES;
use crate::memory;
use crate::recover::{RecoverError, Recovered, recover};
use crate::ring_file::UNFINISHED;
use loopbox_format::text;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::vec;

/// How the rings of dead processes are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingPolicy {
    /// How many rings are adopted at one launch: the newest ones. Older ones are deleted unread.
    pub max_files: usize,
    /// How many bytes all adopted rings may have together. The oldest rings beyond that are deleted unread.
    pub max_bytes: u64,
    /// How old a ring may be, by its file time; older rings are deleted unread. A ring with an impossible
    /// time, because the phone's clock was wrong, does not count as old.
    pub max_age: Duration,
    /// How often the adoption of a ring may be tried. Without this limit, a ring whose adoption ends the
    /// process would end every launch.
    pub max_tries: u32,
}

impl Default for RingPolicy {
    fn default() -> Self {
        Self { max_files: 8, max_bytes: 4 << 20, max_age: Duration::from_hours(14 * 24), max_tries: 2 }
    }
}

/// The ring of a dead process. The file stays locked against other adopters while this value lives.
#[derive(Debug)]
pub struct OrphanedRing {
    /// What the ring holds, or why nothing can be recovered from it.
    pub content: Result<Recovered, RecoverError>,
    /// The ring's name as its process wrote it, without the number of tries.
    pub name: String,
    /// When the ring was last written, by its file time.
    pub modified: SystemTime,
    /// Whether this is the first try to adopt the ring. What may be done at most once for a ring may only be
    /// done in the first try.
    pub is_first_try: bool,
    path: PathBuf,
    /// The path of the file when this try is not counted; [`Self::keep`] renames the file to it.
    uncounted: PathBuf,
    _lock: File,
}

impl OrphanedRing {
    /// Deletes the file, because its report is written or not wanted. A ring that is dropped without this is
    /// adopted again at the next launch, up to [`RingPolicy::max_tries`] times.
    pub fn delete(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Leaves the ring for the next launch, and does not count this try. To be called when the process
    /// survived the try but could write no report, for example because the disk is full. The next try is not
    /// a first try all the same: see [`OrphanedRing::is_first_try`].
    pub fn keep(self) -> io::Result<()> {
        fs::rename(&self.path, &self.uncounted)
    }
}

/// The rings that [`adopt`] has taken over, newest first. All of them are locked as long as this value lives.
/// The iterator reads a ring, and counts the try, when it returns the ring. So if the process dies because of
/// one ring, no try is counted for the rings after it.
#[derive(Debug)]
pub struct OrphanedRings {
    dir: PathBuf,
    found: vec::IntoIter<Found>,
}

impl Iterator for OrphanedRings {
    type Item = OrphanedRing;

    fn next(&mut self) -> Option<OrphanedRing> {
        // A ring whose try cannot be counted is not read, and left for the next launch.
        self.found.find_map(|ring| {
            let path = count_try(&self.dir, &ring).ok()?;
            let uncounted = ring.path_after(&self.dir, ring.tries());
            let content = read(&ring.lock, ring.len);
            let Found { modified, name, tried, lock, .. } = ring;
            let is_first_try = tried.is_none();
            Some(OrphanedRing { content, name, modified, is_first_try, path, uncounted, _lock: lock })
        })
    }
}

/// A file whose name still ends in `.new` and that is older than this belongs to a process that is gone,
/// because making a ring takes far less time.
const IN_THE_MAKING: Duration = Duration::from_mins(1);

#[derive(Debug)]
struct Found {
    modified: SystemTime,
    path: PathBuf,
    name: String,
    /// The number of tries that count. `None` before the first try; 0 when there were tries but none of them
    /// counts; `u32::MAX` for an unfinished ring.
    tried: Option<u32>,
    len: u64,
    lock: File,
}

impl Found {
    fn tries(&self) -> u32 {
        self.tried.unwrap_or(0)
    }

    /// The ring's path with the number `tries` at the end of its name.
    fn path_after(&self, dir: &Path, tries: u32) -> PathBuf {
        dir.join([&self.name, ".", &tries.to_string()].concat())
    }
}

/// Takes over the rings in `dir` whose processes are gone, newest first, and deletes those that `policy`
/// excludes. A ring that a living process or another adopter has locked is not opened for writing, renamed or
/// deleted.
///
/// # Errors
/// When the directory cannot be read. What is wrong with one ring is in its [`OrphanedRing::content`].
pub fn adopt(dir: &Path, policy: &RingPolicy) -> io::Result<OrphanedRings> {
    let clock = Clock::now();
    let mut found: Vec<Found> = Vec::new();
    for entry in fs::read_dir(dir)?.flatten() {
        if let Some(ring) = take(&entry.path(), entry.file_name().as_bytes(), clock) {
            let order = |ring: &Found| clock.order(ring.modified);
            let place = found.partition_point(|other| order(other) > order(&ring));
            found.insert(place, ring);
        }
    }
    let mut wanted = 0;
    let mut bytes = 0_u64;
    found.retain(|ring| {
        bytes = bytes.saturating_add(ring.len);
        let is_wanted = wanted < policy.max_files
            && bytes <= policy.max_bytes
            && !clock.is_older(ring.modified, policy.max_age)
            && ring.tries() < policy.max_tries;
        if is_wanted {
            wanted += 1;
            // For the next try.
            clock.settle(&ring.path, ring.modified);
        } else {
            // Nothing to be done about one that cannot be deleted either.
            let _ = fs::remove_file(&ring.path);
        }
        is_wanted
    });
    Ok(OrphanedRings { dir: dir.to_owned(), found: found.into_iter() })
}

/// Splits a file name into the ring's name and the number of tries that count. The file is `ring-….lbr`
/// before the first try, `ring-….lbr.2` after two tries, and `ring-….lbr.0` when there were tries but none of
/// them counts. A name that ends in `.new` belongs to a process that died while making the ring; the number
/// is then `u32::MAX`. `None` for the name of another file.
fn parse_name(name: &str) -> Option<(&str, Option<u32>)> {
    let at = text::find(name, ".lbr")? + ".lbr".len();
    let (own, suffix) = (name.get(..at)?, name.get(at..)?);
    if !own.starts_with("ring-") {
        return None;
    }
    match suffix {
        "" => Some((own, None)),
        UNFINISHED => Some((own, Some(u32::MAX))),
        _ => Some((own, Some(text::number(suffix.strip_prefix('.')?)?))),
    }
}

/// Locks the ring at `path`, whose last part is `name`, if its process is gone.
fn take(path: &Path, name: &[u8], clock: Clock) -> Option<Found> {
    let (name, tried) = parse_name(str::from_utf8(name).ok()?)?;
    let lock = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let about = lock.metadata().ok()?;
    if !about.is_file() {
        return None;
    }
    let modified = about.modified().ok()?;
    // A ring in the making is not locked for a moment; one that is older has lost its maker.
    if tried == Some(u32::MAX) && !clock.is_older(modified, IN_THE_MAKING) {
        clock.settle(path, modified);
        return None;
    }
    memory::lock(&lock).ok()?;
    // Between opening and locking, another adopter may have renamed or deleted it.
    let still = fs::symlink_metadata(path).ok()?;
    (still.ino() == about.ino() && still.dev() == about.dev()).then(|| Found {
        modified,
        path: path.to_owned(),
        name: name.to_owned(),
        tried,
        len: about.len(),
        lock,
    })
}

/// Records one more try in the file's name, before the try can do any harm.
fn count_try(dir: &Path, ring: &Found) -> io::Result<PathBuf> {
    let path = ring.path_after(dir, ring.tries() + 1);
    fs::rename(&ring.path, &path)?;
    Ok(path)
}

fn read(file: &File, len: u64) -> Result<Recovered, RecoverError> {
    if len > MAX_RING_BYTES as u64 {
        return Err(RecoverError::TooLarge { len });
    }
    let mut bytes = Vec::with_capacity(len as usize);
    file.take(MAX_RING_BYTES as u64).read_to_end(&mut bytes)?;
    recover(&bytes)
}
