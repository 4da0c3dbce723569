//! The ring's memory, which belongs to the process, and the system calls about its file.
//!
//! The only module with `unsafe`. It gives out only slices of atomics.

#![allow(unsafe_code)]

use crate::layout::Header;
use crate::slot::words_of;
use crate::sync::{AtomicU64, Word};
use memmap2::{MmapMut, MmapOptions, MmapRaw};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Memory of the ring, shared by all its handles. It is anonymous, because a store into a mapped file may
/// wait for the disk, and raises SIGBUS when the disk fails or is full.
#[derive(Debug)]
pub(crate) struct Memory {
    map: Option<MmapRaw>,
    alive: Option<ForkMark>,
    pid: u32,
}

impl Memory {
    /// Allocates memory for the part of `header.layout` that is kept in memory, and writes the header. Opens
    /// no file. If there is no memory, every write is refused, and the app runs on.
    pub(crate) fn new(header: &Header) -> Self {
        let map = MmapOptions::new().len(header.layout.memory_len()).map_anon().ok().map(MmapRaw::from);
        if let Some(map) = &map {
            let bytes = header.encode();
            words(map).iter().zip(words_of(&bytes)).for_each(|(to, word)| to.set(word));
        }
        Self { map, alive: ForkMark::new(), pid: std::process::id() }
    }

    /// The words of the ring; none when there is no memory.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.map.as_ref().map(words).unwrap_or_default()
    }

    /// Whether the calling process made this memory: false in a fork of that process. Linux 4.14 and newer
    /// clear a marked page in a fork. There the check is cheap enough for each message. On older kernels it
    /// is a system call.
    #[inline]
    pub(crate) fn is_mine(&self) -> bool {
        self.alive.as_ref().map_or_else(|| std::process::id() == self.pid, ForkMark::stands)
    }
}

fn words(map: &MmapRaw) -> &[AtomicU64] {
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins on a page")]
    let at = map.as_mut_ptr().cast::<AtomicU64>();
    // SAFETY: `map` owns the mapping of `map.len()` readable and writable bytes at a page-aligned address,
    // for at least as long as the returned borrow of it. Every bit pattern is an `AtomicU64`. This function
    // is the only user of the pointer, so that all accesses of this process are atomic. It is anonymous
    // memory: no other process has it, and there is no file that could be shortened under it.
    unsafe { core::slice::from_raw_parts(at, map.len() / size_of::<AtomicU64>()) }
}

/// Locks `file` for as long as it is open, without waiting. `File::try_lock` makes the same system call on
/// Linux, but always fails on Android, where std does not support it.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    // SAFETY: a system call on a descriptor that `file` keeps open; no memory is passed.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reserves `len` bytes on the disk for `file` and sets its length. If the file system cannot reserve, sets
/// only the length.
pub(crate) fn reserve(file: &File, len: usize) -> io::Result<()> {
    let too_large = || io::Error::from_raw_os_error(libc::EFBIG);
    if !may_grow_to(len as u64) {
        return Err(too_large());
    }
    let len_off = libc::off_t::try_from(len).map_err(|_| too_large())?;
    // SAFETY: a system call on a descriptor that `file` keeps open; no memory is passed.
    let mut reserve = || unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, len_off) };
    // A signal in between is no verdict on the disk.
    let mut answers = core::iter::repeat_with(&mut reserve).take(8);
    match answers.find(|&answer| answer != libc::EINTR).unwrap_or(libc::EINTR) {
        0 => Ok(()),
        // It cannot: what does not find room later is an error then.
        libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS => file.set_len(len as u64),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Whether the process's file size limit allows a file of `len` bytes; exceeding it raises SIGXFSZ, which
/// ends an app that has no handler for it.
pub(crate) fn may_grow_to(len: u64) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for one `rlimit` for the duration of the call.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    // The type differs between the C libraries.
    #[allow(clippy::unnecessary_cast)]
    let limit = limit.rlim_cur as u64;
    !known || len <= limit
}

/// A page that the kernel clears in a forked child: one load shows whether this process made it.
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
