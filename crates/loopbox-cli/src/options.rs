//! Options that several commands have.

use clap::Args;
use std::path::PathBuf;

/// The mappings that deobfuscate reports.
#[derive(Debug, Args)]
pub(crate) struct MappingOptions {
    /// Deobfuscates names by R8's or ProGuard's mapping.txt of the build that the report is of. May be given several
    /// times, for several builds.
    #[arg(long = "mapping", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// Where the symbols of native code are.
#[derive(Debug, Args)]
pub(crate) struct SymbolOptions {
    /// Names native frames by the unstripped libraries in this folder, which are found by their build ids. May be given
    /// several times.
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
