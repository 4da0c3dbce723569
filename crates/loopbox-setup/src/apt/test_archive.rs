//! An archive of one package on a server in this process, and an apt that knows only this archive.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;

use super::archive::Archive;
use super::config::configuration;
use crate::command::{command, run};
use crate::files::sha256_file;
use crate::progress::Progress;

const DEB: &str = "loopbox-test_1.0_all.deb";
/// The `Last-Modified` date of every answer. `MODIFIED_SECONDS` is the same instant in seconds since 1970.
const MODIFIED: &str = "Sun, 09 Sep 2001 01:46:40 GMT";
const MODIFIED_SECONDS: u64 = 1_000_000_000;

/// What the server has seen, and how it answers.
#[derive(Default)]
struct Server {
    /// The offset of the first byte that each request for the package asked for; `None` without a `Range`.
    ranges: Vec<Option<u64>>,
    /// How many answers end early, and after how many bytes of the package.
    cut: (u32, usize),
}

/// The package `loopbox-test` 1.0, apt's configuration and state for it, and the server.
pub(crate) struct TestArchive {
    folder: tempfile::TempDir,
    content: Arc<Vec<u8>>,
    server: Arc<Mutex<Server>>,
    sources: String,
}

impl TestArchive {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("package");
        fs::create_dir_all(package.join("DEBIAN")).unwrap();
        let control = "Package: loopbox-test\nVersion: 1.0\nArchitecture: all\n\
            Maintainer: Nobody <nobody@loopbox.example>\nDescription: a test\n";
        fs::write(package.join("DEBIAN/control"), control).unwrap();
        // Not all of it the same, so that a wrong place in the file is seen.
        let data: Vec<u8> = (0..1_500_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        fs::write(package.join("data"), data).unwrap();
        let deb = folder.path().join(DEB);
        run(command("dpkg-deb", ["--build", "-Znone"]).arg(&package).arg(&deb)).unwrap();
        let content = Arc::new(fs::read(&deb).unwrap());
        let mut index = control.to_owned();
        let hash = sha256_file(&deb).unwrap();
        write!(index, "Filename: {DEB}\nSize: {}\nSHA256: {hash}\n\n", content.len()).unwrap();
        let server = Arc::new(Mutex::new(Server::default()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (served, state) = (Arc::clone(&content), Arc::clone(&server));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (served, state, index) = (Arc::clone(&served), Arc::clone(&state), index.clone());
                // A client that goes away in the middle is part of some tests.
                thread::spawn(move || drop(serve(stream, &index, &served, &state)));
            }
        });
        let sources = format!("deb [trusted=yes] http://{address} ./\n");
        let test = Self { folder, content, server, sources };
        for place in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(test.path(place)).unwrap();
        }
        fs::write(test.path("sources.list"), &test.sources).unwrap();
        fs::write(test.path("status"), "").unwrap();
        fs::write(test.path("apt.conf"), configuration(&test.path("."), "amd64")).unwrap();
        test
    }

    /// The path of a file of apt's state.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("state").join(name)
    }

    /// Adds an archive without an index to apt's configuration.
    pub(crate) fn add_archive_without_index(&self) {
        let missing = self.sources.replace(" ./", " missing/");
        fs::write(self.path("sources.list"), format!("{}{missing}", self.sources)).unwrap();
    }

    /// The package's file, as the server has it.
    pub(crate) fn package(&self) -> PathBuf {
        self.folder.path().join(DEB)
    }

    /// The package's bytes.
    pub(crate) fn content(&self) -> &[u8] {
        &self.content
    }

    pub(crate) fn sha256(&self) -> String {
        sha256_file(&self.package()).unwrap()
    }

    /// When the package was last modified, as the server says.
    pub(crate) fn modified() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(MODIFIED_SECONDS)
    }

    pub(crate) fn apt_get(&self, arguments: &[&str]) -> Command {
        let mut apt = command("apt-get", ["-c"]);
        apt.arg(self.path("apt.conf")).args(arguments).current_dir(self.path(".")).env("LC_ALL", "C");
        apt
    }

    pub(crate) fn update(&self) -> Result<String> {
        run(&mut self.apt_get(&["update"]))
    }

    pub(crate) fn open(&self) -> Result<Archive> {
        Archive::open(&self.path("archive"), &self.sources, "amd64", &Progress::new("test"))
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the next answers end early.
    pub(crate) fn cut_answers(&self, answers: u32, bytes: usize) {
        self.server().cut = (answers, bytes);
    }

    /// The offsets of the first bytes that the requests for the package asked for.
    pub(crate) fn ranges(&self) -> Vec<Option<u64>> {
        self.server().ranges.clone()
    }

    pub(crate) fn forget_requests(&self) {
        self.server().ranges.clear();
    }
}

/// Answers the requests of one connection.
fn serve(mut stream: TcpStream, index: &str, content: &[u8], state: &Mutex<Server>) -> Result<()> {
    let mut requests = BufReader::new(stream.try_clone()?);
    loop {
        let mut request = String::new();
        requests.read_line(&mut request)?;
        let Some(path) = request.split(' ').nth(1).map(str::to_owned) else { return Ok(()) };
        let mut start = None;
        loop {
            let mut line = String::new();
            requests.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                start = range.split('-').next().and_then(|number| number.parse().ok());
            }
        }
        let body = match path.rsplit('/').next() {
            Some("Packages") if !path.contains("/missing/") => index.as_bytes(),
            Some(DEB) => content,
            _ => {
                stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
                continue;
            }
        };
        let is_package = path.ends_with(DEB);
        let cut = if is_package {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.ranges.push(start);
            let cut = (state.cut.0 > 0).then_some(state.cut.1);
            state.cut.0 = state.cut.0.saturating_sub(1);
            cut
        } else {
            None
        };
        let from = start.unwrap_or(0) as usize;
        let rest = body.get(from..).unwrap_or_default();
        let head = match start {
            Some(_) => format!(
                "206 Partial Content\r\nContent-Range: bytes {from}-{}/{}",
                body.len() - 1,
                body.len()
            ),
            None => "200 OK".to_owned(),
        };
        let length = rest.len();
        let head = format!(
            "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nLast-Modified: {MODIFIED}\r\nAccept-Ranges: bytes\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        match cut {
            None => stream.write_all(rest)?,
            Some(bytes) => {
                stream.write_all(rest.get(..bytes).unwrap_or(rest))?;
                return Ok(()); // and the connection ends
            }
        }
    }
}

/// Another process that holds a lock with fcntl(2), as apt and dpkg do.
pub(crate) struct Holder(Child);

/// The program in Perl that holds the lock; every Debian has Perl.
const HOLD: &str = "use Fcntl qw(:DEFAULT :flock); sysopen(my $f, $ARGV[0], O_RDWR|O_CREAT) or die $!; \
    my $whole = pack('s s x4 q q l x4', F_WRLCK, 0, 0, 0, 0); fcntl($f, F_SETLK, $whole) or die $!; \
    $| = 1; print \"held\\n\"; <STDIN>;";

impl Holder {
    pub(crate) fn of(lock: &Path) -> Self {
        let mut perl = command("perl", ["-e", HOLD]);
        let mut child = perl.arg(lock).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut held = [0; 5];
        child.stdout.take().unwrap().read_exact(&mut held).unwrap();
        assert_eq!(&held, b"held\n");
        Self(child)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Releases the lock: the process ends, and its lock with it.
    pub(crate) fn release(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Ends with its standard input if it still runs.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
