//! The processes that the tests start, and how they are started.

use crate::common::{details, group, options, record, ring, symbols, tree};
use loopbox_format::model::{ClockPair, Record, Token, Uptime};
use loopbox_store::{MainWriter, Mirror, Outlives, Ring, StoreError, Volatile, WorkerWriter, write_report};
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// A user that owns nothing.
pub(crate) const NOBODY: u32 = 65534;

/// A process of this binary in another role.
pub(crate) struct Actor {
    pub(crate) child: Child,
    pub(crate) says: BufReader<ChildStdout>,
}

impl Actor {
    /// Starts `role`, which works in `dir`.
    pub(crate) fn start(role: &str, dir: &Path) -> Self {
        Self::from(Self::command(role, dir))
    }

    pub(crate) fn command(role: &str, dir: &Path) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .env("LOOPBOX_ROLE", role)
            .env("LOOPBOX_DIR", dir)
            .stdout(Stdio::piped())
            .stdin(Stdio::piped());
        command
    }

    pub(crate) fn from(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { child, says }
    }

    /// Starts `role` as a user other than root, in a directory of that user.
    pub(crate) fn start_unprivileged(role: &str, dir: &Path) -> Self {
        let mut command = Self::command(role, dir);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        Self::from(command)
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Lets the process end, and returns the rest of its output. Panics when it does not exit with success.
    pub(crate) fn finish(mut self) -> String {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.says.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {rest}");
        rest
    }

    /// Kills the process with SIGKILL and returns what it had printed.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().unwrap();
        let mut rest = String::new();
        self.says.read_to_string(&mut rest).unwrap();
        self.child.wait().unwrap();
        rest
    }
}

/// Kills the process, so that a failed test leaves none.
impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| std::os::unix::fs::MetadataExt::uid(&about) == 0)
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    // Without a listener the test is over.
    if writeln!(out, "{what}").is_err() {
        std::process::exit(1);
    }
}

fn wait_for_the_test() {
    let _ = std::io::stdin().read(&mut [0]);
}

pub(crate) fn play(role: &str) {
    let dir = PathBuf::from(std::env::var("LOOPBOX_DIR").unwrap());
    match role {
        "record" => record_for_ever(&dir),
        "create" => create(&dir),
        "shorten" => shorten(&dir),
        "shortened" => shortened(&dir),
        "fork" => fork(&dir),
        "fork and leave" => fork_and_leave(&dir),
        "start a program and leave" => start_a_program_and_leave(&dir),
        "limited" => limited(&dir),
        "limited later" => limited_later(&dir),
        "no flush" => no_flush(&dir),
        _ => panic!("no such role: {role}"),
    }
}

/// Both clocks as the recording process notes them: its device was in deep sleep since the ring was made.
pub(crate) fn clocks_after_sleep(uptime_ns: Uptime) -> ClockPair {
    ClockPair { uptime_ns, unix_ms: 1_700_010_800_000 + uptime_ns.0 / 1_000_000 }
}

/// What a thread has done so far.
#[derive(Default)]
struct Done {
    closed: AtomicU64,
    running: AtomicU64,
    kept: AtomicU64,
    /// The last message that began; the times of the sampler's samples are derived from it.
    now: AtomicU64,
}

/// Writes without pause from all threads, and prints what is copied.
fn record_for_ever(dir: &Path) {
    let Ring { main, worker, fuse, reader, mirror } = ring(&options(dir));
    let done = Done::default();
    let now = &done.now;
    say("ready");
    thread::scope(|scope| {
        scope.spawn(|| record_messages(main, &done));
        scope.spawn(|| keep_trees(worker, &done));
        scope.spawn(|| copy_for_ever(mirror, &done));
        scope.spawn(|| {
            loop {
                fuse.arm(6, Uptime(1));
                fuse.mark(1, Uptime(1));
                fuse.mark(0, Uptime(2));
                fuse.settle();
                reader.heartbeat(Uptime(now.load(Ordering::Relaxed)));
            }
        });
    });
}

