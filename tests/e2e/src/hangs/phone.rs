//! The phone's app while it hangs: its signals, its end, and what its reports say.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use lab_launch::{App, Running, reports};
use lab_reports::live::{uptime_ns, wait_for_ring, wait_for_taken_signal, wait_until};
use lab_reports::{LIMIT, read, stacks_of};
use loopbox_format::model::{DumpReason, MainState, Report, Token, Uptime};
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;

use super::ENDED;
use super::mode::Mode;
use crate::launcher;
use crate::machine::quit_as_system;

/// A hang that the app has announced.
#[derive(Debug, Clone)]
pub(super) struct Hang {
    /// When the hang was announced, or seen; uptime.
    pub(super) since_ns: Uptime,
    /// The method that hangs.
    method: String,
}

/// The content of a report about a hang.
#[derive(Debug)]
pub(super) struct Finding {
    /// The whole report.
    pub(super) report: Report,
    /// Whether a stack of the main thread shows the method that hangs.
    pub(super) has_stack: bool,
    /// The number of the message, or of what ran outside of messages; 0 for nothing.
    pub(super) token: Token,
    /// When the hang began, as far as the report knows, uptime.
    pub(super) began_ns: Option<Uptime>,
    /// The instant that the report describes, uptime.
    pub(super) as_of_ns: Option<Uptime>,
    /// The headline of the diagnosis.
    pub(super) headline: String,
    /// The part of a cold start's message that was before the recorder was installed, as the diagnosis states
    /// it.
    pub(super) before_install: Option<String>,
    /// What main did as the kernel reported it.
    pub(super) waits: String,
    /// The earliest and the latest instant that the report may describe, uptime.
    pub(super) possible_ns: (Uptime, Uptime),
}

/// An answer to SIGQUIT.
#[derive(Debug)]
pub(super) struct Answer {
    /// The file of the report.
    pub(super) path: PathBuf,
    /// The content of the report.
    pub(super) finding: Finding,
}

/// The app while it hangs.
#[derive(Debug)]
pub(super) struct Phone<'a> {
    pub(super) app: Running,
    folder: &'a Path,
}

const HANGS_AT_ONCE: [&str; 3] = ["hang=message", "how=sleep", "ms=3600000"];

fn app(testbed: &str, mode: Mode, folder: &Path) -> Result<App> {
    let app = launcher(testbed)?.app("phone.Main").argument(format!("dir={}", folder.display()));
    Ok(mode.of(app))
}

impl<'a> Phone<'a> {
    /// Starts the app, whose files are in a folder, with these arguments.
    pub(super) fn start(testbed: &str, mode: Mode, folder: &'a Path, arguments: &[String]) -> Result<Self> {
        let app = arguments.iter().fold(app(testbed, mode, folder)?, App::argument);
        Ok(Self { app: app.start()?, folder })
    }

    /// Starts the next launch of the app. It hangs at once, and does not end before it has reported
    /// everything.
    pub(super) fn next(testbed: &str, mode: Mode, folder: &'a Path) -> Result<Self> {
        Self::start(testbed, mode, folder, &HANGS_AT_ONCE.map(str::to_owned))
    }

    /// As [`Self::next`], with a recorder that detects a hang only after a minute. With the usual threshold
    /// the report of the hang could replace the report of the signal before the latter is complete.
    pub(super) fn next_for_signal(testbed: &str, mode: Mode, folder: &'a Path) -> Result<Self> {
        let arguments = HANGS_AT_ONCE.into_iter().chain(["hangMs=60000"]);
        Self::start(testbed, mode, folder, &arguments.map(str::to_owned).collect::<Vec<_>>())
    }

    /// Waits until the app hangs at this place.
    pub(super) fn wait_for_hang(&mut self, place: &str) -> Result<Hang> {
        let at = self.app.wait_for(&format!("SCRIPT at {place}:"), LIMIT)?;
        let method = at.split(' ').next_back().context("no method")?.to_owned();
        self.app.wait_for(&format!("SCRIPT hangs at {place}"), LIMIT)?;
        Ok(Hang { since_ns: uptime_ns(), method })
    }

