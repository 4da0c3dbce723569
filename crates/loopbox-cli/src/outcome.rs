//! How a command ends.

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The command did all it was asked for.
    Complete,
    /// The command printed something, but a file was damaged or skipped.
    Partial,
    /// A condition holds under which the command was asked to fail.
    Failed,
}
