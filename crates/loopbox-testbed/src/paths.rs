//! Where things are.

use std::path::PathBuf;

use loopbox_setup::workspace;

/// `tests/testbed`: specifications, stubs and patches.
pub(crate) fn specs() -> PathBuf {
    workspace::root().join("tests/testbed")
}

/// The finished testbeds, the results of their build steps and what else belongs to them.
pub(crate) fn testbeds() -> PathBuf {
    workspace::set_up().join("testbed")
}
