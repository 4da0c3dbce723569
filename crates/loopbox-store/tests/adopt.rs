//! Rings of earlier processes: which process adopts them, and what happens to them.

mod common;

use common::{options, record, ring};
use loopbox_format::model::Uptime;
use loopbox_store::{LayoutError, OrphanedRing, RecoverError, Ring, RingPolicy, adopt};
use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// Leaves a ring as a process that ends does; its only record identifies it.
fn leave(dir: &Path, seq: u64) -> PathBuf {
    let mut ring = ring(&options(dir));
    ring.main.close(&record(seq), &record(seq).details).unwrap();
    ring.mirror.copy().unwrap();
    ring.reader.path().expect("a file").to_owned()
}

/// Does what [`leave`] does, and sets the file's time to `hours` ago.
fn leave_earlier(dir: &Path, seq: u64, hours: u64) -> PathBuf {
    let path = leave(dir, seq);
    let at = SystemTime::now() - Duration::from_hours(hours);
    File::open(&path).unwrap().set_modified(at).unwrap();
    path
}

/// Makes a FIFO by a system call, without running a command: between its fork and its exec, a child would
/// hold the locks of all rings that other tests of this process have open at that moment, and those rings
/// could not be adopted then.
fn make_fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a path that ends in a zero and lives across the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

fn adopt_all(dir: &Path) -> Vec<OrphanedRing> {
    adopt_by(dir, &RingPolicy::default())
}

fn adopt_by(dir: &Path, policy: &RingPolicy) -> Vec<OrphanedRing> {
    adopt(dir, policy).unwrap().collect()
}

fn seq(adopted: &OrphanedRing) -> u64 {
    adopted.content.as_ref().unwrap().report.history[0].seq
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_ring_of_a_living_process_is_left_alone_and_a_dead_ones_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring(&options(dir.path()));
    let before = names(dir.path());
    assert_eq!(before.len(), 1);
    assert!(adopt_all(dir.path()).is_empty());
    assert_eq!(names(dir.path()), before);
    drop(ring);
    assert_eq!(adopt_all(dir.path()).len(), 1);
}

#[test]
fn two_rings_of_one_process_have_two_files() {
    let dir = tempfile::tempdir().unwrap();
    let rings = [ring(&options(dir.path())), ring(&options(dir.path()))];
    assert_eq!(names(dir.path()).len(), 2);
    rings[0].reader.discard().unwrap();
    rings[0].reader.discard().unwrap();
    assert_eq!(names(dir.path()).len(), 1);
}

