//! The sampler's side of the marks.

use super::Shared;
use crate::layout::{FUSE_AT, HEARTBEAT_AT};
use crate::marks::{beat, set_fuse};
use std::sync::Arc;

/// The mark that outlives the process while something dangerous is being done. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RingFuse {
    pub(super) shared: Arc<Shared>,
}

impl RingFuse {
    /// Notes what is being done from now on: a number that the next process reads back in
    /// [`FuseState::Open`](crate::FuseState), 0 when the process may end without the sampler being suspected.
    ///
    /// A load and a store; does not allocate or lock. One thread at a time.
    pub fn mark(&self, phase: u8) {
        if let Some(word) = self.shared.mark(FUSE_AT) {
            set_fuse(word, phase);
        }
    }
}

/// Single words that say where a process was when it ended.
#[derive(Debug)]
pub struct SamplerMarks {
    pub(super) fuse: RingFuse,
}

impl SamplerMarks {
    /// The fuse, for whoever does the dangerous things.
    pub fn fuse(&self) -> RingFuse {
        self.fuse.clone()
    }

    /// The process is alive at `uptime_ns`. What a recovered report says of a running message is as of the last one.
    pub fn beat(&self, uptime_ns: u64) {
        if let Some(word) = self.fuse.shared.mark(HEARTBEAT_AT) {
            beat(word, uptime_ns);
        }
    }
}
