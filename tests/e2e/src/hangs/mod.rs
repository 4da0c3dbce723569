//! Hangs at every place of a main thread (`tests/app/phone`), watched in every way: what the report at
//! SIGQUIT shows of the hang, and what the next launch finds after a kill.

mod mode;
mod phone;
pub mod scenarios;
pub mod slow_files;

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result};
use loopbox_format::model::{Statistic, Uptime};
use tempfile::tempdir;

pub use mode::Mode;
use phone::{Finding, Phone, sleep_until};
use slow_files::SlowFiles;

/// The places of the scripted app, by their names in its arguments, in the order in which it reaches them.
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

/// What the main thread does in the hang; `phone.Hang` documents these ways.
pub const WAYS: [&str; 13] = [
    "spin",
    "sleep",
    "monitor",
    "lock",
    "gc",
    "full-heap",
    "native-spin",
    "futex",
    "nanosleep",
    "fsync",
    "vfork",
    "page",
    "binder",
];

/// One hang.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// The testbed.
    pub testbed: &'static str,
    /// How the main thread is watched.
    pub mode: Mode,
    /// Where the main thread hangs.
    pub place: &'static str,
    /// The way in which it hangs.
    pub way: &'static str,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.testbed, self.mode, self.place, self.way)
    }
}

/// The results of one hang.
#[derive(Debug)]
pub struct Seen {
    /// When the app printed that it hangs, or when it was seen to hang; uptime.
    hung_ns: Uptime,
    /// The content of the report that answered SIGQUIT.
    signalled: Finding,
    /// The content of the report that the next launch recovered after the kill.
    recovered: Finding,
    /// When the process was killed, uptime.
    killed_ns: Uptime,
}

impl Seen {
    /// How much shorter the killed hang's reported age is than its real age.
    pub fn young(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.killed_ns.since(self.recovered.as_of_ns?)))
    }
}

impl Cell {
    /// Makes the app hang, sends it the system's SIGQUIT after `signal`, kills it after `kill`, and starts it
    /// again.
    ///
    /// # Errors
    /// When the app does not do as asked, or there is no report.
    pub fn play(&self, signal: Duration, kill: Duration) -> Result<Seen> {
        self.seen_after(signal, kill).with_context(|| self.to_string())
    }

    fn seen_after(&self, signal: Duration, kill: Duration) -> Result<Seen> {
        let folder = tempdir()?;
        let mut arguments =
            vec![format!("hang={}", self.place), format!("how={}", self.way), "ms=3600000".to_owned()];
        if self.way == "page" && signal > Duration::from_secs(5) {
            // The signal's report is the first one. Another one would wait for Java, which ART's trace keeps.
            arguments.push("hangMs=60000".to_owned());
        }
        let slow =
            self.needs_slow_files().then(|| SlowFiles::mount(folder.path().join("slow"))).transpose()?;
        arguments.extend(slow.as_ref().map(|slow| format!("slow={}", slow.folder().display())));
        let mut phone = Phone::start(self.testbed, self.mode, folder.path(), &arguments)?;
        let mut hang = phone.wait_for_hang(self.place)?;
        if self.way == "page" {
            hang.since_ns = phone.wait_for_page()?;
        }
        sleep_until(hang.since_ns, signal);
        let sent_ns = phone.signal()?;
        let answer = if self.java_goes_on() {
            phone.answer(&hang, sent_ns, &[])?
        } else {
            phone.answer_on_disk(&hang, sent_ns)?
        };
        std::fs::remove_file(&answer.path)
            .with_context(|| format!("cannot remove {}", answer.path.display()))?;
        sleep_until(hang.since_ns, kill);
        let killed = phone.kill(sent_ns)?;
        let (_, recovered) = killed.recovered((self.testbed, self.mode), folder.path(), &hang)?;
        Ok(Seen { hung_ns: hang.since_ns, signalled: answer.finding, recovered, killed_ns: killed.before_ns })
    }
}