/// Copies the ring without end. Prints after each copy what had been written before the copy began, because
/// that must be in the file, and how many records had been closed when the copy ended.
fn copy_for_ever(mut mirror: Mirror, done: &Done) {
    loop {
        let [closed, running, kept] =
            [&done.closed, &done.running, &done.kept].map(|count| count.load(Ordering::Acquire));
        mirror.note_clocks(clocks_after_sleep(Uptime(done.now.load(Ordering::Relaxed))));
        mirror.copy().unwrap();
        let closed_since = done.closed.load(Ordering::Acquire);
        say(&format!("copied {closed} {closed_since} {running} {kept}"));
    }
}

fn record_messages(mut main: MainWriter, done: &Done) {
    for seq in 1.. {
        let whole = group(seq);
        for count in 1..=10 {
            let token = whole.first_token.0 + u64::from(count) - 1;
            done.now.store(token * 100, Ordering::Relaxed);
            // A poll that has returned for nothing, then a message: every other one in a loop inside of one.
            main.running(Token(token), Uptime(token * 100), 1).unwrap();
            main.next_is(Token(token));
            main.idle(Uptime(token * 100)).unwrap();
            main.running(Token(token), Uptime(token * 100), 1 + count % 2).unwrap();
            main.open(&Record { count, ..whole.clone() }).unwrap();
            if count == 3 {
                main.open_details(seq, &details(whole.first_token.0, 3)).unwrap();
            }
            if count == 10 {
                main.close(&record(seq), &record(seq).details).unwrap();
                done.closed.store(seq, Ordering::Release);
            }
            main.idle(Uptime(token * 100 + 99)).unwrap();
            // Some work: a writer that does nothing else fills the ring anew while it is copied.
            (0..1_000).for_each(|_| std::hint::spin_loop());
        }
    }
}

fn keep_trees(mut worker: WorkerWriter, done: &Done) {
    for token in 1.. {
        for samples in [5, 50] {
            worker.running_tree(&symbols(), &tree(token, samples)).unwrap();
            done.running.store(token, Ordering::Release);
        }
        worker.keep_tree(&symbols(), &tree(token, 95 + token as u32 % 3000)).unwrap();
        done.kept.store(token, Ordering::Release);
        worker.clear_running_tree().unwrap();
        // The same.
        thread::sleep(Duration::from_millis(1));
    }
}

fn say_whether_on_disk(attached: Result<(), Volatile>) {
    say(&attached.map_or_else(|reason| reason.to_string(), |()| "on disk".into()));
}

/// Prints that the ring is on the disk, or why not. Then closes 120 records, and prints how many the ring
/// has.
fn create(dir: &Path) {
    let mut ring = Ring::create(&options(dir));
    say_whether_on_disk(ring.mirror.attach());
    for seq in 1..=120 {
        ring.main.close(&record(seq), &record(seq).details).unwrap();
    }
    say(&format!("{} records", ring.reader.snapshot(Uptime::ZERO).report.history.len()));
    wait_for_the_test();
}

/// Tries to shorten the ring's file, as an app might do by mistake.
#[allow(unsafe_code)]
fn shorten(dir: &Path) {
    let mut ring = ring(&options(dir));
    let path = ring.reader.path().expect("a file").to_owned();
    let opened = OpenOptions::new().write(true).truncate(true).open(&path);
    say(&format!("{:?}", opened.map_err(|error| error.kind()).map(|_| ())));
    let name = CString::new(path.into_os_string().into_encoded_bytes()).expect("no zero");
    // SAFETY: `name` is a string with its zero for the duration of the call.
    let shortened = unsafe { libc::truncate(name.as_ptr(), 0) };
    let shortened = if shortened == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().kind()) };
    say(&format!("{shortened:?}"));
    ring.main.close(&record(1), &record(1).details).unwrap();
    ring.mirror.copy().unwrap();
    say(&format!("{} records", ring.reader.snapshot(Uptime::ZERO).report.history.len()));
}

/// Shortens the ring's file, as another thread of the app or another process of its user can: the owner of a
/// file can always make it writable.
fn shortened(dir: &Path) {
    let mut ring = ring(&options(dir));
    let path = ring.reader.path().expect("a file").to_owned();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
    for (phase, at) in [(2, 1), (3, 2), (0, 3)] {
        ring.fuse.arm(6, Uptime(at));
        ring.fuse.mark(phase, Uptime(at));
        ring.fuse.settle();
    }
    ring.reader.mark_crash(0);
    ring.main.close(&record(1), &record(1).details).unwrap();
    ring.mirror.copy().unwrap();
    say(&format!("{} records", ring.reader.snapshot(Uptime::ZERO).report.history.len()));
}

