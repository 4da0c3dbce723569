//! The ring's memory: a locked, reserved, mapped file, or anonymous memory when that cannot be had.
//!
//! The only module with `unsafe`. What leaves it is a slice of atomics.

#![allow(unsafe_code)]

use crate::layout::Header;
use crate::slot::words_of;
use crate::sync::{AtomicU64, Word};
use memmap2::{MmapMut, MmapOptions, MmapRaw};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Why a ring does not outlive its process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Volatile {
    /// The file could not be made.
    #[error("cannot create the ring file: {0}")]
    Create(#[source] io::Error),
    /// The file is locked already, or locking does not work on this file system.
    #[error("cannot lock the ring file: {0}")]
    Lock(#[source] io::Error),
    /// The disk has no room, a quota or limit is reached. Mapping a file without its blocks reserved would end
    /// the process with SIGBUS at some later store.
    #[error("cannot reserve {len} bytes for the ring file: {error}")]
    Reserve {
        /// Bytes asked for.
        len: usize,
        /// What the system said.
        error: io::Error,
    },
    /// The file could not be mapped.
    #[error("cannot map the ring file: {0}")]
    Map(#[source] io::Error),
    /// The file could not be given its final name.
    #[error("cannot name the ring file: {0}")]
    Name(#[source] io::Error),
    /// The sizes that were asked for are not possible; the default ones are in use.
    #[error("the ring's geometry is not possible")]
    Geometry,
}

/// Memory of the ring. Shared by all its handles.
#[derive(Debug)]
pub(crate) struct Memory {
    map: Option<MmapRaw>,
    /// Held for its lock, which tells other processes that this one lives.
    file: Option<(File, PathBuf)>,
    alive: Option<ForkMark>,
    pid: u32,
}

impl Memory {
    /// Memory for `header.layout`, with the header in place. Never fails; the second part says why it is volatile.
    pub(crate) fn new(dir: &Path, header: &Header) -> (Self, Option<Volatile>) {
        let (map, file, volatile) = match map_file(dir, header) {
            Ok((map, file)) => (Some(map), Some(file), None),
            Err(volatile) => {
                // If even this fails there is no memory at all, every write is refused, and the app runs on.
                let map = MmapOptions::new().len(header.layout.len).map_anon().ok().map(MmapRaw::from);
                if let Some(map) = &map {
                    write_header(words(map), header);
                }
                (map, None, Some(volatile))
            }
        };
        (Self { map, file, alive: ForkMark::new(), pid: std::process::id() }, volatile)
    }

    /// The words of the ring; none when there is no memory.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.map.as_ref().map(words).unwrap_or_default()
    }

    /// Where the file is; `None` when the ring is volatile.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|(_, path)| path.as_path())
    }

    /// Whether the calling process is the one that made this memory, and not a fork of it. Cheap enough for each
    /// message where the kernel can mark a page for it (Linux 4.14); elsewhere a system call.
    #[inline]
    pub(crate) fn is_mine(&self) -> bool {
        self.alive.as_ref().map_or_else(|| std::process::id() == self.pid, ForkMark::stands)
    }
}

fn words(map: &MmapRaw) -> &[AtomicU64] {
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins on a page")]
    let at = map.as_mut_ptr().cast::<AtomicU64>();
    // SAFETY: `map` owns the mapping of `map.len()` readable and writable bytes at a page-aligned address, for at
    // least as long as the returned borrow of it. Every bit pattern is an `AtomicU64`. This function is the only
    // user of the pointer, so that all accesses of this process are atomic; other processes only read the file,
    // and only once its lock is free. The file is not shortened while mapped: it is ours by lock, mode and name.
    unsafe { core::slice::from_raw_parts(at, map.len() / size_of::<AtomicU64>()) }
}

fn write_header(words: &[AtomicU64], header: &Header) {
    let bytes = header.encode();
    words.iter().zip(words_of(&bytes)).for_each(|(to, word)| to.set(word));
}

fn map_file(dir: &Path, header: &Header) -> Result<(MmapRaw, (File, PathBuf)), Volatile> {
    let len = header.layout.len;
    // Rings of one process (installed, uninstalled, installed again) differ by a counter.
    static RINGS: AtomicU32 = AtomicU32::new(0);
    let name = header.identity.file_name(RINGS.fetch_add(1, Ordering::Relaxed));
    let path = dir.join(&name);
    // Adopters pass over this name: a ring is seen only once it is locked and has its header.
    let unfinished = dir.join(format!("{name}{UNFINISHED}"));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
        .open(&unfinished)
        .map_err(Volatile::Create)?;
    let made = fill(&file, header).and_then(|map| {
        fs::rename(&unfinished, &path).map_err(Volatile::Name)?;
        Ok(map)
    });
    match made {
        Ok(map) if map.len() == len => Ok((map, (file, path))),
        Ok(_) => Err(Volatile::Map(io::ErrorKind::UnexpectedEof.into())),
        Err(volatile) => {
            let _ = fs::remove_file(&unfinished);
            Err(volatile)
        }
    }
}

/// What a ring's name ends in until it is complete.
pub(crate) const UNFINISHED: &str = ".new";

fn fill(file: &File, header: &Header) -> Result<MmapRaw, Volatile> {
    let len = header.layout.len;
    lock(file).map_err(Volatile::Lock)?;
    reserve(file, len).map_err(|error| Volatile::Reserve { len, error })?;
    // Pages are touched now, on the installing thread, and not by the main thread's first messages.
    let map = MmapOptions::new().len(len).populate().map_raw(file).map_err(Volatile::Map)?;
    write_header(words(&map), header);
    // The file cannot be opened for writing from here on, not even this app by mistake: a shortened file would end the
    // process with SIGBUS. The mapping, made before, stays writable.
    file.set_permissions(fs::Permissions::from_mode(0o400)).map_err(Volatile::Create)?;
    Ok(map)
}

/// Locks `file` for as long as it is open, without waiting. `File::try_lock` is the same call, but std offers it on
/// Linux and not on Android, where it fails at run time.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    // SAFETY: a system call on a descriptor that `file` keeps open; no memory is passed.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives `file` a length of `len` bytes that are its own on the disk.
fn reserve(file: &File, len: usize) -> io::Result<()> {
    if !may_grow_to(len as u64) {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let len_off = libc::off_t::try_from(len).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    // SAFETY: a system call on a descriptor that `file` keeps open; no memory is passed.
    let mut reserve = || unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, len_off) };
    // A signal in between is no verdict on the disk.
    let mut answers = core::iter::repeat_with(&mut reserve).take(8);
    match answers.find(|&answer| answer != libc::EINTR).unwrap_or(libc::EINTR) {
        0 => Ok(()),
        // The file system cannot reserve (bionic says so, glibc writes zeros by itself): write them.
        libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS => write_zeros(file, len),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn write_zeros(mut file: &File, len: usize) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(0), len as u64), &mut file)?;
    // A file system that allocates late reports a full disk only now.
    file.sync_data()
}

