//! What another library leaves behind in the handling of SIGQUIT, while the main thread is idle and no thread
//! of the recorder is awake to repair it: the process lives, ART writes its trace, and we write our report.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use lab_launch::{Ended, reports};
use lab_reports::{LIMIT, feature, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, Feature, Report};
use loopbox_setup::command::run;
use tempfile::tempdir;

const TESTBEDS: [&str; 2] = ["art10", "art11"];
/// What the Signal Catcher logs when it gets its signal.
const CAUGHT: &str = "reacting to signal 3";
/// For how many seconds all threads are idle, one value after the other.
const WAITS: [u32; 4] = [0, 2, 10, 45];

struct Left {
    quits: Vec<Report>,
    last: Report,
    ended: Ended,
}

impl Left {
    fn caught(&self) -> usize {
        self.ended.errors.matches(CAUGHT).count()
    }

    fn said(&self, words: &str) -> bool {
        self.ended.lines.iter().any(|line| line == &format!("SCRIPT {words}"))
    }
}

/// Runs an app's process that must survive what a library leaves behind before each signal.
fn leave(testbed: &str, what: &str, waits: &[u32], more: &[String]) -> Result<Left> {
    let folder = tempdir()?;
    let waits: Vec<_> = waits.iter().map(u32::to_string).collect();
    let mut app =
        launcher(testbed)?.app("scenario.LeftBehind").argument(format!("dir={}", folder.path().display()));
    for argument in [format!("leaves={what}"), format!("waits={}", waits.join(","))].iter().chain(more) {
        app = app.argument(argument);
    }
    let idle: u64 = WAITS.iter().map(|&seconds| u64::from(seconds)).sum();
    let ended = app.start()?.finish(LIMIT + Duration::from_secs(idle))?;
    let ended = ended.success().with_context(|| format!("{testbed}: {what} {more:?}"))?;
    let all = reports(folder.path())?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
    let (last, quits): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|report| report.meta.reason == DumpReason::Requested("at the end".into()));
    let last = last.into_iter().next().context("no report at the end")?;
    let left = Left { quits, last, ended };
    ensure!(left.said("lived"), "{testbed}: {what} {more:?}: {:?}", left.ended.lines);
    Ok(left)
}

/// Runs `one` for each of `all` at the same time, because they mostly wait.
fn side_by_side<T: Sync>(all: &[T], one: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    // Built once.
    TESTBEDS.iter().try_for_each(|testbed| launcher(testbed).map(drop))?;
    thread::scope(|scope| {
        let running: Vec<_> = all.iter().map(|case| scope.spawn(|| one(case))).collect();
        let ended: Vec<_> = running.into_iter().map(thread::ScopedJoinHandle::join).collect();
        ended.into_iter().try_for_each(|end| end.map_err(|_| anyhow!("a test thread failed"))?)
    })
}

#[test]
fn whatever_a_library_sets_while_all_is_idle_the_process_lives_and_arts_trace_and_ours_are_there()
-> Result<()> {
    let kinds = ["default", "ignore", "own", "older"];
    let cases: Vec<_> =
        TESTBEDS.iter().flat_map(|testbed| kinds.iter().map(move |kind| (*testbed, *kind))).collect();
    side_by_side(&cases, |(testbed, kind)| {
        let left = leave(testbed, kind, &WAITS, &[])?;
        let others = if matches!(*kind, "own" | "older") { WAITS.len() } else { 0 };
        assert_eq!(left.caught(), WAITS.len(), "{testbed}, {kind}: {}", left.ended.errors);
        assert!(left.said(&format!("others {others}")), "{testbed}, {kind}: {:?}", left.ended.lines);
        assert!(!left.quits.is_empty(), "{testbed}, {kind}");
        assert!(left.quits.iter().all(|report| report.meta.reason == DumpReason::SigQuit));
        let (on, how) = feature(&left.last, Feature::SigQuit);
        assert!(on && how.starts_with("handled on the main thread"), "{testbed}, {kind}: {how}");
        Ok(())
    })
}

/// The thread has inherited main's mask, and no other thread can change that mask.
#[test]
fn a_thread_that_main_has_started_can_take_the_signal_whatever_a_library_leaves() -> Result<()> {
    let cases: Vec<_> = TESTBEDS
        .iter()
        .flat_map(|testbed| {
            let cases =
                [("default", "heir"), ("ignore", "heir"), ("default", "blocked"), ("ignore", "blocked")];
            cases.map(|(kind, to)| (*testbed, kind, to))
        })
        .collect();
    side_by_side(&cases, |(testbed, kind, to)| {
        let left = leave(testbed, kind, &[0, 3], &[format!("to={to}")])?;
        assert_eq!(left.caught(), 2, "{testbed}, {kind}, {to}: {}", left.ended.errors);
        // Blocked on main, it is ART's alone.
        assert_eq!(left.quits.is_empty(), *to == "blocked", "{testbed}, {kind}, {to}");
        Ok(())
    })
}

/// Builds a library that sets a handler when it is loaded and leaves it there.
fn build_library(file: &Path) -> Result<()> {
    let source = file.with_extension("c");
    let code = r"
        #include <signal.h>
        #include <string.h>
        static volatile int calls;
        static void on_quit(int signal) { calls += signal; }
        __attribute__((constructor)) static void start(void) {
            struct sigaction action;
            memset(&action, 0, sizeof action);
            action.sa_handler = on_quit;
            sigaction(SIGQUIT, &action, 0);
        }
    ";
    fs::write(&source, code).context("no source")?;
    run(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(file).arg(&source)).map(drop)
}

#[test]
fn a_handler_whose_library_was_unloaded_is_not_called_any_more() -> Result<()> {
    let folder = tempdir()?;
    let library = folder.path().join("libgone.so");
    build_library(&library)?;
    let library = format!("library={}", library.display());
    // Nothing lies there then, or other code, which traps.
    let cases: Vec<_> = TESTBEDS
        .iter()
        .flat_map(|testbed| ["unloaded", "unloaded-over"].map(|kind| (*testbed, kind)))
        .collect();
    side_by_side(&cases, |(testbed, kind)| {
        let left = leave(testbed, kind, &[0, 1], std::slice::from_ref(&library))?;
        assert_eq!(left.caught(), 2, "{testbed}, {kind}: {}", left.ended.errors);
        assert!(!left.quits.is_empty(), "{testbed}, {kind}");
        let (on, how) = feature(&left.last, Feature::SigQuit);
        let gone = "; another library's handler was gone with its library: 2";
        assert!(on && how.ends_with(gone), "{testbed}, {kind}: {how}");
        Ok(())
    })
}

#[test]
fn a_handler_for_one_signal_is_called_for_one() -> Result<()> {
    side_by_side(&TESTBEDS, |testbed| {
        let left = leave(testbed, "once", &[0, 0, 0], &[])?;
        assert!(left.said("others 1"), "{testbed}: {:?}", left.ended.lines);
        assert_eq!(left.caught(), 3, "{testbed}: {}", left.ended.errors);
        Ok(())
    })
}
