//! `cargo xtask bench peers`: Loopbox and other watchers of the main thread, in the versions on Maven
//! Central.
//!
//! The program that measures is `peers` of the package of end-to-end tests. This crate does not depend on
//! that package: it has cargo build and run the program.

use anyhow::Result;
use clap::Args;
use loopbox_setup::workspace::{cargo, run as run_command};

/// Arguments of the bench of peers.
#[derive(Debug, Args)]
pub(crate) struct PeersArgs {
    /// Testbeds to measure costs on; an empty text leaves the table out
    #[arg(long, default_value = "art10,art11,art11-jit")]
    costs: String,
    /// Testbeds on which the hangs are produced; an empty text leaves the table out
    #[arg(long, default_value = "art10,art11")]
    hangs: String,
    /// Messages per batch
    #[arg(long, default_value_t = 2_000)]
    messages: u32,
    /// Batches per peer and process
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// How many processes are measured
    #[arg(long, default_value_t = 3)]
    processes: u32,
    /// Seconds that an idle app is watched, to count its wake-ups
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// How many times each hang is produced on each testbed
    #[arg(long, default_value_t = 1)]
    times: u32,
    /// Only this hang; may be given again
    #[arg(long)]
    hang: Vec<String>,
    /// Only this peer; may be given again
    #[arg(long)]
    peer: Vec<String>,
    /// Print each report, too
    #[arg(long)]
    texts: bool,
    /// Write the tables into docs/compare.md
    #[arg(long)]
    bless: bool,
}

pub(crate) fn run(args: &PeersArgs) -> Result<()> {
    let mut peers = cargo();
    peers.args(["run", "--quiet", "--locked", "--package", "loopbox-e2e", "--bin", "peers", "--"]);
    peers.args(["--costs", &args.costs, "--hangs", &args.hangs]);
    let numbers = [
        ("--messages", args.messages),
        ("--rounds", args.rounds),
        ("--processes", args.processes),
        ("--seconds", args.seconds),
        ("--times", args.times),
    ];
    for (name, number) in numbers {
        peers.args([name, &number.to_string()]);
    }
    peers.args(args.hang.iter().flat_map(|hang| ["--hang", hang]));
    peers.args(args.peer.iter().flat_map(|peer| ["--peer", peer]));
    peers.args(args.texts.then_some("--texts")).args(args.bless.then_some("--bless"));
    run_command(&mut peers)
}
