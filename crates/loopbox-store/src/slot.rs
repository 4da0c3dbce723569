//! A slot: a few words that one thread writes and that others, or another process after its death, read whole or
//! not at all.
//!
//! ```text
//! seq:u64  sum:u64  len:u64  payload
//! ```
//!
//! `seq` is 0 in a slot never written, odd while the slot is being written, and even when it is whole. `sum` covers
//! the even `seq`, `len` and the payload's words, so that pages that reached a disk in another order than they were
//! written (power loss) do not pass for a whole slot. `len` is the payload's length in bytes; the last word is
//! padded with zeros.
//!
//! This is a sequence lock whose payload consists of atomics: a reader that races with the writer reads a mixture,
//! notices, and throws it away, without a data race in the sense of the language.

use crate::sync::{AtomicU64, Ordering, fence, load_le, store_le};

/// Words in front of a slot's payload.
pub(crate) const HEADER_WORDS: usize = 3;
/// Bytes in front of a slot's payload.
pub(crate) const HEADER_LEN: usize = HEADER_WORDS * 8;

/// The checksum of a slot: each word, folded so that its high bits count too, times an odd key of its position.
///
/// A change in a single word always changes the sum, because folding and multiplying by an odd number are both
/// one-to-one. It costs about one multiplication per word, and they do not wait for each other; a CRC by table would
/// cost as much as the rest of the hook.
#[derive(Clone, Copy)]
pub(crate) struct Checksum {
    sum: u64,
    key: u64,
}

impl Checksum {
    pub(crate) fn new(seq: u64, len: u64) -> Self {
        let mut sum = Self { sum: 0, key: 0x9E37_79B9_7F4A_7C15 };
        sum.add(seq);
        sum.add(len);
        sum
    }

    pub(crate) fn add(&mut self, word: u64) {
        self.sum = self.sum.wrapping_add((word ^ (word >> 32)).wrapping_mul(self.key));
        self.key = self.key.wrapping_add(0xA36A_9465_A325_DA06); // even: the key stays odd
    }

    pub(crate) fn finish(self) -> u64 {
        self.sum
    }
}

/// What a slot was found to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotRead {
    /// Nothing was ever written.
    Empty,
    /// A write is under way (live), or was when the process ended.
    Torn,
    /// It claims to be whole and is not.
    Damaged,
    /// Whole; written as number `seq`.
    Whole { seq: u64, len: usize },
}

/// A slot in shared memory.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    seq: &'a AtomicU64,
    sum: &'a AtomicU64,
    len: &'a AtomicU64,
    payload: &'a [AtomicU64],
}

impl<'a> Slot<'a> {
    /// The slot that consists of `words`; `None` when they are too few.
    pub(crate) fn over(words: &'a [AtomicU64]) -> Option<Self> {
        let [seq, sum, len, payload @ ..] = words else { return None };
        Some(Self { seq, sum, len, payload })
    }

    /// How many bytes of payload fit.
    pub(crate) fn capacity(&self) -> usize {
        self.payload.len() * 8
    }

    /// Replaces the content. `seq` must be even and differ from the one before; only one thread may write.
    ///
    /// Words beyond the capacity are dropped: callers check the length before.
    pub(crate) fn write(&self, seq: u64, len: usize, words: impl Iterator<Item = u64>) {
        store_le(self.seq, seq.wrapping_sub(1), Ordering::Relaxed);
        // The odd number is visible before any word of the payload is.
        fence(Ordering::Release);
        let mut sum = Checksum::new(seq, len as u64);
        store_le(self.len, len as u64, Ordering::Relaxed);
        for (to, word) in self.payload.iter().zip(words) {
            store_le(to, word, Ordering::Relaxed);
            sum.add(word);
        }
        store_le(self.sum, sum.finish(), Ordering::Relaxed);
        // Every word is visible before the even number is.
        store_le(self.seq, seq, Ordering::Release);
    }

    /// Reads the content once, word by word into `take`; what it got counts only if the answer is
    /// [`SlotRead::Whole`].
    pub(crate) fn read(&self, mut take: impl FnMut(u64)) -> SlotRead {
        let seq = load_le(self.seq, Ordering::Acquire);
        if seq == 0 {
            return SlotRead::Empty;
        }
        if seq & 1 == 1 {
            return SlotRead::Torn;
        }
        let len = load_le(self.len, Ordering::Relaxed);
        let mut sum = Checksum::new(seq, len);
        // A length from the middle of a write may be anything; `zip` and `min` keep it inside the slot.
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        for word in self.payload.iter().take(len.div_ceil(8)) {
            let word = load_le(word, Ordering::Relaxed);
            sum.add(word);
            take(word);
        }
        let stored = load_le(self.sum, Ordering::Relaxed);
        // The words above are read before the number is looked at again.
        fence(Ordering::Acquire);
        if load_le(self.seq, Ordering::Relaxed) != seq {
            SlotRead::Torn
        } else if len > self.capacity() || stored != sum.finish() {
            SlotRead::Damaged
        } else {
            SlotRead::Whole { seq, len }
        }
    }
}

/// The words of `bytes`, the last one padded with zeros.
pub(crate) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(word)
    })
}

/// Reads a slot out of the bytes of a file, as [`Slot::read`] does from memory. `out` receives the payload.
pub(crate) fn read_bytes(slot: &[u8], out: &mut Vec<u8>) -> SlotRead {
    out.clear();
    let mut header = words_of(slot);
    let (Some(seq), Some(stored), Some(len)) = (header.next(), header.next(), header.next()) else {
        return SlotRead::Damaged;
    };
    if seq == 0 {
        return SlotRead::Empty;
    }
    if seq & 1 == 1 {
        return SlotRead::Torn;
    }
    let mut sum = Checksum::new(seq, len);
    let payload = slot.get(HEADER_LEN..).unwrap_or_default();
    let padded = usize::try_from(len).ok().and_then(|len| len.checked_next_multiple_of(8));
    let Some(padded) = padded.and_then(|padded| payload.get(..padded)) else { return SlotRead::Damaged };
    words_of(padded).for_each(|word| sum.add(word));
    if stored != sum.finish() {
        return SlotRead::Damaged;
    }
    let len = len as usize; // at most `padded`, which is a slice's length
    out.extend_from_slice(padded.get(..len).unwrap_or_default());
    SlotRead::Whole { seq, len }
}
