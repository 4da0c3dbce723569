//! Runs the tests of all testbeds on a single one: a user's own build of a runtime (`--local`), or a testbed
//! given by name (`--test`).

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use loopbox_setup::workspace::cargo;
use loopbox_testbed::{LOCAL, LOCAL_FOLDER};

use crate::suite::steps::minutes;

/// A package, one of its test programs, and words. Only the tests whose name contains one of the words are
/// run, or all tests when there are no words. Tests that are meant for ART 10 only are left out.
const PROGRAMS: [(&str, &str, &[&str]); 7] = [
    ("loopbox-art", "on_art", &[]),
    ("loopbox-e2e", "hooks", &["a_printer", "a_looper", "a_stubborn"]),
    ("loopbox-e2e", "history", &["later_arts"]),
    ("loopbox-e2e", "holders", &[]),
    ("loopbox-e2e", "guard", &["does_not_come_back", "process_vm_readv"]),
    ("loopbox-e2e", "safepoints", &[]),
    ("loopbox-e2e", "frames", &["the_matrix"]),
];
/// How many samples each of the nine phases of the sampler's stress test takes.
const SAMPLES: &str = "1000";

/// Runs all of [`PROGRAMS`] on the runtime in a folder.
pub(super) fn run(folder: &Path) -> Result<()> {
    let folder = folder.canonicalize().with_context(|| format!("cannot find {}", folder.display()))?;
    run_on(LOCAL, Some(&folder))
}

/// Runs all of [`PROGRAMS`] on a testbed, even when some fail, and prints a table.
pub(super) fn run_on(testbed: &str, folder: Option<&Path>) -> Result<()> {
    let mut failed = Vec::new();
    let mut rows = Vec::new();
    for (package, program, tests) in PROGRAMS {
        let begun = Instant::now();
        let mut command = cargo();
        command.args(["test", "--quiet", "--locked", "--package", package, "--test", program, "--"]);
        command.args(tests).env("LOOPBOX_TESTBEDS", format!("only:{testbed}"));
        if let Some(folder) = folder {
            command.env(LOCAL_FOLDER, folder);
        }
        let status = command.env("LOOPBOX_SAMPLES", SAMPLES).status().context("cannot run cargo")?;
        let word = if status.success() { "passed" } else { "failed" };
        rows.push(format!("| {program} {} | {word} | {} |", tests.join(" "), minutes(begun.elapsed())));
        if !status.success() {
            failed.push(program);
        }
    }
    println!("| tests | result | time |\n|---|---|---|\n{}", rows.join("\n"));
    ensure!(failed.is_empty(), "failed on {testbed}: {}", failed.join(", "));
    Ok(())
}
