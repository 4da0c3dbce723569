//! What an app can learn of a report without the command line, and which reports it is handed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use loopbox_e2e::live::{quit, running_tree, wait_for_ring, wait_for_signal_catcher};
use loopbox_e2e::{LIMIT, launcher, read};
use loopbox_format::container::{self, Tag};
use loopbox_format::model::{ProcessExit, Report};
use loopbox_launch::{App, Running, reports};
use loopbox_testbed::to_test_on;
use tempfile::{TempDir, tempdir};

/// The system says so from the start; then a hang is an ANR when the system is asked.
const NOT_RESPONDING: &str = "says=Input dispatching timed out";

/// `scenario.Taking` in a process.
struct Taking {
    app: Running,
    orders: TempDir,
    given: usize,
}

impl Taking {
    fn start(testbed: &str, folder: &Path, arguments: &[&str]) -> Result<Self> {
        Self::begin(launcher(testbed)?.app("scenario.Taking"), folder, arguments)
    }

    /// With arguments of its own after those that all have: the last of two counts.
    fn begin(app: App, folder: &Path, arguments: &[&str]) -> Result<Self> {
        let orders = tempdir()?;
        let app = app.argument(format!("dir={}", folder.display())).argument("hangMs=1000");
        let app = app.argument(format!("orders={}", orders.path().display()));
        let app = arguments.iter().fold(app, |app, argument| app.argument(*argument));
        Ok(Self { app: app.start()?, orders, given: 0 })
    }

    /// Gives an order and waits until it is done; returns what was printed meanwhile.
    fn order(&mut self, order: &str) -> Result<Vec<String>> {
        let before = self.app.seen().len();
        self.give(order)?;
        self.app.wait_for(&format!("SCRIPT did {}", self.given), LIMIT)?;
        let said = self.app.seen()[before..].iter();
        Ok(said.filter_map(|line| Some(line.strip_prefix("SCRIPT ")?.to_owned())).collect())
    }

    fn give(&mut self, order: &str) -> Result<()> {
        self.given += 1;
        let written = self.orders.path().join("order");
        fs::write(&written, order)?;
        fs::rename(&written, self.orders.path().join(self.given.to_string())).context("the order")
    }

    /// What it is handed: each report in words, and its file.
    fn take(&mut self) -> Result<Vec<(String, PathBuf)>> {
        let said = self.order("take")?;
        let took = said.iter().filter_map(|line| line.strip_prefix("took ")?.rsplit_once(' '));
        Ok(took.map(|(words, path)| (words.to_owned(), path.into())).collect())
    }

    /// Waits for a report in these words.
    fn hears(&mut self, words: &str) -> Result<()> {
        self.app.wait_for(&format!("SCRIPT report {words}"), LIMIT).map(drop)
    }

    fn open_gate(&self) -> Result<()> {
        fs::write(self.orders.path().join("gate"), "").context("cannot open the gate")
    }

    fn end(mut self) -> Result<()> {
        self.give("end")?;
        self.app.finish(LIMIT)?.success().map(drop)
    }
}

/// A hang that goes on, another process that looks for reports meanwhile, the end of the hang.
#[test]
fn a_report_is_handed_out_when_its_process_is_done_with_it() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let mut app = Taking::start(&testbed, folder.path(), &[NOT_RESPONDING])?;
        app.order("hang")?;
        app.hears("ANR CONFIRMED complete hang []")?;
        assert_eq!(app.take()?, [], "{testbed}: it goes on");
        let mut other = Taking::start(&testbed, folder.path(), &[])?;
        assert_eq!(other.take()?, [], "{testbed}: it goes on in a living process");
        other.end()?;
        app.open_gate()?;
        app.hears("ANR CONFIRMED complete hang []")?;
        let taken = app.take()?;
        let [(words, file)] = &taken[..] else { panic!("{testbed}: {taken:?}") };
        assert_eq!(words, "ANR CONFIRMED complete hang []");
        let report = read(file)?;
        let ended = report.anr.ended_after_ns.context("no end")?;
        let line = report.digest.lines().nth(4).context("no digest")?;
        assert!(
            line.starts_with("ANR: ") && line.contains(&format!(", {} ms in all", ended / 1_000_000)),
            "{line}"
        );
        app.end()?;
    }
    Ok(())
}

#[test]
fn the_report_of_a_process_that_is_gone_is_handed_out_as_it_is() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Taking::start("art10", folder.path(), &[NOT_RESPONDING])?;
    app.order("hang")?;
    app.hears("ANR CONFIRMED complete hang []")?;
    assert_eq!(app.take()?, []);
    app.app.kill();
    let mut next = Taking::start("art10", folder.path(), &[])?;
    let taken = next.take()?;
    let [(words, _)] = &taken[..] else { panic!("{taken:?}") };
    assert_eq!(words, "ANR CONFIRMED complete hang []", "at once: it waits for what the worker finds");
    next.end()
}

