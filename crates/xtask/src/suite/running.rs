//! The processes that a command runs, so that none of them survives it.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, ensure};

/// The processes that run now, which another thread can end.
#[derive(Debug)]
pub(crate) struct Running {
    ending: Ending,
    processes: Mutex<Processes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// A process is asked to end, and itself ends what it has started.
    Asked,
    /// Each process has a separate process group, so Ctrl-C in a terminal reaches neither it nor its
    /// children. [`Running::end`] kills the whole groups.
    KilledWithGroup,
}

#[derive(Debug, Default)]
struct Processes {
    ids: BTreeSet<u32>,
    is_over: bool,
}

impl Running {
    /// A set of processes that end their own children when they are asked to end.
    pub(crate) fn asked_to_end() -> Self {
        Self { ending: Ending::Asked, processes: Mutex::default() }
    }

    /// A set of processes that are killed together with all their children.
    pub(crate) fn killed_with_group() -> Self {
        Self { ending: Ending::KilledWithGroup, processes: Mutex::default() }
    }

    /// Starts a process, which is in the set until the entry is dropped. `None` after [`end`](Self::end).
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(&self, command: &mut Command) -> Result<Option<(Child, Entry<'_>)>> {
        if self.ending == Ending::KilledWithGroup {
            command.process_group(0);
        }
        // Held until its number is noted: what it does may be what makes another thread end it.
        let mut processes = self.processes();
        if processes.is_over {
            return Ok(None);
        }
        let child = command.spawn().context("cannot start")?;
        let id = child.id();
        processes.ids.insert(id);
        Ok(Some((child, Entry { running: self, id })))
    }

    /// Ends every process; none can be started any more.
    pub(crate) fn end(&self) {
        let mut processes = self.processes();
        processes.is_over = true;
        for id in &processes.ids {
            // One that has just ended is gone already.
            let _ = match self.ending {
                Ending::Asked => kill(&[&id.to_string()]),
                Ending::KilledWithGroup => kill_group(*id),
            };
        }
    }

    /// Whether the processes have been ended.
    pub(crate) fn is_over(&self) -> bool {
        self.processes().is_over
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.processes().ids.is_empty()
    }

    fn processes(&self) -> MutexGuard<'_, Processes> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process in the set.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    running: &'a Running,
    id: u32,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.running.processes().ids.remove(&self.id);
    }
}

/// Kills the processes of the group that `leader` leads.
///
/// # Errors
/// When there is no such group.
pub(crate) fn kill_group(leader: u32) -> Result<()> {
    kill(&["-KILL", "--", &format!("-{leader}")])
}

fn kill(arguments: &[&str]) -> Result<()> {
    let done = Command::new("kill").args(arguments).status().context("cannot run kill")?;
    ensure!(done.success(), "kill {} failed", arguments.join(" "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_ended_and_nothing_starts_after_it() {
        for running in [Running::asked_to_end(), Running::killed_with_group()] {
            let (mut child, entry) = running.start(Command::new("sleep").arg("1000")).unwrap().unwrap();
            assert!(!running.is_over() && !running.is_empty());
            running.end();
            assert!(!child.wait().unwrap().success());
            drop(entry);
            assert!(running.is_over() && running.is_empty());
            assert!(running.start(&mut Command::new("true")).unwrap().is_none());
            running.end();
        }
    }

    #[test]
    fn what_a_process_does_first_may_be_what_ends_it() {
        // The file is there before the process that makes it can have been noted.
        for _ in 0..50 {
            let folder = tempfile::tempdir().unwrap();
            let running = Running::asked_to_end();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !folder.path().join("on").exists() {
                        std::thread::yield_now();
                    }
                    running.end();
                });
                let mut shell = Command::new("sh");
                shell.current_dir(folder.path()).args(["-c", ": > on; exec sleep 1000"]);
                let (mut child, _entry) = running.start(&mut shell).unwrap().unwrap();
                assert!(!child.wait().unwrap().success());
            });
        }
    }
}
