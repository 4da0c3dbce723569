//! One file per command.

mod show;

use crate::Outcome;
use crate::args::{Args, Command};
use anyhow::Result;

/// Runs the command that the arguments ask for.
pub(crate) fn run(args: Args) -> Result<Outcome> {
    match args.command {
        Command::Show(args) => show::run(&args),
    }
}
