//! Hangs in places other than an ordinary message: the message that the recorder is installed in, before the
//! loop, idle handlers, input. Each is detected by the recorder's own watch, at SIGQUIT, and by the next
//! launch after a kill, with the main thread's stack.

use anyhow::{Context, Result, ensure};
use lab_launch::{Running, reports};
use lab_reports::live::{quit, tree_of, wait_for_ring, wait_until};
use lab_reports::{LIMIT, details, read, stacks_of};
use loopbox_e2e::launcher;
use loopbox_format::model::{
    AnrVerdict, Component, DumpReason, End, MainState, NamedBy, Outside, Report, StackSource, StackTree,
    Token,
};
use std::fs;
use tempfile::{TempDir, tempdir};

/// The file that lets the hang end.
const OPEN: &str = "open";

struct Scenario {
    folder: TempDir,
    gate: TempDir,
    app: Running,
}

impl Scenario {
    /// Starts the scenario, and waits until it hangs.
    fn begin(testbed: &str, arguments: &[&str]) -> Result<Self> {
        let (folder, gate) = (tempdir()?, tempdir()?);
        let mut app = launcher(testbed)?
            .app("scenario.Places")
            .argument(format!("dir={}", folder.path().display()))
            .argument(format!("gate={}", gate.path().join(OPEN).display()));
        for argument in arguments {
            app = app.argument(*argument);
        }
        let mut app = app.start()?;
        app.wait_for("SCRIPT hangs", LIMIT)?;
        Ok(Self { folder, gate, app })
    }

    /// Waits for a report for which `wanted` is true.
    fn wait_for(&self, what: &str, wanted: impl Fn(&Report) -> bool) -> Result<Report> {
        wait_until(what, || {
            let all = reports(self.folder.path())?;
            // One that is being replaced may be gone.
            Ok(all.iter().filter_map(|file| read(file).ok()).find(&wanted))
        })
    }

    fn wait_for_reason(&self, reason: &DumpReason) -> Result<Report> {
        self.wait_for(&format!("a report of {reason:?}"), |report| report.meta.reason == *reason)
    }

    /// Waits until the report of the hang is complete. An earlier signal may have made a file of the same
    /// hang. The recorder first writes only the new verdict into that file, and replaces the file when the
    /// report is complete. Only then does the file have the reason `Hang`, so the reason is checked as well
    /// as the verdict.
    fn wait_for_hang(&self) -> Result<Report> {
        self.wait_for("a hang", |report| {
            report.anr.verdict == AnrVerdict::Hang && report.meta.reason == DumpReason::Hang
        })
    }

    fn open(&self) -> Result<()> {
        fs::write(self.gate.path().join(OPEN), "").context("cannot open the gate")
    }

    /// Lets the hang end. Returns the report that the app requested at its end, and the recorder's reports of
    /// the hang.
    fn finish(self) -> Result<(Report, Vec<Report>)> {
        self.finish_saying().map(|(last, others, _)| (last, others))
    }

    /// As [`Self::finish`]; also returns what the app printed.
    fn finish_saying(self) -> Result<(Report, Vec<Report>, Vec<String>)> {
        self.open()?;
        let said = self.app.finish(LIMIT)?.success()?.lines;
        let all = reports(self.folder.path())?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
        let at_the_end = DumpReason::Requested("at the end".into());
        let (last, others) = all.into_iter().partition::<Vec<_>, _>(|r| r.meta.reason == at_the_end);
        Ok((last.into_iter().next().context("no report at the end")?, others, said))
    }

    /// Kills the process when its ring is as wanted. Returns the next launch's report.
    fn kill(mut self, testbed: &str, wanted: impl Fn(&Report) -> bool) -> Result<Report> {
        wait_for_ring("the hang is in the ring", self.folder.path(), self.app.pid(), wanted)?;
        self.app.kill();
        let mut next = launcher(testbed)?
            .app("scenario.Demo")
            .argument(format!("dir={}", self.folder.path().display()))
            .start()?;
        let line = next.wait_for("SCRIPT report", LIMIT)?;
        next.kill();
        assert!(line.ends_with(" recovered"), "{line}");
        read(line.split_whitespace().nth(2).context("no path")?.as_ref())
    }
}

/// The short names of the frames of a tree's last stack, top first.
fn last_stack(report: &Report, tree: &StackTree) -> Result<Vec<String>> {
    let (frames, _) = stacks_of(report, tree)?.pop().context("an empty tree")?;
    Ok(frames.iter().map(lab_reports::Frame::short).collect())
}

