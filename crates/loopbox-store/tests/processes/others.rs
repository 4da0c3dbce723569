//! Other processes and other users.

use crate::common::record;
use crate::roles::{Actor, NOBODY, is_root, wait_until};
use loopbox_store::{FuseState, RingPolicy, adopt, recover};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn rings(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A directory for a process of [`Actor::start_unprivileged`]: it belongs to the user of that process.
fn dir_of_nobody() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    if is_root() {
        chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    dir
}

pub(crate) fn fork_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let output = Actor::start("fork", dir.path()).finish();
    assert_eq!(output, "child: true\nparent: done\n");
    let left = rings(dir.path());
    let recovered = recover(&fs::read(&left[0]).unwrap()).unwrap();
    assert_eq!(recovered.report.history, [record(1), record(3)]);
    assert_eq!((recovered.fuse, recovered.crash), (FuseState::Unused, None));
    assert_eq!(recovered.damage, []);
}

pub(crate) fn fork_holds_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let mut actor = Actor::start("fork and leave", dir.path());
    assert_eq!(actor.line(), "left");
    let mut input = actor.child.stdin.take().unwrap();
    assert!(actor.child.wait().unwrap().success());
    assert_eq!(adopt(dir.path(), &RingPolicy::default()).unwrap().count(), 0);
    assert_eq!(rings(dir.path()).len(), 1);
    // The fork reads its end and goes.
    std::io::Write::write_all(&mut input, b"\n").unwrap();
    let policy = RingPolicy { max_tries: u32::MAX, ..RingPolicy::default() };
    wait_until("the fork's end", || adopt(dir.path(), &policy).unwrap().next().is_some());
}

pub(crate) fn programs_do_not_inherit() {
    let dir = tempfile::tempdir().unwrap();
    let mut actor = Actor::start("start a program and leave", dir.path());
    let program = actor.line();
    // What the program waits for, until it is dropped.
    let _input = actor.child.stdin.take().unwrap();
    assert!(actor.child.wait().unwrap().success());
    assert!(Path::new("/proc").join(&program).exists(), "the program lives");
    assert_eq!(adopt(dir.path(), &RingPolicy::default()).unwrap().count(), 1);
}

pub(crate) fn living_processes_keep_their_rings() {
    let dir = tempfile::tempdir().unwrap();
    let mut actors: Vec<Actor> = (0..3).map(|_| Actor::start("create", dir.path())).collect();
    for actor in &mut actors {
        assert_eq!(actor.line(), "on disk");
        assert_eq!(actor.line(), "100 records");
    }
    let before = rings(dir.path());
    assert_eq!(before.len(), 3);
    assert_eq!(adopt(dir.path(), &RingPolicy::default()).unwrap().count(), 0);
    assert_eq!(rings(dir.path()), before);

    let dead = actors.remove(1);
    let pid = dead.child.id();
    dead.kill();
    let mut adopted = adopt(dir.path(), &RingPolicy::default()).unwrap();
    let ring = adopted.next().unwrap();
    assert!(adopted.next().is_none());
    assert_eq!(ring.content.as_ref().unwrap().identity.pid, pid);
    assert!(ring.name.contains(&format!("-{pid}-")), "{}", ring.name);
    ring.delete().unwrap();
    assert_eq!(rings(dir.path()).len(), 2);
    for actor in actors {
        assert_eq!(actor.finish(), "");
    }
}

pub(crate) fn cannot_be_shortened() {
    let dir = dir_of_nobody();
    let output = Actor::start_unprivileged("shorten", dir.path()).finish();
    assert_eq!(output, "Err(PermissionDenied)\nErr(PermissionDenied)\n1 records\n");
}

pub(crate) fn shortened_to_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Actor::start("shortened", dir.path()).finish(), "1 records\n");
}

pub(crate) fn directory_not_writable() {
    let dir = dir_of_nobody();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let mut actor = Actor::start_unprivileged("create", dir.path());
    let reason = actor.line();
    assert!(reason.starts_with("cannot create the ring file: Permission denied"), "{reason}");
    assert_eq!(actor.finish(), "100 records\n");
    assert_eq!(rings(dir.path()).len(), 0);
}
