//! Hangs that end, hangs that do not, and what only seems to be a hang: the recorder's own watch and its
//! verdicts.

use anyhow::{Context, Result, ensure};
use lab_launch::{Ended, Running, reports};
use lab_reports::live::{quit, wait_for_ring, wait_for_signal_catcher, wait_until};
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_e2e::machine::{Cgroup, Hogs, is_root, quit_as_system};
use loopbox_format::model::{
    AnrVerdict, DumpReason, MainState, PendingSource, ProcessExit, Report, SignalOrigin, SystemWord,
};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::{TempDir, tempdir};

const S: u64 = 1_000_000_000;

/// The file that lets the message end.
const OPEN: &str = "open";

struct Scenario {
    folder: TempDir,
    app: Running,
    /// The folder with the file that lets the message end.
    gate: TempDir,
}

impl Scenario {
    /// Starts the scenario, and waits for the start of its message.
    fn begin(arguments: &[&str]) -> Result<Self> {
        Self::begin_in(tempdir()?, arguments)
    }

    fn begin_in(folder: TempDir, arguments: &[&str]) -> Result<Self> {
        Self::begin_on("art10", folder, arguments)
    }

    fn begin_on(testbed: &str, folder: TempDir, arguments: &[&str]) -> Result<Self> {
        let launcher = launcher(testbed)?;
        let gate = tempdir()?;
        let mut app = launcher.app("scenario.Stalls").argument(format!("dir={}", folder.path().display()));
        app = app.argument(format!("gate={}", gate.path().join(OPEN).display()));
        for argument in arguments {
            app = app.argument(*argument);
        }
        let mut app = app.start()?;
        app.wait_for("SCRIPT begins", LIMIT)?;
        Ok(Self { folder, app, gate })
    }

    /// Lets the message end.
    fn open_gate(&self) -> Result<()> {
        fs::write(self.gate.path().join(OPEN), "").context("cannot open the gate")
    }

    /// Runs the whole scenario. Returns the report that the app requested at its end, and the other reports.
    fn run(arguments: &[&str]) -> Result<(Report, Vec<Report>, Ended)> {
        Self::begin(arguments)?.finish()
    }

    fn finish(self) -> Result<(Report, Vec<Report>, Ended)> {
        let ended = self.app.finish(LIMIT)?.success()?;
        let all = reports(self.folder.path())?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
        let (last, others) = all.into_iter().partition::<Vec<_>, _>(|report| {
            report.meta.reason == DumpReason::Requested("at the end".into())
        });
        Ok((last.into_iter().next().context("no report at the end")?, others, ended))
    }

    /// Waits until `what` is true for the only report.
    fn wait_for(&self, what: impl Fn(&Report) -> bool) -> Result<(PathBuf, Report)> {
        let mut last = None;
        let found = wait_until("the report", || {
            let files = reports(self.folder.path())?;
            ensure!(files.len() <= 1, "one hang left several files: {files:?}");
            let Some(file) = files.into_iter().next() else { return Ok(None) };
            let report = read(&file)?;
            let found = what(&report).then(|| (file, report.clone()));
            last = Some(report);
            Ok(found)
        });
        found.with_context(|| {
            last.map_or("there is none".to_owned(), |r| format!("it is {:?}, {:?}", r.meta.reason, r.anr))
        })
    }

    /// Waits until the recorder suspects the message, at half of its hang threshold: the queue is in the ring
    /// then.
    fn wait_for_suspicion(&self) -> Result<()> {
        let suspected = |report: &Report| !report.pending.lines.is_empty() && !report.statistics.is_empty();
        wait_for_ring("the message is suspected", self.folder.path(), self.app.pid(), suspected).map(drop)
    }

    /// How often the main thread was given a processor.
    fn times_on_a_processor(&self) -> Result<String> {
        let schedstat = fs::read_to_string(format!("/proc/{0}/task/{0}/schedstat", self.app.pid()))?;
        Ok(schedstat.split_whitespace().nth(2).context("no third figure")?.to_owned())
    }

    /// Sends SIGQUIT as the user `system`.
    fn system_quits(&self) -> Result<()> {
        wait_for_signal_catcher(self.app.pid())?;
        quit_as_system(self.app.pid())
    }
}

fn hangs(reports: &[Report]) -> Vec<&Report> {
    reports.iter().filter(|report| report.meta.reason == DumpReason::Hang).collect()
}

