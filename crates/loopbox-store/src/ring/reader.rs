//! Reading the ring of this process.

use super::shared::Shared;
use crate::layout::{CRASH_AT, FUSE_AT, HEARTBEAT_AT, INTERRUPTED_AT};
use crate::marks::{CrashMark, Interruption, heartbeat};
use crate::recover::{Recovered, assemble, history};
use crate::source::{Live, Source};
use crate::sync::Word;
use loopbox_format::model::{Record, Token, Uptime};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Reads the ring while its writers run. Cheap to clone; any thread.
#[derive(Debug, Clone)]
pub struct RingReader {
    pub(super) shared: Arc<Shared>,
}

impl RingReader {
    /// The report that the ring would leave if the process ended now, at `now_ns` (uptime). A running message
    /// counts as running until then.
    ///
    /// Each slot is either read completely or, when its writer is faster than the reader, counted as damage.
    /// The newest closed record and the open group never overlap. The caller sets `reason` and `dumped_at` of
    /// the report's `meta`.
    pub fn snapshot(&self, now_ns: Uptime) -> Recovered {
        assemble(&Live(self.shared.words()), &self.shared.header, Some(now_ns))
    }

    /// The history alone: cheaper than a [`snapshot`](Self::snapshot), which has the trees, too.
    pub fn history(&self) -> Vec<Record> {
        history(&Live(self.shared.words()), &self.shared.header)
    }

    /// Notes that the process is alive at `uptime_ns`. A recovered report describes a running message as of
    /// the newest sign of life.
    pub fn heartbeat(&self, uptime_ns: Uptime) {
        if let Some(word) = self.shared.mark(HEARTBEAT_AT) {
            heartbeat(word, uptime_ns);
        }
    }

    /// Records what has interrupted the running message, or what runs outside of messages. To be called
    /// before each [`heartbeat`](Self::heartbeat), by the one thread that finds out how long the process did
    /// not run: otherwise that time would count as if the message had run in it.
    pub fn interrupted(&self, token: Token, interruption: Interruption) {
        if let Some(word) = self.shared.mark(INTERRUPTED_AT) {
            word.set(interruption.to_word(token));
        }
    }

    /// Records a crash for the report that the next process recovers; `signal` is 0 when the crash is of
    /// another kind. Async-signal-safe: loads, a store, two `pwrite` and `getrlimit` (on kernels before 4.14
    /// also `getpid`).
    pub fn mark_crash(&self, signal: i32) {
        let Some(word) = self.shared.mark(CRASH_AT) else { return };
        let mark = CrashMark { signal }.to_word();
        word.set_release(mark);
        if let Some(file) = self.shared.file.get() {
            // At once: there may be no later copy. And in the middle of what: the sampler cannot say it any
            // more.
            let _ = file.file().write_at(&mark.to_le_bytes(), CRASH_AT as u64);
            self.shared.write_fuse(Live(self.shared.words()).word(FUSE_AT));
        }
    }

    /// The path of the ring's file; `None` while there is none.
    pub fn path(&self) -> Option<&Path> {
        self.shared.file.get()?.path()
    }

    /// Bytes of the ring's file.
    pub fn size(&self) -> usize {
        self.shared.header.layout.len
    }

    /// Deletes the file, and prevents a new one: the recorder is uninstalled and leaves nothing to recover.
    /// The memory stays usable. It is no error when the file is gone already.
    pub fn discard(&self) -> io::Result<()> {
        if !self.shared.memory.is_mine() {
            return Ok(());
        }
        self.shared.discarded.store(true, Ordering::SeqCst);
        let Some(path) = self.path() else { return Ok(()) };
        match std::fs::remove_file(path) {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            removed => removed,
        }
    }
}
