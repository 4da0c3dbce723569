//! What peers say of hangs whose cause is known (`peers.Hangs`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use lab_launch::reports;
use lab_reports::{LIMIT, read};
use loopbox_format::report::Decoded;
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;
use tempfile::tempdir;

use super::rating::{Rated, Words, Worth, rate};
use super::{Bed, Outcome};

/// The time between an input event that the app does not handle and the system's SIGQUIT. It consists of the
/// time-out of five seconds and the system's own work before the signal.
const QUIT_AFTER: Duration = Duration::from_millis(5_500);
/// How long a process is frozen.
const FROZEN: Duration = Duration::from_secs(9);

/// What the system does during a hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    /// The system waits for the app to handle an input event, and then sends SIGQUIT.
    Quits,
    /// The system does nothing: no SIGQUIT comes during the hang.
    Waits,
    /// The system freezes the process.
    Freezes,
}

/// A hang, and the words by which a report of it is rated.
#[derive(Debug)]
pub struct Hang {
    /// The name of the hang in `peers.Hangs`.
    pub name: &'static str,
    /// A description of the hang, for the published table.
    pub words: &'static str,
    system: System,
    /// The class of the message that hangs.
    message: &'static str,
    /// The words by which a report names the cause.
    cause: Words,
    /// The words by which a report shows where main is, without the cause.
    place: Words,
}

const fn hang(
    name: &'static str,
    words: &'static str,
    system: System,
    message: &'static str,
    cause: Words,
    place: Words,
) -> Hang {
    Hang { name, words, system, message, cause, place }
}

use System::{Freezes, Quits, Waits};

/// Twelve hangs, and two cases without a hang.
pub const HANGS: [Hang; 14] = [
    hang("compute", "computes for 12 s", Quits, "peers.Hangs$Invoice", &[&["Hangs$Invoice.total"]], &[]),
    hang("sleep", "sleeps for 12 s", Quits, "peers.Hangs$Nap", &[&["Hangs$Nap.run"]], &[]),
    hang(
        "flood",
        "200 messages of 55 ms",
        Quits,
        "peers.Hangs$Leaf",
        &[&["Hangs$Leaf", "flood"], &["of them peers.Hangs$Leaf"]],
        &[&["Hangs$Leaf.run"]],
    ),
    hang(
        "monitor",
        "a monitor that another thread has",
        Quits,
        "peers.Hangs$Reader",
        &[&["cache-writer"], &["Hangs$Writer"]],
        &[&["Hangs$Reader.read"]],
    ),
    hang(
        "culprit",
        "4.6 s of one message, then 45 innocent ones",
        Quits,
        "peers.Hangs$Culprit",
        &[&["Hangs$Culprit.run"], &["before: peers.Hangs$Culprit "]],
        &[],
    ),
    hang("nested", "computes in a nested loop", Quits, "peers.Hangs$Button", &[&["Hangs$Button.click"]], &[]),
    hang("idle", "computes in an idle handler", Quits, "peers.Hangs$Tidy", &[&["Hangs$Tidy.queueIdle"]], &[]),
    hang("binder", "waits for another process", Quits, "peers.Hangs$Shop", &[&["Hangs$Shop.price"]], &[]),
    hang(
        "heap",
        "allocates in a full heap",
        Quits,
        "peers.Hangs$Gallery",
        &[&["collect"], &["heap"]],
        &[&["Hangs$Gallery"]],
    ),
    hang(
        "starved",
        "24 of the app's threads compute",
        Quits,
        "peers.Hangs$Starved",
        &[&["processor"], &["starved"]],
        &[&["cpu busy"]],
    ),
    hang(
        "barrier-quit",
        "a leaked sync barrier",
        Quits,
        "peers.Hangs$Barrier",
        &[&["barrier"]],
        &[&["nativePollOnce"], &["idle"]],
    ),
    hang(
        "barrier",
        "the same, and no SIGQUIT comes",
        Waits,
        "peers.Hangs$Barrier",
        &[&["barrier"]],
        &[&["nativePollOnce"], &["idle"]],
    ),
    hang("quiet", "SIGQUIT, and no hang", Quits, "peers.Hangs$Quiet", NO_HANG, &[]),
    hang("frozen", "frozen for 9 s", Freezes, "peers.Hangs$Quiet", NO_HANG, &[]),
];

/// The words by which a report says that there is no hang.
const NO_HANG: Words = &[&["responsive"], &["Main was free"], &["main idle"], &["frozen"], &["suspended"]];

/// What the peers in one process reported of one hang.
#[derive(Debug, Default)]
pub struct Said {
    /// The outcome of each peer, by its name. The outcome of the host tools for our report is under [`SHOW`].
    pub outcomes: BTreeMap<String, Outcome>,
    /// The texts of the reports.
    pub texts: String,
    /// What the process wrote to standard error.
    pub errors: String,
}

