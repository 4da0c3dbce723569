//! `cargo xtask stress`: runs for a long time what tests run briefly. Any fault makes a stress fail.

mod fuzz;
mod load;
mod sampler;
mod suite;

use anyhow::Result;
use clap::{Args, Subcommand};
use load::LoadArgs;
use loopbox_setup::workspace::{cargo, run as run_command, target};
use std::path::PathBuf;
use std::process::Command;

/// The stresses.
#[derive(Debug, Subcommand)]
pub(crate) enum StressCommand {
    /// Sampled stacks of every kind of code, on every testbed in every mode, compared with the dex files
    Testbeds(TestbedsArgs),
    /// Every decoder on hostile input, guided by coverage
    Fuzz(fuzz::FuzzArgs),
    /// Kill apps that record on a real ART by kill -9 at random moments, and check what they leave and what
    /// the next launch reports
    Kill(KillArgs),
    /// A hang at each place of an app that starts as on a phone, with main watched in each mode; a table
    /// shows what the reports say of the hang
    Hangs(HangsArgs),
    /// A hang of each known cause, and a table of how often the verdict was right. Also shows how often
    /// verdicts of each confidence are right, in these hangs and on generated variants. Fails when a verdict
    /// was wrong with high confidence, or when verdicts on the variants are right less often than their
    /// confidence requires
    Causes(CausesArgs),
    /// Run the recorder on the framework's real classes of each API level, and print a table of the results
    Levels(LevelsArgs),
    /// The lock-free parts of the ring under Miri, on many schedules; needs a nightly toolchain with `miri`
    Orders(OrdersArgs),
    /// Sample a main thread that does everything that a sampler must survive, for as long as wanted, on every
    /// testbed
    Sampler(sampler::SamplerArgs),
    /// Every test program of the workspace, many times, alone or on a loaded machine
    Suite(suite::SuiteArgs),
}

/// Arguments of the testbeds' stress.
#[derive(Debug, Args)]
pub(crate) struct TestbedsArgs {
    /// Testbeds to run on; all when none is named
    testbeds: Vec<String>,
    /// Milliseconds of each of the 17 phases
    #[arg(long, default_value_t = 3_000)]
    phase_ms: u32,
}

/// Arguments of the hangs.
#[derive(Debug, Args)]
pub(crate) struct HangsArgs {
    /// Testbeds to run on, of art10 and art11; both when none is named
    testbeds: Vec<String>,
    /// What main does during the hang: spin, sleep, monitor, lock, gc, full-heap, native-spin, futex,
    /// nanosleep, fsync, vfork, page or binder; may be given again; sleep when none is given
    #[arg(long)]
    way: Vec<String>,
    /// How main is watched: observer, printer, poll, input, displaced, unsampled, fallback or no-hook; may be
    /// given again; all when none is given
    #[arg(long)]
    mode: Vec<String>,
    /// Only the rows whose name contains this
    #[arg(long)]
    row: Option<String>,
}

/// Arguments of the causes.
#[derive(Debug, Args)]
pub(crate) struct CausesArgs {
    /// Testbeds to run on; art10 when none is named
    testbeds: Vec<String>,
    /// Only this cause; may be given again
    #[arg(long)]
    cause: Vec<String>,
    /// Keep the reports below this folder, by testbed and cause
    #[arg(long)]
    reports: Option<PathBuf>,
    #[command(flatten)]
    load: LoadArgs,
}

/// Arguments of the kill stress.
#[derive(Debug, Args)]
pub(crate) struct KillArgs {
    /// How many processes are killed
    #[arg(long, default_value_t = 1_000)]
    runs: u32,
    /// How many run at a time
    #[arg(long, default_value_t = 2)]
    lanes: u32,
    /// Run on ART 11, where each launch is given how the previous one ended
    #[arg(long)]
    known_ends: bool,
    /// How main is watched: `Config.Hook`
    #[arg(long, default_value = "AUTO")]
    hook: String,
}

/// Arguments of the levels.
#[derive(Debug, Args)]
pub(crate) struct LevelsArgs {
    /// The frameworks, as `fw35` and `fw37-legacy`; all when none is named
    levels: Vec<String>,
}

