//! A slot: a few words that one thread writes, and that other threads, or another process after its death,
//! read either completely or not at all.
//!
//! ```text
//! seq:u64  sum:u64  len:u64  payload
//! ```
//!
//! `seq` is 0 in a slot never written, odd while the slot is being written, and even when it is complete.
//! `sum` covers the even `seq`, `len` and the payload's words. Before a power loss, pages may reach the disk
//! in another order than they were written; `sum` shows that such a slot is not complete. `len` is the
//! payload's length in bytes; the last word is padded with zeros.
//!
//! This is a sequence lock whose payload consists of atomics: a reader that races with the writer reads a
//! mixture, detects that, and discards it, without a data race as the language defines it.

use crate::sync::{AtomicU64, Ordering, Word, fence};

/// Words in front of a slot's payload.
pub(crate) const HEADER_WORDS: usize = 3;
/// Bytes in front of a slot's payload.
pub(crate) const HEADER_LEN: usize = HEADER_WORDS * 8;

/// The checksum of a slot: each word is folded, so that its high bits count too, and multiplied by an odd key
/// for its position.
///
/// A change in a single word always changes the sum, because folding and multiplying by an odd number are
/// both one-to-one. The sum costs about one multiplication per word, and no multiplication waits for another;
/// a CRC by table would cost as much as the rest of the hook.
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

    #[inline]
    pub(crate) fn add(&mut self, word: u64) {
        self.sum = self.sum.wrapping_add((word ^ (word >> 32)).wrapping_mul(self.key));
        self.key = self.key.wrapping_add(0xA36A_9465_A325_DA06); // even: the key stays odd
    }

    pub(crate) fn finish(self) -> u64 {
        self.sum
    }
}

