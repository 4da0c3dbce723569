//! Every place where a main thread can hang (`tests/app/phone`), in every way to watch it: what the report at SIGQUIT
//! says of the hang, and what the next launch finds after a kill.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use loopbox_format::model::{MainState, Report};
use loopbox_launch::{App, wait_for_report};
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;
use tempfile::tempdir;

use crate::live::uptime_ns;
use crate::{LIMIT, launcher, read, stacks_of};

/// A place of the scripted app, by the name that its arguments have for it, in the order in which it is reached.
pub const PLACES: [&str; 20] = [
    "attach-after",
    "provider",
    "application",
    "activity",
    "frame-traversal",
    "frame-input",
    "frame-animation",
    "touch-down",
    "touch-move",
    "touch-up",
    "key",
    "generic-motion",
    "idle",
    "descriptor",
    "service-create",
    "service-start",
    "receiver",
    "job",
    "message",
    "nested-loop",
];

/// What the main thread does there: `phone.Hang` has them.
pub const WAYS: [&str; 8] =
    ["spin", "sleep", "monitor", "lock", "native-spin", "futex", "nanosleep", "fsync"];

/// How the main thread is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By `Looper.Observer`.
    Observer,
    /// By the Printer.
    Printer,
    /// By the Printer, with the app's windows watched for input.
    Input,
    /// By the Printer, which another library has replaced.
    Displaced,
    /// By the Printer, with sampling switched off.
    Unsampled,
    /// By the Printer, with stacks from `Thread.getStackTrace`.
    Fallback,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Observer, Self::Printer, Self::Input, Self::Displaced, Self::Unsampled, Self::Fallback];

    fn of(self, app: App) -> App {
        let app = if self == Self::Observer { app } else { app.argument("hook=PRINTER") };
        match self {
            Self::Observer | Self::Printer => app,
            Self::Input => app.argument("input=on"),
            Self::Displaced => app.argument("displaced=yes"),
            Self::Unsampled => app.argument("sampling=off"),
            Self::Fallback => app.env("LOOPBOX_FAULT", "unknown-art"),
        }
    }
}

/// One hang.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// The testbed.
    pub testbed: &'static str,
    /// How it is watched.
    pub mode: Mode,
    /// Where it hangs.
    pub place: &'static str,
    /// How.
    pub way: &'static str,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {} {}", self.testbed, self.mode, self.place, self.way)
    }
}

/// What a report says of the hang.
#[derive(Debug)]
pub struct Told {
    /// The whole report.
    pub report: Report,
    /// Whether a stack of the main thread shows the method that hangs.
    pub has_stack: bool,
    /// When what hangs began, as far as the report knows, uptime.
    pub began_ns: Option<u64>,
    /// The instant that the report speaks of, uptime.
    pub as_of_ns: Option<u64>,
    /// The diagnosis.
    pub headline: String,
}

/// What there was to see of one hang.
#[derive(Debug)]
pub struct Seen {
    /// When the app said that it hangs, uptime.
    pub hung_ns: u64,
    /// When SIGQUIT was sent, uptime.
    pub signalled_ns: u64,
    /// What the report says that answered it.
    pub signalled: Told,
    /// When the process was killed, uptime.
    pub killed_ns: u64,
    /// What the report says that the next launch recovered.
    pub recovered: Told,
}

impl Cell {
    /// Hangs, is sent the system's SIGQUIT after `signal`, killed after `kill`, and starts again.
    ///
    /// # Errors
    /// When the app does not do as told, or there is no report.
    pub fn play(&self, signal: Duration, kill: Duration) -> Result<Seen> {
        self.told(signal, kill).with_context(|| self.to_string())
    }

    fn told(&self, signal: Duration, kill: Duration) -> Result<Seen> {
        let folder = tempdir()?;
        let app = self.app(folder.path())?.argument(format!("hang={}", self.place));
        let mut app = app.argument(format!("how={}", self.way)).argument("ms=3600000").start()?;
        app.wait_for(&format!("SCRIPT hangs at {}", self.place), LIMIT)?;
        let hung_ns = uptime_ns();
        std::thread::sleep(signal);
        let signalled_ns = uptime_ns();
        system_quits(app.pid())?;
        app.wait_for("SCRIPT report", LIMIT)?;
        let file = wait_for_report(folder.path(), LIMIT)?;
        let signalled = Told::by(read(&file)?)?;
        std::fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
        let rest = kill.saturating_sub(Duration::from_nanos(uptime_ns().saturating_sub(hung_ns)));
        std::thread::sleep(rest);
        let killed_ns = uptime_ns();
        app.kill();

        // It hangs as well, so that it does not end before it has told.
        let app = self.app(folder.path())?.argument("hang=message").argument("how=sleep");
        let mut next = app.argument("ms=3600000").start()?;
        let words = next.wait_for(" recovered", LIMIT)?;
        let path = words.split_whitespace().nth(2).context("no path")?;
        let recovered = Told::by(read(Path::new(path))?)?;
        next.kill();
        Ok(Seen { hung_ns, signalled_ns, signalled, killed_ns, recovered })
    }

