//! The ring as a recorder uses it: one writer per thread, readers, marks.

use crate::StoreError;
use crate::cells::{Current, Open, with_details};
use crate::identity::Identity;
use crate::layout::{CRASH_AT, FUSE_AT, Geometry, HEARTBEAT_AT, Header, Kind, Layout, Region};
use crate::marks::{CrashMark, beat, set_fuse};
use crate::memory::{Memory, Volatile};
use crate::recover::{Recovered, assemble};
use crate::slot::words_of;
use crate::source::{Live, slot_of};
use crate::sync::{AtomicU64, Word};
use crate::trees::{Kept, PAGE_HEADER_LEN, PackError, pack_within};
use loopbox_format::codec::{self, CodecError};
use loopbox_format::model::{FeatureState, Figure, Meta, Pending, Record, Running, StackTree, Symbols};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a ring is made of.
#[derive(Debug, Clone)]
pub struct RingOptions {
    /// The app's private directory for rings; it must exist.
    pub dir: PathBuf,
    /// Whose ring it is.
    pub identity: Identity,
    /// How many slots of which size.
    pub geometry: Geometry,
}

impl RingOptions {
    /// A ring of the default size.
    pub fn new(dir: impl Into<PathBuf>, identity: Identity) -> Self {
        Self { dir: dir.into(), identity, geometry: Geometry::default() }
    }
}

#[derive(Debug)]
struct Shared {
    memory: Memory,
    header: Header,
    volatile: Option<Volatile>,
}

impl Shared {
    fn words(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    fn mark(&self, at: usize) -> Option<&AtomicU64> {
        self.memory.is_mine().then(|| self.words().get(at / 8)).flatten()
    }
}

/// A ring and everything that may touch it. Take it apart and give each thread its part.
#[derive(Debug)]
pub struct Ring {
    /// For the main thread.
    pub main: MainWriter,
    /// For the worker thread.
    pub worker: WorkerWriter,
    /// For the sampler thread and crash handlers.
    pub marks: SamplerMarks,
    /// For whoever writes the report.
    pub reader: RingReader,
}

impl Ring {
    /// Makes the ring of this process. It cannot fail: what goes wrong on disk makes it volatile, and
    /// [`RingReader::volatile_reason`] says what that was.
    ///
    /// Creates a file and touches its pages: a few milliseconds, not for the main thread.
    pub fn create(options: &RingOptions) -> Self {
        let (layout, refused) = match Layout::of(&options.geometry) {
            Ok(layout) => (layout, None),
            Err(_) => (Layout::default_geometry(), Some(Volatile::Geometry)),
        };
        let header = Header { identity: options.identity, layout };
        let (memory, volatile) = Memory::new(&options.dir, &header);
        let shared = Arc::new(Shared { memory, header, volatile: refused.or(volatile) });
        let region = |kind| RegionWriter::new(&shared, kind);
        let main = MainWriter {
            current: region(Kind::Current),
            open: region(Kind::Open),
            open_details: region(Kind::OpenDetails),
            records: region(Kind::Records),
            token: 0,
        };
        let worker = WorkerWriter {
            running: region(Kind::Running),
            running_tree: region(Kind::RunningTree),
            tree_pages: region(Kind::TreePages),
            trees: 0,
            last_kept: (0, Kept::Whole),
            meta: region(Kind::Meta),
            features: region(Kind::Features),
            pending: region(Kind::Pending),
            figures: region(Kind::Figures),
        };
        let marks = SamplerMarks { fuse: RingFuse { shared: Arc::clone(&shared) } };
        Self { main, worker, marks, reader: RingReader { shared } }
    }
}

/// The one writer of a region.
#[derive(Debug)]
struct RegionWriter {
    shared: Arc<Shared>,
    region: Option<Region>,
    slots: usize,
    /// The slot that [`RegionWriter::write_next`] writes next.
    next: usize,
    /// The number of the last write.
    seq: u64,
}

impl RegionWriter {
    fn new(shared: &Arc<Shared>, kind: Kind) -> Self {
        let region = shared.header.layout.region(kind);
        let slots = region.map_or(0, |region| region.slots);
        Self { shared: Arc::clone(shared), region, slots, next: 0, seq: 0 }
    }