/// What is wrong with the results; `None` when all is right.
pub fn fault(cell: &Cell, seen: &Seen) -> Option<String> {
    let mut faults = Vec::new();
    for (when, finding) in [("signal", &seen.signalled), ("kill", &seen.recovered)] {
        let wrong = cell.wrong(finding, seen.hung_ns);
        if !wrong.is_empty() {
            faults.push(format!("{when}: {} ({})", wrong.join(", "), finding.summary()));
        }
    }
    let waits = &seen.signalled.waits;
    if cell.kernel_words().is_some_and(|words| !waits.contains(words)) {
        faults.push(format!("signal: the kernel is quoted with `{waits}`"));
    }
    (!faults.is_empty()).then(|| format!("{cell}: {}", faults.join("; ")))
}

/// Headlines that deny the hang.
const DENIALS: [&str; 3] = ["Main was free", "Not enough data", "Unclear"];

/// The fault of a run in which main was in an uninterruptible wait. In such a wait the sampler must not ask
/// main to stop, and must count the stacks that it leaves out. In this run it has counted none.
pub const ASKED_TO_STOP: &str = "main was asked to stop where it could not";

/// The fault of a run in which the app ended before it was killed.
pub const ENDED: &str = "the app has ended by itself";

impl Cell {
    fn needs_slow_files(&self) -> bool {
        matches!(self.way, "page" | "binder")
    }

    /// Whether main's Java stack can be taken during the hang. It can be taken also while main is in native
    /// code. It cannot be taken with sampling off, or while Java code waits for a page, because main then
    /// reaches no suspend point. With stacks from `Thread.getStackTrace` it also cannot be taken in `vfork`:
    /// the recorder does not know that main is in native code, and asks for no stack in a wait of this kind.
    fn has_stacks(&self) -> bool {
        match self.mode {
            Mode::Unsampled => false,
            Mode::Fallback => !matches!(self.way, "page" | "vfork"),
            _ => self.way != "page",
        }
    }

    /// Whether the app's listener can still run. Without memory the app ends by an error. While ART writes
    /// the system's trace it may wait for a thread that cannot be suspended; then no other thread can run
    /// Java code.
    fn java_goes_on(&self) -> bool {
        !matches!(self.way, "full-heap" | "page")
    }

    /// Whether the hang uses the processor, so that it may also have to wait for one. Writing a file in
    /// memory counts as computing.
    fn computes(&self) -> bool {
        matches!(self.way, "spin" | "native-spin" | "fsync" | "gc" | "full-heap")
    }

    /// What the kernel says of main and the report must have; `None` when the report need not have it.
    fn kernel_words(&self) -> Option<&'static str> {
        match self.way {
            "vfork" | "page" => Some("uninterruptible"),
            "binder" => Some("binder call"),
            _ => None,
        }
    }

    fn wrong(&self, finding: &Finding, hung_ns: Uptime) -> Vec<&'static str> {
        let mut wrong = Vec::new();
        if self.has_stacks() && !finding.has_stack {
            wrong.push("no stack of main shows it");
        }
        if self.way == "page" && !matches!(self.mode, Mode::Unsampled | Mode::Fallback) {
            let left_out = |statistic: &&Statistic| statistic.name == "sampler.left_out_uninterruptible";
            if finding.report.statistics.iter().find(left_out).is_none_or(|statistic| statistic.value == "0")
            {
                wrong.push(ASKED_TO_STOP);
            }
        }
        if finding.as_of_ns.is_none() {
            wrong.push("main is reported to have been idle");
        }
        if finding.as_of_ns.is_some_and(|as_of| as_of < hung_ns) {
            wrong.push("it is of before the hang");
        }
        // A hang that is noticed by itself while the signal comes may be what the file is about in the end.
        let (earliest_ns, latest_ns) = finding.possible_ns;
        let early = finding.as_of_ns.is_some_and(|as_of| as_of < earliest_ns) && !finding.is_of_hang();
        if early || finding.as_of_ns.is_some_and(|as_of| as_of > latest_ns) {
            wrong.push("it is not of the instant that it is about");
        }
        // What the hang is in began before it. Of what computes outside of messages the CPU time gives the
        // start, and a machine with more to do makes it seem later.
        if finding.began_ns.is_some_and(|began| began > hung_ns && !self.computes()) {
            wrong.push("its age is not true");
        }
        let denied = DENIALS.iter().any(|denial| finding.headline.contains(denial));
        // A thread that computes while others do may really have waited for a processor for most of the time.
        let starved = !self.computes() && finding.headline.contains("starved");
        if denied || starved {
            wrong.push("the verdict denies it");
        }
        wrong
    }
}