#[test]
fn the_newest_come_first_and_what_the_policy_does_not_want_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    for hours in [4, 1, 3, 2] {
        leave_earlier(dir.path(), hours, hours);
    }
    leave_earlier(dir.path(), 99, 24 * 15);
    let adopted = adopt_by(dir.path(), &RingPolicy { max_files: 3, ..RingPolicy::default() });
    assert_eq!(adopted.iter().map(seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(names(dir.path()).len(), 3);
    drop(adopted);
    let len = fs::metadata(dir.path().join(&names(dir.path())[0])).unwrap().len();
    let adopted = adopt_by(dir.path(), &RingPolicy { max_bytes: len * 5 / 2, ..RingPolicy::default() });
    assert_eq!(adopted.iter().map(seq).collect::<Vec<_>>(), [1, 2]);
    for ring in adopted {
        ring.delete().unwrap();
    }
    assert_eq!(names(dir.path()).len(), 0);
}

/// The file time of the ring is of 1970, as on a phone whose clock was set only afterwards.
#[test]
fn a_ring_of_before_the_clock_was_set_is_read() {
    let dir = tempfile::tempdir().unwrap();
    for seq in 1..=10 {
        leave_earlier(dir.path(), seq, seq);
    }
    let before = SystemTime::UNIX_EPOCH + Duration::from_hours(2);
    File::open(leave(dir.path(), 11)).unwrap().set_modified(before).unwrap();
    // One in the making: whether its maker has gone is not known.
    let path = leave(dir.path(), 12);
    let making = path.with_extension("lbr.new");
    fs::rename(&path, &making).unwrap();
    File::open(&making).unwrap().set_modified(before).unwrap();
    let adopted = adopt_all(dir.path());
    let modified: Vec<SystemTime> = adopted.iter().map(|ring| ring.modified).collect();
    // It is the newest, since the clock was wrong after the start of the phone; and says when it was written,
    // as it thought.
    assert_eq!(adopted.iter().map(seq).collect::<Vec<_>>(), [11, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(modified[0], before);
    assert!(making.exists());
    drop(adopted);
    // A minute later it is known.
    File::open(&making).unwrap().set_modified(SystemTime::now() - Duration::from_mins(2)).unwrap();
    adopt_all(dir.path());
    assert!(!making.exists());
}

#[test]
fn a_ring_is_tried_so_often_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let path = leave(dir.path(), 1);
    let name = path.file_name().unwrap().to_str().unwrap();
    for tries in 1..=2 {
        let adopted = adopt_all(dir.path());
        assert_eq!((adopted.len(), adopted[0].name.as_str()), (1, name));
        assert_eq!(adopted[0].is_first_try, tries == 1);
        // In the middle of a try, as its process would leave it when the ring were its end.
        assert_eq!(names(dir.path()), [format!("{name}.{tries}")]);
    }
    assert!(adopt_all(dir.path()).is_empty());
    assert_eq!(names(dir.path()).len(), 0);
}

/// This test takes only the first ring, like a process that ends while it handles that ring.
#[test]
fn a_try_is_counted_against_the_ring_that_is_read_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    for seq in 1..=3 {
        leave_earlier(dir.path(), seq, seq);
    }
    for _ in 0..3 {
        let mut rings = adopt(dir.path(), &RingPolicy::default()).unwrap();
        let first = rings.next().unwrap();
        assert!(adopt_all(dir.path()).is_empty(), "those that wait are locked");
        drop((first, rings));
    }
    let left: Vec<u64> = adopt_all(dir.path()).iter().map(seq).collect();
    assert_eq!(left, [2, 3], "two tries of the first, and one of the second");
}

#[test]
fn a_ring_that_is_put_back_is_tried_as_often_as_before_and_never_first_again() {
    let dir = tempfile::tempdir().unwrap();
    let name = leave(dir.path(), 1).file_name().unwrap().to_str().unwrap().to_owned();
    let mut is_first = true;
    for tries in 0..2 {
        for _ in 0..3 {
            let [ring] = adopt_all(dir.path()).try_into().unwrap();
            assert_eq!((ring.is_first_try, ring.name.as_str()), (is_first, name.as_str()));
            ring.keep().unwrap();
            assert_eq!(names(dir.path()), [format!("{name}.{tries}")]);
            is_first = false;
        }
        assert!(!adopt_all(dir.path())[0].is_first_try, "and not put back");
    }
    assert!(adopt_all(dir.path()).is_empty());
}

#[test]
fn a_ring_whose_try_cannot_be_counted_is_left_for_the_next_launch() {
    let dir = tempfile::tempdir().unwrap();
    let newest = leave_earlier(dir.path(), 1, 1);
    leave_earlier(dir.path(), 2, 2);
    let in_the_way = newest.with_extension("lbr.1");
    fs::create_dir(&in_the_way).unwrap();
    assert_eq!(adopt_all(dir.path()).iter().map(seq).collect::<Vec<_>>(), [2]);
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(adopt_all(dir.path()).iter().map(seq).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn of_many_adopters_one_gets_each_ring() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..10 {
        for seq in 1..=8 {
            leave(dir.path(), seq);
        }
        let taken: Vec<Vec<OrphanedRing>> = thread::scope(|scope| {
            let adopters: Vec<_> = (0..4).map(|_| scope.spawn(|| adopt_all(dir.path()))).collect();
            adopters.into_iter().map(|adopter| adopter.join().unwrap()).collect()
        });
        let mut seqs: Vec<u64> = taken.iter().flatten().map(seq).collect();
        seqs.sort_unstable();
        assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7, 8], "round {round}");
        for ring in taken.into_iter().flatten() {
            ring.delete().unwrap();
        }
        assert_eq!(names(dir.path()).len(), 0);
    }
}

