//! Kills recording apps for long: `kill --runs N [--lanes N]`. `cargo xtask stress kill` calls it.

use anyhow::{Context, Result, bail};
use loopbox_e2e::kill;

fn main() -> Result<()> {
    let (mut runs, mut lanes) = (1_000, 2);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next()?.parse().ok();
        match argument.as_str() {
            "--runs" => runs = number().context("--runs needs a number")?,
            "--lanes" => lanes = number().context("--lanes needs a number")?,
            other => bail!("unknown argument {other}"),
        }
    }
    let figures = kill::run(runs, lanes)?;
    println!("{figures:?}");
    Ok(())
}