/// Arguments of the Miri runs.
#[derive(Debug, Args)]
pub(crate) struct OrdersArgs {
    /// How many schedules each test is run on
    #[arg(long, default_value_t = 24)]
    seeds: u32,
}

pub(crate) fn run(command: &StressCommand) -> Result<()> {
    match command {
        StressCommand::Testbeds(args) => testbeds(args),
        StressCommand::Fuzz(args) => fuzz::fuzz(args),
        StressCommand::Kill(args) => kill(args),
        StressCommand::Hangs(args) => hangs(args),
        StressCommand::Causes(args) => causes(args),
        StressCommand::Levels(args) => levels(args),
        StressCommand::Orders(args) => orders(args),
        StressCommand::Sampler(args) => sampler::run(args),
        StressCommand::Suite(args) => suite::suite(args),
    }
}

/// Runs the program `matrix` of the end-to-end tests. Those tests depend on this crate, so this crate can
/// only run the program by cargo.
fn testbeds(args: &TestbedsArgs) -> Result<()> {
    let mut matrix = cargo();
    matrix.args(["run", "--quiet", "--locked", "--package", "loopbox-e2e", "--bin", "matrix", "--"]);
    run_command(matrix.arg("--phase-ms").arg(args.phase_ms.to_string()).args(&args.testbeds))
}

/// Runs the program `hangs` of the end-to-end tests.
fn hangs(args: &HangsArgs) -> Result<()> {
    let mut hangs = cargo();
    hangs.args(["run", "--quiet", "--locked", "--package", "loopbox-e2e", "--bin", "hangs", "--"]);
    let (ways, modes) = (args.way.iter(), args.mode.iter());
    for (name, value) in ways.map(|way| ("--way", way)).chain(modes.map(|mode| ("--mode", mode))) {
        hangs.args([name, value]);
    }
    hangs.args(args.row.iter().flat_map(|row| ["--row", row]));
    run_command(hangs.args(&args.testbeds))
}

/// Runs the program `causes` of the end-to-end tests, with busy loops if wanted.
fn causes(args: &CausesArgs) -> Result<()> {
    let package = ["--quiet", "--locked", "--package", "loopbox-e2e", "--bin", "causes"];
    run_command(cargo().arg("build").args(package))?;
    let _load = args.load.start();
    let mut causes = cargo();
    causes.arg("run").args(package).arg("--");
    causes.args(args.cause.iter().flat_map(|cause| ["--cause", cause]));
    if let Some(folder) = &args.reports {
        causes.arg("--reports").arg(folder);
    }
    run_command(causes.args(&args.testbeds))
}

/// Runs the program `levels` of the end-to-end tests.
fn levels(args: &LevelsArgs) -> Result<()> {
    let mut levels = cargo();
    levels.args(["run", "--quiet", "--locked", "--package", "loopbox-e2e", "--bin", "levels", "--"]);
    run_command(levels.args(&args.levels))
}

/// Runs the program `kill` of the end-to-end tests.
fn kill(args: &KillArgs) -> Result<()> {
    let mut kill = cargo();
    kill.args(["run", "--quiet", "--locked", "--package", "loopbox-e2e", "--bin", "kill", "--"]);
    kill.args(args.known_ends.then_some("--known-ends")).args(["--hook", &args.hook]);
    kill.args(["--runs", &args.runs.to_string(), "--lanes", &args.lanes.to_string()]);
    run_command(&mut kill)
}

/// Runs tests of the ring under Miri, which finds data races and tries loads that only weak memory allows.
/// loom, in every test run, tries all orders of shorter programs.
fn orders(args: &OrdersArgs) -> Result<()> {
    let mut miri = Command::new("cargo");
    miri.env_remove("RUSTUP_TOOLCHAIN").arg("+nightly").args([
        "miri",
        "test",
        "--locked",
        "--package",
        "loopbox-store",
    ]);
    miri.env("MIRIFLAGS", format!("-Zmiri-many-seeds=0..{}", args.seeds));
    miri.env("CARGO_TARGET_DIR", target().join("miri"));
    run_command(miri.args(["--lib", "--", "a_reader_never_sees"]))
}