#[test]
fn a_hang_leaves_a_report_and_gets_its_duration_when_it_is_over() -> Result<()> {
    let mut scenario = Scenario::begin(&[])?;
    let line = scenario.app.wait_for("SCRIPT report", LIMIT)?;
    assert!(line.ends_with(" hang"), "{line}");
    let first = read(line.split_whitespace().nth(2).context("no path")?.as_ref())?;
    assert_eq!((&first.meta.reason, first.anr.verdict), (&DumpReason::Hang, AnrVerdict::Hang));
    assert_eq!((first.anr.ended_after_ns, first.anr.signal), (None, None));
    assert!(first.anr.ran_ns >= S && first.anr.hang_threshold_ns == Some(S), "{:?}", first.anr);
    scenario.open_gate()?;
    let again = scenario.app.wait_for("SCRIPT report", LIMIT)?;
    assert_eq!(again, line, "the same file, with more in it");
    let (_, others, _) = scenario.finish()?;
    let [hang] = others.as_slice() else { panic!("{} reports", others.len()) };
    let ended = hang.anr.ended_after_ns.context("still running")?;
    assert!(ended >= first.anr.ran_ns, "{ended}");
    assert_eq!(hang.anr.verdict, AnrVerdict::Hang);
    let mut before = hang.clone();
    assert!(before.digest.contains(" in all"), "{}", before.digest);
    before.anr = first.anr.clone();
    before.digest.clone_from(&first.digest);
    assert_eq!(before, first, "all else is as it was");
    Ok(())
}

#[test]
fn a_hang_that_lasts_becomes_an_anr_when_the_system_reports_it() -> Result<()> {
    let words = "says=Input_dispatching_timed_out";
    let scenario = Scenario::begin(&[words, "saysAfterMs=6000"])?;
    let (_, report) = scenario.wait_for(|report| report.anr.system.is_some())?;
    let said = SystemWord::NotResponding("Input_dispatching_timed_out".into());
    assert_eq!((report.anr.verdict, report.anr.system), (AnrVerdict::Confirmed, Some(said)));
    assert_eq!(report.meta.reason, DumpReason::Hang);
    Ok(())
}

#[test]
fn the_systems_signal_in_a_long_message_is_probably_an_anr() -> Result<()> {
    if !is_root("sending signals as another user") {
        return Ok(());
    }
    // Two fifths of the threshold are enough with the signal.
    let scenario = Scenario::begin(&["hangMs=20000"])?;
    scenario.wait_for_suspicion()?;
    scenario.system_quits()?;
    let (file, report) = scenario.wait_for(|_| true)?;
    let signal = report.anr.signal.context("no signal")?;
    assert_eq!((signal.origin, signal.uid, signal.count), (SignalOrigin::System, 1_000, 1));
    assert_eq!((&report.meta.reason, report.anr.verdict), (&DumpReason::SigQuit, AnrVerdict::Probable));
    // The second signal of the same hang goes into the same file.
    scenario.system_quits()?;
    let (again, _) = scenario.wait_for(|report| report.anr.signal.is_some_and(|s| s.count == 2))?;
    assert_eq!(again, file);
    Ok(())
}

#[test]
fn anybody_elses_signal_is_no_anr() -> Result<()> {
    let scenario = Scenario::begin(&["hangMs=60000"])?;
    quit(&scenario.app)?;
    let (_, report) = scenario.wait_for(|_| true)?;
    assert_eq!((report.meta.reason, report.anr.verdict), (DumpReason::SigQuit, AnrVerdict::Responsive));
    let origin = report.anr.signal.context("no signal")?.origin;
    assert!(matches!(origin, SignalOrigin::SameUser | SignalOrigin::Shell), "{origin:?}");
    Ok(())
}

#[test]
fn a_services_message_has_a_higher_hang_threshold() -> Result<()> {
    let (_, others, ended) = Scenario::run(&["how=service", "ms=2000", "hook=PRINTER"])?;
    assert_eq!(hangs(&others).len(), 0, "{:?}\n{}", others.first().map(|r| &r.anr), ended.errors);
    Ok(())
}

#[test]
fn no_hang_is_reported_while_a_debugger_is_attached() -> Result<()> {
    for debugger in ["debugger=java", "debugger=native"] {
        let (last, others, ended) = Scenario::run(&["ms=2500", debugger])?;
        assert_eq!(hangs(&others).len(), 0, "{debugger}: {}", ended.errors);
        assert!(
            last.anr.debugged && last.anr.verdict == AnrVerdict::Responsive,
            "{debugger}: {:?}",
            last.anr
        );
    }
    Ok(())
}

