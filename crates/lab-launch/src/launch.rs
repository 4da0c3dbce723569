//! Runs apps of `tests/app` on a testbed as a phone would: in a separate process, with the recorder loaded as
//! a library and signals from outside.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use loopbox_format::model::DumpReason;
use loopbox_format::report::decode;

use loopbox_android_pack::Abi;
use loopbox_setup::files::remove;
use loopbox_setup::workspace::{cargo, root, run, target};
use loopbox_testbed::{self as testbed, Arch, Testbed};

use crate::android;

/// How the Rust parts are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Quick to build, with debug assertions: for tests.
    Dev,
    /// Built as the library ships, for benches.
    App,
}

impl Build {
    pub(crate) fn profile(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::App => "app",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::App => "app",
        }
    }
}

/// The variable that names the folder of [`keep_programs`].
pub const KEPT: &str = "LOOPBOX_LAB_PROGRAMS";

/// A testbed with the scripted apps, the host program and the recorder ready to run.
#[derive(Debug)]
pub struct Launcher {
    /// The testbed.
    pub testbed: Testbed,
    jar: PathBuf,
    host: PathBuf,
    libraries: PathBuf,
}

impl Launcher {
    /// Sets up the testbed called `name` and builds the programs for it.
    ///
    /// # Errors
    /// When a part cannot be set up or built.
    pub fn new(name: &str, build: Build) -> Result<Self> {
        let testbed = testbed::ensure(name)?;
        let jar = scripted_apps(&testbed)?;
        Self::with_app(testbed, build, jar)
    }

    /// Sets up the testbed called `name` with an app of these Java sources, compiled into `jar`, in place of
    /// the scripted apps. The app can use the recorder's public API and the substitutes for the framework.
    ///
    /// # Errors
    /// When a part cannot be set up or built.
    pub fn of_sources(name: &str, sources: &[PathBuf], jar: PathBuf) -> Result<Self> {
        let mut all = java_below(&[root().join("tests/app/android")])?;
        all.extend_from_slice(sources);
        let folder = jar.parent().context("a jar in no folder")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let testbed = testbed::ensure(name)?;
        with_java_half(&testbed, all, &jar)?;
        Self::with_app(testbed, Build::Dev, jar)
    }

    fn with_app(testbed: Testbed, build: Build, jar: PathBuf) -> Result<Self> {
        let libraries =
            programs(&testbed, build).context("cannot build the host program and the recorder")?;
        Ok(Self { testbed, jar, host: libraries.join("lab-host"), libraries })
    }

    /// Sets up the testbed called `name` with the scripted apps and with the library exactly as it ships.
    ///
    /// # Errors
    /// When a part cannot be set up or built.
    pub fn shipped(name: &str) -> Result<Self> {
        Self::new(name, Build::Dev)?.with_shipped_library()
    }