/// Whether the process's file size limit allows a file of `len` bytes; exceeding it raises SIGXFSZ, which ends an
/// app that has no handler for it.
pub(crate) fn may_grow_to(len: u64) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for one `rlimit` for the duration of the call.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    // The type differs between the C libraries.
    #[allow(clippy::unnecessary_cast)]
    let limit = limit.rlim_cur as u64;
    !known || len <= limit
}

/// A page that the kernel empties in a forked child: one load tells whether we are the process that made it.
#[derive(Debug)]
struct ForkMark(MmapRaw);

impl ForkMark {
    fn new() -> Option<Self> {
        let page: MmapMut = MmapOptions::new().len(size_of::<AtomicU64>()).map_anon().ok()?;
        let page = MmapRaw::from(page);
        // SAFETY: address and length are those of the mapping that `page` alone owns; the advice
        // changes what a child sees of it and nothing here.
        let done = unsafe { libc::madvise(page.as_mut_ptr().cast(), page.len(), libc::MADV_WIPEONFORK) };
        let mark = Self(page);
        mark.word()?.set(1);
        (done == 0).then_some(mark)
    }

    fn word(&self) -> Option<&AtomicU64> {
        words(&self.0).first()
    }

    #[inline]
    fn stands(&self) -> bool {
        self.word().is_some_and(|word| word.get() == 1)
    }
}
