//! Kills recording apps again and again: `kill [--known-ends] [--hook HOOK] --runs N [--lanes N]`. `cargo
//! xtask stress kill` calls it.

use anyhow::{Context, Result, bail};
use loopbox_e2e::kill::{self, Recording};

fn main() -> Result<()> {
    let (mut runs, mut lanes, mut known_ends) = (1_000, 2, false);
    let mut hook = "AUTO".to_owned();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = |what| -> Result<usize> {
            arguments
                .next()
                .and_then(|text| text.parse().ok())
                .with_context(|| format!("{what} needs a number"))
        };
        match argument.as_str() {
            "--known-ends" => known_ends = true,
            "--hook" => hook = arguments.next().context("--hook needs a name")?,
            "--runs" => runs = number("--runs")?,
            "--lanes" => lanes = number("--lanes")?,
            other => bail!("unknown argument {other}"),
        }
    }
    // The system reports it since Android 11.
    let testbed = if known_ends { "art11" } else { "art10" };
    let recording = Recording { testbed, hook: &hook, known_ends };
    let figures = kill::run(recording, runs, lanes)?;
    println!("{figures:?}");
    Ok(())
}
