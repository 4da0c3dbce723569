//! Saves display frames for the next copy into the ring's file. They are the only region that is not in the
//! ring's memory: only the worker writes them, nothing in the process reads them from the ring, and a copy in
//! memory would be as large as everything that the recorder of frames keeps.

use super::saved_frames::SavedFrames;
use super::shared::Shared;
use crate::error::StoreError;
use crate::layout::{Kind, Region};
use crate::slot::{HEADER_LEN, seal};
use std::sync::Arc;

/// The worker's handle for saving display frames.
#[derive(Debug)]
pub(super) struct FramesWriter {
    shared: Arc<Shared>,
    region: Option<Region>,
    seq: u64,
}

impl FramesWriter {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let region = shared.header.layout.region(Kind::Frames);
        Self { shared: Arc::clone(shared), region, seq: 0 }
    }

    pub(super) fn save(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), StoreError> {
        if !self.shared.memory.is_mine() {
            return Err(StoreError::Forked);
        }
        let capacity = self.region.ok_or(StoreError::NoSlot)?.capacity();
        let mut bytes = vec![0; HEADER_LEN];
        encode(&mut bytes);
        let needed = bytes.len() - HEADER_LEN;
        if needed > capacity {
            return Err(StoreError::TooLarge { needed, capacity });
        }
        self.seq += 2;
        seal(self.seq, &mut bytes);
        self.shared.frames.replace(SavedFrames { seq: self.seq, bytes });
        Ok(())
    }
}
