//! `cargo xtask bench fleet`: the test of docs/fleet.md, with as many reports as a fleet has.

use anyhow::Result;
use clap::Args;
use loopbox_setup::workspace::{cargo, run as run_command};

/// Arguments of the bench of the SQL engines.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// The number of reports
    #[arg(long, default_value_t = 1_000_000)]
    reports: u32,
}

pub(crate) fn run(args: &FleetArgs) -> Result<()> {
    let test = ["test", "--quiet", "--package", "loopbox-cli", "--test", "fleet", "--", "--nocapture"];
    run_command(cargo().args(test).env("LOOPBOX_FLEET_ROWS", args.reports.to_string()))
}