/// A process that is stopped, or in a frozen cgroup as the system keeps invisible apps, is not hung, however
/// old its message is; not even when the system sends its signal because of another app's ANR.
#[test]
fn a_frozen_process_is_not_hung() -> Result<()> {
    let mut ways: Vec<(&str, Option<Cgroup>)> = vec![("stopped", None)];
    // Android's is the second version's.
    match ["cgroup.freeze", "freezer.state"].into_iter().find_map(Cgroup::with) {
        Some(group) => ways.push(("frozen", Some(group))),
        None => println!("left out: no cgroup can be frozen here"),
    }
    for (way, group) in ways {
        let scenario = Scenario::begin(&["hangMs=5000"])?;
        match &group {
            None => scenario.app.signal("STOP")?,
            Some(group) => {
                group.add(scenario.app.pid())?;
                group.set(if group.file == "cgroup.freeze" { "1" } else { "FROZEN" })?;
            }
        }
        // The time is the subject, and more of it does no harm.
        std::thread::sleep(Duration::from_secs(6));
        let before = scenario.times_on_a_processor()?;
        match &group {
            None => scenario.app.signal("CONT")?,
            Some(group) => group.set(if group.file == "cgroup.freeze" { "0" } else { "THAWED" })?,
        }
        // Until it has run, the kernel rather gives a signal to the Signal Catcher, who waits for it.
        wait_until("main runs again", || Ok((scenario.times_on_a_processor()? != before).then_some(())))?;
        if is_root("sending signals as another user") {
            scenario.system_quits()?;
        } else {
            quit(&scenario.app)?;
        }
        let (_, report) = scenario.wait_for(|_| true)?;
        assert_eq!(report.meta.reason, DumpReason::SigQuit, "{way}");
        assert_eq!(report.anr.verdict, AnrVerdict::Responsive, "{way}: {:?}", report.anr);
        assert!(report.anr.frozen_ns >= 5 * S, "{way}: {:?}", report.anr);
        assert!(report.statistics.iter().any(|f| f.name == "process.frozen_ns"), "{way}");
    }
    Ok(())
}

/// The next launch has nothing but the ring of the process that was killed.
#[test]
fn a_killed_process_that_was_frozen_or_debugged_is_not_hung() -> Result<()> {
    for (way, arguments) in
        [("stopped", &["hangMs=5000"][..]), ("debugged", &["hangMs=2000", "debugger=java"][..])]
    {
        let scenario = Scenario::begin(arguments)?;
        if way == "stopped" {
            scenario.app.signal("STOP")?;
            // The time is the subject, and more of it does no harm.
            std::thread::sleep(Duration::from_secs(6));
            scenario.app.signal("CONT")?;
        }
        let is_old = |report: &Report| match &report.main {
            MainState::Running(running) => running.age_ns() >= 15 * S / 2,
            _ => false,
        };
        wait_for_ring("the message is old", scenario.folder.path(), scenario.app.pid(), is_old)?;
        let Scenario { folder, mut app, .. } = scenario;
        app.kill();
        let next = Scenario::begin_in(folder, &[arguments[0], "ms=1"])?;
        let (_, report) =
            next.wait_for(|report| matches!(report.meta.reason, DumpReason::Recovered { .. }))?;
        let anr = &report.anr;
        assert_eq!(anr.debugged, way == "debugged", "{anr:?}");
        assert!(way == "debugged" || anr.frozen_ns >= 5 * S, "{anr:?}");
        // A busy machine may keep it from being killed in time.
        let is_hung = way == "stopped" && anr.ran_ns >= 5 * S;
        assert_eq!(anr.verdict, if is_hung { AnrVerdict::Hang } else { AnrVerdict::Responsive }, "{anr:?}");
    }
    Ok(())
}

#[test]
fn a_process_without_a_processor_is_not_hung() -> Result<()> {
    // Both versions know one of the least share, and of the usual one.
    let share = |(file, least, usual)| Some((Cgroup::with(file)?, least, usual));
    let shares = [("cpu.shares", "2", "1024"), ("cpu.weight", "1", "100")];
    let Some((poor, least, usual)) = shares.into_iter().find_map(share) else {
        println!("left out: no processor can be kept from a process here");
        return Ok(());
    };
    let scenario = Scenario::begin(&["ms=12000", "hangMs=4000", "how=busy"])?;
    poor.set(least)?;
    poor.add(scenario.app.pid())?;
    let rich = Hogs::start(1)?;
    let (_, others, ended) = {
        let mut scenario = scenario;
        scenario.app.wait_for("SCRIPT went on", LIMIT)?;
        drop(rich);
        // The report at the end has the time that an app waits for it; others may be busy, too.
        poor.set(usual)?;
        scenario.finish()?
    };
    assert_eq!(hangs(&others).len(), 0, "{:?}\n{}", others.first().map(|r| &r.anr), ended.errors);
    Ok(())
}

