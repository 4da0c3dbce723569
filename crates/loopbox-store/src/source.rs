//! Where recovery reads slots from: the live ring of this process, or the bytes of a dead process's file.

use crate::layout::{Kind, Layout, Region};
use crate::slot::{Slot, SlotRead, read_bytes, words_of};
use crate::sync::{AtomicU64, Word};

/// A ring to read. It is always used as a `dyn Source`: otherwise the reading code would be in every app
/// twice, once for each kind of ring.
pub(crate) trait Source {
    /// Whether a second read can find more than the first.
    fn is_live(&self) -> bool;

    /// Reads slot `index` of `region` into `out`.
    fn slot(&self, region: &Region, index: usize, out: &mut Vec<u8>) -> SlotRead;

    /// The word at `offset`; 0 when the file ends before it.
    fn word(&self, offset: usize) -> u64;
}

/// How many times a slot that is being written is read before it counts as torn. Without this limit, a writer
/// that rewrites one slot without pause would keep a reader here for ever.
const TRIES: usize = 16;

/// The ring of this process while its writers run.
pub(crate) struct Live<'a>(pub(crate) &'a [AtomicU64]);

impl Source for Live<'_> {
    fn is_live(&self) -> bool {
        true
    }

    fn slot(&self, region: &Region, index: usize, out: &mut Vec<u8>) -> SlotRead {
        let Some(slot) = slot_of(self.0, region, index) else { return SlotRead::Damaged };
        let mut read = SlotRead::Empty;
        for _ in 0..TRIES {
            out.clear();
            read = slot.read(|word| out.extend_from_slice(&word.to_le_bytes()));
            match read {
                SlotRead::Torn => core::hint::spin_loop(),
                _ => break,
            }
        }
        if let SlotRead::Whole { len, .. } = read {
            out.truncate(len);
        }
        read
    }

    fn word(&self, offset: usize) -> u64 {
        self.0.get(offset / 8).map(Word::get_acquire).unwrap_or_default()
    }
}

/// The bytes of a ring file.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Source for Bytes<'_> {
    fn is_live(&self) -> bool {
        false
    }

    fn slot(&self, region: &Region, index: usize, out: &mut Vec<u8>) -> SlotRead {
        let at = region.slot_at(index);
        self.0.get(at..at + region.slot_len).map_or(SlotRead::Damaged, |slot| read_bytes(slot, out))
    }

    fn word(&self, offset: usize) -> u64 {
        self.0.get(offset..offset + 8).and_then(|bytes| words_of(bytes).next()).unwrap_or_default()
    }
}

/// The slot `index` of `region` in a ring's memory.
pub(crate) fn slot_of<'a>(words: &'a [AtomicU64], region: &Region, index: usize) -> Option<Slot<'a>> {
    let at = region.slot_at(index);
    Slot::over(words.get(at / 8..(at + region.slot_len) / 8)?)
}

/// The newest complete slot of a region, and whether another one was torn or damaged.
pub(crate) struct Newest {
    pub(crate) payload: Option<Vec<u8>>,
    /// The number of its write; 0 when there is none.
    pub(crate) seq: u64,
    pub(crate) offset: usize,
    pub(crate) torn: Vec<(usize, SlotRead)>,
}

/// Finds the newest whole slot of the region of `kind`.
pub(crate) fn newest(source: &dyn Source, layout: &Layout, kind: Kind) -> Newest {
    let mut found = Newest { payload: None, seq: 0, offset: 0, torn: Vec::new() };
    let Some(region) = layout.region(kind) else { return found };
    let mut payload = Vec::with_capacity(region.capacity().min(64 << 10));
    // A writer that comes by between our reads of its two slots can make both of them busy.
    for _ in 0..if source.is_live() { TRIES } else { 1 } {
        found.torn.clear();
        for index in 0..region.slots {
            let offset = region.slot_at(index);
            match source.slot(&region, index, &mut payload) {
                SlotRead::Whole { seq, .. } if seq > found.seq => {
                    found.seq = seq;
                    found.offset = offset;
                    found.payload = Some(payload.clone());
                }
                SlotRead::Whole { .. } | SlotRead::Empty => {}
                other => found.torn.push((offset, other)),
            }
        }
        if found.payload.is_some() || found.torn.is_empty() {
            break;
        }
    }
    found
}
