//! The process groups of test programs, so that none outlives the command.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, ensure};

/// The leaders of the process groups that run now.
///
/// A program under test has a group of its own, so Ctrl-C in a terminal does not reach it, nor the apps that it started.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<BTreeSet<u32>>);

impl Running {
    /// Notes a group until the value is dropped.
    pub(crate) fn with(&self, leader: u32) -> Entry<'_> {
        self.leaders().insert(leader);
        Entry { running: self, leader }
    }

    /// Kills every group.
    pub(crate) fn kill(&self) {
        for leader in self.leaders().iter() {
            // One that has just ended is gone already.
            let _ = kill_group(*leader);
        }
    }

    pub(super) fn leaders(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A group among those that run.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    running: &'a Running,
    leader: u32,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.running.leaders().remove(&self.leader);
    }
}

/// Kills the processes of a group.
///
/// # Errors
/// When there is none.
pub(crate) fn kill_group(leader: u32) -> Result<()> {
    let done = Command::new("kill")
        .args(["-KILL", "--", &format!("-{leader}")])
        .status()
        .context("cannot run kill")?;
    ensure!(done.success(), "process group {leader} cannot be killed");
    Ok(())
}
