//! One JVM for all compilations of a long run. In a short run, a new JVM spends most of its time on loading
//! and compiling the compiler's classes. The warm JVM does this only once: R8 then needs 3 s of processor
//! time for a small app, instead of 10 s.
//!
//! [`WarmJvm::name_to`] names the JVM in the environment of the processes that a process starts. In these
//! processes the commands of [`tools`](crate::tools), [`r8`](crate::r8) and [`kotlin`](crate::kotlin) pass
//! each compilation to the JVM. The first such command starts the JVM. A compilation runs in a new JVM if the
//! environment names no warm JVM, if the warm JVM does not start or does not answer, or if an argument is a
//! relative path: the warm JVM has another current folder.
//!
//! The library Nailgun did the same. It is archived, and needs native code (JNA) for Unix sockets.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::files::exclusive;

/// The variable that names the folder of the warm JVM.
pub const VARIABLE: &str = "LOOPBOX_WARM_JVM";

/// The first argument of a program that is to run [`client`] with the arguments after it. This is the program
/// that called [`WarmJvm::begin`].
pub const CLIENT: &str = "warm-java";

/// The name of a link in the JVM's folder. The link leads to the program that called [`WarmJvm::begin`].
const PROGRAM: &str = "java";

/// The program that the JVM runs.
const SERVER: &str = include_str!("../java/WarmJvm.java");

const SOCKET: &str = "socket";
const PROCESS: &str = "process";
/// A file that is there when the JVM has refused to start, as a JDK without a `SecurityManager` does.
const REFUSED: &str = "refused";

/// JVM options for programs that run for seconds: with the first JIT tier alone they take less than half the
/// time.
pub(crate) const SHORT_LIVED: [&str; 2] = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// How long the JVM may take to start: many times what it takes on a loaded machine.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How long a program may take. After this time it is run again, in a new JVM.
const ANSWER_LIMIT: Duration = Duration::from_mins(10);

/// How much memory the programs of the JVM have together. Two R8 of small apps need less than half of it.
const HEAP: &str = "-Xmx3g";

/// The warm JVM of this process and of those that it starts with [`WarmJvm::name_to`].
#[derive(Debug)]
pub struct WarmJvm {
    folder: TempDir,
}

impl WarmJvm {
    /// Prepares the JVM's folder; the first compilation starts the JVM. It ends with this process. This
    /// program must call [`client`] when its first argument is [`CLIENT`].
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn begin() -> Result<Self> {
        let folder = TempDir::with_prefix("loopbox-jvm-").context("no folder for the warm JVM")?;
        // A build may replace the file of this program in the meantime.
        let program = format!("/proc/{}/exe", process::id());
        symlink(program, folder.path().join(PROGRAM)).context("no link to this program")?;
        Ok(Self { folder })
    }

    /// Names the JVM to a process that is to be started, and to those that this process will start.
    pub fn name_to<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env(VARIABLE, self.folder.path())
    }

    /// The number of the JVM's process; `None` when no compilation has needed it.
    pub fn process(&self) -> Option<u32> {
        fs::read_to_string(self.folder.path().join(PROCESS)).ok()?.parse().ok()
    }
}

/// A command that runs `program` in the warm JVM. `program` is a class of `class_path`. If `class_path` is
/// empty, `program` is a tool of the JDK that the JVM `java` belongs to. The program does not get the
/// command's environment variables or standard input. `None` when the environment names no
/// warm JVM.
pub(crate) fn command(java: &Path, class_path: &str, program: &str) -> Option<Command> {
    let folder = PathBuf::from(env::var_os(VARIABLE)?);
    let mut command = Command::new(folder.join(PROGRAM));
    command.arg(CLIENT).arg(folder).arg(java).args([class_path, program]);
    Some(command)
}

