//! `cargo xtask test`: all checks, in the order that finds a fault soonest.

mod advisories;
mod processors;
pub(crate) mod programs;
mod room;
pub(crate) mod runner;
mod running;
pub(crate) mod steps;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use loopbox_setup::apt;
use loopbox_setup::warm_jvm::WarmJvm;
use loopbox_setup::workspace::{cargo, root, run, target};
use loopbox_testbed as testbed;

use crate::book;
use crate::prebuilt::CARGO_DENY;
use programs::TestProgram;
use runner::Runner;
use steps::{NOT_CHECKED, Named, PROCESSORS, minutes, shown};

/// Arguments of `cargo xtask test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Run only what needs no testbed: format, lints, dependencies, unit and CLI tests, documentation
    #[arg(long)]
    quick: bool,
    /// Run only the steps whose name contains this text
    #[arg(long)]
    only: Option<String>,
    /// Run this one step in this process; the command starts the process of each step with this option
    #[arg(long, hide = true)]
    step: Option<String>,
}

/// A part of the test command.
struct Step {
    name: &'static str,
    tier: Tier,
    /// Whether the steps after this one begin without waiting for it. A later step that needs its results
    /// waits for cargo's lock on the build folder.
    is_parallel: bool,
    run: fn() -> Result<()>,
}

/// Which of the two forms of the command a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tier {
    Both,
    /// The step needs a testbed or another compiler, or it takes minutes.
    Full,
    /// The step replaces a longer step of the full tier.
    Quick,
}

