//! The copy of the ring in its file, which survives the process. A separate thread writes it, because neither
//! the main thread nor one that measures it may wait for a disk.
//!
//! A copy is not made at one instant, and the process may end in the middle of it. It is readable anyway, for
//! these reasons:
//!
//! * A slot is copied whole, as every reader in the process reads it, or left for the next copy.
//! * A state that changes in place is written to the slot of the file that does not hold the newest state. If
//!   that write is cut off, the newest state before it remains.
//! * Regions are read in the order of [`ORDER`] and written in the reverse order. So whenever the process
//!   ends, no region in the file has an older state than a region that comes before it in [`ORDER`]. A reader
//!   of the living ring gets the same, and `recover` relies on it.
//! * Slots of a region that are written in turn are copied from the oldest to the newest, without a gap.

use super::saved_frames::SavedFrames;
use super::shared::Shared;
use crate::layout::{CLOCK_AT, CRASH_AT, HEARTBEAT_AT, Header, INTERRUPTED_AT, Kind, Region};
use crate::marks::clock_word;
use crate::memory::may_grow_to;
use crate::ring_file::{RingFile, Volatile};
use crate::slot::{SlotRead, encode_slot};
use crate::source::{Live, Newest, Source, newest, slot_of};
use loopbox_format::model::{ClockPair, Uptime};
use std::borrow::Cow;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The order in which the regions are read. The mark of the last sign of life is read before all of them.
/// Another sign of life is a sample in the running message's stacks. A copy must never show a message that
/// has ended as running until a later sign of life. So the running message's stacks are read first, then the
/// running message, and last the records that count the message. The pages of kept trees are read after the
/// running message's stacks: at the end of a message the worker first writes the tree into the pages and then
/// clears these stacks.
const ORDER: [Kind; 15] = [
    Kind::RunningTree,
    Kind::TreePages,
    Kind::Running,
    Kind::Outside,
    Kind::Meta,
    Kind::Features,
    Kind::Pending,
    Kind::Statistics,
    Kind::Warnings,
    Kind::Breadcrumbs,
    Kind::Frames,
    Kind::Current,
    Kind::Open,
    Kind::OpenDetails,
    Kind::Records,
];

/// The marks that are copied, in the order in which they are written. The copy reads them in the reverse
/// order. So the interruption that it reads is never older than the sign of life that it reads.
const MARKS: [usize; 3] = [CRASH_AT, INTERRUPTED_AT, HEARTBEAT_AT];

/// Copies the ring into its file. For one thread, which may wait for the disk.
#[derive(Debug)]
pub struct Mirror {
    shared: Arc<Shared>,
    dir: PathBuf,
    copies: Vec<RegionCopy>,
    /// Display frames that may not be in the file yet. They are not in the ring's memory.
    frames: Option<SavedFrames>,
    /// The marks as they are in the file.
    marks: [u64; MARKS.len()],
    /// The newest instant noted on both clocks.
    clock: u64,
    /// The instant on both clocks that is in the file.
    clock_in_file: u64,
}

/// The part of a region that is in the file.
#[derive(Debug)]
struct RegionCopy {
    kind: Kind,
    region: Region,
    /// For each slot of the file, the sequence number of the write that the slot has; 0 for a slot without
    /// one.
    written: Vec<u64>,
}

/// A changed slot that is to be written into the file.
struct Changed<'a> {
    /// The index of the file's slot to which the changed slot is written.
    index: usize,
    seq: u64,
    bytes: Cow<'a, [u8]>,
}

impl Mirror {
    pub(super) fn new(shared: &Arc<Shared>, dir: PathBuf) -> Self {
        let copy = |kind| {
            let region = shared.header.layout.region(kind)?;
            Some(RegionCopy { kind, region, written: vec![0; region.slots] })
        };
        let copies = ORDER.into_iter().filter_map(copy).collect();
        let shared = Arc::clone(shared);
        Self { shared, dir, copies, frames: None, marks: [0; MARKS.len()], clock: 0, clock_in_file: 0 }
    }

