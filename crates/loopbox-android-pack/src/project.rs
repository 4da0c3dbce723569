//! What is packed, and where its parts are: the only place that knows.

use std::path::PathBuf;

use loopbox_setup::workspace::root;

/// The package of the workspace that becomes the library.
pub(crate) const PACKAGE: &str = "loopbox-jni";

/// SONAME of the library, as `System.loadLibrary("loopbox")` finds it.
pub(crate) const SONAME: &str = "libloopbox.so";

/// Its folder: the Java half, the integrations and the sample app are in it.
pub(crate) const GLUE: &str = "jni-glue";

/// The folder of all products.
pub fn folder() -> PathBuf {
    root().join("target/android")
}

/// A data file of the Android build: what Android has to offer and what the library may weigh.
pub fn data(name: &str) -> PathBuf {
    root().join(GLUE).join("android").join(name)
}
