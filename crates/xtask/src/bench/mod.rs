//! `cargo xtask bench`: figures, as ratios within one run. Benches never decide whether a test passes.

mod cli;
mod fleet;
mod frames;
mod hook;
mod install;
mod instructions;
mod peers;
mod report;
mod sampler;
mod stall;
mod stats;

use anyhow::Result;
use clap::Subcommand;

/// The benches.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// What one report and a fleet of reports cost the loopbox command
    Cli(cli::CliArgs),
    /// How long DuckDB and Spark take for the questions of docs/fleet.md
    Fleet(fleet::FleetArgs),
    /// What watching display frames costs
    Frames(frames::FramesArgs),
    /// What watching the main Looper costs per message, against other ways to watch
    Hook(hook::HookArgs),
    /// What the recorder's installation costs the main thread of an app that starts
    Install(install::InstallArgs),
    /// What the native part of the hook costs per message, in instructions and time
    Instructions(instructions::InstructionsArgs),
    /// Loopbox and other watchers of the main thread: what a message costs, how often an app that rests is
    /// woken, and what each of them names in hangs of known cause
    Peers(peers::PeersArgs),
    /// How long a report takes until its first file has its name, with a full history
    Report(report::ReportArgs),
    /// How long a sample stops the main thread, compared with other ways to take stacks; the interval that
    /// the sampler reaches; and how large the trees are
    Sampler(sampler::SamplerArgs),
    /// What one message that blocks costs, for the performance monitor and for other ways to report it
    Stall(stall::StallArgs),
}

pub(crate) fn run(command: &BenchCommand) -> Result<()> {
    match command {
        BenchCommand::Cli(args) => cli::run(args),
        BenchCommand::Fleet(args) => fleet::run(args),
        BenchCommand::Frames(args) => frames::run(args),
        BenchCommand::Hook(args) => hook::run(args),
        BenchCommand::Install(args) => install::run(args),
        BenchCommand::Instructions(args) => instructions::run(args),
        BenchCommand::Peers(args) => peers::run(args),
        BenchCommand::Report(args) => report::run(args),
        BenchCommand::Sampler(args) => sampler::run(args),
        BenchCommand::Stall(args) => stall::run(args),
    }
}
