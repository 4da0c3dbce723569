//! The command line.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Reads what the Loopbox recorder left of an app that stopped responding.
///
/// Exit codes: 0 all is well, 1 nothing could be done, 2 something was shown but a file is damaged or was
/// skipped, 64 the command line is wrong.
#[derive(Debug, Parser)]
#[command(name = "loopbox", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prints a report: history, running message with its stacks, pending messages.
    Show(Show),
    /// Names the most probable cause of the hang, with the evidence (rules: docs/diagnosis.md).
    Diagnose(crate::cmd::diagnose::Args),
    /// Makes one HTML page of a report: verdict, timeline, stacks; it needs no network.
    Report(crate::cmd::report::Args),
    /// Draws a flame graph (SVG) of a message's stacks.
    Flame(crate::cmd::flame::Args),
    /// Writes a report in the format of another tool.
    Export(crate::cmd::export::Args),
    /// Groups many reports by what went wrong.
    Cluster(crate::cmd::cluster::Args),
    /// Says of each file whether it is an intact report.
    Check(crate::cmd::check::Args),
    /// Makes a report of the ring that a process left when it was killed.
    Recover(crate::cmd::recover::Args),
    /// Puts the names of the source back into an obfuscated report.
    Retrace(crate::cmd::retrace::Args),
    /// Prints completions for a shell.
    Completions(crate::cmd::generate::Completions),
    /// Writes man pages, of loopbox and of each command.
    Man(crate::cmd::generate::Man),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// The report (a file that ends in .lbx).
    pub(crate) file: PathBuf,
    /// Prints JSON (schema loopbox.report/1, see docs/json.md).
    #[arg(long, conflicts_with_all = ["plain", "full"])]
    pub(crate) json: bool,
    /// Shows every node of every stack tree.
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) mapping: Mappings,
    #[command(flatten)]
    pub(crate) terminal: Terminal,
}

/// What puts the names of the source back.
#[derive(Debug, ClapArgs)]
pub(crate) struct Mappings {
    /// Puts the names of the source back by R8's or ProGuard's mapping.txt of the build that the report is of. May be
    /// given for several builds.
    #[arg(long = "mapping", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// How text is written.
#[derive(Debug, ClapArgs)]
pub(crate) struct Terminal {
    /// Writes no colour and starts no pager, whatever the output is.
    #[arg(long)]
    pub(crate) plain: bool,
}
