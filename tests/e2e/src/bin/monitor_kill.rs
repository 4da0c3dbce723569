//! Kills processes that append to a file of the performance monitor: `monitor_kill [RUNS]`.

use anyhow::{Context, Result};
use loopbox_e2e::monitor::kill_appending;

fn main() -> Result<()> {
    let runs = std::env::args().nth(1).map_or(Ok(200), |runs| runs.parse()).context("not a number")?;
    let folder = tempfile::tempdir()?;
    println!("{:?}", kill_appending("art10", folder.path(), runs)?);
    Ok(())
}
