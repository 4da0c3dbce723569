//! The scenarios: what the driver must print, and what its reports must contain.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use lab_reports::live::{ring_of, wait_until};
use lab_reports::{feature, read};
use loopbox_format::model::{DumpReason, Feature, MainState, Report};

/// Ages of the driver's message, as in `drive.c`. The signal comes at `SIGNAL_NS`; a message counts as a hang
/// when it is at least `HANG_NS` old.
const SIGNAL_NS: u64 = 300_000_000;
const HANG_NS: u64 = 1_500_000_000;
/// The next launch must report a killed process whose message was at least this old.
const KILLED_NS: u64 = 1_000_000_000;

/// A place where the driver runs.
pub trait Stage {
    /// Runs a scenario to its end. Its reports go into the folder with the name `folder`.
    ///
    /// # Errors
    /// When the driver cannot be started.
    fn play(&self, scenario: &str, folder: &str) -> Result<Ended>;

    /// Starts the scenario that stays in a message; returns when the driver is in it.
    ///
    /// # Errors
    /// When the driver ends before that message.
    fn hold(&self, folder: &str) -> Result<Box<dyn Held + '_>>;

    /// The folder of this name as this process sees it, with the files that the driver has written so far. It
    /// is made when missing.
    ///
    /// # Errors
    /// When it cannot be read.
    fn folder(&self, name: &str) -> Result<PathBuf>;
}

/// A driver that stays in its message.
pub trait Held {
    /// The id of the driver's process inside of its root.
    fn process(&self) -> u32;

    /// Kills the driver, and waits until it is gone.
    ///
    /// # Errors
    /// When it cannot be killed.
    fn kill(&mut self) -> Result<()>;
}

/// The result of a driver that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Whether its exit code reports success.
    pub success: bool,
    /// How it ended, in words.
    pub how: String,
    /// What it printed.
    pub said: String,
}

/// A place whose processes run on this machine's kernel.
pub trait Local {
    /// The command that runs a scenario whose reports go into the folder with the name `folder`.
    fn command(&self, scenario: &str, folder: &str) -> Command;

    /// The folder of this name, as this process sees it.
    fn path(&self, name: &str) -> PathBuf;
}

impl<T: Local> Stage for T {
    fn play(&self, scenario: &str, folder: &str) -> Result<Ended> {
        self.folder(folder)?;
        let output = self.command(scenario, folder).stdin(Stdio::null()).output();
        let output = output.context("cannot start the driver")?;
        let [said, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        Ok(Ended {
            success: output.status.success(),
            how: output.status.to_string(),
            said: format!("{said}{errors}"),
        })
    }

    fn hold(&self, folder: &str) -> Result<Box<dyn Held + '_>> {
        self.folder(folder)?;
        // What the linker prints itself goes nowhere: this output is the scenario's.
        let mut holds = self.command("hold", folder);
        holds.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = holds.spawn().context("cannot start the driver")?;
        let said = child.stdout.take().context("no standard output")?;
        let mut said = BufReader::new(said).lines();
        let last = said.by_ref().map_while(Result::ok).find(|line| line == "holds");
        ensure!(last.is_some(), "the driver has ended before its message");
        Ok(Box::new(Child { child, _said: said }))
    }

    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.path(name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }
}

/// A driver that is a child of this process.
struct Child {
    child: std::process::Child,
    /// The driver's output. It is kept open because the driver fails to write when nobody can read.
    _said: Lines<BufReader<ChildStdout>>,
}