/// Runs a program in the warm JVM, or else in a new one. The arguments are those that follow [`CLIENT`] in a
/// command. Returns the program's exit code.
///
/// # Errors
/// When `arguments` has fewer than the four elements that each command has, or no JVM can be started.
pub fn client(arguments: &[OsString]) -> Result<ExitCode> {
    let [folder, java, class_path, program, arguments @ ..] = arguments else {
        bail!("{CLIENT} is no command for users");
    };
    let is_relative = |text: &OsString| Path::new(text).is_relative() && Path::new(text).exists();
    let answered = (!arguments.iter().any(is_relative))
        .then(|| connect(Path::new(folder), java))
        .flatten()
        .and_then(|stream| ask(&stream, [program, class_path].into_iter().chain(arguments)).ok());
    if let Some((status, out, errors)) = answered {
        io::stdout().write_all(&out).context("cannot write to standard output")?;
        io::stderr().write_all(&errors).context("cannot write to standard error")?;
        return Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)));
    }
    let mut cold = if class_path.is_empty() {
        let mut tool = Command::new(Path::new(java).with_file_name(program));
        tool.args(SHORT_LIVED.map(|option| format!("-J{option}")));
        tool
    } else {
        let mut cold = Command::new(java);
        cold.args(SHORT_LIVED).arg("-cp").args([class_path, program]);
        cold
    };
    Err(cold.args(arguments).exec()).context("cannot run a JVM")
}

/// Connects to the JVM, and starts it when it does not run. `None` when it does not start.
fn connect(folder: &Path, java: &OsStr) -> Option<UnixStream> {
    let socket = folder.join(SOCKET);
    let connected = || UnixStream::connect(&socket).ok();
    if let Some(stream) = connected() {
        return Some(stream);
    }
    let _lock = exclusive(&folder.join("lock"), || {}).ok()?;
    if let Some(stream) = connected() {
        return Some(stream);
    }
    if folder.join(REFUSED).exists() {
        return None;
    }
    let begun = Instant::now();
    let started = start(folder, java, &socket);
    let Ok(mut server) = started else { return None };
    while matches!(server.try_wait(), Ok(None)) && begun.elapsed() < START_LIMIT {
        if let Some(stream) = connected() {
            return Some(stream);
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _ = server.kill();
    let _ = File::create(folder.join(REFUSED));
    None
}

fn start(folder: &Path, java: &OsStr, socket: &Path) -> Result<process::Child> {
    // The link leads to the process that the JVM serves.
    let served = fs::read_link(folder.join(PROGRAM))?;
    let served = served.parent().and_then(Path::file_name).context("no process to serve")?;
    let source = folder.join("WarmJvm.java");
    fs::write(&source, SERVER)?;
    // What is left of one that has crashed.
    let _ = fs::remove_file(socket);
    let log = File::create(folder.join("log"))?;
    let mut server = Command::new(java);
    server
        .args(SHORT_LIVED)
        .args([HEAP, "-Djava.security.manager=allow"])
        .arg(&source)
        .arg(socket)
        .arg(served);
    // It serves others after the program that happens to start it, and must survive when that is ended.
    server.process_group(0).current_dir("/").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let server = server.spawn()?;
    fs::write(folder.join(PROCESS), server.id().to_string())?;
    Ok(server)
}

/// Sends a request. Returns the exit code, standard output and standard error.
fn ask<'a>(
    stream: &UnixStream,
    texts: impl Iterator<Item = &'a OsString>,
) -> io::Result<(i32, Vec<u8>, Vec<u8>)> {
    let texts: Vec<&OsString> = texts.collect();
    let mut out = BufWriter::new(stream);
    out.write_all(&length(texts.len())?)?;
    for text in texts {
        out.write_all(&length(text.len())?)?;
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    let mut answer = BufReader::new(stream);
    let status = number(&mut answer)?;
    let output = text(&mut answer)?;
    Ok((status, output, text(&mut answer)?))
}

fn number(answer: &mut impl Read) -> io::Result<i32> {
    let mut bytes = [0; 4];
    answer.read_exact(&mut bytes)?;
    Ok(i32::from_be_bytes(bytes))
}

fn text(answer: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = u64::try_from(number(answer)?).map_err(io::Error::other)?;
    let mut text = Vec::new();
    if answer.take(length).read_to_end(&mut text)? as u64 == length {
        Ok(text)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn length(length: usize) -> io::Result<[u8; 4]> {
    i32::try_from(length).map(i32::to_be_bytes).map_err(io::Error::other)
}
