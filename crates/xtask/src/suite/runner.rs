//! Runs test programs in parallel, and ends them all when the command itself is asked to end.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context, Result};

use super::programs::{Outcome, TestProgram};
use super::running::Running;

/// The exit code that a shell gives a command that Ctrl-C ended.
pub(crate) const INTERRUPTED: i32 = 130;

/// How test programs are run.
#[derive(Debug)]
pub(crate) struct Runner {
    at_once: usize,
    limit: Duration,
    running: Arc<Running>,
}

impl Runner {
    /// A runner that runs `at_once` programs at a time, and gives each of them `limit`.
    pub(crate) fn new(at_once: usize, limit: Duration) -> Self {
        Self { at_once: at_once.max(1), limit, running: Arc::new(Running::killed_with_group()) }
    }

    /// Makes Ctrl-C, SIGTERM and SIGHUP end the programs, and then this process.
    ///
    /// # Errors
    /// When these signals are handled already.
    pub(crate) fn ended_by_signals(self) -> Result<Self> {
        let running = Arc::clone(&self.running);
        ctrlc::set_handler(move || {
            running.end();
            process::exit(INTERRUPTED);
        })
        .context("cannot handle Ctrl-C")?;
        Ok(self)
    }

    /// Runs every program once and passes each outcome on as soon as it is available, with the file of the
    /// program's output.
    ///
    /// # Errors
    /// The first program that cannot be run, or the first error of `done`. The programs that are running at
    /// that moment are waited for.
    pub(crate) fn run(
        &self,
        programs: &[TestProgram],
        log_of: impl Fn(&TestProgram) -> PathBuf + Sync,
        mut done: impl FnMut(&TestProgram, Outcome, &Path) -> Result<()>,
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let (send, outcomes) = channel();
        std::thread::scope(|scope| {
            for _ in 0..self.at_once {
                let (send, next, log_of) = (send.clone(), &next, &log_of);
                scope.spawn(move || {
                    while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let log = log_of(program);
                        let outcome = program.run(&log, self.limit, &self.running);
                        // There is no receiver any more after an error.
                        if send.send((program, outcome, log)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            outcomes.into_iter().try_for_each(|(program, outcome, log)| done(program, outcome?, &log))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Instant;

    #[test]
    fn every_program_is_run_once_however_many_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["a", "b", "c", "d", "e"];
        let programs = names.map(|name| TestProgram::script(name, folder.path(), "echo 'test a ... ok'"));
        for at_once in [1, 3] {
            let log_of = |program: &TestProgram| folder.path().join(program.file_name());
            let mut seen = Vec::new();
            let runner = Runner::new(at_once, Duration::from_mins(1));
            runner
                .run(&programs, log_of, |program, outcome, log| {
                    assert_eq!(fs::read_to_string(log)?, "test a ... ok\n");
                    seen.push((program.name(), outcome.passed));
                    Ok(())
                })
                .unwrap();
            seen.sort_unstable();
            let expected: Vec<_> = names.iter().map(|name| (format!("{name} t (lib)"), 1)).collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn what_runs_can_be_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let script = "sleep 1000 & echo $! > child.new; mv child.new child; wait";
        let programs = [TestProgram::script("a", folder.path(), script)];
        let runner = Runner::new(1, Duration::from_mins(30));
        let child = folder.path().join("child");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let begun = Instant::now();
                while !child.exists() && begun.elapsed() < Duration::from_mins(5) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                runner.running.end();
            });
            let log_of = |_: &TestProgram| folder.path().join("log");
            runner
                .run(&programs, log_of, |_, outcome, _| {
                    assert!(outcome.failed[0].contains("SIGKILL"), "{outcome:?}");
                    Ok(())
                })
                .unwrap();
        });
        assert!(runner.running.is_empty(), "what has ended is not noted any more");
        let state = format!("/proc/{}/stat", fs::read_to_string(child).unwrap().trim());
        let begun = Instant::now();
        // Gone, or a zombie that has not been reaped yet.
        while fs::read_to_string(&state).is_ok_and(|state| !state.contains(") Z ")) {
            assert!(begun.elapsed() < Duration::from_mins(1), "what it started runs on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