    /// Waits until the main thread is in an uninterruptible wait. Returns when it was seen there, uptime.
    pub(super) fn wait_for_page(&self) -> Result<Uptime> {
        wait_until("main waits for a page", || Ok((self.main_state()? == 'D').then(uptime_ns)))
    }

    /// The state of the main thread, as in its `stat` file.
    fn main_state(&self) -> Result<char> {
        let stat = format!("/proc/{0}/task/{0}/stat", self.app.pid());
        let line = std::fs::read_to_string(stat).context("the process is gone")?;
        let (_, fields) = line.rsplit_once(") ").context("no name")?;
        fields.chars().next().context("no state")
    }

    /// Sends SIGQUIT as the system does at an ANR: from the user `system`, or from the present user where
    /// this process may not do that. Returns the time at which it was sent, uptime.
    pub(super) fn signal(&self) -> Result<Uptime> {
        ensure!(self.main_state()? != 'Z', "{ENDED}");
        let sent_ns = uptime_ns();
        quit_as_system(self.app.pid())?;
        Ok(sent_ns)
    }

    /// Sends the signal and waits until a thread has taken it. Returns the time at which the signal was sent,
    /// uptime.
    pub(super) fn signal_taken(&self) -> Result<Uptime> {
        let sent_ns = self.signal()?;
        wait_for_taken_signal(self.app.pid())?;
        Ok(sent_ns)
    }

    /// The complete report that answers a signal, in a file other than `not`.
    pub(super) fn answer(&mut self, hang: &Hang, sent_ns: Uptime, not: &[&Path]) -> Result<Answer> {
        loop {
            let path = self.report(" sigquit")?;
            if !not.contains(&path.as_path()) {
                let finding = Finding::by(read(&path)?, hang, (sent_ns, uptime_ns()))?;
                return Ok(Answer { path, finding });
            }
        }
    }

    /// The report that answers a signal, as soon as it is on the disk. This is for hangs in which the app's
    /// Java code cannot be notified of the report.
    pub(super) fn answer_on_disk(&self, hang: &Hang, sent_ns: Uptime) -> Result<Answer> {
        wait_until("a report of the hang", || {
            for path in reports(self.folder)? {
                let finding = Finding::by(read(&path)?, hang, (sent_ns, uptime_ns()))?;
                if finding.as_of_ns.is_some_and(|as_of| as_of >= sent_ns) {
                    return Ok(Some(Answer { path, finding }));
                }
            }
            Ok(None)
        })
    }

    /// Waits until the listener is notified of a report with this reason. Returns its path.
    pub(super) fn report(&mut self, reason: &str) -> Result<PathBuf> {
        self.report_like(|line| line.ends_with(reason))
    }

    fn report_like(&mut self, wanted: impl Fn(&str) -> bool) -> Result<PathBuf> {
        loop {
            let line = self.app.wait_for("SCRIPT report", LIMIT)?;
            if wanted(&line) {
                return Ok(line.split_whitespace().nth(2).context("no path")?.into());
            }
        }
    }

    /// Kills the app as soon as the ring shows that the hang still continued after `after_ns`.
    /// [`Killed::recovered`] returns what the app left. Fails when the app has ended by itself.
    pub(super) fn kill(mut self, after_ns: Uptime) -> Result<Killed> {
        if self.main_state()? == 'Z' {
            bail!("{ENDED}: {}", self.app.kill());
        }
        let lasts = |report: &Report| main_of(&report.main).is_some_and(|main| main.as_of_ns > after_ns);
        let ring = wait_for_ring("a later sign of life", self.folder, self.app.pid(), lasts)?;
        let beat_ns = main_of(&ring.main).map_or(Uptime::ZERO, |main| main.as_of_ns);
        let before_ns = uptime_ns();
        let pid = self.app.pid();
        self.app.kill();
        Ok(Killed { pid, beat_ns, before_ns, after_ns: uptime_ns() })
    }
}