#[test]
fn a_kill_at_the_first_suspicion_leaves_queue_figures_and_name() -> Result<()> {
    let mut scenario = Scenario::begin(&["hangMs=12000", "pendingMs=2000"])?;
    scenario.wait_for_suspicion()?;
    let pid = scenario.app.pid();
    scenario.app.kill();
    ensure!(reports(scenario.folder.path())?.is_empty(), "killed too late for this test");
    let next = Scenario::begin_in(scenario.folder, &["hangMs=12000"])?;
    let (_, report) = next.wait_for(|_| true)?;
    assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: None });
    assert_eq!(report.meta.process.pid, pid);
    assert_eq!(report.pending.source, PendingSource::MessagesField);
    assert!(!report.pending.lines.is_empty() && !report.statistics.is_empty());
    let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
    let message = running.message.as_ref().context("no name")?;
    assert_eq!(message.callback, "scenario.Stalls");
    assert_eq!(
        (report.anr.verdict, report.anr.exit),
        (AnrVerdict::Responsive, None),
        "half of its threshold"
    );
    Ok(())
}

/// A hang on ART 11 is reported, then its process is killed. Returns the time of that report in Unix
/// milliseconds, and the report that the next launch leaves in the same file. `exits` returns the ended
/// processes that the system knows. It gets the pid and the name of the killed process, and the time of the
/// hang's report.
fn reported_by_the_next_launch(exits: impl Fn(u32, &str, u64) -> Vec<String>) -> Result<(u64, Report)> {
    let mut scenario = Scenario::begin_on("art11", tempdir()?, &[])?;
    let (file, report) = scenario.wait_for(|report| report.meta.reason == DumpReason::Hang)?;
    let (pid, now) = (scenario.app.pid(), report.meta.dumped_at.unix_ms);
    scenario.app.kill();
    let exits = format!("exits={}", exits(pid, &report.meta.process.name, now).join(","));
    let mut next = Scenario::begin_on("art11", scenario.folder, &["hangMs=60000", &exits])?;
    // The ring is deleted once all is reported.
    let ring = |name: &str| name.contains(&format!("-{pid}-")) && name.contains(".lbr");
    wait_until("the ring is deleted", || {
        let mut entries = fs::read_dir(next.folder.path())?.flatten();
        let stays = entries.any(|entry| ring(&entry.file_name().to_string_lossy()));
        Ok((!stays).then_some(()))
    })?;
    let (again, report) = next.wait_for(|_| true)?;
    next.app.kill();
    assert_eq!(again, file, "no second report of the same hang");
    assert!(report.anr.ran_ns >= S, "what was known before stays");
    Ok((now, report))
}

fn exit(pid: u32, name: &str, at: u64, reason: i32, words: &str) -> String {
    format!("{pid}|{name}|{at}|{reason}|0|{words}")
}

#[test]
fn native_code_is_notified_of_a_report_as_java_is() -> Result<()> {
    let mut scenario = Scenario::begin(&["listener=native"])?;
    let first = scenario.app.wait_for("SCRIPT first native", LIMIT)?;
    let line = scenario.app.wait_for("SCRIPT native", LIMIT)?;
    let (file, report) = scenario.wait_for(|report| !report.digest.is_empty())?;
    let digest = report.digest.lines().nth(4).context("no digest")?;
    assert!(digest.contains("scenario.Stalls"), "{digest}");
    assert_eq!(line, format!("SCRIPT native {} hang {digest}", file.display()));
    let expected = format!("SCRIPT first native {} hang ", file.display());
    assert!(first.starts_with(&expected) && first.contains("main runs scenario.Stalls"), "{first}");
    Ok(())
}

#[test]
fn names_of_the_apps_threads_stay_out_when_it_wants_that() -> Result<()> {
    let mut scenario = Scenario::begin(&["redactThreadNames=on", "garbage=on"])?;
    let line = scenario.app.wait_for("SCRIPT report", LIMIT)?;
    let report = read(line.split_whitespace().nth(2).context("no path")?.as_ref())?;
    let names: Vec<&str> = report.threads.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert!(names.contains(&"redacted") && !names.contains(&"garbage"), "{names:?}");
    assert!(names.contains(&"HeapTaskDaemon"), "{names:?}");
    Ok(())
}