    fn capacity(&self) -> usize {
        self.region.map_or(0, |region| region.capacity())
    }

    /// Writes to the slot after the one written last.
    fn write_next(&mut self, len: usize, words: impl Iterator<Item = u64>) -> Result<(), StoreError> {
        self.write_at(self.next, len, words)?;
        // Counted, not divided: this runs for each message. And only now, so that what was refused does not bring the
        // next write over the newest state.
        self.next = if self.next + 1 < self.slots { self.next + 1 } else { 0 };
        Ok(())
    }

    fn write_at(
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

    fn write_next_bytes(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_next(bytes.len(), words_of(bytes))
    }

    fn write_next_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoreError> {
        self.write_next_bytes(&codec::encode(value)?)
    }
}

/// The most bytes that an encoded record is given on the main thread's stack.
const RECORD_BUFFER: usize = 2048;

/// What the main thread writes. No method allocates, locks or calls the system (on kernels before 4.14: `getpid`).
///
/// Order matters to a process that is killed in between. At the end of a message: [`close`](Self::close) when a record
/// closes, then [`open_details`](Self::open_details) and [`open`](Self::open) for the one that goes on, and
/// [`idle`](Self::idle) or the outer message's [`running`](Self::running) last. A record that counts the message that
/// is announced as running tells readers that this message has ended.
#[derive(Debug)]
pub struct MainWriter {
    current: RegionWriter,
    open: RegionWriter,
    open_details: RegionWriter,
    records: RegionWriter,
    /// The message announced as running, 0 for none.
    token: u64,
}

impl MainWriter {
    /// Message `token` (from 1) runs since `start_ns` uptime, `depth` Looper loops deep (1 for an ordinary message).
    pub fn running(&mut self, token: u64, start_ns: u64, depth: u32) -> Result<(), StoreError> {
        self.current(token, Current::Running { token, start_ns, depth })
    }

    /// No message runs since `since_ns` uptime.
    pub fn idle(&mut self, since_ns: u64) -> Result<(), StoreError> {
        self.current(0, Current::Idle { since_ns })
    }

    fn current(&mut self, token: u64, current: Current) -> Result<(), StoreError> {
        self.token = token;
        let words = current.to_words();
        self.current.write_next(words.len() * 8, words.iter().copied())
    }

    /// The announced message if `record` counts it, else 0.
    fn ended<D>(&self, record: &Record<D>) -> u64 {
        let counted = self.token.wrapping_sub(record.first_token) < u64::from(record.count);
        if counted { self.token } else { 0 }
    }

    /// The counters of the open record. Its details are not looked at: see [`open_details`](Self::open_details).
    pub fn open<D>(&mut self, record: &Record<D>) -> Result<(), StoreError> {
        let words = Open::words(record, self.ended(record));
        self.open.write_next(words.len() * 8, words.iter().copied())
    }

    /// The details of the open record `seq`; only when they change. What does not fit is left out from the end.
    pub fn open_details<T: Serialize>(&mut self, seq: u64, details: &[T]) -> Result<(), StoreError> {
        let mut buffer = [0; RECORD_BUFFER];
        let room = buffer.get_mut(..self.open_details.capacity().saturating_sub(8).min(RECORD_BUFFER));
        let encoded = encode_within(room.unwrap_or_default(), details.len(), |kept, room| {
            codec::encode_into(details.get(..kept).unwrap_or_default(), room)
        })?;
        let words = core::iter::once(seq).chain(words_of(encoded));
        self.open_details.write_next(encoded.len() + 8, words)
    }

