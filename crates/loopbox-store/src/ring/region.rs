//! Writing to one region.

use super::shared::Shared;
use crate::error::StoreError;
use crate::layout::{Kind, Region};
use crate::slot::{Slot, words_of};
use crate::source::slot_of;
use bincode::Encode;
use loopbox_format::codec::{self, CodecError};
use std::sync::Arc;

/// The only writer of a region.
#[derive(Debug)]
pub(super) struct RegionWriter {
    shared: Arc<Shared>,
    pub(super) region: Option<Region>,
    slots: usize,
    /// The slot that [`RegionWriter::write_next`] writes next.
    next: usize,
    /// The number of the last write.
    seq: u64,
}

impl RegionWriter {
    pub(super) fn new(shared: &Arc<Shared>, kind: Kind) -> Self {
        let region = shared.header.layout.region(kind);
        let slots = region.map_or(0, |region| region.slots);
        Self { shared: Arc::clone(shared), region, slots, next: 0, seq: 0 }
    }

    pub(super) fn capacity(&self) -> usize {
        self.region.map_or(0, |region| region.capacity())
    }

    /// Writes to the slot after the one written last.
    pub(super) fn write_next(
        &mut self,
        len: usize,
        words: impl Iterator<Item = u64>,
    ) -> Result<(), StoreError> {
        self.write_at(self.next, len, words)?;
        self.advance();
        Ok(())
    }

    /// Moves on to the next slot. Called only after a write, so that a refused write does not make the next
    /// one overwrite the newest state.
    #[inline]
    fn advance(&mut self) {
        // Counted, not divided: this runs for each message.
        self.next = if self.next + 1 < self.slots { self.next + 1 } else { 0 };
    }

    /// Writes `N` words to the slot after the one written last, as [`RegionWriter::write_next`] does, but
    /// with fewer checks, because the number of words is fixed. The main thread uses it for each message.
    #[inline]
    pub(super) fn write_next_words<const N: usize>(&mut self, words: &[u64; N]) -> Result<(), StoreError> {
        if !self.shared.memory.is_mine() {
            return Err(StoreError::Forked);
        }
        let Some(region) = &self.region else { return Err(StoreError::NoSlot) };
        let capacity = region.capacity();
        if N * 8 > capacity {
            return Err(StoreError::TooLarge { needed: N * 8, capacity });
        }
        let at = region.slot_at(self.next) / 8;
        let slot = self.shared.words().get(at..).and_then(Slot::over).ok_or(StoreError::NoSlot)?;
        if !slot.write_words(self.seq + 2, words) {
            return Err(StoreError::NoSlot);
        }
        self.seq += 2;
        self.advance();
        Ok(())
    }

    pub(super) fn write_at(
        &mut self,
        index: usize,
        len: usize,
        words: impl Iterator<Item = u64>,
    ) -> Result<(), StoreError> {
        if !self.shared.memory.is_mine() {
            return Err(StoreError::Forked);
        }
        let region = self.region.ok_or(StoreError::NoSlot)?;
        let slot = slot_of(self.shared.words(), &region, index).ok_or(StoreError::NoSlot)?;
        if len > slot.capacity() {
            return Err(StoreError::TooLarge { needed: len, capacity: slot.capacity() });
        }
        self.seq += 2;
        slot.write(self.seq, len, words);
        Ok(())
    }

    pub(super) fn write_next_bytes(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_next(bytes.len(), words_of(bytes))
    }

    pub(super) fn write_next_value<T: Encode + ?Sized>(&mut self, value: &T) -> Result<(), StoreError> {
        self.write_next_bytes(&codec::encode(value)?)
    }

    /// Writes the encoding of as many of the first items as fit. There are `items` of them, and `encode(n)`
    /// encodes the first n.
    pub(super) fn write_prefix(
        &mut self,
        items: usize,
        encode: &dyn Fn(usize) -> Result<Vec<u8>, CodecError>,
    ) -> Result<(), StoreError> {
        let capacity = self.capacity();
        let mut bytes = encode(items)?;
        if bytes.len() > capacity {
            // The most that fit lie in `fit..over`.
            let (mut fit, mut over) = (0, items);
            while over - fit > 1 {
                let middle = fit.midpoint(over);
                if encode(middle)?.len() <= capacity { fit = middle } else { over = middle }
            }
            bytes = encode(fit)?;
        }
        self.write_next_bytes(&bytes)
    }
}
