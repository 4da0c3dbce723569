//! Plays a hang at every place in every way to watch, 5 s until the system's signal and 6 s until the kill, and prints
//! what the reports say: `hangs [--way WAY] [TESTBED...]`. `cargo xtask stress hangs` calls it.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use loopbox_e2e::hangs::{Cell, Mode, PLACES, WAYS, fault};

/// When the system gives up on input.
const SIGNAL: Duration = Duration::from_secs(5);
const KILL: Duration = Duration::from_secs(6);
/// How many run at a time: they wait most of the time.
const LANES: usize = 6;

fn main() -> Result<ExitCode> {
    let mut way = "sleep";
    let mut testbeds = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--way" {
            let wanted = arguments.next().context("--way needs a way to hang")?;
            way =
                WAYS.into_iter().find(|way| *way == wanted).with_context(|| format!("no way is {wanted}"))?;
        } else {
            let known = ["art10", "art11"].into_iter().find(|testbed| *testbed == argument);
            testbeds.push(known.with_context(|| format!("{argument} has no such app"))?);
        }
    }
    let testbeds = if testbeds.is_empty() { vec!["art10", "art11"] } else { testbeds };
    let mut faults = Vec::new();
    for testbed in testbeds {
        let modes: Vec<Mode> =
            Mode::ALL.into_iter().filter(|mode| testbed == "art10" || *mode != Mode::Observer).collect();
        println!("\n{testbed}, {way}\n");
        println!(
            "| place | {} |",
            modes.iter().map(|mode| format!("{mode:?}")).collect::<Vec<_>>().join(" | ")
        );
        println!("|---{}|", "|---".repeat(modes.len()));
        for place in PLACES {
            let cells: Vec<Cell> = modes.iter().map(|&mode| Cell { testbed, mode, place, way }).collect();
            let row = play(&cells, &mut faults)?;
            println!("| {place} | {} |", row.join(" | "));
        }
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!("{} faults", faults.len());
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What each cell of a row shows: whether all is right, and how much too young the killed hang seems.
fn play(cells: &[Cell], faults: &mut Vec<String>) -> Result<Vec<String>> {
    let mut row = Vec::new();
    for some in cells.chunks(LANES) {
        let played: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> =
                some.iter().map(|cell| scope.spawn(move || cell.play(SIGNAL, KILL))).collect();
            started
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a panic"))))
                .collect()
        });
        for (cell, seen) in some.iter().zip(played) {
            let wrong = match &seen {
                Ok(seen) => fault(cell, seen),
                Err(error) => Some(format!("{error:#}")),
            };
            let young_ns =
                seen.ok().and_then(|seen| Some(seen.killed_ns.saturating_sub(seen.recovered.as_of_ns?)));
            let young = young_ns.map_or_else(|| "?".to_owned(), |ns| format!("{} ms", ns / 1_000_000));
            row.push(if wrong.is_some() { format!("no, {young}") } else { format!("yes, {young}") });
            faults.extend(wrong);
        }
    }
    ensure!(row.len() == cells.len(), "a cell was lost");
    Ok(row)
}
