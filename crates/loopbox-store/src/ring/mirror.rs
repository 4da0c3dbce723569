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
use crate::layout::{CRASH_AT, HEARTBEAT_AT, Header, Kind, Region};
use crate::memory::may_grow_to;
use crate::ring_file::{RingFile, Volatile};
use crate::slot::{SlotRead, encode_slot};
use crate::source::{Live, Newest, Source, newest, slot_of};
use loopbox_format::model::Uptime;
use std::borrow::Cow;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The order in which the regions are read. The last sign of life is read before all of them. A message that
/// has ended must not seem to have run until a later sign of life (the mark or a sample). So the running
/// message is read before the records that count it, and its stacks are read before it. At the end of a
/// message the worker first writes the tree into the pages and then clears the running message's stacks, so
/// the pages are read after these stacks.
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

/// Copies the ring into its file. For one thread, which may wait for the disk.
#[derive(Debug)]
pub struct Mirror {
    shared: Arc<Shared>,
    dir: PathBuf,
    copies: Vec<RegionCopy>,
    /// Display frames that may not be in the file yet. They are not in the ring's memory.
    frames: Option<SavedFrames>,
    /// Last sign of life and crash mark as they are in the file.
    marks: [u64; 2],
}

/// The part of a region that is in the file.
#[derive(Debug)]
struct RegionCopy {
    kind: Kind,
    region: Region,
    /// The number of the write in each slot of the file; 0 for none.
    written: Vec<u64>,
}

