//! `cargo xtask bench instructions`: what the native part of the hook costs per message and per display
//! frame, in instructions and time.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use loopbox_setup::workspace::{cargo, run as run_command, target};

use super::stats::median;

/// The most that the native part of begin and end together may take.
const BUDGET_NS: f64 = 150.0;
/// The limit of the native part for a display frame, on all threads.
const FRAME_BUDGET_NS: f64 = 120.0;
/// Messages of the shorter of two counted runs.
const FEW: u64 = 10_000;

/// Arguments of the instruction count.
#[derive(Debug, Args)]
pub(crate) struct InstructionsArgs {
    /// How many more messages the longer of the two counted runs has
    #[arg(long, default_value_t = 60_000)]
    messages: u64,
    /// Timed runs of a million messages each
    #[arg(long, default_value_t = 15)]
    rounds: u32,
}

pub(crate) fn run(args: &InstructionsArgs) -> Result<()> {
    valgrind()?;
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked", "--profile", "app", "--package", "loopbox-bench"]);
    run_command(&mut build)?;
    let driver = target().join("app/loopbox-bench");
    println!("native part of a message (begin and end), into a mapped ring, built as the library ships");
    timed(&driver, "steps", "without the clock reads", BUDGET_NS, args)?;
    timed(&driver, "real", "with both clock reads", BUDGET_NS, args)?;
    instructions(&driver, "steps", "without the clock reads", args)?;
    println!("native part of a display frame");
    for (mode, what) in [("frames", "on the main thread"), ("figures", "with the worker's figures")] {
        timed(&driver, mode, what, FRAME_BUDGET_NS, args)?;
        instructions(&driver, mode, what, args)?;
    }
    Ok(())
}

/// Prints how long the native part takes in the driver's `mode`; `what` describes it.
fn timed(driver: &Path, mode: &str, what: &str, budget_ns: f64, args: &InstructionsArgs) -> Result<()> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let mut times = Vec::new();
    for _ in 0..args.rounds {
        let mut drive = Command::new(driver);
        let text = output_of(drive.args(["1000000", mode]).arg(folder.path()))?;
        let ns = text.split_whitespace().nth(1).context("the driver printed no time")?;
        times.push(ns.parse().with_context(|| format!("not a time: {text}"))?);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "  {:6.1} ns {what}: median of {} runs of a million (lowest {:.1}, highest {:.1}; budget {budget_ns})",
        median(&times),
        times.len(),
        times.first().copied().unwrap_or_default(),
        times.last().copied().unwrap_or_default(),
    );
    Ok(())
}

/// Prints how many instructions the native part takes in the driver's `mode`; `what` describes it.
fn instructions(driver: &Path, mode: &str, what: &str, args: &InstructionsArgs) -> Result<()> {
    let few = counted(driver, mode, FEW)?;
    let many = counted(driver, mode, FEW + args.messages)?;
    let each = (many - few) as f64 / args.messages as f64;
    println!(
        "  {each:6.1} instructions {what} (callgrind: {few} for {FEW}, {many} for {})",
        FEW + args.messages
    );
    Ok(())
}

/// Instructions of a whole run.
fn counted(driver: &Path, mode: &str, messages: u64) -> Result<u64> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(driver);
    command.args([&messages.to_string(), mode]).arg(folder.path());
    let text = output_of(&mut command)?;
    let count = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.with_context(|| format!("valgrind counted nothing:\n{text}"))
}

/// The output of a command, on both streams.
fn output_of(command: &mut Command) -> Result<String> {
    let out = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let text = [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    ensure!(out.status.success(), "{command:?} failed:\n{text}");
    Ok(text)
}

/// Finds valgrind, or installs it when this is root.
fn valgrind() -> Result<()> {
    let mut probe = Command::new("valgrind");
    if probe.arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    ensure!(root, "missing on this machine; install with: apt-get install valgrind");
    println!("installing valgrind");
    run_command(Command::new("apt-get").args(["update", "-qq"]))?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    run_command(install.args(["install", "-y", "-qq", "--no-install-recommends", "valgrind"]))
}