    fn app(&self, folder: &Path) -> Result<App> {
        let app = launcher(self.testbed)?.app("phone.Main").argument(format!("dir={}", folder.display()));
        Ok(self.mode.of(app))
    }
}

impl Told {
    fn by(report: Report) -> Result<Self> {
        let (token, began_ns, as_of_ns) = match &report.main {
            MainState::Running(running) => {
                (Some(running.token), Some(running.start_ns), Some(running.as_of_ns))
            }
            MainState::Outside(outside) => (Some(outside.token), outside.start_ns, Some(outside.as_of_ns)),
            _ => (None, None, None),
        };
        let tree = report.trees.iter().find(|tree| Some(tree.token) == token);
        let mut stacks =
            tree.map(|tree| stacks_of(&report, tree)).transpose()?.unwrap_or_default().into_iter();
        let has_stack = stacks.any(|(frames, _)| frames.iter().any(|frame| frame.short() == "Hang.begin"));
        let decoded = loopbox_format::report::Decoded { report, damage: Vec::new() };
        let headline = diagnose(&Analysis::new(&decoded)).headline;
        Ok(Self { report: decoded.report, has_stack, began_ns, as_of_ns, headline })
    }
}

/// SIGQUIT as the system sends it at an ANR, from the user `system`; from this one where there are no rights for that.
fn system_quits(pid: u32) -> Result<()> {
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let mut command = Command::new(if root { "setpriv" } else { "env" });
    if root {
        command.args(["--reuid=1000", "--clear-groups", "--inh-caps=+kill", "--ambient-caps=+kill"]);
    }
    let status = command.args(["kill", "-QUIT"]).arg(pid.to_string()).status();
    ensure!(status.context("cannot send the signal")?.success(), "the signal was not sent");
    Ok(())
}

/// What is wrong with what was seen; nothing when all is right.
pub fn fault(cell: &Cell, seen: &Seen) -> Option<String> {
    let faults: Vec<String> =
        [("signal", &seen.signalled, seen.signalled_ns), ("kill", &seen.recovered, seen.killed_ns)]
            .into_iter()
            .filter_map(|(when, told, at_ns)| {
                let why = cell.wrong(told, seen.hung_ns, at_ns);
                (!why.is_empty()).then(|| format!("{when}: {} ({})", why.join(", "), told.headline))
            })
            .collect();
    (!faults.is_empty()).then(|| format!("{cell}: {}", faults.join("; ")))
}

/// Headlines that deny the hang.
const DENIALS: [&str; 3] = ["Main was free", "Not enough data", "Unclear"];

impl Cell {
    /// Whether stacks can be taken at all: what hangs in native code is on a Java stack, too.
    fn has_stacks(&self) -> bool {
        self.mode != Mode::Unsampled
    }

    /// Whether it takes processor time, and can be kept from it. A file in memory is written by computing.
    fn computes(&self) -> bool {
        matches!(self.way, "spin" | "native-spin" | "fsync")
    }

    fn wrong(&self, told: &Told, hung_ns: u64, at_ns: u64) -> Vec<&'static str> {
        let mut wrong = Vec::new();
        if self.has_stacks() && !told.has_stack {
            wrong.push("no stack of main shows it");
        }
        if told.as_of_ns.is_none() {
            wrong.push("main is said to have been idle");
        }
        if told.as_of_ns.is_some_and(|as_of| as_of < hung_ns) {
            wrong.push("it is of before the hang");
        }
        // What the hang is in began before it, and no report knows the future. Of what computes outside of messages the
        // CPU time tells the start, and a machine with more to do makes it seem later.
        if told.began_ns.is_some_and(|began| began > hung_ns && !self.computes())
            || told.as_of_ns.is_some_and(|as_of| as_of > at_ns + LATE_NS)
        {
            wrong.push("its age is not true");
        }
        let denied = DENIALS.iter().any(|denial| told.headline.contains(denial));
        // Whoever computes beside others may really have waited for a processor for most of the time.
        let starved = !self.computes() && told.headline.contains("starved");
        if denied || starved {
            wrong.push("the verdict denies it");
        }
        wrong
    }
}

/// How long after the signal the report may take its look on any machine.
const LATE_NS: u64 = 60_000_000_000;