/// The result of reading a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotRead {
    /// Nothing was ever written.
    Empty,
    /// The slot is being written. In a dead process's file: it was being written when the process ended.
    Torn,
    /// The slot is marked as complete, but its checksum differs.
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
    /// The slot that consists of `words`; `None` when there are too few.
    pub(crate) fn over(words: &'a [AtomicU64]) -> Option<Self> {
        let [seq, sum, len, payload @ ..] = words else { return None };
        Some(Self { seq, sum, len, payload })
    }

    /// How many bytes of payload fit.
    pub(crate) fn capacity(&self) -> usize {
        self.payload.len() * 8
    }

    /// The number of the last write; odd while a write is in progress.
    pub(crate) fn seq(&self) -> u64 {
        self.seq.get()
    }

    /// Replaces the content. `seq` must be even and differ from the number of the last write; only one thread
    /// may write.
    ///
    /// Words beyond the capacity are dropped: callers check the length before.
    #[inline]
    pub(crate) fn write(&self, seq: u64, len: usize, words: impl Iterator<Item = u64>) {
        self.seq.set(seq.wrapping_sub(1));
        // The odd number is visible before any word of the payload is.
        fence(Ordering::Release);
        let mut sum = Checksum::new(seq, len as u64);
        self.len.set(len as u64);
        for (to, word) in self.payload.iter().zip(words) {
            to.set(word);
            sum.add(word);
        }
        self.sum.set(sum.finish());
        // Every word is visible before the even number is.
        self.seq.set_release(seq);
    }

    /// Does what [`Slot::write`] does, for a fixed number of words. Does nothing and returns false when the
    /// memory is too short for the words. The caller makes sure that they do not reach into the next slot.
    #[inline]
    pub(crate) fn write_words<const N: usize>(&self, seq: u64, words: &[u64; N]) -> bool {
        let Some(payload) = self.payload.first_chunk::<N>() else { return false };
        Self { payload, ..*self }.write(seq, N * 8, words.iter().copied());
        true
    }

    /// Reads the content once, word by word into `take`; the words are valid only if the result is
    /// [`SlotRead::Whole`].
    pub(crate) fn read(&self, mut take: impl FnMut(u64)) -> SlotRead {
        let seq = self.seq.get_acquire();
        if seq == 0 {
            return SlotRead::Empty;
        }
        if seq & 1 == 1 {
            return SlotRead::Torn;
        }
        let len = self.len.get();
        let mut sum = Checksum::new(seq, len);
        // A length from the middle of a write may be anything; `zip` and `min` keep it inside the slot.
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        for word in self.payload.iter().take(len.div_ceil(8)) {
            let word = word.get();
            sum.add(word);
            take(word);
        }
        let stored = self.sum.get();
        // The words above are read before the number is read again.
        fence(Ordering::Acquire);
        if self.seq.get() != seq {
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

/// A complete slot as it is in a file, up to the end of its payload.
pub(crate) fn encode_slot(seq: u64, payload: &[u8]) -> Vec<u8> {
    let mut slot = Vec::with_capacity((HEADER_LEN + payload.len()).next_multiple_of(8));
    slot.resize(HEADER_LEN, 0);
    slot.extend_from_slice(payload);
    seal(seq, &mut slot);
    slot
}

/// Completes a slot by filling in its header. `slot` has room for the header, followed by the payload.
pub(crate) fn seal(seq: u64, slot: &mut Vec<u8>) {
    let payload = slot.get(HEADER_LEN..).unwrap_or_default();
    let len = payload.len() as u64;
    let mut sum = Checksum::new(seq, len);
    words_of(payload).for_each(|word| sum.add(word));
    let header = [seq, sum.finish(), len].into_iter().flat_map(u64::to_le_bytes);
    slot.iter_mut().zip(header).for_each(|(to, byte)| *to = byte);
    slot.resize(slot.len().next_multiple_of(8), 0);
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(count: usize) -> Vec<AtomicU64> {
        (0..count).map(|_| AtomicU64::new(0)).collect()
    }

    fn bytes(words: &[AtomicU64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect()
    }

    proptest! {
        #[test]
        fn memory_and_file_read_the_same(payload in proptest::collection::vec(any::<u8>(), 0..64)) {
            let memory = words(HEADER_WORDS + 8);
            let slot = Slot::over(&memory).unwrap();
            slot.write(2, payload.len(), words_of(&payload));
            let mut live = Vec::new();
            let whole = SlotRead::Whole { seq: 2, len: payload.len() };
            prop_assert_eq!(slot.read(|word| live.extend(word.to_le_bytes())), whole);
            live.truncate(payload.len());
            let mut dead = Vec::new();
            prop_assert_eq!(read_bytes(&bytes(&memory), &mut dead), whole);
            prop_assert_eq!(&live, &payload);
            prop_assert_eq!(&dead, &payload);
            let encoded = encode_slot(2, &payload);
            prop_assert_eq!(&encoded[..], &bytes(&memory)[..encoded.len()]);
        }

        /// A slot reads the same from memory and from a file, whatever bytes it has.
        #[test]
        fn memory_and_file_agree_on_noise(noise in proptest::collection::vec(prop_oneof![Just(0_u64), 0_u64..9, any::<u64>()], 3..8)) {
            let memory: Vec<_> = noise.iter().map(|&word| AtomicU64::new(word.to_le())).collect();
            let live = Slot::over(&memory).unwrap().read(|_| ());
            prop_assert_eq!(read_bytes(&bytes(&memory), &mut Vec::new()), live);
        }

        #[test]
        fn no_change_of_a_word_goes_unnoticed(payload in proptest::collection::vec(any::<u64>(), 1..8), at in 0_usize..8, change in 1_u64..) {
            let memory = words(HEADER_WORDS + payload.len());
            let slot = Slot::over(&memory).unwrap();
            slot.write(4, payload.len() * 8, payload.iter().copied());
            let changed = &memory[HEADER_WORDS + at % payload.len()];
            changed.fetch_xor(change, Ordering::Relaxed);
            prop_assert_eq!(slot.read(|_| ()), SlotRead::Damaged);
        }
    }

    /// Ends the writer when the reader ends, even by a panic: otherwise the panic would wait for the writer
    /// for ever and never be seen.
    struct EndsWriter<'a>(&'a AtomicU64);

    impl Drop for EndsWriter<'_> {
        fn drop(&mut self) {
            self.0.store(u64::MAX, Ordering::Relaxed);
        }
    }

    /// Runs two real threads. Miri, which finds data races, runs this test on many thread schedules.
    #[test]
    fn a_reader_never_sees_a_mixture() {
        let writes = if cfg!(miri) { 40 } else { 200_000 };
        let memory = words(HEADER_WORDS + 4);
        let slot = Slot::over(&memory).unwrap();
        slot.write(2, 32, [1; 4].into_iter());
        let read_once = || {
            let mut seen = Vec::new();
            match slot.read(|word| seen.push(word)) {
                SlotRead::Whole { seq, .. } => {
                    assert_eq!(seen, [seq / 2; 4]);
                    Some(seq / 2)
                }
                SlotRead::Torn => None,
                other => panic!("{other:?}"),
            }
        };
        // The writer goes on until the reader, which may get no processor, has seen one of its writes.
        let read = AtomicU64::new(0);
        let last = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut last = 1;
                while last < writes || read.load(Ordering::Relaxed) < 2 {
                    last += 1;
                    slot.write(last * 2, 32, [last; 4].into_iter());
                }
                last
            });
            let _ends = EndsWriter(&read);
            while !writer.is_finished() {
                read.fetch_max(read_once().unwrap_or(0), Ordering::Relaxed);
            }
            writer.join().unwrap()
        });
        assert_eq!(read_once(), Some(last));
    }

    #[test]
    fn a_write_that_did_not_end_is_torn() {
        let memory = words(HEADER_WORDS + 1);
        let slot = Slot::over(&memory).unwrap();
        assert_eq!(slot.read(|_| ()), SlotRead::Empty);
        slot.write(2, 8, [7].into_iter());
        memory[0].store(3_u64.to_le(), Ordering::Relaxed);
        assert_eq!(slot.read(|_| ()), SlotRead::Torn);
        assert_eq!(read_bytes(&bytes(&memory), &mut Vec::new()), SlotRead::Torn);
    }
}

