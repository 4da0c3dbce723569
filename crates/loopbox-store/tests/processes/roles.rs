//! The processes that the tests start, and how they are started.

use crate::common::{details, group, options, record, symbols, tree};
use loopbox_format::model::Record;
use loopbox_store::{MainWriter, Ring, StoreError, WorkerWriter, write_report};
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
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

    /// Starts `role` as a user who is not root, in a directory of that user's.
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

    /// Everything that it still says, once it has ended by itself and well.
    pub(crate) fn finish(mut self) -> String {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.says.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {rest}");
        rest
    }

    /// Kills it with SIGKILL and returns what it had said until then.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().unwrap();
        let mut rest = String::new();
        self.says.read_to_string(&mut rest).unwrap();
        self.child.wait().unwrap();
        rest
    }
}

/// A test that fails leaves nobody behind.
impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether this process may do everything.
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
        "fork" => fork(&dir),
        "fork and leave" => fork_and_leave(&dir),
        "start a program and leave" => start_a_program_and_leave(&dir),
        "limited" => limited(&dir),
        _ => panic!("no such role: {role}"),
    }
}

/// Writes without pause from all three threads, and says what is done.
fn record_for_ever(dir: &Path) {
    let Ring { main, worker, fuse, reader } = Ring::create(&options(dir));
    assert!(reader.volatile_reason().is_none(), "{:?}", reader.volatile_reason());
    let now = AtomicU64::new(0);
    say("ready");
    thread::scope(|scope| {
        scope.spawn(|| record_messages(main, &now));
        scope.spawn(|| keep_trees(worker));
        scope.spawn(|| {
            loop {
                fuse.mark(1, 1);
                fuse.mark(0, 2);
                reader.heartbeat(now.load(Ordering::Relaxed));
            }
        });
    });
}

fn record_messages(mut main: MainWriter, now: &AtomicU64) {
    for seq in 1.. {
        let whole = group(seq);
        for count in 1..=10 {
            let token = whole.first_token + u64::from(count) - 1;
            now.store(token * 100, Ordering::Relaxed);
            main.running(token, token * 100, 1).unwrap();
            main.open(&Record { count, ..whole.clone() }).unwrap();
            if count == 3 {
                main.open_details(seq, &details(whole.first_token, 3)).unwrap();
            }
            if count == 10 {
                main.close(&record(seq), &record(seq).details).unwrap();
                say(&format!("closed {seq}"));
            }
            main.idle(token * 100 + 99).unwrap();
        }
    }
}

fn keep_trees(mut worker: WorkerWriter) {
    for token in 1.. {
        for samples in [5, 50] {
            worker.running_tree(&symbols(), &tree(token, samples)).unwrap();
            say(&format!("running {token}"));
        }
        worker.keep_tree(&symbols(), &tree(token, 95 + token as u32 % 3000)).unwrap();
        say(&format!("kept {token}"));
        worker.clear_running_tree().unwrap();
    }
}

/// Says why the ring is volatile, then uses it.
fn create(dir: &Path) {
    let mut ring = Ring::create(&options(dir));
    say(&ring.reader.volatile_reason().map_or("mapped".into(), ToString::to_string));
    for seq in 1..=120 {
        ring.main.close(&record(seq), &record(seq).details).unwrap();
    }
    say(&format!("{} records", ring.reader.snapshot(0).report.history.len()));
    wait_for_the_test();
}

/// Does by mistake what an app must not do to its ring.
#[allow(unsafe_code)]
fn shorten(dir: &Path) {
    let mut ring = Ring::create(&options(dir));
    let path = ring.reader.path().expect("a file").to_owned();
    let opened = OpenOptions::new().write(true).truncate(true).open(&path);
    say(&format!("{:?}", opened.map_err(|error| error.kind()).map(|_| ())));
    let name = CString::new(path.into_os_string().into_encoded_bytes()).expect("no zero");
    // SAFETY: `name` is a string with its zero for the duration of the call.
    let shortened = unsafe { libc::truncate(name.as_ptr(), 0) };
    let shortened = if shortened == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().kind()) };
    say(&format!("{shortened:?}"));
    ring.main.close(&record(1), &record(1).details).unwrap();
    say(&format!("{} records", ring.reader.snapshot(0).report.history.len()));
}

/// Forks; the child tries to write, then the parent does.
#[allow(unsafe_code)]
fn fork(dir: &Path) {
    let mut ring = Ring::create(&options(dir));
    ring.main.close(&record(1), &record(1).details).unwrap();
    // SAFETY: this process has one thread, so the child may do everything.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = ring.main.close(&record(2), &record(2).details);
        ring.fuse.mark(1, 1);
        ring.reader.mark_crash(6);
        ring.reader.discard().unwrap();
        say(&format!("child: {}", matches!(refused, Err(StoreError::Forked))));
        std::process::exit(0);
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place for the answer.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    ring.main.close(&record(3), &record(3).details).unwrap();
    say("parent: done");
}

/// Forks and ends, while the child lives on with everything that it inherited.
#[allow(unsafe_code)]
fn fork_and_leave(dir: &Path) {
    let mut ring = Ring::create(&options(dir));
    ring.main.close(&record(1), &record(1).details).unwrap();
    // SAFETY: this process has one thread, so the child may do everything.
    if unsafe { libc::fork() } == 0 {
        wait_for_the_test();
        std::process::exit(0);
    }
    say("left");
    std::process::exit(0);
}

/// Ends while a program that it started lives on, as an app's helper or the shell that ran a command does.
#[expect(clippy::zombie_processes, reason = "the program outlives this process")]
fn start_a_program_and_leave(dir: &Path) {
    let mut ring = Ring::create(&options(dir));
    ring.main.close(&record(1), &record(1).details).unwrap();
    let program = Command::new("cat").stdout(Stdio::null()).spawn().unwrap();
    say(&program.id().to_string());
}

/// Lives under a limit on the size of files. Exceeding it is a signal that ends a process.
#[allow(unsafe_code)]
fn limited(dir: &Path) {
    let limit = libc::rlimit { rlim_cur: 64 << 10, rlim_max: 64 << 10 };
    // SAFETY: `limit` is a valid `rlimit` for the duration of the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
    create_briefly(dir);
    say(&format!("{:?}", write_report(dir, "report", &vec![1; 80 << 10]).map_err(|error| error.kind())));
}

fn create_briefly(dir: &Path) {
    let ring = Ring::create(&options(dir));
    say(&ring.reader.volatile_reason().map_or("mapped".into(), ToString::to_string));
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
