//! How a command ends.

/// How a command ended, if it did not end with an error. If a command has two parts, and they end
/// differently, the variant that is later in this list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// The command did all it was asked for.
    Complete,
    /// The command printed something, but a file was damaged or skipped.
    Partial,
    /// A comparison found something because of which the command must fail.
    Failed,
}