/// A slot on its way into the file.
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
        Self { shared: Arc::clone(shared), dir, copies, frames: None, marks: [0; 2] }
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
        self.marks = [0; 2];
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
        let marks = [HEARTBEAT_AT, CRASH_AT].map(|at| live.word(at));
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
        for (copy, changed) in self.copies.iter_mut().zip(changed).rev() {
            for Changed { index, seq, bytes } in changed {
                write(&bytes, copy.region.slot_at(index) as u64)?;
                if let Some(written) = copy.written.get_mut(index) {
                    *written = seq;
                }
            }
        }
        for ((at, word), written) in [HEARTBEAT_AT, CRASH_AT].into_iter().zip(marks).zip(&mut self.marks) {
            if word != *written {
                write(&word.to_le_bytes(), at as u64)?;
                *written = word;
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

    /// The newest state of a region that changes in place, if the file does not have it; it replaces the
    /// older of the states in the file.
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
mod tests {
    use super::*;
    use crate::layout::REGIONS_AT;
    use crate::recover::{Recovered, recover};
    use crate::{CrashMark, Geometry, Identity, Ring, RingOptions};
    use loopbox_format::display_frames::encode_session;
    use loopbox_format::model::Token;
    use loopbox_format::model::Uptime;
    use loopbox_format::model::{
        ClockPair, FrameSession, Location, LocationId, MainState, Method, MethodId, Phase, RecentFrame,
        Record, RecordKind, Slowest, StackSource, StackTree, Symbols, TreeNode,
    };

    const MS: u64 = 1_000_000;

    fn ring() -> Ring {
        ring_with(0)
    }

    fn ring_with(frames_len: u32) -> Ring {
        let geometry = Geometry {
            records: 4,
            record_len: 256,
            tree_pages: 8,
            tree_page_len: 256,
            running_tree_len: 1024,
            pending_len: 128,
            frames_len,
        };
        let identity = Identity::of_this_process(ClockPair { uptime_ns: Uptime(1), unix_ms: 1 });
        Ring::create(&RingOptions { dir: PathBuf::new(), identity, geometry })
    }

    /// The open group `seq` with `count` messages, one each millisecond.
    fn group(seq: u64, count: u32) -> Record {
        let first_token = seq * 10;
        Record {
            kind: RecordKind::Group,
            seq,
            first_token: Token(first_token),
            count,
            start_ns: Uptime(first_token * MS),
            wall_ns: u64::from(count) * MS,
            work_ns: u64::from(count) * MS,
            idle_ns: 0,
            cpu_ns: None,
            checktime_late_ns: None,
            slowest: Some(Slowest { token: Token(first_token), wall_ns: MS }),
            details: Vec::new(),
            dropped_details: 0,
            closed: false,
        }
    }

    fn stacks(token: Token, samples: usize) -> (Symbols, StackTree) {
        let method = Method {
            class: "com.example.App".into(),
            name: "work".into(),
            signature: "()V".into(),
            source_file: "App.java".into(),
        };
        let symbols = Symbols {
            methods: vec![method],
            locations: vec![Location::Frame { method: MethodId(0), dex_pc: None, line: None }],
        };
        let tree = StackTree {
            token,
            start_ns: Uptime(token.0 * MS),
            source: StackSource::Art,
            phases: vec![Phase { first_sample: 0, interval_ns: 1_000 }],
            sample_deltas_ns: vec![1_000; samples],
            nodes: vec![TreeNode { location: LocationId(0), skip: 0, count: samples as u32, children: 0 }],
            missed_samples: 0,
            longest_stop_ns: 0,
            total_stop_ns: 0,
        };
        (symbols, tree)
    }

    /// Writes messages `from..to` as the threads of the recorder do. Those for which `sampled` returns true
    /// get stacks.
    fn record(ring: &mut Ring, from: u64, to: u64, sampled: impl Fn(u64) -> bool) {
        for token in from..to {
            let (seq, count) = (token / 10, token as u32 % 10 + 1);
            ring.main.running(Token(token), Uptime(token * MS), 1).unwrap();
            ring.reader.heartbeat(Uptime(token * MS + MS / 2));
            let (symbols, tree) = stacks(Token(token), 300);
            if sampled(token) {
                ring.worker.running_tree(&symbols, &tree).unwrap();
            }
            ring.main.open(&group(seq, count)).unwrap();
            if count == 10 {
                ring.main.close(&Record { closed: true, ..group(seq, 10) }, &[(); 0]).unwrap();
            }
            ring.main.idle(Uptime((token + 1) * MS)).unwrap();
            if sampled(token) {
                ring.worker.keep_tree(&symbols, &tree).unwrap();
                ring.worker.clear_running_tree().unwrap();
            }
        }
    }

    /// A file, and how many more bytes can still be written into it.
    struct Disk {
        image: Vec<u8>,
        room: usize,
    }

    impl Disk {
        fn new(ring: &Ring) -> Self {
            let mut image = ring.reader.shared.header.encode().to_vec();
            image.resize(ring.reader.size(), 0);
            Self { image, room: usize::MAX }
        }

        /// Writes as many of the bytes as there is room for. If that is not all, it fails, like a process
        /// that ends in the middle of a write.
        fn write(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
            let kept = bytes.len().min(self.room);
            self.image[at as usize..][..kept].copy_from_slice(&bytes[..kept]);
            self.room -= kept;
            if kept == bytes.len() { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        }

        fn copy(&mut self, ring: &mut Ring) -> io::Result<()> {
            ring.mirror.copy_to(&mut |bytes, at| self.write(bytes, at))
        }

        fn recover(&self) -> Recovered {
            recover(&self.image).unwrap()
        }
    }

    /// Copies a ring to the disk, lets `between` record more, and copies again; for each possible number of
    /// bytes, the second copy is cut off after that number. `check` gets what can be read then.
    fn cut_everywhere(between: impl Fn(&mut Ring), check: impl Fn(&Recovered)) {
        let mut cuts = 0;
        for room in 0.. {
            let mut ring = ring();
            record(&mut ring, 10, 38, |token| token % 4 == 0);
            let mut disk = Disk::new(&ring);
            disk.copy(&mut ring).unwrap();
            between(&mut ring);
            disk.room = room;
            let copied = disk.copy(&mut ring).is_ok();
            check(&disk.recover());
            if copied {
                break;
            }
            cuts += 1;
        }
        assert!(cuts > 500, "{cuts}");
    }

    fn tokens(recovered: &Recovered) -> Vec<u64> {
        recovered.report.trees.iter().map(|tree| tree.token.0).collect()
    }

    /// Between the copies one more record is closed, so that the group's counters, the closed record, the
    /// message and its stacks all change.
    #[test]
    fn a_copy_that_is_cut_off_anywhere_leaves_what_was_there_or_is_newer() {
        let runs = |ring: &mut Ring| {
            record(ring, 38, 45, |token| token == 40);
            ring.main.running(Token(45), Uptime(45 * MS), 1).unwrap();
            let (symbols, tree) = stacks(Token(45), 50);
            ring.worker.running_tree(&symbols, &tree).unwrap();
            ring.reader.heartbeat(Uptime(3_000 * MS));
        };
        cut_everywhere(runs, |seen| {
            let context = || format!("{:?} {:?} {:?}", seen.damage, seen.report.main, seen.report.history);
            assert!(seen.damage.len() <= 1 && seen.torn == 0, "{}", context());
            // Nothing is missing between the first and the last message, whichever that is, and none is there
            // twice.
            let mut counted = 9;
            for record in &seen.report.history {
                assert_eq!(record.first_token, Token(counted + 1), "{}", context());
                counted += u64::from(record.count);
            }
            assert!((37..45).contains(&counted), "{}", context());
            match &seen.report.main {
                MainState::Running(running) => {
                    assert_eq!((running.token, counted), (Token(45), 44), "{}", context());
                }
                MainState::Idle { .. } => assert!(seen.last_alive_ns <= Uptime(45 * MS), "{}", context()),
                other => panic!("{other:?}"),
            }
            // Messages 28, 32 and 36 were there, whole; and 40 is, once it was.
            let tokens = tokens(seen);
            assert!([28, 32, 36].iter().all(|token| tokens.contains(token)), "{tokens:?}");
            assert!(tokens.windows(2).all(|pair| pair[0] < pair[1]), "{tokens:?}");
        });
    }

    /// The stacks of the hang move from the running message's place to the pages; at each instant they are in
    /// one of the two.
    #[test]
    fn the_stacks_of_a_hang_that_ends_are_never_gone() {
        let hang = |ring: &mut Ring| {
            ring.main.running(Token(38), Uptime(38 * MS), 1).unwrap();
            let (symbols, tree) = stacks(Token(38), 300);
            ring.worker.running_tree(&symbols, &tree).unwrap();
        };
        for room in 0.. {
            let mut ring = ring();
            record(&mut ring, 10, 38, |_| false);
            hang(&mut ring);
            let mut disk = Disk::new(&ring);
            disk.copy(&mut ring).unwrap();
            assert_eq!(tokens(&disk.recover()), [38]);
            ring.main.open(&group(3, 9)).unwrap();
            ring.main.idle(Uptime(39 * MS)).unwrap();
            let (symbols, tree) = stacks(Token(38), 300);
            ring.worker.keep_tree(&symbols, &tree).unwrap();
            ring.worker.clear_running_tree().unwrap();
            disk.room = room;
            let copied = disk.copy(&mut ring).is_ok();
            assert_eq!(tokens(&disk.recover()), [38]);
            if copied {
                break;
            }
        }
    }

    /// A process that is killed while its frames are copied leaves either the new frames or those of the
    /// previous copy.
    #[test]
    fn display_frames_that_are_cut_off_anywhere_leave_the_ones_before() {
        let session = |duration_us| FrameSession {
            recent: vec![RecentFrame { duration_us, ..RecentFrame::default() }; 8],
            ..FrameSession::default()
        };
        for room in 0.. {
            let mut ring = ring_with(512);
            let mut disk = Disk::new(&ring);
            let save = |ring: &mut Ring, duration_us| {
                let bytes = encode_session(&session(duration_us));
                ring.worker.frames(|slot| slot.extend(bytes)).unwrap();
            };
            save(&mut ring, 1);
            disk.copy(&mut ring).unwrap();
            // Only the newest of what waits is copied.
            save(&mut ring, 2);
            save(&mut ring, 3);
            disk.room = room;
            let copied = disk.copy(&mut ring).is_ok();
            let seen = disk.recover();
            // The last bytes are zeros, which a file has that was not written.
            let newest = copied || room > 300 && seen.report.frames == session(3);
            assert_eq!(seen.report.frames, session(if newest { 3 } else { 1 }), "{room}");
            assert!(seen.damage.len() <= 1 && seen.torn == 0, "{:?}", seen.damage);
            // What a failed copy had is there for the next.
            disk.room = usize::MAX;
            disk.copy(&mut ring).unwrap();
            assert_eq!(disk.recover().report.frames, session(3));
            if copied {
                assert!(room > 300, "{room}");
                break;
            }
        }
    }

    #[test]
    fn only_what_has_changed_is_written_again() {
        let mut ring = ring();
        record(&mut ring, 10, 38, |token| token % 4 == 0);
        let mut disk = Disk::new(&ring);
        disk.copy(&mut ring).unwrap();
        disk.room = 0;
        disk.copy(&mut ring).unwrap();
        ring.main.running(Token(38), Uptime(38 * MS), 1).unwrap();
        let before = disk.image.clone();
        disk.room = usize::MAX;
        disk.copy(&mut ring).unwrap();
        let changed: Vec<usize> = (0..before.len()).filter(|&at| before[at] != disk.image[at]).collect();
        let one_slot = REGIONS_AT..REGIONS_AT + 256;
        assert!(changed.iter().all(|at| one_slot.contains(at)) && !changed.is_empty(), "{changed:?}");
    }

    /// When a thread is stopped in the middle of a write, as the main thread is for a stack, that slot is
    /// copied the next time.
    #[test]
    fn a_slot_that_is_being_written_is_left_for_the_next_copy() {
        let mut ring = ring();
        record(&mut ring, 10, 38, |_| false);
        let mut disk = Disk::new(&ring);
        disk.copy(&mut ring).unwrap();
        ring.main.close(&Record { closed: true, ..group(3, 10) }, &[(); 0]).unwrap();
        let region = ring.reader.shared.header.layout.region(Kind::Records).unwrap();
        let seq = &ring.reader.shared.words()[region.slot_at(3) / 8];
        let whole = seq.swap(1_u64.to_le(), Ordering::Relaxed);
        disk.copy(&mut ring).unwrap();
        assert_eq!(disk.recover().report.history.iter().filter(|record| record.closed).count(), 2);
        assert_eq!(disk.recover().damage, []);
        ring.reader.shared.words()[region.slot_at(3) / 8].store(whole, Ordering::Relaxed);
        disk.copy(&mut ring).unwrap();
        assert_eq!(disk.recover().report.history.iter().filter(|record| record.closed).count(), 3);
    }

    /// A crash handler may run, and the process may end, at any step of the copying thread, also before the
    /// file has its final name.
    #[test]
    fn a_crash_is_in_the_file_before_that_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut ring = ring();
        ring.mirror.dir = folder.path().to_path_buf();
        let file = ring.mirror.make().unwrap();
        let shared = Arc::clone(&ring.reader.shared);
        let file = shared.file.get_or_init(|| file);
        ring.reader.mark_crash(11);
        assert_eq!(ring.reader.path(), None);
        file.name().unwrap();
        let found = std::fs::read(ring.reader.path().unwrap()).unwrap();
        assert_eq!(recover(&found).unwrap().crash, Some(CrashMark { signal: 11 }));
    }

    #[test]
    fn a_file_without_a_name_gets_it_later_and_one_that_was_given_up_never() {
        let folder = tempfile::tempdir().unwrap();
        let mut ring = ring();
        ring.mirror.dir = folder.path().to_path_buf();
        let made = ring.mirror.make().unwrap();
        let shared = Arc::clone(&ring.reader.shared);
        shared.file.set(made).unwrap();
        let entries = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let name = entries().next().unwrap().with_extension("");
        std::fs::create_dir(&name).unwrap();
        assert!(matches!(ring.mirror.attach(), Err(Volatile::Name(_))));
        record(&mut ring, 10, 18, |_| false);
        std::fs::remove_dir(&name).unwrap();
        ring.mirror.attach().unwrap();
        assert_eq!(ring.reader.path(), Some(name.as_path()));
        let found = recover(&std::fs::read(&name).unwrap()).unwrap();
        assert_eq!(found.report.history.iter().map(|record| record.count).sum::<u32>(), 8);

        shared.file.get().unwrap().give_up();
        assert_eq!((ring.reader.path(), entries().count()), (None, 0));
        assert!(matches!(ring.mirror.attach(), Err(Volatile::GivenUp)));
        ring.mirror.copy().unwrap();
    }
}
