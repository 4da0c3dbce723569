//! The word that says what the sampler was doing when the process ended: exact in memory, and in the file as
//! far as the process lets it be written.
//!
//! While the main thread is stopped nothing may make a system call, and a mapping of the file would end the
//! app (SIGBUS) when the file is shortened. So the file says before each stop that one begins, and after it
//! how it ended; and what the memory says in between comes into the file by whoever may write: the mirror
//! when a stop lasts, a crash handler at once.

use super::shared::Shared;
use crate::layout::FUSE_AT;
use crate::marks::{FuseState, fuse_word, set_fuse};
use crate::memory::may_grow_to;
use crate::source::{Live, Source};
use loopbox_format::model::Uptime;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A stop takes some ten microseconds. The mirror writes what the memory says of one that has lasted for so
/// long; before, the sampler itself may write.
const LASTS_NS: u64 = 200_000_000;
/// How often it may be another one by the time that it is written.
const TRIES: usize = 4;

/// The mark that outlives the process while something dangerous is being done. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RingFuse {
    pub(super) shared: Arc<Shared>,
}

impl RingFuse {
    /// Notes what is being done from this uptime on: a number that the next process reads back in
    /// [`FuseState::Open`](crate::FuseState), 0 when the process may end without the sampler being suspected.
    ///
    /// A store into memory: does not allocate, lock or make a system call. The process has it as long as it
    /// lives; for what comes after, see [`Self::arm`]. One thread at a time, and never the main thread.
    pub fn mark(&self, phase: u8, now_ns: Uptime) {
        if let Some(word) = self.shared.mark(FUSE_AT) {
            set_fuse(word, phase, now_ns);
        }
    }

    /// Writes into the file that something dangerous begins, until [`Self::settle`]. A system call, which may
    /// wait for the disk: not while a thread is stopped. What goes on while the file is made is not noted
    /// there.
    pub fn arm(&self, phase: u8, now_ns: Uptime) {
        if self.shared.memory.is_mine() {
            self.shared.write_fuse(fuse_word(phase, now_ns));
        }
    }

    /// Writes into the file what [`Self::mark`] said last; a system call as well.
    pub fn settle(&self) {
        if self.shared.memory.is_mine() {
            self.shared.write_fuse(Live(self.shared.words()).word(FUSE_AT));
        }
    }
}

impl Shared {
    /// Async-signal-safe. An error costs the mark, and nothing else.
    pub(super) fn write_fuse(&self, word: u64) {
        let Some(file) = self.file.get().filter(|file| !file.is_lost()) else { return };
        // Beyond the limit a write is a SIGXFSZ, even where the file has its blocks.
        if may_grow_to((FUSE_AT + size_of::<u64>()) as u64) {
            let _ = file.file().write_at(&word.to_le_bytes(), FUSE_AT as u64);
        }
    }

    /// Writes the fuse for a sampler that cannot, because what it does lasts.
    pub(super) fn save_lasting_fuse(&self, alive_ns: Uptime) {
        let word = || Live(self.words()).word(FUSE_AT);
        let mut written = word();
        let lasts = matches!(FuseState::from_word(written), FuseState::Open { since_ns, .. } if alive_ns.since(since_ns) >= LASTS_NS);
        if !lasts {
            return;
        }
        // It may be over by now, and the sampler's own word be in the file: then that one comes last.
        for _ in 0..TRIES {
            self.write_fuse(written);
            let now = word();
            if now == written {
                return;
            }
            written = now;
        }
    }
}
