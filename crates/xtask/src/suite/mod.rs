//! `cargo xtask test`: everything that must hold, in the order that finds a fault soonest.

pub(crate) mod programs;
pub(crate) mod steps;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use loopbox_setup::apt;
use loopbox_setup::workspace::{cargo, root, run, target};
use loopbox_testbed as testbed;

use crate::book;
use crate::prebuilt::CARGO_DENY;
use programs::{TestProgram, run_all};
use steps::{minutes, shown};

/// Arguments of `cargo xtask test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Run only the steps whose name contains this text
    #[arg(long)]
    only: Option<String>,
    /// Run this one step in this process: what a step's own process is started with
    #[arg(long, hide = true)]
    step: Option<String>,
}

type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("set-up", set_up),
    ("formatting", || run(cargo().args(["fmt", "--all", "--check"]))),
    ("lints", || {
        run(cargo().args([
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ]))
    }),
    ("dependencies", dependencies),
    ("testbed art10", || testbed::ensure("art10").map(drop)),
    ("testbed art11", || testbed::ensure("art11").map(drop)),
    ("testbed art11-jit", || testbed::ensure("art11-jit").map(drop)),
    ("testbed art11-arm64", || testbed::ensure("art11-arm64").map(drop)),
    ("tests", tests),
    ("documentation", documentation),
    ("book", || book::build().map(drop)),
    ("seqlock under loom", loom),
    ("offset tables", || run(xtask().args(["offsets", "check"]))),
    ("android libraries", || run(xtask().arg("android"))),
];

/// How long one test program may take: many times what it takes on a loaded machine.
const LIMIT: Duration = Duration::from_mins(30);

/// How many run at a time: those that run apps on testbeds wait most of the time.
const AT_ONCE: usize = 2;

pub(crate) fn test(args: &TestArgs) -> Result<()> {
    let names = || STEPS.iter().map(|(name, _)| *name);
    if let Some(step) = &args.step {
        let found = STEPS.iter().find(|(name, _)| name == step);
        let (_, step) = found.with_context(|| format!("no step is called `{step}`"))?;
        return step();
    }
    let wanted = |name: &&str| args.only.as_deref().is_none_or(|only| name.contains(only));
    let wanted: Vec<&str> = names().filter(wanted).collect();
    if wanted.is_empty() {
        bail!("no step is called so; there are: {}", names().collect::<Vec<_>>().join(", "));
    }
    steps::run(&wanted, |name| {
        // Not by its path: a step may build this program anew.
        let mut own = Command::new("/proc/self/exe");
        own.args(["test", "--step", name]);
        own
    })
}

/// Every test program, also when one fails.
fn tests() -> Result<()> {
    let programs = TestProgram::build_all()?;
    let start = Instant::now();
    let logs = target().join("test-logs/tests");
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let mut failures = Vec::new();
    let mut passed = 0;
    let mut done = 0;
    let log_of = |program: &TestProgram| logs.join(format!("{}.log", program.file_name()));
    run_all(&programs, AT_ONCE, LIMIT, log_of, |program, outcome, log| {
        done += 1;
        let (name, took, so_far) = (program.name(), minutes(outcome.took), minutes(start.elapsed()));
        println!("-- {done} of {}, {so_far} so far: {name} took {took}", programs.len());
        TestProgram::show(log)?;
        passed += outcome.passed;
        failures.extend(outcome.failed.into_iter().map(|test| format!("{name}: {test}, in {}", shown(log))));
        Ok(())
    })?;
    println!("\n{passed} passed, {} failed", failures.len());
    ensure!(failures.is_empty(), "failed:\n  {}", failures.join("\n  "));
    Ok(())
}

/// What rustdoc makes of the crates, without a warning, and the examples in it.
fn documentation() -> Result<()> {
    let mut doc = cargo();
    doc.env("RUSTDOCFLAGS", "-Dwarnings").args(["doc", "--quiet", "--workspace", "--no-deps", "--locked"]);
    run(&mut doc)?;
    run(cargo().args(["test", "--quiet", "--workspace", "--locked", "--doc"]))
}

/// The policy of `deny.toml`. Advisories need their database from the network and are asked for only when
/// `LOOPBOX_ADVISORIES` is set.
fn dependencies() -> Result<()> {
    let mut check = Command::new(CARGO_DENY.ensure()?);
    check.current_dir(root()).args(["--log-level", "error", "check", "bans", "licenses", "sources"]);
    if std::env::var_os("LOOPBOX_ADVISORIES").is_some() {
        check.arg("advisories");
    }
    run(&mut check)
}

/// Programs that only tests need: found, or installed by apt.
fn set_up() -> Result<()> {
    let works = |program: &str, arguments: &[&str]| {
        let mut probe = Command::new(program);
        probe.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    };
    let needed = [
        (works("chromium", &["--version"]), "chromium"),
        (works("python3", &["-c", "import ensurepip, venv"]), "python3-venv"),
        (works("npm", &["--version"]), "npm"),
    ];
    let missing: Vec<&str> = needed.iter().filter(|(there, _)| !there).map(|(_, package)| *package).collect();
    apt::install(&missing)
}

/// Every interleaving of the slot protocol. loom replaces the atomics, so this is a build of its own.
fn loom() -> Result<()> {
    let mut test = cargo();
    test.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target().join("loom"));
    run(test.args(["test", "--locked", "--release", "--package", "loopbox-store", "--lib"]))
}

/// This program, for its other commands.
fn xtask() -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "--package", "xtask", "--"]);
    command
}
