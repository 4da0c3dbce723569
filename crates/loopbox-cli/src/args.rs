//! The command line.

use crate::cmd::Command;
use clap::Parser;

/// Reads the reports of the Loopbox recorder about an app that stopped responding.
///
/// Exit codes: 0 success, 1 nothing could be done, 2 something was printed but a file is damaged or was skipped,
/// 64 wrong command line.
#[derive(Debug, Parser)]
#[command(name = "loopbox", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}
