//! A message that runs a Looper loop. In this loop main waits and hangs; then main leaves the loop. The app
//! has a hang threshold of a second.

use anyhow::{Context, Result};
use lab_launch::{Running, reports};
use lab_reports::live::{wait_for_ring, wait_until};
use lab_reports::{Frame, LIMIT, details_of, read, stacks_of};
use loopbox_e2e::launcher;
use loopbox_format::model::{AnrVerdict, DumpReason, MainState, RecordKind, Report, StackTree};
use std::time::Duration;
use tempfile::{TempDir, tempdir};

const MS: u64 = 1_000_000;
const HANG_MS: u64 = 1_000;
const HOOKS: [&str; 2] = ["OBSERVER", "PRINTER"];
const OUTER: &str = "scenario.InnerLoops$Outer";
const INNER: &str = "scenario.InnerLoops$Inner";

struct Played {
    folder: TempDir,
    app: Running,
}

impl Played {
    fn begin(hook: &str, arguments: &[&str]) -> Result<Self> {
        Self::begin_in(tempdir()?, hook, arguments)
    }

    fn begin_in(folder: TempDir, hook: &str, arguments: &[&str]) -> Result<Self> {
        let mut app = launcher("art10")?.app("scenario.InnerLoops").argument(format!("hook={hook}"));
        app = app.argument(format!("dir={}", folder.path().display())).argument(format!("hangMs={HANG_MS}"));
        for argument in arguments {
            app = app.argument(*argument);
        }
        Ok(Self { folder, app: app.start()? })
    }

    /// Waits for the end. Returns the reports of hangs, and the report that the app requests.
    fn finish(&mut self) -> Result<(Vec<Report>, Report)> {
        self.app.wait_for("SCRIPT waits", LIMIT)?;
        let all = self.reports()?;
        let (hangs, asked): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|report| report.meta.reason == DumpReason::Hang);
        Ok((hangs, asked.into_iter().next().context("no report at the end")?))
    }

    fn reports(&self) -> Result<Vec<Report>> {
        reports(self.folder.path())?.iter().map(|file| read(file)).collect()
    }
}

/// The methods of each stack of the last tree.
fn stacks(report: &Report) -> Result<Vec<Vec<String>>> {
    report.trees.last().map_or(Ok(Vec::new()), |tree| names(report, tree))
}

fn names(report: &Report, tree: &StackTree) -> Result<Vec<Vec<String>>> {
    let stacks = stacks_of(report, tree)?;
    Ok(stacks.iter().map(|(stack, _)| stack.iter().map(Frame::short).collect()).collect())
}

/// The durations of the messages of this class that are kept by name.
fn took_ms(report: &Report, class: &str) -> Vec<u64> {
    details_of(report, class).map(|detail| detail.wall_ns / MS).collect()
}

#[test]
fn a_loop_inside_of_a_message_may_wait_for_as_long_as_it_likes() -> Result<()> {
    for hook in HOOKS {
        for (mode, ms, count) in [("quiet", 2_500, 2), ("quiet", 300, 12), ("throws", 2_500, 2)] {
            let way = format!("{mode}, {count} times {ms} ms, {hook}");
            let (mode, ms, count) = (format!("mode={mode}"), format!("ms={ms}"), format!("count={count}"));
            let mut played = Played::begin(hook, &[&mode, &ms, &count])?;
            let (hangs, report) = played.finish()?;
            played.app.kill();
            assert!(hangs.is_empty(), "{way}: {:?} {:?}", hangs[0].main, hangs[0].anr);
            // Nothing had work of more than the sampler's start.
            let longest = report.history.iter().filter_map(|record| record.slowest).map(|s| s.wall_ns).max();
            println!("{way}: {longest:?}");
            let idle: u64 = report.history.iter().map(|record| record.idle_ns).sum();
            assert!(idle >= 3_000 * MS, "{way}: {:#?}", report.history);
            let waits = report.trees.iter().map(|tree| names(&report, tree)).collect::<Result<Vec<_>>>()?;
            let waits = waits.iter().flatten().filter(|stack| stack[0] == "MessageQueue.nativePollOnce");
            assert!(waits.count() <= 1, "{way}: samples of a wait");
        }
    }
    Ok(())
}

