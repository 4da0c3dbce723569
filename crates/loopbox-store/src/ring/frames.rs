//! Display frames on their way into the ring's file. They are the only region without a place in the ring's memory: the worker
//! alone writes them, nothing in the process reads them there, and they are as large as all that the recorder of frames keeps.

use super::shared::Shared;
use crate::StoreError;
use crate::layout::{Kind, Region};
use crate::slot::{HEADER_LEN, seal};
use std::sync::{Arc, Mutex, PoisonError};

/// Frames that were saved: a whole slot of the file.
#[derive(Debug)]
pub(super) struct SavedFrames {
    pub(super) seq: u64,
    pub(super) bytes: Vec<u8>,
}

/// Those that wait for the next copy; newer ones replace them. Not for the main thread.
#[derive(Debug, Default)]
pub(super) struct WaitingFrames(Mutex<Option<SavedFrames>>);

impl WaitingFrames {
    fn replace(&self, saved: SavedFrames) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(saved);
    }

    pub(super) fn take(&self) -> Option<SavedFrames> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The worker's part.
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