    /// A record is closed, with these details. It takes the place of record `seq - records`.
    ///
    /// Details that do not fit the slot are left out from the end and counted in `dropped_details`; with the default
    /// geometry that takes eight details whose two names have more than about 130 bytes together.
    pub fn close<D, T: Serialize>(&mut self, record: &Record<D>, details: &[T]) -> Result<(), StoreError> {
        let mut buffer = [0; RECORD_BUFFER];
        let room = buffer.get_mut(..self.records.capacity().saturating_sub(8).min(RECORD_BUFFER));
        let encoded = encode_within(room.unwrap_or_default(), details.len(), |kept, room| {
            let mut record = with_details(record, details.get(..kept).unwrap_or_default());
            record.dropped_details = record.dropped_details.saturating_add((details.len() - kept) as u32);
            codec::encode_into(&record, room)
        })?;
        let slots = self.records.region.map_or(1, |region| region.slots as u64).max(1);
        let words = core::iter::once(self.ended(record)).chain(words_of(encoded));
        self.records.write_at((record.seq % slots) as usize, encoded.len() + 8, words)
    }
}

/// Encodes with as many of `details` as there is room for, from all of them down.
fn encode_within(
    room: &mut [u8],
    details: usize,
    encode: impl Fn(usize, &mut [u8]) -> Result<usize, CodecError>,
) -> Result<&[u8], StoreError> {
    let mut kept = details;
    let len = loop {
        match encode(kept, room) {
            Ok(len) => break len,
            Err(error) if kept == 0 => return Err(error.into()),
            Err(_) => kept -= 1,
        }
    };
    Ok(room.get(..len).unwrap_or_default())
}

/// What the worker thread writes. Its methods may allocate.
#[derive(Debug)]
pub struct WorkerWriter {
    running: RegionWriter,
    running_tree: RegionWriter,
    tree_pages: RegionWriter,
    /// How many trees were kept.
    trees: u64,
    /// The running message's tree as last written: its message and how much of it found room.
    last_kept: (u64, Kept),
    meta: RegionWriter,
    features: RegionWriter,
    pending: RegionWriter,
    figures: RegionWriter,
}

impl WorkerWriter {
    /// What is known of the running message beyond its number: name, CPU time, as of when.
    pub fn running(&mut self, running: &Running) -> Result<(), StoreError> {
        self.running.write_next_value(running)
    }

    /// The stacks of the running message so far, with the names they use.
    ///
    /// A tree that is too large is kept with less, see [`Kept`]. Packing costs some ten microseconds per kilobyte, so
    /// a caller writes at the first sample, and then less often than each.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] when not even a single sample fits; the tree written before stands.
    pub fn running_tree(&mut self, symbols: &Symbols, tree: &StackTree) -> Result<Kept, StoreError> {
        // What did not fit a moment ago does not fit now either.
        let from = if self.last_kept.0 == tree.token { self.last_kept.1 } else { Kept::Whole };
        let (packed, kept) = pack(symbols, tree, self.running_tree.capacity(), from)?;
        self.running_tree.write_next_bytes(&packed)?;
        self.last_kept = (tree.token, kept);
        Ok(kept)
    }

    /// The running message has ended and its stacks are kept elsewhere, or not worth it.
    pub fn clear_running_tree(&mut self) -> Result<(), StoreError> {
        self.running_tree.write_next_bytes(&[])
    }

    /// Keeps the tree of a message that has ended, in place of the oldest ones. Readers get back as many as there is
    /// room for: about ten of ordinary size with the default geometry, never fewer than the latest three.
    ///
    /// # Errors
    /// As [`running_tree`](Self::running_tree).
    pub fn keep_tree(&mut self, symbols: &Symbols, tree: &StackTree) -> Result<Kept, StoreError> {
        let page_len = self.tree_pages.capacity().saturating_sub(PAGE_HEADER_LEN);
        let pages = self.tree_pages.region.map_or(0, |region| region.slots / 4).max(1);
        let (packed, kept) = pack(symbols, tree, pages * page_len, Kept::Whole)?;
        self.trees += 1;
        let parts = packed.chunks(page_len.max(1));
        let of = parts.len() as u64;
        for (part, bytes) in (0_u64..).zip(parts) {
            let header = [self.trees, part << 32 | of];
            let words = header.into_iter().chain(words_of(bytes));
            self.tree_pages.write_next(PAGE_HEADER_LEN + bytes.len(), words)?;
        }
        Ok(kept)
    }

