//! Runs other programs and turns their failures into errors a person can act on.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};

/// How much of a failed program's output an error shows.
const SHOWN_LINES: usize = 20;

/// How a program ended and what it printed.
#[derive(Debug)]
pub struct Outcome {
    /// Its name.
    pub program: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub text: String,
    /// Its standard error.
    pub errors: String,
}

impl Outcome {
    /// The standard output of a program that succeeded.
    ///
    /// # Errors
    /// What the program printed when it failed.
    pub fn into_text(self) -> Result<String> {
        if self.status.success() {
            return Ok(self.text);
        }
        let printed: Vec<&str> =
            self.errors.lines().chain(self.text.lines()).filter(|line| !line.trim().is_empty()).collect();
        let shown = printed.get(..SHOWN_LINES).unwrap_or(&printed).join("\n  ");
        bail!("{} failed ({})\n  {shown}", self.program, self.status)
    }
}

/// Runs a command to its end, without an input.
///
/// # Errors
/// When it cannot be started.
pub fn outcome(command: &mut Command) -> Result<Outcome> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {program}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Outcome { program, status: output.status, text: text(&output.stdout), errors: text(&output.stderr) })
}

/// Runs a command to its end and returns its standard output.
///
/// # Errors
/// When the command cannot be started or fails. The error of a failure contains what it printed.
pub fn run(command: &mut Command) -> Result<String> {
    outcome(command)?.into_text()
}

/// Does the same work for every item, as many at a time as there are processors.
///
/// # Errors
/// The first failure, which also stops the rest.
pub fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let jobs = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = work(item) {
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        next.store(items.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// A command with arguments.
pub fn command<S: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Joins paths with `:`, the form that class paths and library paths have.
pub fn path_list<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> String {
    let paths: Vec<String> = paths.into_iter().map(|p| p.as_ref().display().to_string()).collect();
    paths.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_failure_are_distinguished() {
        assert_eq!(run(&mut command("sh", ["-c", "echo yes"])).unwrap(), "yes\n");
        let message = run(&mut command("sh", ["-c", "echo why >&2; exit 3"])).unwrap_err().to_string();
        assert!(message.contains("why") && message.contains('3'), "{message}");
        assert!(run(&mut command("/no/such/program", ["x"])).is_err());
    }

    #[test]
    fn work_is_done_for_every_item_and_stops_at_a_failure() {
        let done = Mutex::new(Vec::new());
        let items: Vec<usize> = (0..100).collect();
        for_each(&items, |&item| {
            done.lock().unwrap().push(item);
            Ok(())
        })
        .unwrap();
        let mut all = done.into_inner().unwrap();
        all.sort_unstable();
        assert_eq!(all, items);

        let tried = AtomicUsize::new(0);
        let failed = for_each(&vec![0; 100_000], |_| {
            tried.fetch_add(1, Ordering::Relaxed);
            bail!("broken")
        });
        assert_eq!(failed.unwrap_err().to_string(), "broken");
        assert!(tried.into_inner() < 100_000);
    }
}
