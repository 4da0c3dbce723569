//! What earlier processes of this app left behind, as the worker found it.

use loopbox_store::BuildId;
use std::path::PathBuf;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct PreviousRuns {
    /// Reports made of rings whose process ended in the middle of a hang, or crashed.
    pub(crate) reports: Vec<PathBuf>,
    /// Processes that ended while a thread was stopped for a stack: their libart, and in which phase of the stop.
    pub(crate) ended_in_stop: Vec<(BuildId, u8)>,
}