    /// Replaces the library by the one that ships to devices of the testbed's architecture: linked for
    /// Android, stripped, unchanged.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn with_shipped_library(mut self) -> Result<Self> {
        let abi = match self.testbed.arch()? {
            Arch::X86_64 => Abi::X86_64,
            Arch::Arm64 => Abi::Arm64,
            Arch::X86 | Arch::Arm => {
                bail!("the substitutes for bionic have its structures of 64-bit processes")
            }
        };
        let shipped = android::shipped(abi, &self.testbed)?;
        self.testbed = shipped.testbed;
        self.libraries = shipped.libraries;
        Ok(self)
    }

    /// Compiles the scripted apps with a changed Java half of the recorder into a jar: `change` gets each
    /// source's file name and text, and returns the text to compile. `name` becomes the jar's name.
    ///
    /// # Errors
    /// When something cannot be read, written or compiled.
    pub fn variant(&self, name: &str, change: impl Fn(&str, String) -> Result<String>) -> Result<PathBuf> {
        let jar = self.jar.with_file_name(format!("{}-{name}.jar", self.testbed.manifest.name));
        let folder = tempfile::tempdir_in(target()).context("no folder below target")?;
        let parts = ["jni-glue/java-stubs", "jni-glue/inhouse/java", "jni-glue/startup/java", "tests/app"];
        let mut sources = java_below(&parts.map(|part| root().join(part)))?;
        for source in java_below(&[root().join("jni-glue/java")])? {
            let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // One a package, all of the same name, and none makes a class.
            if file == "package-info.java" {
                continue;
            }
            let text = fs::read_to_string(&source).with_context(|| format!("cannot read {file}"))?;
            let changed = folder.path().join(&file);
            fs::write(&changed, change(&file, text)?).with_context(|| format!("cannot write {file}"))?;
            sources.push(changed);
        }
        self.testbed
            .dex(&sources, &[], &jar)
            .with_context(|| format!("cannot compile the variant {name}"))?;
        Ok(jar)
    }

    /// The dexed jars that run, in class path order.
    pub fn class_path(&self) -> Vec<PathBuf> {
        let boot = self.testbed.manifest.boot_class_path.iter().map(|jar| self.testbed.dir.join(jar));
        boot.chain([self.jar.clone()]).collect()
    }

    /// The file of the recorder's library for the testbed.
    pub fn library(&self) -> PathBuf {
        self.libraries.join("libloopbox.so")
    }

    /// The command that runs the host program in the testbed's environment, with the testbed's description
    /// and without an app.
    pub fn host(&self) -> Command {
        // The variables of the testbed are there from the start: the host program need not start itself
        // again, which an emulated one could not do.
        let mut command = self.testbed.command(&self.host);
        command.env("LOOPBOX_HOST_TESTBED", &self.testbed.dir);
        command.arg("--testbed").arg(self.testbed.dir.join("testbed.toml"));
        command
    }

    /// A process that will run `main` of `class`.
    pub fn app(&self, class: &str) -> App {
        self.app_in(&self.jar, class)
    }

    /// A process that will run `main` of `class`. The app is in `jar`, a separate dexed jar.
    pub fn app_in(&self, jar: &Path, class: &str) -> App {
        let mut command = self.host();
        command.arg("--app").arg(jar);
        command.arg("-D").arg(format!("java.library.path={}", self.libraries.display()));
        command.arg("--main").arg(class);
        App { command, arguments: Vec::new() }
    }
}

/// The scripted apps of `tests/app` and the recorder's Java half as a dexed jar, compiled against a testbed's
/// classes.
///
/// # Errors
/// When they cannot be compiled.
pub fn scripted_apps(testbed: &Testbed) -> Result<PathBuf> {
    let apps = target().join("apps");
    fs::create_dir_all(&apps).context("cannot create target/apps")?;
    let jar = apps.join(format!("{}.jar", testbed.manifest.name));
    let sources = java_below(&[root().join("tests/app")])?;
    with_java_half(testbed, sources, &jar).context("cannot prepare the scripted apps")?;
    Ok(jar)
}

/// The scripted apps and the recorder's Java half as class files, to compile other code against.
///
/// # Errors
/// When they cannot be compiled.
pub fn scripted_classes(testbed: &Testbed) -> Result<Vec<PathBuf>> {
    testbed.compile(&and_java_half(java_below(&[root().join("tests/app")])?)?, &[])
}

/// Compiles Java sources together with the recorder's Java half.
fn with_java_half(testbed: &Testbed, sources: Vec<PathBuf>, jar: &Path) -> Result<()> {
    testbed.dex(&and_java_half(sources)?, &[], jar)
}

fn and_java_half(sources: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let glue = root().join("jni-glue");
    let mut all =
        java_below(&["java", "java-stubs", "inhouse/java", "startup/java"].map(|part| glue.join(part)))?;
    all.extend(sources);
    Ok(all)
}

/// Builds what runs on a testbed, for its architecture; returns the folder with the results.
pub(crate) fn programs(testbed: &Testbed, build: Build) -> Result<PathBuf> {
    let arch = testbed.arch()?;
    if arch == Arch::X86_64 {
        return programs_of_this_machine(build);
    }
    Ok(android::linux::build(arch, testbed, &what_runs(build))?.join(build.folder()))
}

