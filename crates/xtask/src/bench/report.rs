//! `cargo xtask bench report`: how long it takes until the first file of a report with a full history has its
//! name.
//!
//! The recorder measures this itself and writes it into the second version of the file, which follows when
//! the slower parts of the report are there.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab_launch::{Build, Launcher};
use loopbox_format::model::Report;

use super::sampler::{load, read};
use super::stats::LIMIT;

/// Arguments of the report bench.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Testbeds to run on
    #[arg(long, value_delimiter = ',', default_value = "art10")]
    testbed: Vec<String>,
    /// Reports on each testbed
    #[arg(long, default_value_t = 500)]
    times: u32,
}

/// Records that the ring has room for by default.
const RECORDS: usize = 100;
const STATISTIC: &str = "report.first_file_ns";

pub(crate) fn run(args: &ReportArgs) -> Result<()> {
    for testbed in &args.testbed {
        bench(testbed, args.times).with_context(|| format!("bench report on {testbed}"))?;
    }
    Ok(())
}

fn bench(testbed: &str, times: u32) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let app = Launcher::new(testbed, Build::App)?.app("bench.ReportBench");
    let app = app.argument(folder.path().display().to_string()).argument(times.to_string());
    let mut app = app.argument((RECORDS + RECORDS / 10).to_string()).start()?;
    let (mut taken, mut size) = (Vec::new(), 0);
    for _ in 0..times {
        let line = app.wait_for("BENCH report", LIMIT)?;
        let file = Path::new(line.split_whitespace().nth(2).context("no path")?);
        size = fs::metadata(file)?.len();
        let report = read(file)?;
        ensure!(report.history.len() >= RECORDS - 1, "only {} records", report.history.len());
        taken.push(first_file_ms(&report).context("the report does not have it")?);
        fs::remove_file(file)?;
    }
    app.wait_for("BENCH done", LIMIT)?;
    taken.sort_by(f64::total_cmp);
    let of = |share: usize| taken.get((taken.len() - 1) * share / 100).copied().unwrap_or_default();
    println!(
        "{testbed}: {} reports of {size} B: first file after p50 {:.2} p90 {:.2} p99 {:.2} max {:.2} ms (budget p99 <= 20), load {}",
        taken.len(),
        of(50),
        of(90),
        of(99),
        of(100),
        load()
    );
    Ok(())
}

fn first_file_ms(report: &Report) -> Option<f64> {
    let statistic = report.statistics.iter().find(|statistic| statistic.name == STATISTIC)?;
    Some(statistic.value.parse::<u64>().ok()? as f64 / 1e6)
}
