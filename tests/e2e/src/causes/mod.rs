//! Hangs whose cause is known (`tests/app/causes`), and what the diagnosis must say of each.

mod list;
mod outside;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use lab_reports::LIMIT;
use loopbox_format::model::Report;
use loopbox_format::report::decode;
use loopbox_report::Analysis;
use loopbox_report::diagnose::{Cause, Confidence, Diagnosis, diagnose};
use loopbox_setup::command::run;
use loopbox_setup::workspace::target;
use tempfile::tempdir;

use crate::launcher;
use Main::{Computes, Idles, Waits};
pub use list::{CAUSES, MORE};
use outside::Outside;

/// What main does in a hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Main {
    /// Main waits. A verdict that main is starved is wrong, also on a busy machine.
    Waits,
    /// Main computes. A verdict that main is starved is also right, because the machine may be busy.
    Computes,
    /// Main does nothing. A verdict that blames the app is wrong.
    Idles,
}

/// A hang of a known cause.
#[derive(Debug)]
pub struct Known {
    /// The argument that the app gets.
    pub name: &'static str,
    /// A short description.
    pub words: &'static str,
    /// The rule that must find the cause.
    pub rule: &'static str,
    /// Other rules that may find the cause.
    or: &'static [&'static str],
    /// Whether an unsure verdict that blames the message is right, too, if it also says that main was
    /// stopped, or that there are no stacks for a part of the time.
    may_be_hedged: bool,
    /// A text that the culprit must contain; `None` when it is not checked.
    pub culprit: Option<&'static str>,
    /// Words that the title must contain.
    says: &'static str,
    main: Main,
    /// What happens to the process from outside.
    outside: Outside,
}

/// How a verdict compares with the known cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// The verdict names the known cause.
    Right,
    /// The verdict names another cause or none, and says that it is not sure.
    Unsure,
    /// The verdict names another cause, with high confidence.
    Wrong,
}

/// The text of a cause for which there are too few stacks.
const UNCOVERED: &str = "not sure: the stacks cover only";
/// What a diagnosis says when the queue is not known.
pub const QUEUE_UNKNOWN: &str = "the pending queue is not known";

/// Rules that may report something for an app that does nothing.
const OF_NOTHING: [&str; 4] = ["starved", "main-free", "outside", "no-data"];

/// Whether the diagnosis has the caveat of CPU pressure: threads wait for a processor most of the time. In
/// this case the garbage collections may take too small a share of the time for the diagnosis to name them.
#[must_use]
pub fn is_short_of_cpu(verdict: &Diagnosis) -> bool {
    verdict.caveats.iter().any(|caveat| caveat.starts_with("the device was short of resources: CPU pressure"))
}

impl Known {
    /// All known causes.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        CAUSES.iter().chain(&MORE)
    }

    /// The cause of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(name: &str) -> Result<&'static Known> {
        Self::all().find(|known| known.name == name).with_context(|| format!("no cause is called {name}"))
    }

    /// Why this cause cannot be seen on a testbed; `None` where it can.
    ///
    /// # Errors
    /// When the testbed cannot be set up.
    pub fn is_refused_by(&self, testbed: &str) -> Result<Option<&'static str>> {
        let art = &launcher(testbed)?.testbed.manifest.art;
        let is_debugged = self.outside == Outside::Debugger;
        // From ART 11 on the debugger is a separate library, which Debian does not build.
        Ok((is_debugged && art != "10").then_some("this ART has no debugger"))
    }

    /// Runs an app that hangs for this cause, and reads the report.
    ///
    /// # Errors
    /// When the app does not start or leaves no report.
    pub fn play(&self, testbed: &str) -> Result<(Report, Diagnosis)> {
        self.play_in(testbed, tempdir()?.path())
    }

    /// Runs an app that hangs for this cause, with the report in `folder`, and reads the report.
    ///
    /// # Errors
    /// When the app does not start or leaves no report.
    pub fn play_in(&self, testbed: &str, folder: &Path) -> Result<(Report, Diagnosis)> {
        let class = if self.name == "cold" { "causes.ColdStart" } else { "causes.Causes" };
        let app = launcher(testbed)?.app(class);
        let mut app = app.argument(folder.display().to_string()).argument(self.name);
        let library = folder.join("libengine.so");
        if self.name == "library" {
            build_library(&library)?;
            app = app.property("causes.library", library.display());
        }
        if self.name == "sync" {
            // Memory has no disk to wait for.
            app = app.property("causes.disk", target().display());
        }
        let (mut app, _around) = self.outside.start(app)?;
        let line = app.wait_for("SCRIPT report", LIMIT)?;
        app.kill();
        let path = PathBuf::from(line.split_whitespace().nth(2).context("no path")?);
        let decoded = decode(&fs::read(&path).with_context(|| path.display().to_string())?)?;
        let verdict = diagnose(&Analysis::new(&decoded));
        Ok((decoded.report, verdict))
    }

    /// Whether a cause of a diagnosis is this known cause.
    pub fn is(&self, cause: &Cause) -> bool {
        let named = [self.rule].iter().chain(self.or).any(|rule| self.is_by(rule, cause));
        named && cause.title.contains(self.says) || self.may_be_hedged && is_hedged(cause)
    }

    /// Whether this rule has found `cause`, with the known culprit.
    fn is_by(&self, rule: &str, cause: &Cause) -> bool {
        let is_there = |part: &str| cause.culprit.as_ref().is_some_and(|culprit| culprit.contains(part));
        cause.rule == rule && self.culprit.is_none_or(is_there)
    }

    /// Fails unless the diagnosis finds this cause first. When main computes, the diagnosis may first say
    /// that the machine has no processor for main.
    ///
    /// # Errors
    /// With the whole diagnosis.
    pub fn check(&self, verdict: &Diagnosis) -> Result<()> {
        let blames = |cause: &&Cause| !OF_NOTHING.contains(&cause.rule);
        let found = match self.main {
            Idles => !verdict.causes.iter().any(|cause| blames(&cause)),
            Waits => {
                // Of a message that the sampler came late to, on a busy machine, no wait is sure: the
                // message alone is.
                let unsure = |cause: &Cause| cause.evidence.iter().any(|line| line.starts_with(UNCOVERED));
                let is_it =
                    |cause: &&Cause| !(cause.rule == "current-slow" && verdict.causes.iter().any(unsure));
                verdict.causes.iter().find(is_it).is_some_and(|first| self.is(first))
            }
            Computes => {
                let machine = |cause: &&Cause| cause.rule == "starved" && self.rule != "starved";
                // A machine without a processor to spare may not read the queue in time, nor the collections,
                // which are read on the same thread: they alone show a flood, and a full heap.
                let unread = verdict.caveats.iter().any(|caveat| caveat == QUEUE_UNKNOWN);
                let without = match self.name {
                    "flood" => "history",
                    "pressure" => "current-slow",
                    _ => self.rule,
                };
                let first = verdict.causes.iter().find(|cause| !machine(cause));
                let unseen = unread || self.name == "pressure" && is_short_of_cpu(verdict);
                first.is_some_and(|first| self.is(first) || unseen && self.is_by(without, first))
            }
        };
        ensure!(found, "{}: {verdict:#?}", self.name);
        Ok(())
    }

    /// How a report's verdict about this hang compares with the known cause.
    pub fn worth(&self, verdict: &Diagnosis) -> Worth {
        let Some(first) = verdict.causes.first().filter(|_| verdict.confidence.is_some()) else {
            return if self.main == Idles { Worth::Right } else { Worth::Unsure };
        };
        let right = match self.main {
            Idles => OF_NOTHING.contains(&first.rule),
            Waits => self.is(first),
            Computes => self.is(first) || first.rule == "starved",
        };
        match (right, verdict.confidence) {
            (true, _) => Worth::Right,
            (false, Some(Confidence::High)) => Worth::Wrong,
            (false, _) => Worth::Unsure,
        }
    }
}

