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

/// How text is written to the terminal.
#[derive(Debug, Args)]
pub(crate) struct TerminalOptions {
    /// Writes no colour and starts no pager, whatever the output is.
    #[arg(long)]
    pub(crate) plain: bool,
}
