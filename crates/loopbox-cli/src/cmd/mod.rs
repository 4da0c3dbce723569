//! The commands, one file each.

mod check;
mod cluster;
mod diagnose;
mod diff;
mod export;
mod flame;
mod frames;
mod generate;
pub(crate) mod help;
mod monitor;
mod open;
mod pull;
mod recover;
mod report;
mod retrace;
mod schema;
mod show;
mod symbolize;

use crate::outcome::Outcome;
use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prints a report: history, running message with its stacks, pending messages.
    Show(show::Args),
    /// Names the most probable cause of the hang, with the evidence (rules: docs/diagnosis.md).
    Diagnose(diagnose::Args),
    /// Writes a report as one HTML page with diagnosis, timeline and stacks; it needs no network.
    Report(report::Args),
    /// Shows reports in the browser: a list with filters, and a page of each; files can be dropped on it.
    Open(open::Args),
    /// Draws a flame graph (SVG) of a message's stacks.
    Flame(flame::Args),
    /// Writes a report in the format of another tool.
    Export(export::Args),
    /// Groups many reports by problem: by the app's frames that took the time.
    Cluster(cluster::Args),
    /// Compares two versions, or two sets of reports: problems that are new, gone, better and worse.
    Diff(diff::Args),
    /// Prints the figures of smoothness of reports that have display frames, or compares two sets
    /// (docs/frames.md).
    Frames(frames::Args),
    /// Sums up what the performance monitor of an app wrote: stalls by day, scene and stack
    /// (docs/monitor.md).
    Monitor(monitor::Args),
    /// Checks for each file whether it is an intact report.
    Check(check::Args),
    /// Gets the reports of an app from a device or an emulator, through adb.
    Pull(pull::Args),
    /// Makes a report from the ring file that a killed process left behind.
    Recover(recover::Args),
    /// Deobfuscates a report.
    Retrace(retrace::Args),
    /// Names the native frames of the main thread by the symbols of the app's libraries.
    Symbolize(symbolize::Args),
    /// Prints the JSON schema of what a command prints with `--json`.
    Schema(schema::Args),
    /// Prints completions for a shell.
    Completions(generate::Completions),
    /// Writes manual pages of loopbox, of each command, and of each document.
    Man(generate::Man),
    /// Prints the help of a command, or a document.
    Help(help::Args),
}

/// Runs a command. `cli` is the definition of the whole command line, for completions, manual pages and help.
pub(crate) fn run(command: Command, cli: fn() -> clap::Command) -> Result<Outcome> {
    match command {
        Command::Show(args) => show::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Open(args) => open::run(&args),
        Command::Flame(args) => flame::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Cluster(args) => cluster::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Frames(args) => frames::run(&args),
        Command::Monitor(args) => monitor::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Pull(args) => pull::run(&args),
        Command::Recover(args) => recover::run(&args),
        Command::Retrace(args) => retrace::run(&args),
        Command::Symbolize(args) => symbolize::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => generate::completions(&args, cli()),
        Command::Man(args) => generate::man(&args, cli()),
        Command::Help(args) => help::run(&args, cli()),
    }
}
