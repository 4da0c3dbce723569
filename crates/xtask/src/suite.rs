//! `cargo xtask test`: everything that must hold, in the order that finds a fault soonest.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use loopbox_setup::workspace::{cargo, root, run, target};
use loopbox_testbed as bed;

/// Arguments of `cargo xtask test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Run only the steps whose name contains this text
    #[arg(long)]
    only: Option<String>,
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
    ("bed art10", || bed::ensure("art10").map(drop)),
    ("bed art11", || bed::ensure("art11").map(drop)),
    ("bed art11-jit", || bed::ensure("art11-jit").map(drop)),
    ("bed art11-arm64", || bed::ensure("art11-arm64").map(drop)),
    ("tests", || run(cargo().args(["test", "--workspace", "--locked"]))),
    ("seqlock under loom", loom),
    ("offset tables", || run(xtask().args(["offsets", "check"]))),
    ("android libraries", || run(xtask().arg("android"))),
];

pub(crate) fn test(args: &TestArgs) -> Result<()> {
    let start = Instant::now();
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| name.contains(only));
    let steps: Vec<_> = STEPS.iter().filter(|(name, _)| wanted(name)).collect();
    if steps.is_empty() {
        let names: Vec<_> = STEPS.iter().map(|(name, _)| *name).collect();
        bail!("no step is called so; there are: {}", names.join(", "));
    }
    let mut times = Vec::new();
    for (name, step) in steps {
        println!("\n== {name}");
        let begun = Instant::now();
        step().with_context(|| format!("step `{name}` failed"))?;
        times.push((name, begun.elapsed()));
    }
    println!();
    for (name, time) in times {
        println!("{:7.1} s  {name}", time.as_secs_f64());
    }
    println!("{:7.1} s  in all", start.elapsed().as_secs_f64());
    Ok(())
}

/// The policy of `deny.toml`. Advisories need their database from the network and are asked for only when
/// `LOOPBOX_ADVISORIES` is set.
fn dependencies() -> Result<()> {
    const VERSION: &str = "0.20.2";
    let tools = root().join("target/tools");
    let deny = tools.join(format!("cargo-deny-{VERSION}/bin/cargo-deny"));
    if !deny.is_file() {
        println!("building cargo-deny {VERSION}, once");
        let mut install = cargo();
        install.args([
            "install",
            "--quiet",
            "--locked",
            "--no-default-features",
            "cargo-deny",
            "--version",
            VERSION,
        ]);
        install.arg("--root").arg(tools.join(format!("cargo-deny-{VERSION}")));
        run(install.arg("--target-dir").arg(target().join("tools/build")))?;
    }
    let mut check = Command::new(deny);
    check.current_dir(root()).args(["--log-level", "error", "check", "bans", "licenses", "sources"]);
    if std::env::var_os("LOOPBOX_ADVISORIES").is_some() {
        check.arg("advisories");
    }
    run(&mut check)
}

/// Programs that only tests need: found, or installed by apt when this is root.
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
    if missing.is_empty() {
        return Ok(());
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    ensure!(root, "missing on this machine; install with: apt-get install {}", missing.join(" "));
    println!("installing {}", missing.join(", "));
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    run(install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(missing).stdout(Stdio::null()))
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
