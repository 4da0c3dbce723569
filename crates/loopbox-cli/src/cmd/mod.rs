//! One file per command.

pub(crate) mod check;
pub(crate) mod cluster;
pub(crate) mod diagnose;
pub(crate) mod export;
pub(crate) mod flame;
pub(crate) mod generate;
pub(crate) mod recover;
pub(crate) mod report;
pub(crate) mod retrace;
mod show;

use crate::Outcome;
use crate::args::{Args, Command};
use anyhow::Result;

/// Runs the command that the arguments ask for.
pub(crate) fn run(args: Args) -> Result<Outcome> {
    match args.command {
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Flame(args) => flame::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Cluster(args) => cluster::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Recover(args) => recover::run(&args),
        Command::Completions(args) => generate::completions(&args),
        Command::Man(args) => generate::man(&args),
        Command::Retrace(args) => retrace::run(&args),
    }
}
