//! Kills recording apps for long: `kill [--told] --runs N [--lanes N]`. `cargo xtask stress kill` calls it.

use anyhow::{Context, Result, bail};
use loopbox_e2e::kill;

fn main() -> Result<()> {
    let (mut runs, mut lanes, mut told) = (1_000, 2, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next()?.parse().ok();
        match argument.as_str() {
            "--told" => told = true,
            "--runs" => runs = number().context("--runs needs a number")?,
            "--lanes" => lanes = number().context("--lanes needs a number")?,
            other => bail!("unknown argument {other}"),
        }
    }
    // The system reports it since Android 11.
    let testbed = if told { "art11" } else { "art10" };
    let figures = kill::run(testbed, told, runs, lanes)?;
    println!("{figures:?}");
    Ok(())
}
