//! The file of a ring. One thread makes, locks, reserves and names it, and only that thread writes its slots.

use crate::files::directory::create_directory;
use crate::layout::Header;
use crate::memory::{lock, reserve};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Why a ring does not outlive its process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Volatile {
    /// The directory or the file could not be made.
    #[error("cannot create the ring file: {0}")]
    Create(#[source] io::Error),
    /// The file is locked already, or locking does not work on this file system.
    #[error("cannot lock the ring file: {0}")]
    Lock(#[source] io::Error),
    /// The disk has no room, or a quota or another limit is reached.
    #[error("cannot reserve {len} bytes for the ring file: {error}")]
    Reserve {
        /// Bytes asked for.
        len: usize,
        /// What the system returned.
        error: io::Error,
    },
    /// The file could not be given its final name.
    #[error("cannot name the ring file: {0}")]
    Name(#[source] io::Error),
    /// A write into the file failed. The file is deleted then, because it would show an earlier moment as the
    /// end of the process.
    #[error("cannot write the ring file: {0}")]
    Write(#[source] io::Error),
    /// An earlier write into the file failed, and the file was deleted.
    #[error("cannot write the ring file: an earlier write failed")]
    GivenUp,
}

/// The suffix of a ring's name until it is complete. Adopters skip such a name, so a ring is only seen once
/// it is locked and has its header.
pub(crate) const UNFINISHED: &str = ".new";

/// A ring's file, open for as long as the ring exists: its lock shows other processes that this one is alive.
#[derive(Debug)]
pub(crate) struct RingFile {
    file: File,
    path: PathBuf,
    /// The file's path until it is complete.
    unfinished: PathBuf,
    has_name: AtomicBool,
    /// Whether the file was given up.
    lost: AtomicBool,
}

impl RingFile {
    /// Makes the file in `dir`, which is made too if missing; `fill` writes its content. No other process
    /// sees it before [`Self::name`].
    pub(crate) fn create(
        dir: &Path,
        header: &Header,
        fill: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Self, Volatile> {
        // Rings of one process (installed, uninstalled, installed again) differ by a counter.
        static RINGS: AtomicU32 = AtomicU32::new(0);
        let name = header.identity.file_name(RINGS.fetch_add(1, Ordering::Relaxed));
        let path = dir.join(&name);
        let unfinished = dir.join([&name, UNFINISHED].concat());
        create_directory(dir).map_err(Volatile::Create)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(&unfinished)
            .map_err(Volatile::Create)?;
        match prepare(&file, header, fill) {
            Ok(()) => {
                let [has_name, lost] = [false; 2].map(AtomicBool::new);
                Ok(Self { file, path, unfinished, has_name, lost })
            }
            Err(volatile) => {
                let _ = fs::remove_file(&unfinished);
                Err(volatile)
            }
        }
    }

    /// Gives the file its final name, under which it survives the process; does nothing when it has that
    /// already. May be tried again.
    pub(crate) fn name(&self) -> Result<(), Volatile> {
        if !self.has_name.load(Ordering::Relaxed) {
            fs::rename(&self.unfinished, &self.path).map_err(Volatile::Name)?;
            self.has_name.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The file's path; `None` while it has no name, and after it was given up.
    pub(crate) fn path(&self) -> Option<&Path> {
        (self.has_name.load(Ordering::Relaxed) && !self.is_lost()).then_some(&self.path)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Stops all writing to the file and deletes it, so that nothing is left to recover.
    pub(crate) fn give_up(&self) {
        self.lost.store(true, Ordering::Relaxed);
        let _ = fs::remove_file(if self.has_name.load(Ordering::Relaxed) {
            &self.path
        } else {
            &self.unfinished
        });
    }
}

fn prepare(file: &File, header: &Header, fill: impl FnOnce(&File) -> io::Result<()>) -> Result<(), Volatile> {
    let len = header.layout.len;
    lock(file).map_err(Volatile::Lock)?;
    reserve(file, len).map_err(|error| Volatile::Reserve { len, error })?;
    file.write_all_at(&header.encode(), 0).and_then(|()| fill(file)).map_err(Volatile::Write)?;
    // The file cannot be opened for writing from here on, not even by this app by mistake. What is open stays
    // writable.
    file.set_permissions(fs::Permissions::from_mode(0o400)).map_err(Volatile::Create)
}