/// Checks that the last stack of what runs contains these frames, top first.
fn check_stack(report: &Report, token: Token, through: &[&str]) -> Result<()> {
    let tree =
        tree_of(report, token).with_context(|| format!("no stack of {token}: {:?}", report.features))?;
    let names = last_stack(report, tree)?;
    let mut rest = names.iter();
    for frame in through {
        ensure!(rest.any(|name| name == frame), "{frame} is not in {names:?}");
    }
    Ok(())
}

fn running(report: &Report) -> &loopbox_format::model::Running {
    let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
    running
}

fn outside(report: &Report) -> &Outside {
    let MainState::Outside(outside) = &report.main else { panic!("{:?}", report.main) };
    outside
}

const IN_BIND: [&str; 3] = ["Places.hang", "ActivityThread.handleBindApplication", "Looper.loop"];

fn assert_bind(report: &Report) -> Result<()> {
    let running = running(report);
    assert_eq!((running.token, running.depth), (Token(1), 1));
    assert!(running.start_ns <= report.meta.process.installed_ns, "{:?}", report.meta);
    check_stack(report, Token(1), &IN_BIND)
}

fn assert_bind_named(report: &Report) -> Result<()> {
    let message = running(report).message.as_ref().context("no name")?;
    assert_eq!((&*message.target, message.what), ("android.app.ActivityThread$H", Some(110)));
    assert_eq!((message.component, message.named_by), (Some(Component::ActivityThread), NamedBy::Stack));
    assert_bind(report)
}

fn cold_start(testbed: &str, hook: &str) -> Result<()> {
    // The system waits twice as long for an app to start as for input, and so does the watch.
    let scenario = Scenario::begin(testbed, &["where=bind", "hangMs=500", hook])?;
    quit(&scenario.app)?;
    assert_bind_named(&scenario.wait_for_reason(&DumpReason::SigQuit)?)?;
    let hung = scenario.wait_for_hang()?;
    assert_bind_named(&hung)?;
    assert_eq!(hung.anr.hang_threshold_ns, Some(1_000_000_000));
    assert!(hung.anr.ran_ns >= 1_000_000_000, "{:?}", hung.anr);

    let (last, others) = scenario.finish()?;
    assert!(others.iter().any(|report| report.anr.ended_after_ns.is_some()), "no end");
    let bind =
        details(&last).find(|detail| detail.token == Token(1)).context("the first message is not kept")?;
    assert_eq!((bind.end, bind.wait_ns), (End::Returned, None));
    assert_eq!(bind.message.as_ref().and_then(|message| message.what), Some(110));
    assert!(bind.wall_ns >= 1_000_000_000 && bind.start_ns <= last.meta.process.installed_ns);
    // The next message is another one, and the idle main thread of the end is no hang.
    assert!(matches!(last.main, MainState::Idle { .. }), "{:?}", last.main);
    assert_eq!(last.history.iter().map(|record| record.count).sum::<u32>(), 2);
    Ok(())
}

#[test]
fn a_cold_start_that_hangs_is_a_message_with_the_observer() -> Result<()> {
    cold_start("art10", "hook=AUTO")
}

#[test]
fn a_cold_start_that_hangs_is_a_message_with_the_printer() -> Result<()> {
    cold_start("art10", "hook=PRINTER")?;
    cold_start("art11", "hook=AUTO")
}

#[test]
fn a_cold_start_that_is_killed_is_recovered() -> Result<()> {
    let scenario = Scenario::begin("art10", &["where=bind", "how=busy", "hangMs=60000"])?;
    let hangs = |report: &Report| {
        let MainState::Running(running) = &report.main else { return false };
        // The first stack may be of before the hang.
        running.age_ns() >= 1_000_000_000 && check_stack(report, Token(1), &IN_BIND).is_ok()
    };
    let report = scenario.kill("art10", hangs)?;
    assert!(running(&report).age_ns() >= 1_000_000_000);
    assert_eq!(running(&report).message.as_ref().map(|m| &*m.target), Some("android.app.ActivityThread$H"));
    assert_bind(&report)
}

