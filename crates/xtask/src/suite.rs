//! `cargo xtask test`: everything that must hold, in the order that finds a fault soonest.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use xtask::bed;
use xtask::workspace::{cargo, root, run, target};

/// Arguments of `cargo xtask test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Run only the steps whose name contains this text
    #[arg(long)]
    only: Option<String>,
}

type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
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
    ("unit tests", || {
        run(cargo().args(["test", "--quiet", "--workspace", "--locked", "--exclude", "loopbox-e2e"]))
    }),
    ("bed art10", || bed::ensure("art10").map(drop)),
    ("end to end", || run(cargo().args(["test", "--package", "loopbox-e2e", "--locked"]))),
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
    let mut check = std::process::Command::new(deny);
    check.current_dir(root()).args(["--log-level", "error", "check", "bans", "licenses", "sources"]);
    if std::env::var_os("LOOPBOX_ADVISORIES").is_some() {
        check.arg("advisories");
    }
    run(&mut check)
}
