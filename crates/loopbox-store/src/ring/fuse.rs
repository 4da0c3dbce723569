//! The word that says what the sampler was doing when the process ended.

use super::Shared;
use crate::layout::FUSE_AT;
use crate::marks::set_fuse;
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
    /// A store; does not allocate or lock. One thread at a time.
    pub fn mark(&self, phase: u8, now_ns: u64) {
        if let Some(word) = self.shared.mark(FUSE_AT) {
            set_fuse(word, phase, now_ns);
        }
    }
}