/// The key in [`Said::outcomes`] for the outcome of the host tools, which diagnose our reports as `loopbox
/// show` does.
pub const SHOW: &str = "show";

impl Hang {
    /// Runs an app that hangs while these peers watch it.
    ///
    /// # Errors
    /// When the app does not run to its end.
    pub fn watch(&self, bed: &Bed, peers: &[&str]) -> Result<Said> {
        let folder = tempdir()?;
        let app = bed.app("peers.Hangs", folder.path()).argument(peers.join(",")).argument(self.name);
        let mut app = app.start()?;
        app.wait_for("SCRIPT hang ", LIMIT)?;
        match self.system {
            Quits => {
                sleep(QUIT_AFTER);
                app.signal("QUIT")?;
            }
            Waits => {}
            Freezes => {
                app.signal("STOP")?;
                sleep(FROZEN);
                app.signal("CONT")?;
            }
        }
        let ended = app.finish(LIMIT)?.success()?;
        let mut said = Said { errors: ended.errors, ..Said::default() };
        let over: u64 = ended
            .lines
            .iter()
            .find_map(|line| line.strip_prefix("SCRIPT over ")?.trim().parse().ok())
            .with_context(|| format!("the hang was not over: {:?}", ended.lines))?;
        let mut all: BTreeMap<String, Vec<Rated>> = BTreeMap::new();
        for peer in peers {
            all.insert((*peer).to_owned(), Vec::new());
        }
        let mut ours = None;
        for line in &ended.lines {
            let Some((at, name, text)) = fields(line, "report") else { continue };
            let rated = Rated { worth: self.rate(text), is_late: at >= over };
            if name.starts_with("loopbox") {
                // The digest; of a hang that went on it comes again, with more in it.
                ours = Some(rated.is_late && ours != Some(false));
            }
            writeln!(said.texts, "{name}: {text}")?;
            all.entry(name.to_owned()).or_default().push(rated);
        }
        if let Some(is_late) = ours {
            let shown = self.shown(folder.path(), is_late, &mut said.texts)?;
            all.insert(SHOW.to_owned(), shown);
        } else if peers.iter().any(|peer| peer.starts_with("loopbox")) {
            all.insert(SHOW.to_owned(), Vec::new());
        }
        said.outcomes = all.into_iter().map(|(peer, reports)| (peer, Outcome::of(&reports))).collect();
        for line in &ended.lines {
            let Some((_, name, why)) = fields(line, "refused") else { continue };
            let class = why.split(':').next().unwrap_or(why).to_owned();
            said.outcomes.insert(name.to_owned(), Outcome::Refused(class));
        }
        Ok(said)
    }

    /// Rates what the host tools say of each of our reports. The first cause of the diagnosis decides. If it
    /// is not right but a later cause is, the report is rated [`Worth::Later`].
    fn shown(&self, folder: &Path, is_late: bool, texts: &mut String) -> Result<Vec<Rated>> {
        let mut rated = Vec::new();
        for file in reports(folder)? {
            let decoded = Decoded { report: read(&file)?, damage: Vec::new() };
            let verdict = diagnose(&Analysis::new(&decoded));
            let causes = verdict.causes.iter().map(|cause| {
                let culprit = cause.culprit.as_deref().unwrap_or_default();
                format!("{}; {}; {culprit}; {}", cause.rule, cause.title, cause.evidence.join("; "))
            });
            let causes: Vec<String> = causes.collect();
            let first = causes.first().unwrap_or(&verdict.headline);
            let mut worth = self.rate(first);
            if worth != Worth::Right && causes.iter().any(|cause| self.rate(cause) == Worth::Right) {
                worth = Worth::Later;
            }
            writeln!(texts, "{SHOW}: {}", causes.join("\n  then: "))?;
            rated.push(Rated { worth, is_late });
        }
        Ok(rated)
    }

    fn rate(&self, text: &str) -> Worth {
        rate(text, self.cause, self.place, self.message)
    }
}

/// Time, peer and text of a line.
fn fields<'a>(line: &'a str, what: &str) -> Option<(u64, &'a str, &'a str)> {
    let rest = line.strip_prefix("SCRIPT ")?.strip_prefix(what)?.strip_prefix(' ')?;
    let (at, rest) = rest.split_once(' ')?;
    let (name, text) = rest.split_once(' ')?;
    Some((at.parse().ok()?, name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_time_peer_and_text() {
        assert_eq!(fields("SCRIPT report 12 sentry a b; c", "report"), Some((12, "sentry", "a b; c")));
        assert_eq!(fields("SCRIPT refused 12 sentry a", "report"), None);
        assert_eq!(fields("report 12 sentry a", "report"), None);
    }
}