/// Forks; the child tries to write, then the parent does.
#[allow(unsafe_code)]
fn fork(dir: &Path) {
    let mut ring = ring(&options(dir));
    ring.main.close(&record(1), &record(1).details).unwrap();
    // SAFETY: this process has one thread, so the child may do everything.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = ring.main.close(&record(2), &record(2).details);
        ring.fuse.arm(6, Uptime(1));
        ring.fuse.mark(1, Uptime(1));
        ring.fuse.settle();
        ring.reader.mark_crash(6);
        ring.mirror.copy().unwrap();
        ring.reader.discard().unwrap();
        say(&format!("child: {}", matches!(refused, Err(StoreError::Forked))));
        std::process::exit(0);
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place for the answer.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    ring.main.close(&record(3), &record(3).details).unwrap();
    ring.mirror.copy().unwrap();
    say("parent: done");
}

/// Forks and ends, while the child lives on with everything that it inherited.
#[allow(unsafe_code)]
fn fork_and_leave(dir: &Path) {
    let _ring = ring(&options(dir));
    // SAFETY: this process has one thread, so the child may do everything.
    if unsafe { libc::fork() } == 0 {
        wait_for_the_test();
        std::process::exit(0);
    }
    say("left");
    std::process::exit(0);
}

/// Ends while a program that it started continues, for example an app's helper or the shell that ran a
/// command.
#[expect(clippy::zombie_processes, reason = "the program outlives this process")]
fn start_a_program_and_leave(dir: &Path) {
    let _ring = ring(&options(dir));
    let program = Command::new("cat").stdout(Stdio::null()).spawn().unwrap();
    say(&program.id().to_string());
}

/// Runs under a limit on the size of files. Exceeding it raises a signal that ends the process.
fn limited(dir: &Path) {
    limit_files();
    say_whether_on_disk(Ring::create(&options(dir)).mirror.attach());
    say(&format!(
        "{:?}",
        write_report(dir, "report", &vec![1; 80 << 10], Outlives::Process, || Some(()))
            .map_err(|error| error.kind())
    ));
}

/// Does what [`limited`] does, but the ring has its file before the limit is set.
fn limited_later(dir: &Path) {
    let mut ring = ring(&options(dir));
    limit_files();
    ring.main.close(&record(1), &record(1).details).unwrap();
    say_whether_on_disk(ring.mirror.copy());
    ring.main.close(&record(2), &record(2).details).unwrap();
    ring.mirror.copy().unwrap();
    let records = ring.reader.snapshot(Uptime::ZERO).report.history.len();
    say(&format!("{records} records, {:?}", ring.reader.path()));
}

/// Makes the kernel refuse each flush. Then writes a ring and two reports, and prints the result of each
/// report. Only the report that must survive a power loss ([`Outlives::PowerLoss`]) needs a flush.
fn no_flush(dir: &Path) {
    lab_seccomp::refuse(&FLUSHES, libc::EPERM);
    let mut ring = ring(&options(dir));
    ring.main.close(&record(1), &record(1).details).unwrap();
    ring.mirror.copy().unwrap();
    for outlives in [Outlives::Process, Outlives::PowerLoss] {
        say(&format!(
            "{:?}",
            write_report(dir, "report", b"report", outlives, || Some(())).map(|_| ()).map_err(|e| e.kind())
        ));
    }
}

/// The calls that wait for a disk.
const FLUSHES: [libc::c_long; 6] = [
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_sync_file_range,
    libc::SYS_msync,
];

#[allow(unsafe_code)]
fn limit_files() {
    let limit = libc::rlimit { rlim_cur: 64 << 10, rlim_max: 64 << 10 };
    // SAFETY: `limit` is a valid `rlimit` for the duration of the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
}

/// Waits until `done`, for as long as a loaded machine may need.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if done() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("waited for half a minute: {what}");
}