/// Whether the cause blames the message's code without being sure, and says that something stopped main, or
/// that for much of the time no stacks could be taken.
fn is_hedged(cause: &Cause) -> bool {
    let reasons = ["it was stopped or suspended", "was not measured (there are no stacks of it)"];
    let stopped = cause.evidence.iter().any(|line| reasons.iter().any(|reason| line.contains(reason)));
    cause.rule == "current-slow" && cause.confidence != Confidence::High && stopped
}

/// Builds a library whose constructor does not end. While it runs, the linker holds its lock.
fn build_library(library: &Path) -> Result<()> {
    let source = library.with_extension("c");
    let constructor = "__attribute__((constructor)) static void start(void) { for (;;) pause(); }";
    fs::write(&source, format!("#include <unistd.h>\n{constructor}\n"))?;
    run(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(library).arg(&source)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(first: &'static str, confidence: Option<Confidence>) -> Diagnosis {
        let cause = Cause {
            rule: first,
            title: first.into(),
            score: 0.8,
            confidence: Confidence::High,
            evidence: Vec::new(),
            advice: "",
            token: None,
            culprit: Some("causes.Causes$Work.sleep(Causes.java:1)".into()),
            path: Vec::new(),
            share: None,
        };
        Diagnosis {
            headline: first.into(),
            confidence,
            causes: vec![cause],
            caveats: Vec::new(),
            account: None,
        }
    }

    #[test]
    fn a_verdict_is_wrong_when_it_is_sure_of_another_cause() {
        let of = |name, first, confidence| Known::of(name).unwrap().worth(&verdict(first, confidence));
        let (high, low) = (Some(Confidence::High), Some(Confidence::Low));
        assert_eq!(of("sleep", "sleep", high), Worth::Right);
        assert_eq!(of("sleep", "starved", high), Worth::Wrong);
        assert_eq!(of("busy", "starved", high), Worth::Right);
        assert_eq!((of("busy", "lock", low), of("busy", "lock", None)), (Worth::Unsure, Worth::Unsure));
        assert_eq!((of("free", "main-free", high), of("free", "lock", high)), (Worth::Right, Worth::Wrong));
        assert!(Known::of("sleep").unwrap().check(&verdict("sleep", high)).is_ok());
        assert!(Known::of("sleep").unwrap().check(&verdict("starved", high)).is_err());
        assert!(Known::of("free").unwrap().check(&verdict("lock", low)).is_err());
        let mut many = verdict("history", high);
        assert!(Known::of("flood").unwrap().check(&many).is_err());
        many.caveats.push(QUEUE_UNKNOWN.into());
        assert!(Known::of("flood").unwrap().check(&many).is_ok());
        assert!(Known::of("kinds").unwrap().check(&verdict("flood", high)).is_err());
        let mut slow = verdict("current-slow", high);
        slow.caveats.push(QUEUE_UNKNOWN.into());
        assert!(Known::of("pressure").unwrap().check(&slow).is_err(), "another method");
        slow.causes[0].culprit = Some("causes.Crowd$Gallery.scale(Crowd.java:81)".into());
        assert!(Known::of("pressure").unwrap().check(&slow).is_ok());
        slow.caveats.clear();
        assert!(Known::of("pressure").unwrap().check(&slow).is_err(), "the collections are known");
    }
}
