//! What earlier processes of this app left behind, as the worker found it.

use std::path::PathBuf;

/// What the worker found of earlier processes.
#[derive(Debug, Default)]
pub(crate) struct PreviousRuns {
    /// Reports made from the rings of processes that ended during a hang, or crashed.
    pub(crate) reports: Vec<PathBuf>,
}
