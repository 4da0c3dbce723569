//! The stories: what the driver must print, and what its reports must show.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use loopbox_e2e::live::wait_for_ring;
use loopbox_e2e::{feature, read};
use loopbox_format::model::{DumpReason, Feature, MainState, Report};
use loopbox_launch::reports;

/// How long the driver is in its message when the signal comes, and at what age a message is a hang (`drive.c`).
const SIGNAL_NS: u64 = 300_000_000;
const HANG_NS: u64 = 1_500_000_000;
/// From this age of a message on, a killed process is worth a report.
const KILLED_NS: u64 = 1_000_000_000;

/// A place where the driver runs.
pub trait Stage {
    /// The command that plays a story, with its reports in a folder of this name.
    fn command(&self, story: &str, folder: &str) -> Command;

    /// That folder, as this process sees it.
    fn folder(&self, name: &str) -> PathBuf;
}

/// What a story is: it returns what was wrong.
pub type Story = fn(&dyn Stage) -> Result<()>;

/// The stories by name.
pub const STORIES: [(&str, Story); 3] = [
    ("from load to uninstall", whole),
    ("kill -9 and the next launch", killed),
    ("crash mark and the next launch", crashed),
];

/// Load, exports, `JNI_OnLoad`, install, messages, a report on request, SIGQUIT and its hand-on, a hang, uninstall.
///
/// # Errors
/// What was wrong.
pub fn whole(stage: &dyn Stage) -> Result<()> {
    let folder = fresh(stage, "whole")?;
    tell(stage, "whole", "whole")?;
    let reports = all(&folder)?;
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
        // The stand-in is no ART; ages must not come from the sampler.
        let (on, why) = feature(report, Feature::Sampler);
        ensure!(!on && !why.is_empty(), "the sampler is on: {why}");
    }
    Ok(())
}

/// A process that is killed in a message, as soon as its ring would show it: the next launch reports it, with its age.
///
/// # Errors
/// What was wrong.
pub fn killed(stage: &dyn Stage) -> Result<()> {
    let folder = fresh(stage, "killed")?;
    // What the linker prints itself goes nowhere: this output is the story's.
    let mut holds = stage.command("hold", "killed");
    holds.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut holds = holds.spawn().context("cannot start the driver")?;
    let said = holds.stdout.take().context("no standard output")?;
    // As long as it is open: the driver goes on only while it has a reader.
    let mut said = BufReader::new(said).lines();
    let last = said.by_ref().map_while(Result::ok).find(|line| line == "holds");
    ensure!(last.is_some(), "the driver has ended before its message");
    let is_old = |report: &Report| age_ns(report).is_some_and(|age| age >= KILLED_NS);
    let ring = wait_for_ring("a ring with an old message", &folder, holds.id(), is_old);
    holds.kill()?;
    holds.wait()?;
    let ring = ring?;
    tell(stage, "next", "killed")?;
    let report = recovered(&folder, None)?;
    ensure!(report.meta.process.pid == ring.meta.process.pid, "a report of another process");
    ensure!(age_ns(&report) >= Some(KILLED_NS), "the killed message is {:?} ns old", age_ns(&report));
    Ok(())
}

/// A process whose crash handler has left a mark: the next launch reports it, with the signal.
///
/// # Errors
/// What was wrong.
pub fn crashed(stage: &dyn Stage) -> Result<()> {
    let folder = fresh(stage, "crashed")?;
    tell(stage, "crash", "crashed")?;
    tell(stage, "next", "crashed")?;
    recovered(&folder, Some(11)).map(drop)
}

/// An empty folder for a story.
fn fresh(stage: &dyn Stage, name: &str) -> Result<PathBuf> {
    empty(stage.folder(name))
}

/// Makes a folder, or empties it.
pub(crate) fn empty(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Runs the driver to its end. It prints of each check whether it holds.
fn tell(stage: &dyn Stage, story: &str, folder: &str) -> Result<()> {
    let output =
        stage.command(story, folder).stdin(Stdio::null()).output().context("cannot start the driver")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let good = output.status.success() && said.contains("\nok ") && !said.contains("WRONG ");
    ensure!(
        good,
        "the driver ended with {}; it said:\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

fn all(folder: &Path) -> Result<Vec<Report>> {
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
