//! Display frames that the worker has saved, until the next copy writes them into the file.

use std::sync::{Mutex, PoisonError};

/// Saved display frames, in the form of a complete slot of the file.
#[derive(Debug)]
pub(super) struct SavedFrames {
    pub(super) seq: u64,
    pub(super) bytes: Vec<u8>,
}

/// The frames that wait for the next copy; newer ones replace them. Not for the main thread.
#[derive(Debug, Default)]
pub(super) struct WaitingFrames(Mutex<Option<SavedFrames>>);

impl WaitingFrames {
    pub(super) fn replace(&self, saved: SavedFrames) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(saved);
    }

    pub(super) fn take(&self) -> Option<SavedFrames> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