/// Builds the recorder's libraries, the host program and the probe of `loopbox-art`'s tests for this machine;
/// returns the folder with them.
///
/// All tests build these programs by this call, so that cargo builds them with the same features each time.
/// With other features cargo would write them again. For that, cargo removes the old file first, and a test
/// that starts a program or loads a library at that moment finds no file.
///
/// # Errors
/// When they do not compile.
pub fn programs_of_this_machine(build: Build) -> Result<PathBuf> {
    if build == Build::Dev
        && let Some(kept) = env::var_os(KEPT)
    {
        return Ok(kept.into());
    }
    run(cargo().args(["build", "--quiet", "--locked"]).args(what_runs(build)))?;
    Ok(target().join(build.folder()))
}

/// Builds the programs for [`Build::Dev`] and copies them into `folder`. A process that gets the returned
/// variable in its environment uses the copies: cargo is not asked whether they are up to date, which takes
/// 0.1 s, and a build that goes on at the same time does not replace them.
///
/// # Errors
/// When they do not compile, or cannot be copied.
pub fn keep_programs(folder: &Path) -> Result<(&'static str, PathBuf)> {
    let built = programs_of_this_machine(Build::Dev)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for file in ["lab-host", "libart_probe.so", "libloopbox.so", "libloopbox_inhouse.so"] {
        let (from, to) = (built.join(file), folder.join(file));
        // Not into the file that is there: an app of an earlier run may still have it mapped.
        remove(&to)?;
        fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok((KEPT, folder.to_owned()))
}

fn what_runs(build: Build) -> Vec<&'static str> {
    let packages =
        ["lab-host", "lab-probe", "loopbox-jni", "loopbox-inhouse"].map(|name| ["--package", name]);
    packages.into_iter().flatten().chain(["--profile", build.profile()]).collect()
}

