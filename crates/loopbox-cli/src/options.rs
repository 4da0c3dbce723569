//! Options that several commands have.

use clap::Args;
use std::path::PathBuf;

/// How reports are read.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReadOptions {
    /// Deobfuscates names by R8's or ProGuard's mapping.txt of the build that the report is of. May be given
    /// several times, for several builds.
    #[arg(long = "mapping", value_name = "FILE")]
    pub(crate) mappings: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) packages: PackageOptions,
    /// Takes the process with this name or number from an ANR trace of several processes, instead of the
    /// first one.
    #[arg(long, value_name = "NAME")]
    pub(crate) process: Option<String>,
}

/// Which code is the app's.
#[derive(Debug, Clone, Args)]
pub(crate) struct PackageOptions {
    /// Takes the classes of this package, and of those below it, for the app's own code, and all others for
    /// libraries. May be given several times. Without this option, the packages in `in-app` of the file
    /// loopbox.toml count, in this folder or one above it.
    #[arg(long = "in-app", value_name = "PACKAGE")]
    pub(crate) in_app: Vec<String>,
}

/// Where the symbols of native code are.
#[derive(Debug, Args)]
pub(crate) struct SymbolOptions {
    /// Names native frames by the unstripped libraries in this folder, which are found by their build ids.
    /// May be given several times.
    #[arg(long = "symbols", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
}

/// How text is written to the terminal.
#[derive(Debug, Args)]
pub(crate) struct TerminalOptions {
    /// Writes no colour and starts no pager, whatever the output is.
    #[arg(long)]
    pub(crate) plain: bool,
}