    /// Who records, under which limits. `reason` and `dumped_at` are replaced at recovery.
    pub fn meta(&mut self, meta: &Meta) -> Result<(), StoreError> {
        self.meta.write_next_value(meta)
    }

    /// Which features are on; again whenever one changes.
    pub fn features(&mut self, features: &[FeatureState]) -> Result<(), StoreError> {
        self.features.write_next_value(features)
    }

    /// The message queue as captured. Worth its time as soon as something looks wrong: the report may come too late.
    pub fn pending(&mut self, pending: &Pending) -> Result<(), StoreError> {
        self.pending.write_next_value(pending)
    }

    /// Figures of process and machine, as captured with the queue.
    pub fn figures(&mut self, figures: &[Figure]) -> Result<(), StoreError> {
        self.figures.write_next_value(figures)
    }
}

fn pack(
    symbols: &Symbols,
    tree: &StackTree,
    capacity: usize,
    from: Kept,
) -> Result<(Vec<u8>, Kept), StoreError> {
    pack_within(symbols, tree, capacity, from).map_err(|error| match error {
        PackError::Codec(error) => error.into(),
        PackError::TooLarge(needed) => StoreError::TooLarge { needed, capacity },
    })
}

/// The mark that outlives the process while something dangerous is being done. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RingFuse {
    shared: Arc<Shared>,
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
    fuse: RingFuse,
}

impl SamplerMarks {
    /// The fuse, for whoever does the dangerous things.
    pub fn fuse(&self) -> RingFuse {
        self.fuse.clone()
    }

    /// Opens the fuse, with phase 1: the calling thread does something dangerous next.
    pub fn open_fuse(&mut self) {
        self.fuse.mark(1);
    }

    /// Closes the fuse.
    pub fn close_fuse(&mut self) {
        self.fuse.mark(0);
    }

    /// The process is alive at `uptime_ns`. What a recovered report says of a running message is as of the last one.
    pub fn beat(&self, uptime_ns: u64) {
        if let Some(word) = self.fuse.shared.mark(HEARTBEAT_AT) {
            beat(word, uptime_ns);
        }
    }
}

/// Reads the ring while its writers run. Cheap to clone; any thread.
#[derive(Debug, Clone)]
pub struct RingReader {
    shared: Arc<Shared>,
}

impl RingReader {
    /// Everything that the ring holds, as the report that it would leave if the process ended now.
    ///
    /// Each slot is read whole or, when its writer is faster than the reader, counted as damage; a record and the
    /// group that follows it never overlap. `reason` and `dumped_at` of the report's `meta` are the caller's to set.
    pub fn snapshot(&self) -> Recovered {
        assemble(&Live(self.shared.words()), &self.shared.header)
    }

    /// Notes a crash, for the report that the next process recovers; `signal` is 0 when it is of another kind.
    /// Async-signal-safe: two loads and a store (on kernels before 4.14 also `getpid`).
    pub fn mark_crash(&self, signal: i32) {
        if let Some(word) = self.shared.mark(CRASH_AT) {
            word.set_release(CrashMark { signal }.to_word());
        }
    }

    /// Why the ring will not outlive the process; `None` when it will.
    pub fn volatile_reason(&self) -> Option<&Volatile> {
        self.shared.volatile.as_ref()
    }

    /// Where the ring's file is; `None` when it is volatile.
    pub fn path(&self) -> Option<&Path> {
        self.shared.memory.path()
    }

    /// Bytes of the ring in memory and on disk.
    pub fn size(&self) -> usize {
        self.shared.header.layout.len
    }

    /// Deletes the file: the recorder is uninstalled and leaves nothing to recover. The memory stays usable. A file
    /// that is gone already is fine.
    pub fn discard(&self) -> io::Result<()> {
        let Some(path) = self.path().filter(|_| self.shared.memory.is_mine()) else { return Ok(()) };
        match std::fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}