#[test]
fn what_the_app_asks_for_is_distinguished_from_a_hang_and_from_another_apps_anr() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let mut app = Taking::start(&testbed, folder.path(), &[])?;
        app.give("dump hang")?;
        app.hears("REQUESTED RESPONSIVE complete requested [hang]")?;
        wait_for_signal_catcher(app.app.pid())?;
        quit(&app.app)?;
        app.hears("SIGQUIT RESPONSIVE complete sigquit []")?;
        app.order("hang")?;
        // It may be complete by the time that the listener looks; `asked` makes it wait.
        let first = app.app.wait_for("SCRIPT first HANG HANG ", LIMIT)?;
        ensure!(first.ends_with("complete hang []"), "{first}");
        app.hears("HANG HANG complete hang []")?;
        app.open_gate()?;
        app.hears("HANG HANG complete hang []")?;
        app.end()?;
    }
    Ok(())
}

/// `ApplicationStartInfo` is there since API 35.
#[test]
fn a_report_says_how_the_system_started_the_process_where_it_is_known() -> Result<()> {
    let cases = [
        (35, "started=1|6", Some("cold, launcher")),
        (35, "started=0|99", Some("99")),
        (35, "started=dead", None),
        (35, "started=", None),
        (34, "started=1|6", None),
    ];
    for (level, started, wanted) in cases {
        let folder = tempdir()?;
        let app = launcher("art11")?.app("scenario.Taking").property("loopbox.sdk", level);
        let mut app = Taking::begin(app, folder.path(), &[started])?;
        app.take()?;
        app.give("dump start")?;
        app.hears("REQUESTED RESPONSIVE complete requested [start]")?;
        let file = reports(folder.path())?.into_iter().next().context("no report")?;
        let report = read(&file)?;
        let found = report.meta.annotations.iter().find(|(name, _)| name == "system_start");
        assert_eq!(found.map(|(_, words)| words.as_str()), wanted, "{level} {started}");
        app.end()?;
    }
    Ok(())
}

/// A process that was killed in a hang which it had not reported yet.
#[test]
fn what_a_dead_process_left_says_how_it_ended() -> Result<()> {
    let cases = [(None, "RECOVERED HANG complete recovered []"), (Some(4), "CRASH HANG complete crash []")];
    for (reason, words) in
        cases.into_iter().chain([(Some(ProcessExit::ANR), "ANR CONFIRMED complete recovered []")])
    {
        let folder = tempdir()?;
        let mut app = Taking::start("art11", folder.path(), &["hangMs=60000"])?;
        app.order("hang")?;
        let sampled =
            |report: &Report| running_tree(report).is_some_and(|tree| tree.sample_deltas_ns.len() >= 120);
        let report = wait_for_ring("the hang is sampled", folder.path(), app.app.pid(), sampled)?;
        let process = report.meta.process.name;
        let pid = app.app.pid();
        app.app.kill();
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis();
        let exit = reason.map(|reason| format!("exits={pid}|{process}|{at}|{reason}|0|words"));
        let system: Vec<&str> = exit.as_deref().into_iter().chain(["trace=DALVIK THREADS (14):"]).collect();
        let mut next = Taking::start("art11", folder.path(), &system)?;
        let taken = next.take()?;
        let ended = if reason.is_some() { format!("{words} ended {at}") } else { words.to_owned() };
        ensure!(taken.len() == 1 && taken[0].0 == ended, "{ended}: {taken:?}");
        let trace = (reason == Some(ProcessExit::ANR)).then(|| "DALVIK THREADS (14):".to_owned());
        assert_eq!(system_trace(&taken[0].1)?, trace, "of an ANR, and of nothing else");
        read(&taken[0].1)?;
        assert_eq!(next.take()?, taken, "once");
        assert_eq!(system_trace(&taken[0].1)?, trace);
        next.end()?;
    }
    Ok(())
}

/// The system's trace in a report.
fn system_trace(report: &Path) -> Result<Option<String>> {
    let bytes = fs::read(report)?;
    let contents = container::read(&bytes)?;
    assert_eq!(contents.damage, []);
    let found: Vec<_> = contents.sections.iter().filter(|section| section.tag == Tag(*b"TRAC")).collect();
    let [section] = &found[..] else {
        ensure!(found.is_empty(), "{} traces", found.len());
        return Ok(None);
    };
    let packed = tempdir()?;
    let file = packed.path().join("trace.gz");
    fs::write(&file, section.payload)?;
    let text = Command::new("gzip").arg("-dc").arg(file).output()?;
    ensure!(text.status.success(), "not packed by gzip");
    Ok(Some(String::from_utf8(text.stdout)?))
}
