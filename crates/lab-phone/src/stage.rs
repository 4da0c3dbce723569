//! What the scenarios share: the device, and the options of the run.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::phone::{About, Phone};

/// What to run, and for how long.
#[derive(Debug, Clone)]
pub struct Options {
    /// The device's serial number, needed when there are several.
    pub serial: Option<String>,
    /// A folder of the device for this run; it is emptied before and removed afterwards.
    pub folder: String,
    /// A `libloopbox.so` for the device's ABI; if missing, the one that ships is built.
    pub library: Option<PathBuf>,
    /// How long each kind of code runs.
    pub phase_ms: u32,
    /// How many messages a batch of the hook bench has.
    pub messages: u32,
    /// How many batches are run for each way to watch.
    pub rounds: u32,
}

impl Default for Options {
    fn default() -> Self {
        let folder = "/data/local/tmp/loopbox".into();
        Self { serial: None, folder, library: None, phase_ms: 1_000, messages: 4_000, rounds: 15 }
    }
}

/// The place in which a scenario runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub(crate) phone: &'a Phone,
    pub(crate) about: &'a About,
    pub(crate) options: &'a Options,
    pub(crate) out: &'a Path,
}

impl Stage<'_> {
    /// Copies the reports of a scenario to this machine.
    pub(crate) fn reports(&self, scenario: &str) -> Result<Vec<PathBuf>> {
        self.phone.pull_reports(scenario, &self.out.join(scenario))
    }
}
