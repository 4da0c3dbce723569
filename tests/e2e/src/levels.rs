//! What the recorder sees on an API level's real framework classes, with one scripted app.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use lab_reports::{LIMIT, feature, read};
use loopbox_format::looper::{PendingBody, Queue, parse_queue};
use loopbox_format::model::{DumpReason, Feature, MainState, Message, Report};
use loopbox_format::report::Decoded;
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;
use tempfile::tempdir;

use crate::launcher;

/// The runtime that the levels run on: it also accepts the classes of newer levels.
const RUNTIME: &str = "art11";

/// How many messages there are between the first two reports: those of four threads, two of the inner loop,
/// the one that runs this loop, and the one that asks for the report.
const COUNTED: u64 = 4 * 1_000 + 2 + 1 + 1;

/// How many messages wait while the queue is read.
const WAITING: i32 = 150;

/// The results of one run.
#[derive(Debug)]
pub struct Seen {
    /// How the hook works, or why it does not.
    pub hook: String,
    /// How many messages were counted between the first two reports.
    pub counted: u64,
    /// How the queue was read, or why not.
    pub source: String,
    /// The queue while main was in a message.
    pub queue: Queue,
    /// The message that main was in when the queue was read.
    pub running: Option<Message>,
    /// The verdict on the barrier.
    pub barrier: String,
    /// Frames that the app drew.
    pub frames: u32,
}

/// Runs the app on a level (`fw35`) with a hook (`AUTO`, `OBSERVER`, `POLL`).
///
/// # Errors
/// When it does not run to its end, or leaves other reports than it asked for.
pub fn run_on(level: &str, hook: &str, options: &[&str]) -> Result<Seen> {
    let folder = tempdir()?;
    let mut app = launcher(&format!("{RUNTIME}-{level}"))?.app("scenario.Levels");
    for option in options {
        app = app.option(option);
    }
    let app = app.argument(format!("dir={}", folder.path().display()));
    // A slow machine has a report of a hang otherwise, in place of one of those that were asked for.
    let app = app.argument(format!("hook={hook}")).argument("hangMs=60000");
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let of_app = reports(folder.path())?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
    let report = |name: &str| {
        let is = |report: &&Report| report.meta.reason == DumpReason::Requested(name.to_owned());
        of_app.iter().find(is).with_context(|| format!("no report {name}: {:?}", ended.lines))
    };
    let running = |report: &Report| match &report.main {
        MainState::Running(running) => Ok(running.clone()),
        other => Err(anyhow::anyhow!("main is not in a message: {other:?}")),
    };
    let (counted, queued) = (report("counted")?, report("queued")?);
    let frames = ended.lines.iter().find_map(|line| line.strip_prefix("SCRIPT frames ")?.parse().ok());
    ensure!(ended.lines.iter().any(|line| line == "SCRIPT left leaves the loop"), "{:?}", ended.lines);
    let (on, how) = feature(queued, Feature::Hook);
    Ok(Seen {
        hook: if on { how.to_owned() } else { format!("off: {how}") },
        counted: running(counted)?.token.0 - running(report("begin")?)?.token.0,
        source: format!("{:?}", queued.pending.source),
        queue: parse_queue(&queued.pending),
        running: running(queued)?.message,
        barrier: headline(report("barrier")?),
        frames: frames.context("no frames")?,
    })
}

fn headline(report: &Report) -> String {
    let decoded = Decoded { report: report.clone(), damage: Vec::new() };
    diagnose(&Analysis::new(&decoded)).headline
}

impl Seen {
    /// The differences from the results that every level must have, as text.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut expect = |is: bool, what: String| {
            if !is {
                faults.push(what);
            }
        };
        expect(!self.hook.starts_with("off"), format!("the hook is {}", self.hook));
        expect(self.counted == COUNTED, format!("{} of {COUNTED} messages were counted", self.counted));
        let whats: Vec<i32> = self.waiting().collect();
        let in_order = whats.iter().copied().eq(1_000..1_000 + WAITING);
        expect(in_order && self.queue.whole, format!("the queue by {} has {whats:?}", self.source));
        let running = self.running.as_ref().map(|message| message.target.as_str());
        expect(running == Some("scenario.Levels$Shop"), format!("the running message is {:?}", self.running));
        expect(self.barrier.starts_with("A sync barrier (token "), format!("the barrier: {}", self.barrier));
        expect(self.frames == 10, format!("{} frames", self.frames));
        faults
    }

    /// The `what` of each waiting message of the app's own Handler; those of the frame clock are left out.
    fn waiting(&self) -> impl Iterator<Item = i32> {
        self.queue.messages.iter().filter_map(|entry| match &entry.body {
            PendingBody::Message { what, target, .. } if target == "scenario.Levels$Shop" => Some(*what),
            PendingBody::Message { .. } | PendingBody::Barrier { .. } => None,
        })
    }
}

/// An error in one line, without what the host program printed (lines that begin with `lab-host`).
fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().filter(|line| !line.starts_with("lab-host")).collect::<Vec<_>>().join(" / ")
}

/// A Markdown table with a row for each level: the results with `AUTO`, `OBSERVER` and `POLL`.
#[must_use]
pub fn table(rows: &[(String, [Result<Seen>; 3])]) -> String {
    let mut text = String::from(
        "| framework | hook | Observer, when asked for | by the poll | messages counted | queue | leaked barrier | running message named | frames |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let mut notes = String::new();
    for (level, seen) in rows {
        let [auto, observer, poll] = seen;
        let Ok(first) = auto else {
            let _ = writeln!(text, "| {level} | did not run | | | | | | | |");
            let _ = writeln!(notes, "{level}: {}", auto.as_ref().err().map(first_line).unwrap_or_default());
            continue;
        };
        let yes = |is: bool| if is { "yes" } else { "**no**" };
        let by_observer = match observer {
            Ok(seen) if seen.hook.contains("Observer") => yes(seen.faults().is_empty()),
            Ok(_) => "absent",
            Err(error) if format!("{error:#}").contains("the Observer hook is refused") => "absent",
            Err(_) => "**no**",
        };
        let by_poll = yes(poll.as_ref().is_ok_and(|seen| seen.hook == "Poll" && seen.faults().is_empty()));
        let faults = first.faults();
        let has = |words: &str| faults.iter().any(|fault| fault.contains(words));
        let _ = writeln!(
            text,
            "| {level} | {} | {by_observer} | {by_poll} | {} | {} | {} | {} | {} |",
            first.hook,
            yes(first.counted == COUNTED),
            if has("the queue") { "**no**".to_owned() } else { format!("whole, by {}", first.source) },
            yes(!has("barrier")),
            yes(!has("running")),
            yes(first.frames == 10),
        );
        let of_observer = match observer {
            Ok(seen) => seen.faults(),
            Err(_) if by_observer == "absent" => Vec::new(),
            Err(error) => vec![first_line(error)],
        };
        let of_poll = poll.as_ref().map_or_else(|error| vec![first_line(error)], Seen::faults);
        for fault in faults.iter().chain(&of_observer).chain(&of_poll) {
            let _ = writeln!(notes, "{level}: {fault}");
        }
    }
    text + &notes
}
