//! A machine without trampolines.

/// Whether there are trampolines for this machine.
pub const SUPPORTED: bool = false;

pub(crate) fn address_of(_: usize) -> usize {
    0
}
