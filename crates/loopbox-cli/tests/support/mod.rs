//! Running the command on temporary files.
#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod builds;
pub(crate) mod pages;
pub(crate) mod tools;

use loopbox_format::model::{ClockPair, MainState, Report, Uptime};
use loopbox_format::report::encode;
use loopbox_report::test_support::ReportBuilder;
use loopbox_store::{Identity, Ring, RingOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tempfile::TempDir;

/// How a run of the command ended.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the command to its end.
pub(crate) fn loopbox<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Run {
    let out = Command::new(env!("CARGO_BIN_EXE_loopbox")).args(args).output().expect("the command runs");
    Run {
        code: out.status.code().expect("no signal"),
        stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}

/// A running `loopbox open`.
pub(crate) struct OpenPage {
    process: Child,
    /// The address of the page.
    pub(crate) url: String,
}

impl OpenPage {
    /// Starts the command with these arguments in a folder, and reads the address that it prints.
    pub(crate) fn of(arguments: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loopbox"));
        command.args(["open", "--no-browser"]).args(arguments).current_dir(folder);
        Self::start(command)
    }

    /// Starts this command, and reads the address that it prints.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the command starts");
        let mut url = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut url).expect("an address");
        Self { process, url: url.trim_end().to_owned() }
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A report of a shop app whose main thread has been summing up a cart for five seconds.
pub(crate) fn shop() -> ReportBuilder {
    ReportBuilder::new()
        .idle(2_400)
        .group(41, 310, 240)
        .single("com.example.shop.FeedHandler", 712, 650)
        .group(3, 180, 20)
        .running(46, 5_200)
        .doing("android.os.Handler", "com.example.shop.Checkout$1", 5_050)
        .looper_tree(
            46,
            &[
                ("com.example.shop.Checkout$1.run:31 com.example.shop.Cart.total:88 java.util.ArrayList.get:436", 200),
                ("com.example.shop.Checkout$1.run:31 com.example.shop.Cart.total:88", 315),
            ],
        )
        .pending("Looper (main, tid 2) {a1b2c3}")
        .pending("  Message 0: { when=-5s21ms what=3 target=com.example.shop.FeedHandler }")
        .pending("  (Total messages: 1, polling=false, quitting=false)")
}

/// A folder of files that is removed after the test.
pub(crate) struct Files {
    dir: TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().expect("a folder") }
    }

    /// The path of a file with this name. The text is leaked, which is fine because tests are short.
    pub(crate) fn path(&self, name: &str) -> &'static str {
        self.dir.path().join(name).to_str().expect("UTF-8").to_string().leak()
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file with these bytes, and returns its path.
    pub(crate) fn bytes(&self, name: &str, bytes: &[u8]) -> &'static str {
        let path = self.path(name);
        std::fs::write(path, bytes).expect("a file");
        path
    }

    /// Makes folders in each other, until the path of one is too long for the system to read it.
    pub(crate) fn unreadable_folder(&self) {
        let names = "cd \"$1\"; i=0; while [ $i -lt 20 ]; do mkdir $2; cd -P $2; i=$((i+1)); done";
        let long = "n".repeat(250);
        let made = Command::new("bash").args(["-ec", names, "bash"]).arg(self.dir()).arg(long).status();
        assert!(made.unwrap().success());
    }

    /// Writes an archive that contains [`shop`] once under each of the names `entries`, and returns its path.
    pub(crate) fn zip(&self, name: &str, entries: &[&str]) -> &'static str {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for entry in entries {
            archive.start_file(*entry, zip::write::SimpleFileOptions::default()).expect("an entry");
            std::io::Write::write_all(&mut archive, &shop_bytes()).expect("an entry");
        }
        self.bytes(name, archive.finish().expect("an archive").get_ref())
    }

    /// Writes [`shop`] as a separate recording, and returns the file's path.
    pub(crate) fn report(&self, name: &str) -> &'static str {
        self.bytes(name, &recorded(&shop().build().report))
    }

    /// Writes [`shop`] with a flipped bit in its pending section, and returns the file's path.
    pub(crate) fn damaged(&self, name: &str) -> &'static str {
        let mut bytes = shop_bytes();
        let at = bytes.windows(4).position(|w| w == b"PEND").expect("the section");
        bytes[at + 20] ^= 1;
        self.bytes(name, &bytes)
    }

    /// Writes [`shop`] without its last third, and returns the file's path.
    pub(crate) fn cut(&self, name: &str) -> &'static str {
        let bytes = shop_bytes();
        self.bytes(name, &bytes[..bytes.len() * 2 / 3])
    }

    /// A ring file as a killed process leaves it, with the history and the running message of [`shop`].
    pub(crate) fn ring(&self) -> PathBuf {
        let report = shop().build().report;
        let identity =
            Identity::of_this_process(ClockPair { uptime_ns: Uptime(1), unix_ms: 1_700_000_000_000 });
        let mut ring = Ring::create(&RingOptions::new(self.dir(), identity));
        ring.mirror.attach().expect("a file");
        for record in report.history.iter().filter(|r| r.closed) {
            ring.main.close(record, &record.details).expect("a record");
        }
        let MainState::Running(running) = &report.main else { panic!("a message is running") };
        ring.main.running(running.token, running.start_ns, 1).expect("the running message");
        ring.worker.running(running).expect("its name");
        ring.worker.running_tree(&report.symbols, &report.trees[0]).expect("its stacks");
        ring.worker.meta(&report.meta).expect("the meta section");
        ring.mirror.copy().expect("room on the disk");
        ring.reader.path().expect("a file").to_path_buf()
    }
}

/// The bytes of a report as a distinct recording: no other report of the test has its times.
pub(crate) fn recorded(report: &Report) -> Vec<u8> {
    static RECORDINGS: AtomicU64 = AtomicU64::new(0);
    let mut report = report.clone();
    report.meta.process.installed_ns.0 += RECORDINGS.fetch_add(1, Relaxed);
    encode(&report).expect("encodes")
}

pub(crate) fn shop_bytes() -> Vec<u8> {
    encode(&shop().build().report).expect("encodes")
}
