//! What earlier processes of this app left behind, as the worker found it.

use std::path::PathBuf;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct PreviousRuns {
    /// Reports made of rings whose process ended in the middle of a hang, or crashed.
    pub(crate) reports: Vec<PathBuf>,
}
