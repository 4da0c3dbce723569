//! What is packed, and where its parts are. No other module knows these paths.

use std::path::PathBuf;

use loopbox_setup::workspace::root;

/// A native library: a package of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Product {
    /// The package.
    pub(crate) package: &'static str,
    /// SONAME, as `System.loadLibrary` finds it.
    pub(crate) soname: &'static str,
    /// The data file with the list of its exports.
    pub(crate) exports: &'static str,
    /// Whether its thread-local variables share one pthread key (`thread_keys.rs` of loopbox-agent).
    pub(crate) shares_keys: bool,
}

/// The library that every app loads.
pub(crate) const LIBRARY: Product =
    Product { package: "loopbox-jni", soname: "libloopbox.so", exports: "exports.txt", shares_keys: true };

/// The additional library of in-house builds.
pub(crate) const INHOUSE: Product = Product {
    package: "loopbox-inhouse",
    soname: "libloopbox_inhouse.so",
    exports: "exports-inhouse.txt",
    shares_keys: false,
};

/// The folder of the product: the Java half, the integrations and the sample app are in it.
pub(crate) const GLUE: &str = "jni-glue";

/// The folder that the Android build writes into.
pub fn folder() -> PathBuf {
    root().join("target/android")
}

/// A data file of the Android build: what Android provides, and how large the library may be.
pub fn data(name: &str) -> PathBuf {
    root().join(GLUE).join("android").join(name)
}
