//! Where things are: the repository and the folders below `target/bed`.

use std::path::{Path, PathBuf};

/// Root of the repository.
pub(crate) fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).unwrap_or(crate_folder).to_owned()
}

/// `tests/bed`: specifications, stubs and patches.
pub(crate) fn specs() -> PathBuf {
    repository().join("tests/bed")
}

/// `target/bed`, wherever cargo's own target folder is: beds are shared by all build configurations.
pub(crate) fn beds() -> PathBuf {
    repository().join("target/bed")
}
