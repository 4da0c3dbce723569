//! Copies that are cut off at any byte.

use super::*;
use crate::layout::REGIONS_AT;
use crate::recover::{Recovered, recover};
use crate::{CrashMark, Geometry, Identity, Interruption, Ring, RingOptions};
use loopbox_format::display_frames::encode_session;
use loopbox_format::model::Token;
use loopbox_format::model::Uptime;
use loopbox_format::model::{
    ClockPair, FrameSession, Location, LocationId, MainState, Method, MethodId, Phase, RecentFrame, Record,
    RecordKind, Slowest, StackSource, StackTree, Symbols, TreeNode,
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
    /// that ends in the middle of a write. A mark, which is one word, is written whole or not at all.
    fn write(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        let is_mark = bytes.len() == size_of::<u64>();
        let kept = if is_mark && self.room < bytes.len() { 0 } else { bytes.len().min(self.room) };
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

/// Copies a ring to a disk twice. `before` fills the ring before the first copy, and `between` before the
/// second one. This is repeated with the second copy cut off after each possible number of bytes. `check`
/// gets what can be recovered from the disk after the cut. Returns the number of cuts.
fn cut_everywhere(
    before: impl Fn(&mut Ring),
    between: impl Fn(&mut Ring),
    check: impl Fn(&Recovered),
) -> usize {
    for room in 0.. {
        let mut ring = ring();
        before(&mut ring);
        let mut disk = Disk::new(&ring);
        disk.copy(&mut ring).unwrap();
        between(&mut ring);
        disk.room = room;
        let copied = disk.copy(&mut ring).is_ok();
        check(&disk.recover());
        if copied {
            return room;
        }
    }
    0
}

/// What every reader must see: a message runs only when the records do not count it, and count all before it.
fn assert_only_the_next_one_runs(seen: &Recovered) {
    let last = seen.report.history.last().unwrap();
    if let MainState::Running(running) = &seen.report.main {
        let next = last.first_token.plus(last.count.into());
        assert_eq!(running.token, next, "{:?} {:?}", seen.report.main, seen.report.history);
    }
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
    let before = |ring: &mut Ring| record(ring, 10, 38, |token| token % 4 == 0);
    let cuts = cut_everywhere(before, runs, |seen| {
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
    assert!(cuts > 500, "{cuts}");
}

/// The time for which the process was frozen must not count as time in which the message ran.
#[test]
fn the_last_sign_of_life_is_never_newer_than_what_interrupted_the_message() {
    let frozen = Interruption { frozen_ns: 60_000 * MS, debugged: false };
    for room in 0.. {
        let mut ring = ring();
        ring.main.running(Token(38), Uptime(38 * MS), 1).unwrap();
        ring.reader.heartbeat(Uptime(500 * MS));
        let mut disk = Disk::new(&ring);
        disk.copy(&mut ring).unwrap();
        ring.reader.interrupted(Token(38), frozen);
        ring.reader.heartbeat(Uptime(60_900 * MS));
        disk.room = room;
        let copied = disk.copy(&mut ring).is_ok();
        // Each of these words is written at once.
        if room % 8 == 0 {
            let seen = disk.recover();
            let ran_ns = seen.running_ns().unwrap().saturating_sub(seen.interruption.frozen_ns);
            assert!(ran_ns <= 1_000 * MS, "{room}: {seen:?}");
        }
        if copied {
            assert_eq!((room, disk.recover().interruption), (16, frozen));
            break;
        }
    }
}

/// The file may have the message of one moment and the records of a later one.
#[test]
fn a_message_of_a_loop_inside_of_a_message_does_not_run_on_when_a_later_one_has_ended() {
    let before = |ring: &mut Ring| {
        record(ring, 10, 33, |_| false);
        ring.main.running(Token(33), Uptime(33 * MS), 1).unwrap();
        ring.main.open(&group(3, 4)).unwrap();
        ring.main.running(Token(34), Uptime(34 * MS), 2).unwrap();
    };
    let between = |ring: &mut Ring| {
        ring.main.open(&group(3, 5)).unwrap();
        ring.main.idle(Uptime(35 * MS)).unwrap();
        ring.main.running(Token(35), Uptime(35 * MS), 2).unwrap();
        ring.main.open(&group(3, 6)).unwrap();
        ring.main.idle(Uptime(36 * MS)).unwrap();
    };
    let cuts = cut_everywhere(before, between, assert_only_the_next_one_runs);
    assert!(cuts > 100, "{cuts}");
}

/// A record that is written after `next_is` has forgotten an announced message names no message that has
/// ended.
#[test]
fn a_message_does_not_run_on_when_a_beginning_after_it_was_taken_back() {
    let before = |ring: &mut Ring| record(ring, 10, 38, |_| false);
    let between = |ring: &mut Ring| {
        ring.main.running(Token(38), Uptime(38 * MS), 1).unwrap();
        ring.main.next_is(Token(38));
        ring.main.idle(Uptime(38 * MS)).unwrap();
        ring.main.close(&Record { closed: true, ..group(3, 8) }, &[(); 0]).unwrap();
        let rest = Record { kind: RecordKind::Idle, start_ns: Uptime(38 * MS), slowest: None, ..group(4, 0) };
        let first_token = Token(38);
        let rest = Record { first_token, wall_ns: 400 * MS, idle_ns: 400 * MS, closed: true, ..rest };
        ring.main.close(&rest, &[(); 0]).unwrap();
    };
    let cuts = cut_everywhere(before, between, assert_only_the_next_one_runs);
    assert!(cuts > 100, "{cuts}");
}

/// Both clocks at an uptime, on a device that has been in deep sleep for `slept_ms` in all.
fn clocks(uptime_ms: u64, slept_ms: u64) -> ClockPair {
    ClockPair { uptime_ns: Uptime(uptime_ms * MS), unix_ms: 1_700_000_000_000 + uptime_ms + slept_ms }
}

const THREE_HOURS_MS: u64 = 3 * 3_600_000;

#[test]
fn the_last_sign_of_life_has_the_wall_clock_time_that_it_had_after_deep_sleep() {
    let mut ring = ring();
    record(&mut ring, 10, 20, |_| false);
    ring.mirror.note_clocks(clocks(20, 0));
    let mut disk = Disk::new(&ring);
    disk.copy(&mut ring).unwrap();
    assert_eq!(disk.recover().report.meta.dumped_at, clocks(20, 0));
    record(&mut ring, 20, 30, |_| false);
    ring.mirror.note_clocks(clocks(31, THREE_HOURS_MS));
    disk.copy(&mut ring).unwrap();
    assert_eq!(disk.recover().report.meta.dumped_at, clocks(30, THREE_HOURS_MS));
    // It sleeps again, and nothing is recorded: the last sign of life stays where it was.
    ring.mirror.note_clocks(clocks(32, 2 * THREE_HOURS_MS));
    disk.copy(&mut ring).unwrap();
    assert_eq!(disk.recover().report.meta.dumped_at, clocks(30, THREE_HOURS_MS));
}

#[test]
fn a_copy_that_is_cut_off_anywhere_gives_no_sign_of_life_a_time_before_the_sleep() {
    let before = |ring: &mut Ring| {
        ring.mirror.note_clocks(clocks(38, 0));
        record(ring, 10, 38, |_| false);
    };
    let between = |ring: &mut Ring| {
        ring.mirror.note_clocks(clocks(46, THREE_HOURS_MS));
        record(ring, 38, 45, |_| false);
        ring.reader.heartbeat(Uptime(46 * MS));
    };
    let cuts = cut_everywhere(before, between, |seen| {
        let ClockPair { uptime_ns, unix_ms } = seen.report.meta.dumped_at;
        let slept_ms = unix_ms - clocks(uptime_ns.0 / MS, 0).unix_ms;
        assert!(slept_ms == THREE_HOURS_MS || slept_ms == 0 && uptime_ns <= Uptime(38 * MS), "{uptime_ns:?}");
    });
    assert!(cuts > 100, "{cuts}");
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