    /// Notes the present instant on both clocks. To be called before each copy: the newest pair in the file
    /// shows the next process at what time this one was last alive. The pair of the ring's creation does not,
    /// because uptime stands still in deep sleep.
    pub fn note_clocks(&mut self, now: ClockPair) {
        self.clock = clock_word(now);
    }

    /// Makes the file with what the ring already holds, and its directory where it is missing. If there is a
    /// file already, copies the ring into it. May be tried again.
    ///
    /// # Errors
    /// Why there is no file: the ring is memory alone, and its writers and readers go on.
    pub fn attach(&mut self) -> Result<(), Volatile> {
        let shared = Arc::clone(&self.shared);
        let discarded = || shared.discarded.load(Ordering::SeqCst);
        if discarded() || !shared.memory.is_mine() {
            return Ok(());
        }
        let file = match shared.file.get() {
            Some(file) if file.is_lost() => return Err(Volatile::GivenUp),
            Some(file) => file,
            None => {
                let made = self.make()?;
                shared.file.get_or_init(|| made)
            }
        };
        // A crash handler that ran since the file was filled could not write its mark there, and from here on
        // it does. So at no instant can the process end with a mark that the file has not, once there is a
        // file to find.
        self.copy_into(file)?;
        file.name()?;
        // It may have been discarded while there was nothing to delete.
        if discarded() {
            file.give_up();
        }
        Ok(())
    }

    /// Makes the file, which has no name yet.
    fn make(&mut self) -> Result<RingFile, Volatile> {
        self.copies.iter_mut().for_each(|copy| copy.written.fill(0));
        self.marks = [0; MARKS.len()];
        self.clock_in_file = 0;
        let Header { identity, layout } = self.shared.header.clone();
        let header = Header { identity: identity.completed(), layout };
        let dir = self.dir.clone();
        RingFile::create(&dir, &header, |file| self.copy_to(&mut |bytes, at| file.write_all_at(bytes, at)))
    }

    /// Copies what has changed since the last time; does nothing without a file. Costs a load for each slot
    /// of the ring and a system call for each slot that has changed.
    ///
    /// # Errors
    /// [`Volatile::Write`], once: the file is deleted then, and the ring is memory alone from now on.
    pub fn copy(&mut self) -> Result<(), Volatile> {
        let shared = Arc::clone(&self.shared);
        let file = shared.file.get().filter(|file| file.path().is_some() && shared.memory.is_mine());
        file.map_or(Ok(()), |file| self.copy_into(file))
    }

    fn copy_into(&mut self, file: &RingFile) -> Result<(), Volatile> {
        let copied = self.copy_to(&mut |bytes, at| file.file().write_all_at(bytes, at));
        // Not before there is a file: one that could not be made is made anew, with all that is in it.
        self.frames = None;
        copied.map_err(|error| {
            file.give_up();
            Volatile::Write(error)
        })
    }

    fn copy_to(&mut self, write: &mut dyn FnMut(&[u8], u64) -> io::Result<()>) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let live = Live(shared.words());
        let mut marks = self.marks;
        marks.iter_mut().zip(&MARKS).rev().for_each(|(mark, &at)| *mark = live.word(at));
        if let Some(newer) = shared.frames.take() {
            self.frames = Some(newer);
        }
        let saved = self.frames.as_ref();
        let changed: Vec<Vec<Changed<'_>>> =
            self.copies.iter().map(|copy| copy.read(&shared, saved)).collect();
        shared.save_lasting_fuse(Uptime(live.word(HEARTBEAT_AT)));
        if changed.iter().all(Vec::is_empty) && marks == self.marks {
            return Ok(());
        }
        // Beyond the limit a write is a SIGXFSZ, even where the file has its blocks.
        if !may_grow_to(shared.header.layout.len as u64) {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        // First, so that no sign of life in the file is from after a sleep that the pair does not show. And
        // only with something else: a sign of life that is in the file already may be from before the sleep.
        if self.clock != self.clock_in_file {
            write(&self.clock.to_le_bytes(), CLOCK_AT as u64)?;
            self.clock_in_file = self.clock;
        }
        for (copy, changed) in self.copies.iter_mut().zip(changed).rev() {
            for Changed { index, seq, bytes } in changed {
                write(&bytes, copy.region.slot_at(index) as u64)?;
                if let Some(written) = copy.written.get_mut(index) {
                    *written = seq;
                }
            }
        }
        for ((&at, word), written) in MARKS.iter().zip(&marks).zip(&mut self.marks) {
            if word != written {
                write(&word.to_le_bytes(), at as u64)?;
                *written = *word;
            }
        }
        Ok(())
    }
}

