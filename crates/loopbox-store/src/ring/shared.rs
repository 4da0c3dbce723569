//! State that the parts of a ring share.

use super::saved_frames::WaitingFrames;
use crate::layout::Header;
use crate::memory::Memory;
use crate::ring_file::RingFile;
use crate::sync::AtomicU64;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) memory: Memory,
    pub(super) frames: WaitingFrames,
    pub(super) header: Header,
    /// The ring's file, once there is one.
    pub(super) file: OnceLock<RingFile>,
    /// Whether the ring was discarded: then no file may be left to recover.
    pub(super) discarded: AtomicBool,
}

impl Shared {
    pub(super) fn words(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    pub(super) fn mark(&self, at: usize) -> Option<&AtomicU64> {
        self.memory.is_mine().then(|| self.words().get(at / 8)).flatten()
    }
}