impl Held for Child {
    fn process(&self) -> u32 {
        self.child.id()
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// A scenario: a function that returns what was wrong.
pub type Scenario = fn(&dyn Stage) -> Result<()>;

/// The scenarios by name.
pub const SCENARIOS: [(&str, Scenario); 3] = [
    ("from load to uninstall", whole),
    ("kill -9 and the next launch", killed),
    ("crash mark and the next launch", crashed),
];

/// Checks one process from the load of the library to the uninstall: exports, `JNI_OnLoad`, install,
/// messages, a report on request, a report at SIGQUIT and the forwarding of the signal, and a hang.
///
/// # Errors
/// What was wrong.
pub fn whole(stage: &dyn Stage) -> Result<()> {
    to_uninstall(stage, "whole")
}

/// All checks of [`whole`] with the library in an isolated namespace of Android's linker.
///
/// # Errors
/// What was wrong.
pub fn apart(stage: &dyn Stage) -> Result<()> {
    to_uninstall(stage, "apart")
}

fn to_uninstall(stage: &dyn Stage, scenario: &str) -> Result<()> {
    play(stage, scenario, scenario)?;
    let reports = all(&stage.folder(scenario)?)?;
    let of = |reason: &DumpReason| {
        reports
            .iter()
            .find(|report| report.meta.reason == *reason)
            .with_context(|| format!("no report of {reason:?}"))
    };
    of(&DumpReason::Requested("asked".into()))?;
    for (reason, at_least) in [(DumpReason::SigQuit, SIGNAL_NS), (DumpReason::Hang, HANG_NS)] {
        let report = of(&reason)?;
        let age = age_ns(report);
        ensure!(age >= Some(at_least), "the message of {reason:?} is {age:?} ns old");
        for part in [Feature::Hook, Feature::Ring, Feature::SigQuit] {
            let (on, how) = feature(report, part);
            ensure!(on, "{part:?}: {how}");
        }
        // The substitute is no ART; ages must not come from the sampler.
        let (on, why) = feature(report, Feature::Sampler);
        ensure!(!on && !why.is_empty(), "the sampler is on: {why}");
    }
    Ok(())
}

/// Kills a process in a message, as soon as its ring shows the message. Checks that the next launch reports
/// the message, with its age.
///
/// # Errors
/// What was wrong.
pub fn killed(stage: &dyn Stage) -> Result<()> {
    let mut holds = stage.hold("killed")?;
    let is_old = |report: &Report| age_ns(report).is_some_and(|age| age >= KILLED_NS);
    let process = holds.process();
    let ring = wait_until("a ring with an old message", || {
        Ok(ring_of(&stage.folder("killed")?, process)?.filter(is_old))
    });
    holds.kill()?;
    drop(holds);
    let ring = ring?;
    play(stage, "next", "killed")?;
    let report = recovered(&stage.folder("killed")?, None)?;
    ensure!(report.meta.process.pid == ring.meta.process.pid, "a report of another process");
    ensure!(age_ns(&report) >= Some(KILLED_NS), "the killed message is {:?} ns old", age_ns(&report));
    Ok(())
}

/// Checks a process whose crash handler has left a mark: the next launch must report the crash, with its
/// signal.
///
/// # Errors
/// What was wrong.
pub fn crashed(stage: &dyn Stage) -> Result<()> {
    play(stage, "crash", "crashed")?;
    play(stage, "next", "crashed")?;
    recovered(&stage.folder("crashed")?, Some(11)).map(drop)
}

/// Runs all scenarios with tagged memory. First it checks that memory tagging works: a read of freed memory
/// must end the process, as `caught` checks, and must succeed without tags. Otherwise the scenarios would
/// prove nothing.
///
/// # Errors
/// What was wrong.
pub fn tagged(plain: &dyn Stage, tagged: &dyn Stage, caught: &dyn Fn(&Ended) -> Result<()>) -> Result<()> {
    let read = plain.play("stale", "stale")?;
    ensure!(read.success && read.said.contains("has read "), "without tags: {read:?}");
    let ended = tagged.play("stale", "stale")?;
    ensure!(!ended.success && !ended.said.contains("has read "), "not caught: {ended:?}");
    caught(&ended).with_context(|| format!("it ended otherwise: {ended:?}"))?;
    for (name, scenario) in SCENARIOS {
        scenario(tagged).context(name)?;
    }
    Ok(())
}

/// Makes a folder, or empties it.
pub(crate) fn empty(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Runs the driver to its end, and checks what it printed: a line for each check, which begins with `ok` or
/// `WRONG`.
pub(crate) fn play(stage: &dyn Stage, scenario: &str, folder: &str) -> Result<()> {
    let Ended { success, how, said } = stage.play(scenario, folder)?;
    let good = success && said.contains("\nok ") && !said.contains("WRONG ");
    ensure!(good, "the driver ended with {how}; it said:\n{said}");
    Ok(())
}

pub(crate) fn all(folder: &Path) -> Result<Vec<Report>> {
    reports(folder)?.iter().map(|file| read(file)).collect()
}

fn recovered(folder: &Path, crash_signal: Option<i32>) -> Result<Report> {
    let wanted = DumpReason::Recovered { crash_signal };
    let found = all(folder)?.into_iter().find(|report| report.meta.reason == wanted);
    found.with_context(|| format!("no report of {wanted:?}"))
}

fn age_ns(report: &Report) -> Option<u64> {
    match &report.main {
        MainState::Running(running) => Some(running.age_ns()),
        _ => None,
    }
}