/// The end of a process.
#[derive(Debug)]
pub(super) struct Killed {
    pid: u32,
    /// The last sign of life that was seen in the process's ring, uptime.
    beat_ns: Uptime,
    /// An instant before the kill, uptime.
    pub(super) before_ns: Uptime,
    /// An instant after the kill, uptime.
    pub(super) after_ns: Uptime,
}

impl Killed {
    /// Starts the next launch, which hands out the report of the killed process. Returns the report's file
    /// and its content.
    pub(super) fn recovered(
        &self,
        (testbed, mode): (&str, Mode),
        folder: &Path,
        hang: &Hang,
    ) -> Result<(PathBuf, Finding)> {
        let mut next = Phone::next(testbed, mode, folder)?;
        // The listener is called with " recovered", or what the file is about that the process had written
        // itself.
        let process = format!("loopbox-{}-", self.pid);
        let path = next.report_like(|line| line.contains(&process))?;
        let report = read(&path)?;
        next.app.kill();
        Ok((path, Finding::by(report, hang, (self.beat_ns, self.after_ns))?))
    }
}

/// The message or other work that ran.
struct Main {
    token: Token,
    began_ns: Option<Uptime>,
    as_of_ns: Uptime,
}

fn main_of(main: &MainState) -> Option<Main> {
    match main {
        MainState::Running(running) => {
            Some(Main { token: running.token, began_ns: Some(running.start_ns), as_of_ns: running.as_of_ns })
        }
        MainState::Outside(outside) => {
            Some(Main { token: outside.token, began_ns: outside.start_ns, as_of_ns: outside.as_of_ns })
        }
        _ => None,
    }
}

impl Finding {
    pub(super) fn by(report: Report, hang: &Hang, possible_ns: (Uptime, Uptime)) -> Result<Self> {
        let main = main_of(&report.main);
        let token = main.as_ref().map_or(Token::NONE, |main| main.token);
        // More than one, where the sampler was not ready for the first stack.
        let mut stacks = Vec::new();
        for tree in report.trees.iter().filter(|tree| token != Token(0) && tree.token == token) {
            stacks.extend(stacks_of(&report, tree)?);
        }
        let has_stack = stacks.iter().any(|(frames, _)| {
            // The compiler's own methods, for access to private members, are not of interest.
            let names =
                frames.iter().map(lab_reports::Frame::short).filter(|name| !name.contains(".access$"));
            let names: Vec<String> = names.collect();
            let at = names.iter().position(|name| name == "Places.reach");
            let method = at.and_then(|at| names.get(at + 1)?.rsplit('.').next());
            method == Some(hang.method.as_str()) && names.iter().any(|name| name == "Hang.begin")
        });
        let decoded = loopbox_format::report::Decoded { report, damage: Vec::new() };
        let analysis = Analysis::new(&decoded);
        let diagnosis = diagnose(&analysis);
        let evidence = diagnosis.causes.iter().flat_map(|cause| &cause.evidence);
        let before_install = evidence
            .map(ToString::to_string)
            .find(|evidence| evidence.contains("before the recorder was installed"));
        Ok(Self {
            has_stack,
            token,
            began_ns: main.as_ref().and_then(|main| main.began_ns),
            as_of_ns: main.as_ref().map(|main| main.as_of_ns),
            headline: diagnosis.headline,
            before_install,
            waits: analysis.main_wait().map(|wait| wait.text).unwrap_or_default(),
            possible_ns,
            report: decoded.report,
        })
    }

    /// The report's content and time, for the text of a fault.
    pub(super) fn summary(&self) -> String {
        format!(
            "{}; {:?}, as of {:?} in {:?}",
            self.headline, self.report.meta.reason, self.as_of_ns, self.possible_ns
        )
    }

    /// Whether the report is about a hang that the recorder detected by itself.
    pub(super) fn is_of_hang(&self) -> bool {
        self.report.meta.reason == DumpReason::Hang
    }
}

/// Sleeps until `time` has passed since `since_ns`.
pub(super) fn sleep_until(since_ns: Uptime, time: Duration) {
    std::thread::sleep(time.saturating_sub(Duration::from_nanos(uptime_ns().since(since_ns))));
}