#[test]
fn without_the_sampler_a_suspect_that_is_killed_has_its_stack() -> Result<()> {
    let scenario = Scenario::begin("art10", &["where=bind", "sampling=off", "hangMs=4000"])?;
    let hangs = |report: &Report| {
        let MainState::Running(running) = &report.main else { return false };
        running.age_ns() >= 2_000_000_000 && running.message.is_some() && !report.trees.is_empty()
    };
    let report = scenario.kill("art10", hangs)?;
    assert!(running(&report).age_ns() >= 2_000_000_000);
    assert_bind_named(&report)?;
    assert_eq!(report.trees.last().map(|tree| tree.source), Some(StackSource::JavaApi));
    Ok(())
}

#[test]
fn the_message_of_the_installation_may_be_any() -> Result<()> {
    let scenario = Scenario::begin("art10", &["where=message", "hook=PRINTER"])?;
    let hung = scenario.wait_for_hang()?;
    let message = running(&hung).message.as_ref().context("no name")?;
    assert_eq!((&*message.callback, message.what), ("scenario.Places$App", None));
    assert_eq!(running(&hung).start_ns, hung.meta.process.installed_ns);
    check_stack(&hung, Token(1), &["Places.hang", "Handler.dispatchMessage", "Looper.loop"])?;
    let (last, _) = scenario.finish()?;
    let detail = details(&last).find(|detail| detail.token == Token(1)).context("not kept")?;
    assert_eq!((detail.end, &detail.message), (End::Returned, &None));
    Ok(())
}

#[test]
fn a_loop_inside_of_the_first_message_does_not_end_it() -> Result<()> {
    for hook in ["hook=AUTO", "hook=PRINTER"] {
        let scenario = Scenario::begin("art10", &["where=loop", hook])?;
        let hung = scenario.wait_for_hang()?;
        if hook == "hook=AUTO" {
            // Nobody sees whether the loop inside was left, so the message around it has its stack only. The
            // Printer is not called when the last message of the inner loop was left by an exception.
            check_stack(&hung, outside(&hung).token, &IN_BIND)?;
            let around = hung.statistics.iter().find(|figure| figure.name == "main.messages_around");
            assert_eq!(around.map(|figure| &*figure.value), Some("1"), "{:?}", hung.statistics);
        }
        let (last, _) = scenario.finish()?;
        let inner = |what| {
            let named = |d: &&loopbox_format::model::Detail| {
                d.message.as_ref().is_some_and(|message| message.what == Some(what))
            };
            details(&last).find(named).map(|detail| (detail.start_ns, detail.start_ns + detail.wall_ns))
        };
        let bind = details(&last)
            .find(|detail| detail.token == Token(1))
            .context("the first message is not kept")?;
        let bind = (bind.start_ns, bind.start_ns + bind.wall_ns);
        for what in [11, 12, 13] {
            let inner = inner(what).with_context(|| format!("{what} is not named: {:#?}", last.history))?;
            assert!(bind.0 < inner.0 && inner.1 < bind.1, "{what} is not inside: {bind:?} {inner:?}");
        }
    }
    Ok(())
}

/// Checks the two reports of a hang outside of messages. One report is written at a signal, the other when
/// the recorder's own watch finds the hang. Also checks that a report has the end of the hang.
fn outside_hang(testbed: &str, arguments: &[&str], through: &[&str]) -> Result<()> {
    let scenario = Scenario::begin(testbed, arguments)?;
    quit(&scenario.app)?;
    let quit = scenario.wait_for_reason(&DumpReason::SigQuit)?;
    check_stack(&quit, outside(&quit).token, through)?;
    assert!(outside(&quit).token.is_outside());
    let hung = scenario.wait_for_hang()?;
    check_stack(&hung, outside(&hung).token, through)?;
    assert_eq!(hung.anr.hang_threshold_ns, Some(1_000_000_000));
    assert!(hung.anr.ran_ns >= 1_000_000_000, "{:?}", hung.anr);
    assert!(outside(&hung).age_ns() >= hung.anr.ran_ns, "{:?}", hung.main);
    assert!(hung.digest.contains("main busy outside of messages"), "{}", hung.digest);
    let (last, others) = scenario.finish()?;
    assert!(others.iter().any(|report| report.anr.ended_after_ns.is_some()), "no end");
    // It waits; without a message so far, it is unknown since when.
    assert!(matches!(last.main, MainState::Idle { .. } | MainState::Unknown), "{:?}", last.main);
    Ok(())
}

