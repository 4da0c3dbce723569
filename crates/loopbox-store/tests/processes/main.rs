//! Tests that need other processes: kill -9, forks, other users, limits, full disks.
//!
//! This binary has both roles: without `LOOPBOX_ROLE` it runs the tests; with that variable it is one of the
//! processes that they start. `LOOPBOX_KILL_RUNS` sets how often the recording process is killed, by default
//! 50 times.

#[path = "../common/mod.rs"]
mod common;
mod disk;
mod kill;
mod others;
mod roles;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

const TESTS: [(&str, fn()); 14] = [
    ("a_process_killed_anywhere_leaves_everything_that_was_copied", kill::killed_anywhere),
    ("a_fork_writes_nothing_and_its_parent_goes_on", others::fork_writes_nothing),
    ("a_ring_is_adopted_only_when_every_holder_of_its_lock_is_gone", others::fork_holds_the_lock),
    ("a_program_that_the_process_started_inherits_nothing", others::programs_do_not_inherit),
    ("processes_that_live_keep_their_rings", others::living_processes_keep_their_rings),
    ("no_process_shortens_a_ring_by_opening_it", others::cannot_be_shortened),
    ("a_ring_that_its_owner_shortens_to_nothing_does_no_harm", others::shortened_to_nothing),
    ("a_directory_that_cannot_be_written_gives_a_volatile_ring", others::directory_not_writable),
    ("a_file_size_limit_gives_a_volatile_ring_and_no_signal", disk::file_size_limit),
    ("a_file_that_cannot_be_written_any_more_is_given_up", disk::file_size_limit_later),
    ("a_full_disk_gives_a_volatile_ring", disk::full),
    ("a_disk_that_fills_later_does_not_touch_the_ring", disk::fills_later),
    ("a_ring_and_a_first_report_wait_for_no_disk", disk::no_flush),
    ("a_full_disk_leaves_no_half_of_a_report", disk::no_half_reports),
];

fn main() -> ExitCode {
    if let Ok(role) = std::env::var("LOOPBOX_ROLE") {
        roles::play(&role);
        return ExitCode::SUCCESS;
    }
    let filters: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted =
        |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let chosen: Vec<_> = TESTS.iter().filter(|(name, _)| wanted(name)).collect();
    let failed: Vec<&str> = chosen
        .iter()
        .filter(|(name, test)| {
            let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
            println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
            !passed
        })
        .map(|(name, _)| *name)
        .collect();
    let result = if failed.is_empty() { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {} passed; {} failed", chosen.len() - failed.len(), failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
