//! `cargo xtask bench install`: what the recorder's installation costs the main thread of an app that starts.

use anyhow::{Context, Result};
use clap::Args;
use lab_launch::{Build, Launcher};

use super::sampler::load;
use super::stats::{LIMIT, median};

/// Arguments of the install bench.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Testbeds to run on
    #[arg(long, value_delimiter = ',', default_value = "art10,art11,art11-jit")]
    testbed: Vec<String>,
    /// Processes of each
    #[arg(long, default_value_t = 41)]
    times: u32,
}

pub(crate) fn run(args: &InstallArgs) -> Result<()> {
    for testbed in &args.testbed {
        bench(testbed, args.times).with_context(|| format!("bench install on {testbed}"))?;
    }
    Ok(())
}

/// Process after process, because the first time is the only one that an app sees: with one directory, as launches have.
fn bench(testbed: &str, times: u32) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let launcher = Launcher::new(testbed, Build::App)?;
    let (mut loads, mut installs) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let app = launcher.app("bench.InstallBench").argument(format!("dir={}", folder.path().display()));
        let line = app.start()?.wait_for("BENCH install", LIMIT)?;
        let mut ms = line.split_whitespace().skip(2).map(|ns| ns.parse::<f64>().map(|ns| ns / 1e6));
        let mut next = || anyhow::Ok(ms.next().context("a figure is missing")??);
        loads.push(next()?);
        installs.push(next()?);
        // As a start that lasts leaves it: what the next launch finds is no sign of a crash.
        for entry in std::fs::read_dir(folder.path())?.flatten() {
            std::fs::remove_file(entry.path())?;
        }
    }
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{testbed}: {times} launches: load the library {:.2} ms (least {:.2}), install {:.2} ms (least {:.2}), load {}",
        median(&loads),
        least(&loads),
        median(&installs),
        least(&installs),
        load()
    );
    Ok(())
}