/// The system keeps a record of each end of a process since Android 11.
#[test]
fn the_next_launch_learns_how_it_ended_and_completes_the_report() -> Result<()> {
    let (now, report) = reported_by_the_next_launch(|pid, name, now| {
        vec![
            exit(pid, name, now + 600_000, 4, "a_later_process_with_the_same_id"),
            exit(pid, name, now + 2_000, ProcessExit::ANR, "bg_anr"),
            exit(pid, "com.example.other", now + 1_000, 3, "another_process"),
            exit(pid + 1, name, now + 1_000, 3, "another_id"),
            exit(pid, name, now - 600_000, 5, "an_earlier_process_with_the_same_id"),
        ]
    })?;
    let expected =
        ProcessExit { reason: ProcessExit::ANR, description: "bg_anr".into(), unix_ms: now + 2_000 };
    assert_eq!((report.anr.verdict, report.anr.exit), (AnrVerdict::Confirmed, Some(expected)));
    Ok(())
}

/// The wall clock, which the system's records use, was set between the report and the end.
#[test]
fn a_clock_that_was_set_does_not_give_a_process_the_end_of_another_one() -> Result<()> {
    const HOUR: u64 = 3_600_000;
    // Forwards: still the first end of that process.
    let (now, report) = reported_by_the_next_launch(|pid, name, now| {
        vec![
            exit(pid, name, now + 2 * HOUR, ProcessExit::ANR, "bg_anr"),
            exit(pid, name, now - HOUR, 5, "earlier"),
        ]
    })?;
    let found = report.anr.exit.map(|exit| exit.unix_ms);
    assert_eq!((report.anr.verdict, found), (AnrVerdict::Confirmed, Some(now + 2 * HOUR)));
    // Back: it could not be distinguished from an earlier one's, so it has none.
    let (_, report) = reported_by_the_next_launch(|pid, name, now| {
        vec![exit(pid, name, now - HOUR, ProcessExit::ANR, "bg_anr")]
    })?;
    assert_eq!((report.anr.verdict, report.anr.exit), (AnrVerdict::Hang, None));
    Ok(())
}

#[test]
fn a_crash_handler_marks_the_ring_and_the_next_launch_reports_the_crash() -> Result<()> {
    let scenario = Scenario::begin(&["ms=300", "how=crash", "hangMs=60000"])?;
    let pid = scenario.app.pid();
    let ended = scenario.app.finish(LIMIT)?;
    let signal = std::os::unix::process::ExitStatusExt::signal(&ended.status);
    // ART's own handler turns an unhandled signal into an abort.
    assert!(matches!(signal, Some(6 | 11)), "{signal:?} {}", ended.errors);
    let next = Scenario::begin_in(scenario.folder, &["hangMs=60000"])?;
    let (_, report) = next.wait_for(|_| true)?;
    assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: Some(11) });
    assert_eq!(report.meta.process.pid, pid);
    assert!(matches!(report.main, MainState::Running(_)), "{:?}", report.main);
    Ok(())
}

#[test]
fn signals_in_the_middle_of_collections_and_of_the_systems_own_dump_do_no_harm() -> Result<()> {
    let scenario = Scenario::begin(&["hangMs=60000", "garbage=on"])?;
    for _ in 0..25 {
        quit(&scenario.app)?;
        // Now in the middle of the trace that the one before has caused, now after it.
        std::thread::sleep(Duration::from_millis(60));
    }
    wait_for_signal_catcher(scenario.app.pid())?;
    scenario.open_gate()?;
    let (_, others, ended) = scenario.finish()?;
    assert!(ended.errors.contains("reacting to signal 3"), "{}", ended.errors);
    assert!(!ended.errors.contains("could not be forwarded"), "{}", ended.errors);
    // The worker may have come to the last ones when the message was over.
    let (of_message, later): (Vec<_>, Vec<_>) =
        others.iter().partition(|report| matches!(report.main, MainState::Running(_)));
    assert_eq!(of_message.len(), 1, "{:#?}", of_message.iter().map(|report| &report.anr).collect::<Vec<_>>());
    for report in of_message.into_iter().chain(later) {
        assert_eq!(report.meta.reason, DumpReason::SigQuit);
        assert!(report.anr.signal.is_some_and(|signal| signal.count >= 1), "{:?}", report.anr);
    }
    Ok(())
}
