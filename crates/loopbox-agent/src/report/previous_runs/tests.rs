//! What becomes of the rings of earlier processes: when their reports cannot be written at once, and when the
//! process was frozen or debugged.

use super::*;
use crate::session::numbers::Numbers;
use loopbox_art::Phase;
use loopbox_format::model::{
    AnrInfo, AnrVerdict, ClockPair, Meta, Process, ProcessExit, Running, Token, Uptime,
};
use loopbox_format::report::decode;
use loopbox_store::{BuildId, Identity, Ring, RingOptions, count_start};
use std::fs::{create_dir, remove_dir};
use tempfile::TempDir;

const S: u64 = 1_000_000_000;

fn s(at: u64) -> Uptime {
    Uptime(at * S)
}

/// A folder with what earlier processes have left there.
struct Folder {
    dir: TempDir,
    settings: Settings,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let strings = vec![dir.path().to_str().unwrap().to_owned()];
        let settings = Settings::new(&Numbers::default(), strings).unwrap();
        Self { dir, settings }
    }

    /// Leaves the ring of a process that ended when message `token` had run for seven seconds; or, without
    /// one, when main was idle.
    fn leave(&self, token: Option<u64>) {
        self.leave_in(Phase::Idle, s(9), token);
    }

    /// Does what [`leave`](Self::leave) does; the sampler was in this phase since `since_ns`.
    fn leave_in(&self, phase: Phase, since_ns: Uptime, token: Option<u64>) {
        let identity = Identity::of_this_process(ClockPair { uptime_ns: s(1), unix_ms: 1_790_000_000_000 });
        let mut ring = Ring::create(&RingOptions::new(self.dir.path(), identity));
        let process =
            Process { pid: 4711, name: "com.shop".into(), installed_ns: s(1), ..Process::default() };
        ring.worker.meta(&Meta { process, ..Meta::default() }).unwrap();
        match token {
            Some(token) => ring.main.running(Token(token), s(2), 1).unwrap(),
            None => ring.main.idle(s(2)).unwrap(),
        }
        ring.reader.heartbeat(s(9));
        ring.mirror.attach().unwrap();
        ring.fuse.arm(phase as u8, since_ns);
    }

    /// What the next launch finds. `gate` is closed as soon as the system has said how a process ended,
    /// unless it stays `open`.
    fn recover(&self, open: bool, end: impl Fn() -> Option<ProcessEnd>) -> PreviousRuns {
        let gate = Gate::default();
        recover_rings(&self.settings, &gate, |_| {
            if !open {
                gate.close();
            }
            end()
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Counts a start. Returns for how many further starts the sampler is off; `None` if the sampler is on.
    fn starts_left(&self) -> Option<u8> {
        let subject = FuseSubject { process: "com.shop", app_version: "", libart: BuildId::default() };
        count_start(self.dir.path(), &subject).unwrap().map(|blown| blown.starts_left)
    }

    /// How many files there are whose names have this ending.
    fn count(&self, ending: &str) -> usize {
        let names = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().ends_with(ending)).count()
    }
}

/// Stands for a system that does not report how a process ended.
fn unknown() -> Option<ProcessEnd> {
    None
}

#[test]
fn a_report_that_cannot_be_written_is_written_when_it_can() {
    let folder = Folder::new();
    folder.leave(Some(7));
    let path = folder.path("loopbox-4711-1000-m7-recovered.lbx");
    create_dir(&path).unwrap();
    for _ in 0..3 {
        assert!(folder.recover(true, unknown).reports.is_empty());
    }
    remove_dir(&path).unwrap();
    assert_eq!(folder.recover(true, unknown).reports, [path]);
    assert_eq!((folder.count(".lbx"), folder.count("")), (1, 1), "no ring");
}

#[test]
fn a_ring_that_cannot_be_read_is_tried_once_more() {
    let folder = Folder::new();
    folder.leave(Some(7));
    let recover = || folder.recover(true, unknown).reports;
    let unread = || lab_seccomp::while_refused(&[libc::SYS_read], libc::EIO, recover);
    assert!(unread().is_empty());
    let path = folder.path("loopbox-4711-1000-m7-recovered.lbx");
    assert_eq!(folder.recover(true, unknown).reports, [path]);

    folder.leave(Some(8));
    assert!(unread().is_empty());
    assert!(unread().is_empty());
    assert!(folder.recover(true, unknown).reports.is_empty(), "not at every launch");
    assert_eq!((folder.count(".lbx"), folder.count("")), (1, 1), "no ring");
}

#[test]
fn a_recording_that_ends_at_the_first_ring_costs_none() {
    let folder = Folder::new();
    for token in 1..=3 {
        folder.leave(Some(token));
    }
    for _ in 0..3 {
        assert!(folder.recover(false, unknown).reports.is_empty());
        assert_eq!((folder.count(".lbr"), folder.count(".lbr.0"), folder.count("")), (2, 1, 3));
    }
    assert_eq!(folder.recover(true, unknown).reports.len(), 3);
    assert_eq!((folder.count(".lbx"), folder.count("")), (3, 3));
}

/// The process itself has reported a hang, in which the system warned of the ANR that ended the process.
#[test]
fn an_end_that_cannot_be_added_to_its_report_is_added_when_it_can() {
    let folder = Folder::new();
    folder.leave(None);
    let warning = AnrWarning { at_ns: s(1), id: 3, kind: 5, consumed_ms: 1_000, timeout_ms: 5_000 };
    let report = Report { anr_warnings: vec![warning], ..Report::default() };
    let own = folder.path("loopbox-4711-1000-m2.lbx");
    fs::write(&own, encode(&report).unwrap()).unwrap();
    let info = AnrInfo { id: 3, kind: 5, timeout_ms: 5_000, user_perceptible: true };
    let end = || {
        let exit = ProcessExit { reason: ProcessExit::ANR, description: String::new(), unix_ms: 1 };
        Some(ProcessEnd { exit, status: 0, anr: Some(info) })
    };
    let unfinished = folder.path(&format!("loopbox-4711-1000-m2.{}.lbx.new", std::process::id()));
    create_dir(&unfinished).unwrap();
    assert!(folder.recover(true, end).reports.is_empty(), "nor is there a second report");
    remove_dir(&unfinished).unwrap();
    assert_eq!(folder.recover(true, end).reports, [own.as_path()]);
    assert_eq!(decode(&fs::read(own).unwrap()).unwrap().report.anr_info, Some(info));
    assert_eq!(folder.count(""), 1, "no ring");
}

#[test]
fn an_end_counts_against_the_sampler_once_however_often_its_ring_is_tried() {
    for (phase, since_s, starts_left) in [(Phase::Stop, 9, None), (Phase::Walk, 2, Some(4))] {
        let folder = Folder::new();
        folder.leave_in(phase, s(since_s), Some(7));
        for _ in 0..3 {
            assert!(folder.recover(false, unknown).reports.is_empty());
        }
        assert_eq!(folder.recover(true, unknown).reports.len(), 1);
        assert_eq!(folder.starts_left(), starts_left, "{phase:?}");
    }
    let folder = Folder::new();
    for token in [7, 8] {
        folder.leave_in(Phase::Stop, s(9), Some(token));
    }
    folder.recover(true, unknown);
    assert_eq!(folder.starts_left(), Some(4), "two ends are two");
}

#[test]
fn time_in_which_a_dead_process_was_frozen_or_debugged_makes_no_hang() {
    let (token, start_ns, as_of_ns) = (Token(7), Uptime(10 * S), Uptime(72 * S));
    let running = Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None };
    let mut report = Report { main: MainState::Running(running), ..Report::default() };
    let of = |report: &Report, frozen_ns, debugged| {
        let anr = evidence(report, Interruption { frozen_ns, debugged }, 5 * S);
        (anr.ran_ns, anr.frozen_ns, classify(&anr))
    };
    assert_eq!(of(&report, 0, false), (62 * S, 0, AnrVerdict::Hang));
    assert_eq!(of(&report, 60 * S, false), (2 * S, 60 * S, AnrVerdict::Responsive));
    assert_eq!(of(&report, 0, true), (62 * S, 0, AnrVerdict::Responsive));
    assert_eq!(of(&report, 57 * S, false), (5 * S, 57 * S, AnrVerdict::Hang));
    // Nobody took a message from the queue for as long as the process was frozen.
    report.pending.lines = vec!["  Message 0: { when=-1m2s0ms what=1 target=a.B }".to_owned()];
    assert_eq!(of(&report, 60 * S, false).2, AnrVerdict::Responsive);
    assert_eq!(of(&report, 50 * S, false).2, AnrVerdict::Hang);
}
