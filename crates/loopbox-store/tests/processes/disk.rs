//! Disks without room.
//!
//! The tests of a full disk mount a small tmpfs, which needs root. The tests with a limit on file sizes need
//! no rights.

use crate::common::{file_of, options, record, ring};
use crate::roles::Actor;
use loopbox_format::model::Uptime;
use loopbox_store::{Outlives, Ring, Volatile, recover, write_report};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;

/// A separate file system in memory. It is unmounted when the value is dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(kib: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={kib}k,mode=0700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir.path());
        let mounted = mount.status().is_ok_and(|status| status.success());
        assert!(mounted, "no tmpfs could be mounted: this test needs to be root");
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut file = fs::File::create(self.path().join("filler")).unwrap();
        let chunk = [1; 4096];
        while file.write_all(&chunk).is_ok() {}
        assert_eq!(file.write_all(&chunk).unwrap_err().kind(), ErrorKind::StorageFull);
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

pub(crate) fn file_size_limit() {
    let dir = tempfile::tempdir().unwrap();
    let output = Actor::start("limited", dir.path()).finish();
    let mut lines = output.lines();
    let reason = lines.next().unwrap();
    assert!(reason.starts_with("cannot reserve") && reason.contains("File too large"), "{reason}");
    assert_eq!(lines.next(), Some("Err(FileTooLarge)"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

pub(crate) fn file_size_limit_later() {
    let dir = tempfile::tempdir().unwrap();
    let output = Actor::start("limited later", dir.path()).finish();
    let (reason, rest) = output.split_once('\n').unwrap();
    assert!(reason.starts_with("cannot write the ring file: File too large"), "{reason}");
    assert_eq!(rest, "2 records, None\n");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        0,
        "it would show another moment than that of the end"
    );
}

pub(crate) fn full() {
    let disk = SmallDisk::new(128);
    let mut ring = Ring::create(&options(disk.path()));
    match ring.mirror.attach() {
        Err(Volatile::Reserve { error, .. }) => assert_eq!(error.kind(), ErrorKind::StorageFull),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0, "nothing is left of the attempt");
    for seq in 1..=100 {
        ring.main.close(&record(seq), &record(seq).details).unwrap();
    }
    assert_eq!(ring.reader.snapshot(Uptime::ZERO).report.history.len(), 100);
}

pub(crate) fn fills_later() {
    let disk = SmallDisk::new(1024);
    let mut ring = ring(&options(disk.path()));
    disk.fill();
    for seq in 1..=100 {
        ring.main.close(&record(seq), &record(seq).details).unwrap();
    }
    let recovered = recover(&file_of(&mut ring)).unwrap();
    assert_eq!(recovered.report.history.len(), 100);
}

/// The kernel refuses each flush. Only a report that must survive a power loss is affected: it is missing
/// then.
pub(crate) fn no_flush() {
    let dir = tempfile::tempdir().unwrap();
    let output = Actor::start("no flush", dir.path()).finish();
    assert_eq!(output, "Ok(())\nErr(PermissionDenied)\n");
    assert_eq!(fs::read(dir.path().join("report.lbx")).unwrap(), b"report", "the one before");
}

pub(crate) fn no_half_reports() {
    let disk = SmallDisk::new(64);
    let error =
        write_report(disk.path(), "report", &vec![1; 200 << 10], Outlives::Process, || Some(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
}
