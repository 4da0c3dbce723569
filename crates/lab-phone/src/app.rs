//! A process on the device.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use loopbox_adb::{Adb, Running, successful};

/// How long a scenario waits for one event before it gives up. Every expected event comes much sooner.
pub(crate) const LIMIT: Duration = Duration::from_mins(5);

/// The limit for the output of `kill` in bytes: more than it ever prints.
const MAX_OUTPUT: u64 = 4_096;

/// A running process. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct App {
    adb: Adb,
    serial: String,
    program: Running,
    pid: u32,
    over: bool,
}

impl App {
    /// The process of a program that was started on the device. The program has to print its process id
    /// first.
    pub(crate) fn new(adb: Adb, serial: String, mut program: Running) -> Result<Self> {
        let line = program.wait_for("SCRIPT pid ", LIMIT)?;
        let pid = line.rsplit(' ').next().and_then(|pid| pid.trim().parse().ok());
        let pid = pid.with_context(|| format!("no process id: {line}"))?;
        Ok(Self { adb, serial, program, pid, over: false })
    }

    /// Process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for a line of standard output that contains `text`.
    pub(crate) fn wait_for(&mut self, text: &str) -> Result<String> {
        self.program.wait_for(text, LIMIT)
    }

    /// Waits for a line of standard output that contains `text`, including lines that were already read.
    pub(crate) fn answer_to(&mut self, text: &str) -> Result<String> {
        let before = self.program.seen().iter().find(|line| line.contains(text)).cloned();
        before.map_or_else(|| self.wait_for(text), Ok)
    }

    /// Waits for the process to end by itself, and with success; returns its output, line by line.
    pub(crate) fn finish(mut self) -> Result<Vec<String>> {
        let (code, errors) = self.program.finish(LIMIT)?;
        self.over = true;
        let said = self.program.seen().join("\n");
        ensure!(code == 0, "the process ended with {code}; it said:\n{said}\n{errors}");
        Ok(self.program.seen().to_vec())
    }

    /// Ends the process with SIGKILL, and waits until it is gone.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.over = true;
        self.send_kill()?;
        self.program.finish(LIMIT).map(drop)
    }

    fn send_kill(&self) -> Result<()> {
        let sent = self.adb.shell(&self.serial, &format!("kill -9 {}", self.pid), MAX_OUTPUT)?;
        successful(sent).map(drop)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if !self.over {
            // It may be gone already.
            let _ = self.send_kill();
        }
    }
}
