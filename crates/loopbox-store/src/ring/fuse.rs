//! The word that shows what the sampler was doing when the process ended. The word in memory is always up to
//! date. The file has the last state that could be written.
//!
//! While the main thread is stopped, the sampler must not make a system call, so it cannot write to the file.
//! A mapping of the file would not help: a store into it ends the app (SIGBUS) when the file is shortened. So
//! the sampler writes to the file twice: before a stop it records that the stop begins, and after the stop it
//! writes the state in memory. During the stop, two others may write the state in memory to the file: the
//! mirror when the stop lasts long ([`LASTS_NS`]), and a crash handler immediately.

use super::shared::Shared;
use crate::layout::FUSE_AT;
use crate::marks::{FuseState, fuse_word, set_fuse};
use crate::memory::may_grow_to;
use crate::source::{Live, Source};
use loopbox_format::model::Uptime;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// How long a stop must have lasted, in ns, before the mirror writes the state in memory into the file. After
/// a shorter stop, the sampler writes it. A stop usually takes some ten microseconds.
const LASTS_NS: u64 = 200_000_000;
/// The most writes in one call: the state is written again when it has changed during the write.
const TRIES: usize = 4;

/// Records in which dangerous phase the sampler is. What is in the file survives the process, so the next
/// process can read in which phase this one ended. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RingFuse {
    pub(super) shared: Arc<Shared>,
}

impl RingFuse {
    /// Records the phase that begins at `now_ns` (uptime). `phase` is a number that the next process reads
    /// back in [`FuseState::Open`](crate::FuseState). It is 0 when the process may end without suspicion of
    /// the sampler.
    ///
    /// A store into memory: does not allocate, lock or make a system call. The record is lost when the
    /// process ends; to make it survive, see [`Self::arm`]. One thread at a time, and never the main thread.
    pub fn mark(&self, phase: u8, now_ns: Uptime) {
        if let Some(word) = self.shared.mark(FUSE_AT) {
            set_fuse(word, phase, now_ns);
        }
    }

    /// Records in the file that something dangerous begins. The record stays until [`Self::settle`]. This is
    /// a system call, which may wait for the disk: do not call it while a thread is stopped. Phases during
    /// the creation of the file are not recorded there.
    pub fn arm(&self, phase: u8, now_ns: Uptime) {
        if self.shared.memory.is_mine() {
            self.shared.write_fuse(fuse_word(phase, now_ns));
        }
    }

    /// Writes the last state from [`Self::mark`] into the file; this is a system call, too.
    pub fn settle(&self) {
        if self.shared.memory.is_mine() {
            self.shared.write_fuse(Live(self.shared.words()).word(FUSE_AT));
        }
    }
}

impl Shared {
    /// Writes `word`, the state of the fuse, into the file. Async-signal-safe. An error is ignored: the file
    /// then does not have this state.
    pub(super) fn write_fuse(&self, word: u64) {
        let Some(file) = self.file.get().filter(|file| !file.is_lost()) else { return };
        // Beyond the limit a write is a SIGXFSZ, even where the file has its blocks.
        if may_grow_to((FUSE_AT + size_of::<u64>()) as u64) {
            let _ = file.file().write_at(&word.to_le_bytes(), FUSE_AT as u64);
        }
    }

    /// Writes the fuse into the file, if the present phase has lasted for [`LASTS_NS`]. The sampler cannot do
    /// so itself in the middle of a phase.
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