/// Java sources below some folders.
///
/// # Errors
/// When one cannot be read.
pub fn java_below(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = folders.to_vec();
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The command that runs the program `starter` with `arguments`; they are followed by the command `started`
/// and its arguments.
pub(crate) fn started_by(starter: &str, arguments: &[&str], started: &Command) -> Command {
    let mut command = Command::new(starter);
    command.args(arguments).arg(started.get_program()).args(started.get_args());
    for (name, value) in started.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// A process about to start.
#[derive(Debug)]
pub struct App {
    command: Command,
    arguments: Vec<String>,
}

impl App {
    /// Adds an option of the host program.
    #[must_use]
    pub fn option(mut self, option: &str) -> Self {
        self.command.arg(option);
        self
    }

    /// Sets a Java system property.
    #[must_use]
    pub fn property(self, name: &str, value: impl std::fmt::Display) -> Self {
        self.option("-D").option(&format!("{name}={value}"))
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Lets the program `starter` start the host program, whose path and arguments follow `arguments`.
    /// `starter` must become the host program (`exec`), so that the process is the app's.
    #[must_use]
    pub fn started_by(mut self, starter: &str, arguments: &[&str]) -> Self {
        self.command = started_by(starter, arguments, &self.command);
        self
    }

    /// Adds an argument of `main`.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Runs the process to its end, with this program's input and output; `started` gets its id.
    ///
    /// # Errors
    /// When the host program cannot be started.
    pub fn run(mut self, started: impl FnOnce(u32)) -> Result<ExitStatus> {
        self.command.arg("--").args(&self.arguments);
        let mut child = self.command.spawn().context("cannot start the host program")?;
        started(child.id());
        child.wait().context("cannot wait for the process")
    }

    /// Starts the process.
    ///
    /// # Errors
    /// When the host program cannot be started.
    pub fn start(mut self) -> Result<Running> {
        self.command.arg("--").args(&self.arguments);
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().context("cannot start the host program")?;
        let (send, lines) = channel();
        let stdout = child.stdout.take().context("no standard output")?;
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let mut stderr = child.stderr.take().context("no standard error")?;
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Running { child, lines, seen: Vec::new(), reader: Some(reader), errors: Some(errors) })
    }
}

/// A running process. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
    reader: Option<JoinHandle<()>>,
    errors: Option<JoinHandle<String>>,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// Lines of its standard output.
    pub lines: Vec<String>,
    /// Its standard error.
    pub errors: String,
}

impl Ended {
    /// Fails with the output of the process unless it succeeded.
    ///
    /// # Errors
    /// When the exit status is not 0.
    pub fn success(self) -> Result<Self> {
        if self.status.success() {
            return Ok(self);
        }
        bail!("the process ended with {}\n{}\n{}", self.status, self.lines.join("\n"), self.errors)
    }
}

impl Running {
    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line of standard output that contains `text`.
    ///
    /// # Errors
    /// When the process ends first, or the line does not come within `limit`. The error has what the process
    /// printed.
    pub fn wait_for(&mut self, text: &str, limit: Duration) -> Result<String> {
        let end = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return Ok(line);
                    }
                }
                Err(why) => {
                    let what = match why {
                        RecvTimeoutError::Timeout => "did not come in time",
                        RecvTimeoutError::Disconnected => "did not come before the process ended",
                    };
                    let (seen, threads) = (self.seen.join("\n"), threads_of(self.pid()));
                    let errors = self.kill();
                    return Err(anyhow!("`{text}` {what}; the process said:\n{seen}\n{threads}{errors}"));
                }
            }
        }
    }

    /// Lines of standard output read so far.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }

    /// Sends a signal by its name without SIG: `QUIT`.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn signal(&self, name: &str) -> Result<()> {
        run(Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()))
    }

    /// Waits for the process to end by itself.
    ///
    /// # Errors
    /// When it does not end within `limit`; it is killed then.
    pub fn finish(mut self, limit: Duration) -> Result<Ended> {
        let end = Instant::now() + limit;
        let status = loop {
            if let Some(status) = self.child.try_wait().context("cannot wait for the process")? {
                break status;
            }
            if Instant::now() > end {
                let threads = threads_of(self.pid());
                let errors = self.kill();
                self.seen.extend(self.lines.try_iter());
                let seen = self.seen.join("\n");
                bail!("the process did not end in time; it said:\n{seen}\n{threads}{errors}");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        self.seen.extend(self.lines.try_iter());
        let errors = self.errors.take().and_then(|e| e.join().ok()).unwrap_or_default();
        Ok(Ended { status, lines: std::mem::take(&mut self.seen), errors })
    }

    /// Ends the process with SIGKILL and returns what it wrote to standard error.
    pub fn kill(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.errors.take().and_then(|e| e.join().ok()).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A line for each thread of a process: id, name, state, the kernel function and the system call that the
/// thread waits in (its number, the arguments, the stack pointer and the pc). The lines show whether the
/// threads wait for each other, or get no processor. Empty when the process has ended.
fn threads_of(process: u32) -> String {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let line = |thread: fs::DirEntry| {
        let read = |file: &str| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let state = read("stat").rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('?');
        let (id, name, place, call) = (thread.file_name(), read("comm"), read("wchan"), read("syscall"));
        format!("{} {} {state} {place} {}\n", id.display(), name.trim(), call.trim())
    };
    threads.map(line).collect()
}

/// Waits until the newest report in a folder is complete, and returns it.
///
/// # Errors
/// When it is not complete within `limit`, or there is none.
pub fn wait_for_report(folder: &Path, limit: Duration) -> Result<PathBuf> {
    let end = Instant::now() + limit;
    loop {
        if let Some(report) = reports(folder)?.pop()
            && is_complete(&report)?
        {
            return Ok(report);
        }
        if Instant::now() > end {
            bail!("no complete report appeared in {}", folder.display());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether the report in this file is complete: a recovered report, or one with the statistic that is only
/// added to a complete report.
fn is_complete(file: &Path) -> Result<bool> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let report = decode(&bytes).with_context(|| format!("{}", file.display()))?.report;
    let recovered = matches!(report.meta.reason, DumpReason::Recovered { .. });
    Ok(recovered || report.statistics.iter().any(|statistic| statistic.name == "report.first_file_ns"))
}

/// All reports in a folder, oldest first.
///
/// # Errors
/// When the folder cannot be read.
pub fn reports(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "lbx") {
            found.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
