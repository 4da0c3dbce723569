//! The word that says what the sampler was doing when the process ended.

use super::shared::Shared;
use crate::layout::FUSE_AT;
use crate::marks::set_fuse;
use loopbox_format::model::Uptime;
use std::sync::Arc;

/// The mark that outlives the process while something dangerous is being done. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RingFuse {
    pub(super) shared: Arc<Shared>,
}

impl RingFuse {
    /// Notes what is being done from this uptime on: a number that the next process reads back in
    /// [`FuseState::Open`](crate::FuseState), 0 when the process may end without the sampler being suspected.
    ///
    /// Two stores, of which one into the mapped file, because a system call may wait for the disk: does not allocate or lock.
    /// One thread at a time, and never the main thread. What goes on while the file is made is not noted there.
    pub fn mark(&self, phase: u8, now_ns: Uptime) {
        let Some(word) = self.shared.mark(FUSE_AT) else { return };
        set_fuse(word, phase, now_ns);
        if let Some(word) = self.shared.file.get().and_then(|file| file.marks.word(FUSE_AT)) {
            set_fuse(word, phase, now_ns);
        }
    }
}
