//! A hang at each place of an app that starts as on a phone (`tests/app/phone`), SIGQUIT in it, then kill -9: what both
//! reports say. `cargo xtask stress hangs` plays every place in every way to watch, and prints the table of
//! `docs/blind-spots.md`.

use anyhow::{Result, ensure};
use loopbox_e2e::hangs::{Cell, Mode, PLACES, fault};
use std::time::Duration;

/// The shortest hang that the system's signal makes an ANR of: two fifths of the time-out.
const SIGNAL: Duration = Duration::from_millis(2_200);
const KILL: Duration = Duration::from_millis(2_800);

/// Several at a time: they wait most of the time.
fn play(cells: &[Cell]) -> Result<()> {
    let mut faults = Vec::new();
    for some in cells.chunks(4) {
        let played: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> =
                some.iter().map(|cell| scope.spawn(move || cell.play(SIGNAL, KILL))).collect();
            started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for (cell, seen) in some.iter().zip(played) {
            match seen {
                Ok(seen) => faults.extend(fault(cell, &seen)),
                Err(error) => faults.push(format!("{error:#}")),
            }
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

fn cells(testbed: &'static str, mode: Mode, way: &'static str, places: &[&'static str]) -> Vec<Cell> {
    places.iter().map(|&place| Cell { testbed, mode, place, way }).collect()
}

#[test]
fn a_hang_anywhere_is_named_with_the_observer() -> Result<()> {
    play(&cells("art10", Mode::Observer, "sleep", &PLACES))
}

#[test]
fn a_hang_anywhere_is_named_with_the_printer() -> Result<()> {
    play(&cells("art11", Mode::Printer, "sleep", &PLACES))
}

#[test]
fn a_hang_that_computes_is_named() -> Result<()> {
    play(&cells("art10", Mode::Observer, "spin", &["application", "message", "touch-down", "idle"]))
}

#[test]
fn a_hang_is_named_whatever_main_waits_for() -> Result<()> {
    let ways = ["monitor", "lock", "futex", "nanosleep", "fsync", "native-spin"];
    let cells = ways.map(|way| Cell { testbed: "art10", mode: Mode::Observer, place: "touch-down", way });
    play(&cells)
}

#[test]
fn a_hang_in_input_is_a_message_where_windows_are_watched() -> Result<()> {
    play(&cells("art10", Mode::Input, "sleep", &["touch-down", "key", "generic-motion"]))
}

#[test]
fn a_hang_is_named_while_another_library_has_our_place() -> Result<()> {
    play(&cells(
        "art10",
        Mode::Displaced,
        "sleep",
        &["activity", "touch-down", "idle", "service-create", "message"],
    ))
}

#[test]
fn a_hang_is_named_with_sampling_off_or_gentle() -> Result<()> {
    play(&cells("art10", Mode::Unsampled, "sleep", &["application", "touch-down", "message"]))?;
    play(&cells("art11", Mode::Fallback, "sleep", &["application", "touch-down", "message"]))
}