/// Run by `RUSTFLAGS="--cfg loom" cargo test -p loopbox-store --lib --profile loom`, which tries every order
/// in which the threads' loads and stores can take effect.
///
/// A reader that reads a mixture of two writes must notice it by the slot's number, which is then odd or has
/// changed. Otherwise the checksum does not fit, the reader calls the slot damaged, and the test fails. That
/// happens when any one of the four memory orderings in `write` and `read` is removed.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering as StdOrdering};

    /// How often the readers of a test saw each of three results, summed over all orders that loom tries. A
    /// test fails if one of the results never occurs: then the reader never met the writer, and the test
    /// proves nothing.
    struct Seen([AtomicU32; 3]);

    impl Seen {
        const fn new() -> Self {
            Self([const { AtomicU32::new(0) }; 3])
        }

        fn count(&self, what: usize) {
            self.0[what].fetch_add(1, StdOrdering::Relaxed);
        }

        fn all(&self) -> bool {
            self.0.iter().all(|count| count.load(StdOrdering::Relaxed) > 0)
        }
    }

    fn slot_words(count: usize) -> Arc<Vec<AtomicU64>> {
        Arc::new((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    #[test]
    fn a_reader_sees_one_write_whole_or_none() {
        static SEEN: Seen = Seen::new();
        loom::model(|| {
            let memory = slot_words(HEADER_WORDS + 2);
            Slot::over(&memory).unwrap().write(2, 16, [1, 1].into_iter());
            let writer = {
                let memory = Arc::clone(&memory);
                loom::thread::spawn(move || {
                    let slot = Slot::over(&memory).unwrap();
                    slot.write(4, 16, [2, 2].into_iter());
                })
            };
            let mut words = Vec::new();
            match Slot::over(&memory).unwrap().read(|word| words.push(word)) {
                SlotRead::Whole { seq, len: 16 } => {
                    assert_eq!(words, [seq / 2; 2]);
                    SEEN.count(seq as usize / 2 - 1);
                }
                SlotRead::Torn => SEEN.count(2),
                other => panic!("{other:?} {words:?}"),
            }
            writer.join().unwrap();
        });
        assert!(SEEN.all());
    }

    /// What a writer did before it published a slot is visible to any thread that reads the slot: the open
    /// group's details are written before the counters that refer to them.
    #[test]
    fn a_thread_that_reads_the_second_slot_finds_the_first() {
        static SEEN: Seen = Seen::new();
        loom::model(|| {
            let memory = slot_words(2 * (HEADER_WORDS + 1));
            let writer = {
                let memory = Arc::clone(&memory);
                loom::thread::spawn(move || {
                    let (first, second) = memory.split_at(HEADER_WORDS + 1);
                    Slot::over(first).unwrap().write(2, 8, [1].into_iter());
                    Slot::over(second).unwrap().write(2, 8, [1].into_iter());
                })
            };
            let (first, second) = memory.split_at(HEADER_WORDS + 1);
            let second = Slot::over(second).unwrap().read(|_| ());
            let first = Slot::over(first).unwrap().read(|_| ());
            match second {
                SlotRead::Whole { .. } => {
                    assert_eq!(first, SlotRead::Whole { seq: 2, len: 8 });
                    SEEN.count(0);
                }
                SlotRead::Empty => SEEN.count(1),
                SlotRead::Torn => SEEN.count(2),
                SlotRead::Damaged => panic!("damaged"),
            }
            writer.join().unwrap();
        });
        assert!(SEEN.all());
    }
}
