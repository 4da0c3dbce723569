//! Runs the matrix of testbeds and modes, all cells by default: `matrix [--phase-ms N] [TESTBED...]`. `cargo
//! xtask stress testbeds` calls it.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use loopbox_e2e::matrix::{CELLS, run_all};
use loopbox_testbed::names;

fn main() -> Result<ExitCode> {
    let mut phase_ms = 3_000;
    let mut testbeds = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--phase-ms" {
            let value = arguments.next().context("--phase-ms needs a number")?;
            phase_ms = value.parse().context("--phase-ms needs a number")?;
        } else {
            ensure!(CELLS.iter().any(|cell| cell.testbed == argument), "no cell is on {argument}");
            testbeds.push(argument);
        }
    }
    if testbeds.is_empty() {
        testbeds = names()?;
    }
    let wanted = |testbed: &str| testbeds.iter().any(|b| b == testbed);
    let cells: Vec<_> = CELLS.into_iter().filter(|cell| wanted(cell.testbed)).collect();
    Ok(if run_all(&cells, phase_ms) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