impl RegionCopy {
    /// What has changed, in the order in which it must be written.
    fn read<'a>(&self, shared: &Shared, frames: Option<&'a SavedFrames>) -> Vec<Changed<'a>> {
        match self.kind {
            Kind::Records | Kind::TreePages => self.read_turns(shared),
            Kind::Frames => frames.and_then(|saved| self.read_saved(saved)).into_iter().collect(),
            _ => self.read_newest(shared).into_iter().collect(),
        }
    }

    /// The present number of a slot of the ring; 0 while it is being written.
    fn seq(&self, shared: &Shared, index: usize) -> u64 {
        let seq = slot_of(shared.words(), &self.region, index).map_or(0, |slot| slot.seq());
        if seq.is_multiple_of(2) { seq } else { 0 }
    }

    /// The changed slots of a region whose slots are written in turn, from the oldest to the newest. A first
    /// pass finds the newest write; a second pass takes the slots that were written up to then.
    fn read_turns(&self, shared: &Shared) -> Vec<Changed<'static>> {
        let slots = self.region.slots;
        let numbered = (0..slots).map(|index| (self.seq(shared, index), index));
        let (newest, at) = numbered.max().unwrap_or_default();
        let mut changed = Vec::new();
        for index in (at + 1..slots).chain(0..=at) {
            if self.seq(shared, index) == self.written.get(index).copied().unwrap_or(0) {
                continue;
            }
            let mut payload = Vec::new();
            if let SlotRead::Whole { seq, .. } = Live(shared.words()).slot(&self.region, index, &mut payload)
                && seq <= newest
            {
                changed.push(Changed { index, seq, bytes: encode_slot(seq, &payload).into() });
            }
        }
        changed
    }

    /// The newest state of a region that changes in place, to be written to the file's slot that has the
    /// oldest state. `None` if the file already has the newest state, or if no state can be read.
    fn read_newest(&self, shared: &Shared) -> Option<Changed<'static>> {
        let (written, index) = self.newest_and_oldest()?;
        if (0..self.region.slots).all(|index| self.seq(shared, index) <= written) {
            return None;
        }
        let Newest { payload, seq, .. } = newest(&Live(shared.words()), &shared.header.layout, self.kind);
        (seq > written).then_some(Changed { index, seq, bytes: encode_slot(seq, &payload?).into() })
    }

    /// As [`Self::read_newest`], for display frames, which are saved outside of the ring's memory.
    fn read_saved<'a>(&self, saved: &'a SavedFrames) -> Option<Changed<'a>> {
        let (written, index) = self.newest_and_oldest()?;
        let SavedFrames { seq, bytes } = saved;
        (*seq > written).then_some(Changed { index, seq: *seq, bytes: bytes.as_slice().into() })
    }

    /// The number of the newest write in the file, and the index of the slot with the oldest write.
    fn newest_and_oldest(&self) -> Option<(u64, usize)> {
        let (index, _) = self.written.iter().enumerate().min_by_key(|&(_, seq)| seq)?;
        Some((self.written.iter().copied().max()?, index))
    }
}

#[cfg(test)]
mod tests;
