//! A hang at each place of an app that starts as on a phone (`tests/app/phone`). The app gets SIGQUIT during
//! the hang, and then kill -9. Checks the report at SIGQUIT and the one that the next launch makes. `cargo
//! xtask stress hangs` runs every place, watched in every way, and prints the table of `docs/blind-spots.md`.

use anyhow::{Result, ensure};
use loopbox_e2e::hangs::scenarios::{SCENARIOS, Stage};
use loopbox_e2e::hangs::{ASKED_TO_STOP, Cell, ENDED, Mode, PLACES, fault, slow_files};
use std::time::Duration;

/// The shortest hang for which the system's signal means an ANR: two fifths of the time-out.
const SIGNAL: Duration = Duration::from_millis(2_200);
const KILL: Duration = Duration::from_millis(2_800);
/// The times of the signal and of the kill. ART waits for a thread to stop, and ends the process when that
/// takes too long. Both times are longer than this wait. The signal is not sent earlier: while ART writes the
/// trace for it, no other thread's wait reaches its limit.
const ART_GAVE_UP: (Duration, Duration) = (Duration::from_secs(14), Duration::from_secs(15));

/// Runs the cells, several at a time, because they mostly wait.
fn play(cells: &[Cell]) -> Result<()> {
    play_for(cells, (SIGNAL, KILL))
}

/// Runs the cells, with hangs of these lengths until the signal and until the kill.
fn play_for(cells: &[Cell], (signal, kill): (Duration, Duration)) -> Result<()> {
    let mut faults = Vec::new();
    for some in cells.chunks(4) {
        let played: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> =
                some.iter().map(|cell| scope.spawn(move || cell.play(signal, kill))).collect();
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
fn a_hang_anywhere_is_named_by_the_poll() -> Result<()> {
    play(&cells("art11", Mode::Poll, "sleep", &PLACES))?;
    play(&cells("art10", Mode::Poll, "spin", &["application", "message", "touch-down", "idle"]))
}

#[test]
fn a_hang_anywhere_is_named_without_a_hook() -> Result<()> {
    play(&cells("art10", Mode::NoHook, "sleep", &PLACES))?;
    play(&cells("art11", Mode::NoHook, "sleep", &PLACES))?;
    play(&cells("art11", Mode::NoHook, "spin", &["application", "message", "touch-down", "idle"]))
}

/// In a process of 32 bits, words and times have other sizes, and system calls have other numbers.
#[test]
fn a_hang_is_named_in_a_process_of_32_bits() -> Result<()> {
    play(&cells("art11-x86", Mode::Printer, "sleep", &["application", "message", "touch-down", "idle"]))?;
    play(&cells("art11-x86", Mode::Poll, "spin", &["application", "message", "touch-down", "idle"]))
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

#[test]
fn a_hang_is_named_while_the_collector_keeps_main() -> Result<()> {
    play(&cells("art10", Mode::Observer, "gc", &["message", "idle"]))?;
    play(&cells("art11", Mode::Printer, "full-heap", &["message", "idle"]))
}

/// Main waits in a way in which no signal reaches it. The recorder's stall monitor takes SIGQUIT in its
/// place, and ART gets the signal, too.
#[test]
fn a_hang_is_named_where_no_signal_ends_the_wait() -> Result<()> {
    play(&cells("art10", Mode::Observer, "vfork", &["application", "message", "touch-down"]))?;
    play(&cells("art11", Mode::Printer, "vfork", &["message", "idle"]))
}

/// Runs hangs in which main waits for a page of a file, and runs them once more if they failed in one rare
/// way: main touched the page after main's state was checked, and before main was asked to stop. Then the
/// sampler is blocked, and the report counts no stack as left out; where Java was asked, ART ends the app.
fn play_page(cells: &[Cell], times: (Duration, Duration)) -> Result<()> {
    let play = || play_for(cells, times);
    let asked = |error: &anyhow::Error| {
        let faults = format!("{error:#}");
        [ASKED_TO_STOP, ENDED].iter().any(|rare| faults.contains(rare))
    };
    play().or_else(|error| if asked(&error) { play() } else { Err(error) })
}

#[test]
fn a_hang_is_named_that_waits_for_a_disk_or_a_driver() -> Result<()> {
    if !slow_files::can_mount() {
        println!("left out: mounting a file system takes more rights than this process has");
        return Ok(());
    }
    for (testbed, mode) in [("art10", Mode::Observer), ("art11", Mode::Printer)] {
        play_page(&cells(testbed, mode, "page", &["message"]), (SIGNAL, KILL))?;
        play(&cells(testbed, mode, "binder", &["message", "touch-down"]))?;
    }
    Ok(())
}

/// ART ends a process in which `Thread.getStackTrace` waits too long for a thread that does not stop.
#[test]
fn an_app_lives_on_whose_main_thread_waits_for_a_disk_and_whose_stacks_java_takes() -> Result<()> {
    if !slow_files::can_mount() {
        println!("left out: mounting a file system takes more rights than this process has");
        return Ok(());
    }
    let of =
        |testbed| [Mode::Unsampled, Mode::Fallback].map(|mode| cells(testbed, mode, "page", &["message"]));
    play_page(&[of("art10"), of("art11")].as_flattened().concat(), ART_GAVE_UP)
}

/// Runs the scenarios whose name contains `name`, several at a time.
fn run(name: &str, testbed: &'static str, mode: Mode) -> Result<()> {
    let stage = Stage { testbed, mode, signal: SIGNAL, kill: KILL };
    let chosen: Vec<_> = SCENARIOS.into_iter().filter(|(scenario, _)| scenario.contains(name)).collect();
    ensure!(!chosen.is_empty(), "no scenario is called {name}");
    let faults: Vec<String> = std::thread::scope(|scope| {
        let started: Vec<_> =
            chosen.iter().map(|(name, scenario)| (name, scope.spawn(|| scenario(&stage)))).collect();
        let wrong = started.into_iter().map(|(name, thread)| match thread.join().expect("no panic") {
            Ok(wrong) => (!wrong.is_empty()).then(|| format!("{name}: {}", wrong.join("; "))),
            Err(error) => Some(format!("{name}: {error:#}")),
        });
        wrong.flatten().collect()
    });
    ensure!(faults.is_empty(), "{testbed} {mode}: {}", faults.join("\n"));
    Ok(())
}

#[test]
fn nothing_wrong_is_reported_of_a_hang_before_the_recorder_is_installed() -> Result<()> {
    run("before install, killed", "art10", Mode::Observer)?;
    run("before install, killed", "art11", Mode::Printer)
}

#[test]
fn a_cold_start_that_hung_before_the_recorder_was_installed_says_so() -> Result<()> {
    run("before and after install", "art10", Mode::Observer)?;
    run("before and after install", "art11", Mode::Printer)
}

#[test]
fn a_signal_or_a_kill_in_the_middle_of_a_report_loses_nothing() -> Result<()> {
    run("report is written", "art10", Mode::Observer)?;
    run("report is written", "art11", Mode::Printer)
}