#[test]
fn a_message_of_an_inner_loop_that_hangs_is_reported_with_its_own_time() -> Result<()> {
    for hook in HOOKS {
        let mut played = Played::begin(hook, &["mode=slow", "ms=2000"])?;
        let (hangs, _) = played.finish()?;
        let [hang] = hangs.as_slice() else { panic!("{hook}: {} hangs", hangs.len()) };
        let MainState::Running(running) = &hang.main else { panic!("{hook}: {:?}", hang.main) };
        let message = running.message.as_ref().with_context(|| format!("{hook}: {hang:#?}"))?;
        assert_eq!((message.callback.as_str(), running.depth), (INNER, 2), "{hook}");
        assert!(running.age_ns() >= HANG_MS * MS && running.age_ns() < 2_000 * MS, "{hook}: {running:?}");
        assert_eq!(hang.anr.verdict, AnrVerdict::Hang);
        let ended = wait_until("the end in the hang's report", || {
            let hang = played.reports()?.into_iter().find(|report| report.meta.reason == DumpReason::Hang);
            Ok(hang.and_then(|hang| hang.anr.ended_after_ns))
        })?;
        assert!(ended >= 2_000 * MS, "{hook}: {ended}");
        played.app.kill();
    }
    Ok(())
}

/// The inner message ends by an exception, for which the Looper prints no line. So with the Printer the inner
/// message seems to run until the outer one ends, and the hang has the inner message's name.
#[test]
fn a_message_that_hangs_after_its_inner_loop_was_left_is_reported() -> Result<()> {
    for hook in HOOKS {
        let mut played = Played::begin(hook, &["mode=left", "ms=3000"])?;
        let (hangs, report) = played.finish()?;
        played.app.kill();
        let [hang] = hangs.as_slice() else { panic!("{hook}: {} hangs", hangs.len()) };
        assert_eq!(hang.anr.verdict, AnrVerdict::Hang, "{:?}", hang.anr);
        assert!(hang.anr.ran_ns >= HANG_MS * MS && hang.anr.ran_ns < 3_000 * MS, "{hook}: {:?}", hang.anr);
        match &hang.main {
            MainState::Outside(outside) if hook == "OBSERVER" => {
                assert!(outside.age_ns() < 3_000 * MS, "{outside:?}");
            }
            MainState::Running(running) if hook == "PRINTER" => {
                assert_eq!(running.message.as_ref().map(|message| message.callback.as_str()), Some(INNER));
            }
            other => panic!("{hook}: {other:?}"),
        }
        let stacks = stacks(hang)?;
        let is_outer = |stack: &Vec<String>| stack.iter().any(|name| name == "InnerLoops$Outer.run");
        assert!(!stacks.is_empty() && stacks.iter().all(is_outer), "{hook}: {stacks:?}");
        // The hook was in its place all the time.
        assert!(report.history.iter().all(|r| r.kind != RecordKind::Unseen), "{:#?}", report.history);
        let hooked = report.features.iter().find(|state| state.detail.contains("displaced"));
        assert!(hooked.is_none(), "{hooked:?}");
        assert_eq!(took_ms(&report, OUTER).len(), 1, "{:#?}", report.history);
    }
    Ok(())
}

#[test]
fn a_message_that_hangs_before_its_inner_loop_is_reported_once() -> Result<()> {
    for hook in HOOKS {
        let mut played = Played::begin(hook, &["mode=outer", "ms=2000", "count=2"])?;
        let (hangs, _) = played.finish()?;
        played.app.kill();
        let [hang] = hangs.as_slice() else { panic!("{hook}: {} hangs", hangs.len()) };
        let MainState::Running(running) = &hang.main else { panic!("{hook}: {:?}", hang.main) };
        assert_eq!(running.message.as_ref().map(|message| message.callback.as_str()), Some(OUTER), "{hook}");
    }
    Ok(())
}

#[test]
fn an_app_that_is_killed_while_its_inner_loop_waits_was_not_hung() -> Result<()> {
    for hook in HOOKS {
        let mut first = Played::begin(hook, &["mode=quiet", "ms=1"])?;
        first.app.wait_for("SCRIPT waits", LIMIT)?;
        let idle = |report: &Report| matches!(report.main, MainState::Idle { .. });
        wait_for_ring("main waits", first.folder.path(), first.app.pid(), idle)?;
        std::thread::sleep(Duration::from_millis(2 * HANG_MS));
        first.app.kill();
        let mut second = Played::begin_in(first.folder, hook, &["mode=quiet", "ms=1"])?;
        let (hangs, _) = second.finish()?;
        second.app.kill();
        assert!(hangs.is_empty());
        let recovered =
            second.reports()?.into_iter().find(|r| matches!(r.meta.reason, DumpReason::Recovered { .. }));
        assert!(recovered.is_none(), "{hook}: {:?}", recovered.map(|report| report.main));
    }
    Ok(())
}
