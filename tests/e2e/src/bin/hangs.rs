//! Makes an app hang at every place, with every way of watching it. The system's signal comes after 5 s, the
//! kill after 6 s. Prints what the reports say: `hangs [--way WAY]... [--mode MODE]... [--row TEXT]
//! [TESTBED...]`. `cargo xtask stress hangs` calls it.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use loopbox_e2e::hangs::scenarios::{SCENARIOS, Scenario, Stage};
use loopbox_e2e::hangs::{Cell, Mode, PLACES, WAYS, fault};

/// `SIGNAL` is the time from the begin of a hang to SIGQUIT: after this time the system gives up on input.
/// `KILL` is the time from the begin of the hang to the kill.
const SIGNAL: Duration = Duration::from_secs(5);
const KILL: Duration = Duration::from_secs(6);
/// How many hangs are run at a time: they wait most of the time.
const LANES: usize = 6;

/// The hangs that the arguments select.
#[derive(Default)]
struct Choice {
    ways: Vec<&'static str>,
    modes: Vec<Mode>,
    row: String,
    testbeds: Vec<&'static str>,
}

impl Choice {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut choice = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--way" => choice.ways.push(known(&WAYS, &value()?)?),
                "--mode" => {
                    let name = value()?;
                    let mode = Mode::ALL.into_iter().find(|mode| mode.to_string() == name);
                    choice.modes.push(mode.with_context(|| format!("no mode is {name}"))?);
                }
                "--row" => choice.row = value()?,
                testbed => choice.testbeds.push(known(&["art10", "art11"], testbed)?),
            }
        }
        if choice.ways.is_empty() {
            choice.ways.push("sleep");
        }
        if choice.modes.is_empty() {
            choice.modes.extend(Mode::ALL);
        }
        if choice.testbeds.is_empty() {
            choice.testbeds.extend(["art10", "art11"]);
        }
        Ok(choice)
    }
}

fn known(all: &[&'static str], wanted: &str) -> Result<&'static str> {
    all.iter().find(|one| **one == wanted).copied().with_context(|| format!("{wanted} is none of {all:?}"))
}

/// What the fields of a row are about: a hang at a place, or a scenario.
enum Row {
    Place(&'static str),
    Scenario(Scenario),
}

/// The text of a field of the table, and what is wrong with it.
type Field = (String, Option<String>);

fn main() -> Result<ExitCode> {
    let choice = Choice::parse(std::env::args().skip(1))?;
    let mut faults = Vec::new();
    for &testbed in &choice.testbeds {
        let modes = choice.modes.iter().filter(|mode| testbed == "art10" || **mode != Mode::Observer);
        let columns: Vec<(Mode, &'static str)> =
            modes.flat_map(|&mode| choice.ways.iter().map(move |&way| (mode, way))).collect();
        let places = PLACES.map(|place| (place, Row::Place(place)));
        let scenarios = SCENARIOS.map(|(name, scenario)| (name, Row::Scenario(scenario)));
        // The scenarios have a separate way.
        let scenarios = scenarios.into_iter().filter(|_| choice.ways == ["sleep"]);
        let rows: Vec<(&str, Row)> =
            places.into_iter().chain(scenarios).filter(|(name, _)| name.contains(&choice.row)).collect();
        let table = play_all(testbed, &columns, &rows);
        println!("\n{testbed}\n");
        let heads: Vec<String> = columns.iter().map(|(mode, way)| format!("{mode}, {way}")).collect();
        println!("| place | {} |", heads.join(" | "));
        println!("|---{}|", "|---".repeat(heads.len()));
        for ((name, _), fields) in rows.iter().zip(table.chunks(columns.len().max(1))) {
            let words: Vec<&str> = fields.iter().map(|(words, _)| words.as_str()).collect();
            println!("| {name} | {} |", words.join(" | "));
        }
        faults.extend(table.into_iter().filter_map(|(_, fault)| fault));
    }
    println!();
    for fault in &faults {
        println!("{fault}");
    }
    println!("{} faults", faults.len());
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The fields of all rows, one row after the other.
fn play_all(testbed: &'static str, columns: &[(Mode, &'static str)], rows: &[(&str, Row)]) -> Vec<Field> {
    let todo: Vec<(&str, &Row, Mode, &'static str)> = rows
        .iter()
        .flat_map(|(name, row)| columns.iter().map(move |&(mode, way)| (*name, row, mode, way)))
        .collect();
    let next = AtomicUsize::new(0);
    let fields = Mutex::new(vec![Field::default(); todo.len()]);
    let lane = || {
        loop {
            let at = next.fetch_add(1, Ordering::SeqCst);
            let Some(&(name, row, mode, way)) = todo.get(at) else { return };
            let (words, fault) = match row {
                Row::Place(place) => play_place(&Cell { testbed, mode, place, way }),
                Row::Scenario(scenario) => {
                    let (words, fault) =
                        play_scenario(*scenario, &Stage { testbed, mode, signal: SIGNAL, kill: KILL });
                    (words, fault.map(|fault| format!("{testbed} {mode}, {name}: {fault}")))
                }
            };
            let why = fault.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
            eprintln!("{} of {}: {mode}, {way}, {name}: {words}{why}", at + 1, todo.len());
            if let Some(field) = fields.lock().expect("no lane panics with it").get_mut(at) {
                *field = (words, fault);
            }
        }
    };
    std::thread::scope(|scope| (0..LANES).for_each(|_| drop(scope.spawn(lane))));
    fields.into_inner().expect("no lane panics with it")
}

/// The field for a hang: whether everything is right, and the time from the last instant in the killed
/// process's report to the kill.
fn play_place(cell: &Cell) -> Field {
    let seen = match cell.play(SIGNAL, KILL) {
        Ok(seen) => seen,
        Err(error) => return ("not played".to_owned(), Some(format!("{error:#}"))),
    };
    let young = seen.young().map_or_else(|| "?".to_owned(), |young| format!("{} ms", young.as_millis()));
    let fault = fault(cell, &seen);
    (format!("{}, {young}", if fault.is_some() { "no" } else { "yes" }), fault)
}

fn play_scenario(scenario: Scenario, stage: &Stage) -> Field {
    match scenario(stage) {
        Ok(wrong) if wrong.is_empty() => ("yes".to_owned(), None),
        Ok(wrong) => ("no".to_owned(), Some(wrong.join("; "))),
        Err(error) => ("not played".to_owned(), Some(format!("{error:#}"))),
    }
}