#[test]
fn a_foreign_file_stays_and_a_damaged_ring_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("precious"), "of the app").unwrap();
    fs::write(at("other.lbr"), "not named like a ring").unwrap();
    symlink(at("precious"), at("ring-0-1-2.lbr")).unwrap();
    fs::create_dir(at("ring-0-1-3.lbr")).unwrap();
    make_fifo(&at("ring-0-1-4.lbr"));
    assert!(adopt_all(dir.path()).is_empty());
    assert_eq!(names(dir.path()).len(), 5);

    fs::write(at("ring-0-1-5.lbr"), "").unwrap();
    fs::write(at("ring-0-1-6.lbr"), "PK\x03\x04").unwrap();
    fs::write(at("ring-0-1-7.lbr"), vec![0; 3 << 20]).unwrap();
    let mut newer = fs::read(leave(dir.path(), 1)).unwrap();
    newer[8] = 2;
    fs::write(at("ring-0-1-8.lbr"), newer).unwrap();
    let mut adopted = adopt_all(dir.path());
    adopted.sort_by(|a, b| a.name.cmp(&b.name));
    let [empty, foreign, large, newer, whole] = &adopted[..] else { panic!("{adopted:?}") };
    assert!(matches!(empty.content, Err(RecoverError::Layout(LayoutError::Empty))));
    assert!(matches!(foreign.content, Err(RecoverError::Layout(LayoutError::Magic))));
    assert!(matches!(large.content, Err(RecoverError::TooLarge { .. })));
    assert!(matches!(newer.content, Err(RecoverError::Layout(LayoutError::Newer { found: 2 }))));
    assert_eq!(seq(whole), 1);
    assert_eq!(fs::read_to_string(at("precious")).unwrap(), "of the app");
}

#[test]
fn a_ring_that_was_never_finished_goes_when_its_maker_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring-0-1-2.lbr.new");
    fs::write(&path, "half a header").unwrap();
    assert!(adopt_all(dir.path()).is_empty());
    assert!(path.exists(), "its maker may be about to lock it");
    File::open(&path).unwrap().set_modified(SystemTime::now() - Duration::from_mins(2)).unwrap();
    assert!(adopt_all(dir.path()).is_empty());
    assert!(!path.exists());
}

#[test]
fn a_directory_that_is_gone_is_an_error_to_the_adopter_and_none_to_the_ring() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("rings");
    let mut ring = ring(&options(&gone));
    fs::remove_dir_all(&gone).unwrap();
    for seq in 1..=100 {
        ring.main.close(&record(seq), &record(seq).details).unwrap();
    }
    ring.mirror.copy().unwrap();
    assert_eq!(ring.reader.snapshot(Uptime::ZERO).report.history.len(), 100);
    ring.reader.discard().unwrap();
    assert!(adopt(&gone, &RingPolicy::default()).is_err());
}

#[test]
fn a_directory_that_cannot_be_made_at_first_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let later = dir.path().join("unlocked").join("rings");
    fs::write(dir.path().join("unlocked"), "not yet").unwrap();
    let mut ring = Ring::create(&options(&later));
    ring.main.close(&record(1), &record(1).details).unwrap();
    for _ in 0..2 {
        let reason = ring.mirror.attach().unwrap_err().to_string();
        assert!(reason.starts_with("cannot create the ring file: Not a directory"), "{reason}");
        ring.mirror.copy().unwrap();
        assert_eq!(ring.reader.path(), None);
    }
    fs::remove_file(dir.path().join("unlocked")).unwrap();
    ring.mirror.attach().unwrap();
    ring.main.close(&record(2), &record(2).details).unwrap();
    ring.mirror.copy().unwrap();
    drop(ring);
    let adopted = adopt_all(&later);
    let history = &adopted[0].content.as_ref().unwrap().report.history;
    assert_eq!(history[..], [record(1), record(2)], "what was recorded before is there as well");
}

#[test]
fn a_ring_that_was_discarded_before_it_had_a_file_gets_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = Ring::create(&options(dir.path()));
    ring.reader.discard().unwrap();
    ring.mirror.attach().unwrap();
    ring.mirror.copy().unwrap();
    assert_eq!((ring.reader.path(), names(dir.path()).len()), (None, 0));
}
