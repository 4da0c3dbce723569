//! kill -9 at random moments of a process that only writes.

use crate::common::{details, group, record, renumbered, tree};
use crate::roles::{Actor, clocks_after_sleep};
use loopbox_format::model::{DumpReason, MainState, Record, StackTree};
use loopbox_store::{FuseState, Recovered, RingPolicy, adopt};
use std::fs;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the process had reported as copied before it was killed.
#[derive(Debug, Default)]
struct Copied {
    closed: u64,
    /// How many records had been closed in all when the last reported copy ended. `closed` is how many had
    /// been closed before that copy began.
    closed_since: u64,
    running: u64,
    kept: u64,
}

impl Copied {
    fn read(lines: &str) -> Self {
        let mut copied = Self::default();
        // The last line may be cut off like everything else.
        for line in lines.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
            if let [closed, closed_since, running, kept] = numbers[..] {
                copied = Self { closed, closed_since, running, kept };
            }
        }
        copied
    }
}

pub(crate) fn killed_anywhere() {
    let runs = std::env::var("LOOPBOX_KILL_RUNS").map_or(50, |runs| runs.parse().expect("a number"));
    let mut random = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    let (mut cut, mut open_fuses, mut records) = (0, 0, 0);
    for _ in 0..runs {
        let dir = tempfile::tempdir().unwrap();
        let mut actor = Actor::start("record", dir.path());
        assert_eq!(actor.line(), "ready");
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let wait = Duration::from_micros(u64::from(random >> 16) % 100_000);
        // What it prints has to be read, or it would wait for us to.
        let lines = thread::scope(|scope| {
            let child = actor.child.id();
            scope.spawn(move || {
                thread::sleep(wait);
                kill(child);
            });
            let mut lines = String::new();
            std::io::Read::read_to_string(&mut actor.says, &mut lines).unwrap();
            lines
        });
        actor.child.wait().unwrap();
        let copied = Copied::read(&lines);
        let recovered = adopt_only(dir.path());
        check(&recovered, &copied);
        cut += recovered.damage.len();
        open_fuses += usize::from(matches!(recovered.fuse, FuseState::Open { .. }));
        records += copied.closed;
    }
    println!(
        "{runs} kills: {records} records copied before them, {cut} times a slot was cut off, {open_fuses} times the \
         fuse was open"
    );
}

#[allow(unsafe_code)]
fn kill(pid: u32) {
    // SAFETY: a system call without memory; the pid is a child's that has not been waited for yet.
    unsafe { libc::kill(pid as i32, libc::SIGKILL) };
}

fn adopt_only(dir: &std::path::Path) -> Recovered {
    let mut adopted = adopt(dir, &RingPolicy::default()).unwrap();
    let only = adopted.next().unwrap();
    assert!(adopted.next().is_none());
    let bytes = only.content.as_ref().map(|_| ()).map_err(ToString::to_string);
    assert_eq!(bytes, Ok(()));
    let again = loopbox_store::recover(
        &fs::read(fs::read_dir(dir).unwrap().next().unwrap().unwrap().path()).unwrap(),
    );
    only.delete().unwrap();
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
    again.unwrap()
}

fn check(recovered: &Recovered, copied: &Copied) {
    let report = &recovered.report;
    let context = || format!("{copied:?} {:?} {:?}", recovered.damage, report.main);
    assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: None });
    let clocks = clocks_after_sleep(recovered.last_alive_ns);
    assert!(copied.closed == 0 || report.meta.dumped_at == clocks, "{:?}", report.meta.dumped_at);
    // One thread writes the file, one slot at a time, and copies no slot that is being written.
    assert!(recovered.torn == 0 && recovered.damage.len() <= 1, "{}", context());

    let (open, closed): (Vec<&Record>, Vec<&Record>) = report.history.iter().partition(|r| !r.closed);
    let newest = closed.last().map_or(0, |record| record.seq);
    assert!(newest >= copied.closed, "a copied record is missing: {newest}, {}", context());
    for closed in &closed {
        assert_eq!(**closed, record(closed.seq));
    }
    // The slots of the oldest ones may have been written anew while the ring was copied; the cut one is one
    // of these.
    let oldest = newest.max(copied.closed_since + 1).saturating_sub(99).max(1);
    let missing =
        (oldest..=copied.closed).filter(|seq| closed.iter().all(|record| record.seq != *seq)).count();
    assert!(missing <= recovered.damage.len(), "{missing} records are missing, {}", context());

    assert!(open.len() <= 1);
    if let [open] = open[..] {
        assert_eq!(open.seq, newest + 1);
        let known = details(open.first_token.0, 3);
        assert!(open.details.is_empty() || open.details == known, "{open:?}");
        assert!((1..=10).contains(&open.count));
        let expected = Record { count: open.count, details: open.details.clone(), ..group(open.seq) };
        assert_eq!(*open, expected);
    }
    let counted = open.first().map_or(newest * 10 + 9, |open| open.first_token.0 + u64::from(open.count) - 1);
    match &report.main {
        // Either it runs and is not counted yet, or it is counted. The record that it is in may be newer than
        // the copy.
        MainState::Running(running) => {
            assert!((counted + 1..=counted + 2).contains(&running.token.0), "{}", context());
        }
        MainState::Idle { .. } | MainState::Unknown => {}
        other => panic!("{other:?}"),
    }
    check_trees(recovered, copied);
    assert_ne!(recovered.fuse, FuseState::Damaged);
}

fn check_trees(recovered: &Recovered, copied: &Copied) {
    let trees = &recovered.report.trees;
    for got in trees {
        let samples = got.sample_deltas_ns.len() as u32;
        let kept = tree(got.token.0, 95 + got.token.0 as u32 % 3000);
        let known: [StackTree; 3] = [kept, tree(got.token.0, 5), tree(got.token.0, 50)];
        let same = known.iter().find(|known| known.sample_deltas_ns.len() == samples as usize);
        let same = same.unwrap_or_else(|| panic!("{} samples of {}", samples, got.token));
        assert_eq!(*got, renumbered(got, same));
    }
    let newest = trees.last().map_or(0, |tree| tree.token.0);
    assert!(newest >= copied.kept, "a kept tree is missing: {newest}, {copied:?}");
    // Copied and not kept yet: it is the running message's.
    assert!(newest >= copied.running, "the running message's tree is missing: {newest}, {copied:?}");
    let names: Vec<&str> = recovered.report.symbols.methods.iter().map(|m| m.name.as_str()).collect();
    assert!(trees.is_empty() || names == ["main", "loop", "work"], "{names:?}");
}