#[test]
fn an_idle_handler_that_hangs_is_busy_outside_of_messages() -> Result<()> {
    const THROUGH: [&str; 4] =
        ["Places.hang", "Places$Cleaner.queueIdle", "MessageQueue.next", "Looper.loop"];
    outside_hang("art10", &["where=idle", "how=sleep"], &THROUGH)?;
    // The recorder may have been installed in it, too: that is no message.
    outside_hang("art10", &["where=first", "how=sleep"], &THROUGH)?;
    outside_hang("art11", &["where=idle", "how=busy"], &THROUGH)
}

#[test]
fn what_keeps_main_from_its_loop_is_busy_outside_of_messages() -> Result<()> {
    outside_hang("art10", &["where=before", "how=sleep"], &["Places.hang", "Places.begin", "Places.main"])
}

#[test]
fn without_the_sampler_a_report_has_the_stack_by_the_java_api() -> Result<()> {
    let arguments = ["where=idle", "sampling=off"];
    outside_hang("art10", &arguments, &["Places.hang", "Places$Cleaner.queueIdle", "Looper.loop"])?;
    let scenario = Scenario::begin("art10", &["where=bind", "sampling=off"])?;
    let hung = scenario.wait_for_hang()?;
    assert_bind_named(&hung)?;
    assert_eq!(hung.trees.last().map(|tree| tree.source), Some(StackSource::JavaApi));
    scenario.finish()?;
    Ok(())
}

#[test]
fn what_ran_outside_of_messages_is_recovered_after_a_kill() -> Result<()> {
    // It must leave no report before it is killed, however late that is.
    let scenario = Scenario::begin("art10", &["where=idle", "how=sleep", "hangMs=60000"])?;
    let hangs = |report: &Report| {
        let MainState::Outside(outside) = &report.main else { return false };
        outside.age_ns() >= 1_500_000_000 && report.trees.iter().any(|tree| tree.token == outside.token)
    };
    let report = scenario.kill("art10", hangs)?;
    assert!(outside(&report).age_ns() >= 1_500_000_000);
    check_stack(&report, outside(&report).token, &["Places.hang", "Places$Cleaner.queueIdle"])
}

#[test]
fn input_that_a_window_is_called_with_is_a_message() -> Result<()> {
    for hook in ["hook=AUTO", "hook=PRINTER"] {
        let scenario = Scenario::begin("art10", &["where=input", hook])?;
        let hung = scenario.wait_for_hang()?;
        let message = running(&hung).message.as_ref().context("no name")?;
        assert_eq!((&*message.target, message.what), ("scenario.Places$Page", None));
        assert_eq!((message.component, message.named_by), (Some(Component::Input), NamedBy::Window));
        let through = ["Places.hang", "Places$Page.dispatchTouchEvent", "Places$Cleaner.queueIdle"];
        check_stack(&hung, running(&hung).token, &through)?;
        let (last, others, said) = scenario.finish_saying()?;
        for word in ["threw", "content", "captured true", "put back"] {
            assert!(said.iter().any(|line| line == &format!("SCRIPT {word}")), "{word}: {said:?}");
        }
        assert!(others.iter().any(|report| report.anr.ended_after_ns.is_some()), "no end");
        let input = |d: &&loopbox_format::model::Detail| {
            d.message.as_ref().is_some_and(|message| message.component == Some(Component::Input))
        };
        let ends: Vec<_> = details(&last).filter(input).map(|detail| detail.end).collect();
        assert_eq!(ends, [End::Threw, End::Returned], "the key that threw, and the touch");
    }
    Ok(())
}

/// How often the threads that watch the main thread, and the one that copies the ring, have gone to sleep.
fn sleeps(pid: u32) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?.flatten() {
        let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let name = read("comm");
        if ["loopbox-watch", "loopbox-sampler", "loopbox-guard", "loopbox-mirror"].contains(&name.trim_end())
        {
            let line = read("status").lines().find(|line| line.starts_with("voluntary")).map(str::to_owned);
            found.push(format!("{} {}", name.trim_end(), line.context("no count of switches")?));
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn no_thread_wakes_while_the_main_thread_is_idle() -> Result<()> {
    let scenario = Scenario::begin("art10", &["where=bind", "afterMs=600000"])?;
    scenario.open()?;
    let mut before = Vec::new();
    let asleep = wait_until("all threads sleep for two seconds", || {
        std::thread::sleep(std::time::Duration::from_secs(2));
        let now = sleeps(scenario.app.pid())?;
        let same = now == before;
        before.clone_from(&now);
        Ok(same.then_some(now))
    })?;
    assert_eq!(asleep.len(), 4, "{asleep:?}");
    Ok(())
}