const STEPS: &[Step] = &[
    both("set-up", set_up),
    both("formatting", || run(cargo().args(["fmt", "--all", "--check"]))),
    // First of those that run in parallel: tests need some of these libraries.
    parallel("android libraries", || run(xtask().arg("android").args(TESTED_ABIS))),
    // While the testbeds are downloaded and put together. It waits for the build folder until lints are done.
    parallel("test programs", || TestProgram::build_all().map(drop)),
    parallel("seqlock under loom", loom),
    both("lints", || {
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
    both("dependencies", dependencies),
    // It finds what lints compiled, and fills the gaps while test programs wait.
    Step { name: "documentation", tier: Tier::Both, is_parallel: true, run: documentation },
    full("testbed art10", || testbed::ensure("art10").map(drop)),
    full("testbed art11", || testbed::ensure("art11").map(drop)),
    full("testbed art11-jit", || testbed::ensure("art11-jit").map(drop)),
    full("testbed art11-arm64", || testbed::ensure("art11-arm64").map(drop)),
    full("testbed art11-x86", || testbed::ensure("art11-x86").map(drop)),
    full("testbed art11-arm", || testbed::ensure("art11-arm").map(drop)),
    full("testbeds of API levels", || {
        testbed::level_testbeds_in_tests()?.iter().try_for_each(|name| testbed::ensure(name).map(drop))
    }),
    full("tests", || tests(TestProgram::build_all()?)),
    Step {
        name: "unit and CLI tests",
        tier: Tier::Quick,
        is_parallel: false,
        run: || tests(TestProgram::build_quick()?),
    },
    both("book", || book::build().map(drop)),
    full("offset tables", || run(xtask().args(["offsets", "check"]))),
    // Alone: it is emulated, and its clock goes on when the emulator gets no processor.
    full("machine with 16 KiB pages", || run(xtask().args(["bionic", "--machine"]))),
];

/// The ABIs of the libraries that tests run. A release builds and checks all four and packs the archives.
/// Each ABI needs a separate standard library, which takes a minute or more of processor time. Errors that
/// depend on 32-bit pointers show in the builds for 32-bit testbeds, except in the few lines of code that
/// only Android has.
const TESTED_ABIS: [&str; 4] = ["--abi", "arm64-v8a", "--abi", "x86_64"];

const fn both(name: &'static str, run: fn() -> Result<()>) -> Step {
    Step { name, tier: Tier::Both, is_parallel: false, run }
}

const fn full(name: &'static str, run: fn() -> Result<()>) -> Step {
    Step { name, tier: Tier::Full, is_parallel: false, run }
}

const fn parallel(name: &'static str, run: fn() -> Result<()>) -> Step {
    Step { name, tier: Tier::Full, is_parallel: true, run }
}

/// How long one test program may take: many times what one takes on a loaded machine.
const LIMIT: Duration = Duration::from_mins(30);

/// How many test programs run at a time; those that run apps on testbeds wait most of the time.
const AT_ONCE: usize = 4;

/// The programs that begin first, so that shorter ones fill the gaps at the end: those that take longest, and
/// one that would otherwise begin last. A program is not in the list if it needs a library that a parallel
/// step may still be building.
const LONGEST: [&str; 12] = [
    "e2e frames",
    "loopbox-cli page",
    "loopbox-art on_art",
    "e2e hangs",
    "loopbox-cli fleet",
    "lab-phone testbed",
    "e2e aar",
    "e2e shipped",
    "lab-bionic tagged",
    "e2e contested",
    "e2e wakes",
    "loopbox-cli page_reading",
];

pub(crate) fn test(args: &TestArgs) -> Result<()> {
    if let Some(name) = &args.step {
        let step = STEPS.iter().find(|step| step.name == name);
        let result = (step.with_context(|| format!("no step is called `{name}`"))?.run)();
        if let Some(used) = processors::time_of("self") {
            println!("{PROCESSORS}{}", minutes(used));
        }
        return result;
    }
    let steps = steps_of(args.quick);
    let wanted = |step: &&Named| args.only.as_deref().is_none_or(|only| step.name.contains(only));
    let wanted: Vec<Named> = steps.iter().filter(wanted).copied().collect();
    if wanted.is_empty() {
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        bail!("no step is called so; there are: {}", names.join(", "));
    }
    let jvm = WarmJvm::begin()?;
    let result = steps::run(&wanted, |name| {
        let mut own = xtask();
        jvm.name_to(own.args(["test", "--step", name]));
        own
    });
    // No step has waited for it.
    if let Some(used) = jvm.process().and_then(|jvm| processors::time_of(&jvm.to_string())) {
        println!("compilers in the warm JVM, {PROCESSORS}{}", minutes(used));
    }
    result
}

/// The steps of a tier, in their order.
fn steps_of(quick: bool) -> Vec<Named> {
    let left_out = if quick { Tier::Full } else { Tier::Quick };
    let steps = STEPS.iter().filter(|step| step.tier != left_out);
    steps.map(|&Step { name, is_parallel, .. }| Named { name, is_parallel }).collect()
}

/// Runs each of these programs, even when one fails.
fn tests(mut programs: Vec<TestProgram>) -> Result<()> {
    programs.sort_by_key(|program| {
        LONGEST.iter().position(|name| program.name() == *name).unwrap_or(LONGEST.len())
    });
    let start = Instant::now();
    let logs = target().join("test-logs/tests");
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let mut failures = Vec::new();
    let mut passed = 0;
    let mut done = 0;
    let log_of = |program: &TestProgram| logs.join(format!("{}.log", program.file_name()));
    Runner::new(AT_ONCE, LIMIT).ended_by_signals()?.run(&programs, log_of, |program, outcome, log| {
        done += 1;
        let (name, took, so_far) = (program.name(), minutes(outcome.took), minutes(start.elapsed()));
        let used = outcome.used.map(minutes).unwrap_or_default();
        println!("-- {done} of {}, {so_far} so far: {name} took {took}, {PROCESSORS}{used}", programs.len());
        TestProgram::show(log)?;
        passed += outcome.passed;
        failures.extend(outcome.failed.into_iter().map(|test| format!("{name}: {test}, in {}", shown(log))));
        Ok(())
    })?;
    println!("\n{passed} passed, {} failed", failures.len());
    ensure!(failures.is_empty(), "failed:\n  {}", failures.join("\n  "));
    Ok(())
}

/// Runs rustdoc on the crates, without a warning, and the examples in the documentation.
fn documentation() -> Result<()> {
    let doc = |arguments: &[&str]| {
        let mut doc = cargo();
        doc.env("RUSTDOCFLAGS", "-Dwarnings")
            .args(["doc", "--quiet", "--no-deps", "--locked"])
            .args(arguments);
        doc
    };
    run(&mut doc(&["--workspace"]))?;
    // The command is called as the library that apps load. In one folder each would remove the pages of the
    // other, also while it writes them. What both are made of is in the one build folder.
    let mut of_command = doc(&["--package", "loopbox-cli", "--package", "xtask", "--bin", "loopbox"]);
    of_command.env("CARGO_BUILD_BUILD_DIR", target()).env("CARGO_TARGET_DIR", target().join("command"));
    run(&mut of_command)?;
    run(cargo().args(["test", "--quiet", "--workspace", "--locked", "--doc"]))
}

/// Checks the policy of `deny.toml` and the known advisories, whose database must be downloaded. When the
/// download fails, that is not an error of the dependencies; the step's line mentions it.
fn dependencies() -> Result<()> {
    let deny = CARGO_DENY.ensure()?;
    let check = |arguments: &[&str]| {
        let mut check = Command::new(&deny);
        check.current_dir(root()).args(["--log-level", "error"]).args(arguments);
        check
    };
    run(&mut check(&["check", "bans", "licenses", "sources"]))?;
    if let Some(why) = advisories::missing(&mut check(&["fetch", "db"]), ADVISORIES_LIMIT)? {
        println!("{NOT_CHECKED}advisories: {why}");
        return Ok(());
    }
    run(&mut check(&["check", "--disable-fetch", "advisories"]))
}

/// How long the download of the database of advisories (some megabytes) may take.
const ADVISORIES_LIMIT: Duration = Duration::from_mins(2);

/// Checks for room on the disk, and for programs that only tests need, which apt installs if missing.
fn set_up() -> Result<()> {
    room::check(&target())?;
    let works = |program: &str, arguments: &[&str]| {
        let mut probe = Command::new(program);
        probe.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    };
    let needed = [
        (works("chromium", &["--version"]), "chromium"),
        (works("python3", &["-c", "import ensurepip, venv"]), "python3-venv"),
        (works("npm", &["--version"]), "npm"),
        (works("strace", &["-V"]), "strace"),
        (works("groff", &["--version"]), "groff-base"),
    ];
    let missing: Vec<&str> = needed.iter().filter(|(there, _)| !there).map(|(_, package)| *package).collect();
    apt::install(&missing)
}

/// Tests every interleaving of the slot protocol. loom replaces the atomics, so this is a separate build.
fn loom() -> Result<()> {
    let mut test = cargo();
    test.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target().join("loom"));
    run(test.args(["test", "--locked", "--profile", "loom", "--package", "loopbox-store", "--lib"]))
}

/// Runs this program again: the caller adds the name of one of its other commands. It does not use the
/// program's path, because a step may rebuild the file there.
fn xtask() -> Command {
    Command::new("/proc/self/exe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_quick_tier_take_no_testbed_and_no_android_toolchain() {
        let quick =
            ["set-up", "formatting", "lints", "dependencies", "documentation", "unit and CLI tests", "book"];
        let names_of = |quick| steps_of(quick).into_iter().map(|step| step.name).collect::<Vec<_>>();
        assert_eq!(names_of(true), quick);
        let all = names_of(false);
        assert!(!all.contains(&"unit and CLI tests") && all.contains(&"tests"), "{all:?}");
        assert!(quick.iter().filter(|name| !all.contains(name)).eq(["unit and CLI tests"].iter()));
    }
}
