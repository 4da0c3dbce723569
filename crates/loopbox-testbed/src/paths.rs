//! The paths of the testbeds' files.

use std::path::PathBuf;

use loopbox_setup::workspace;

/// `tests/testbed`: specifications, stubs and patches.
pub(crate) fn specs() -> PathBuf {
    workspace::root().join("tests/testbed")
}

/// The folder of the finished testbeds, of the results of their build steps, and of their other files.
pub(crate) fn testbeds() -> PathBuf {
    workspace::set_up().join("testbed")
}
