//! `cargo xtask bench stall`: what it costs to report one message that blocks, with the performance monitor
//! and in other ways.
//!
//! Times are CPU time, so that waiting for a processor on a busy machine does not count. The cost of the same
//! messages when nothing watches is subtracted.

use super::stats::{LIMIT, median};
use anyhow::{Context, Result};
use clap::Args;
use lab_launch::{Build, Launcher};
use std::collections::BTreeMap;

/// Arguments of the bench of stalls.
#[derive(Debug, Args)]
pub(crate) struct StallArgs {
    /// Testbeds to run on
    #[arg(long, value_delimiter = ',', default_value = "art10,art11")]
    testbed: Vec<String>,
    /// Messages that block in each batch
    #[arg(long, default_value_t = 5)]
    stalls: u32,
    /// Batches per way
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// How long each blocking message sleeps, in milliseconds
    #[arg(long, default_value_t = 400)]
    ms: u32,
}

/// The ways to report a message that blocks: their names in `bench.StallBench`, and their descriptions.
const WAYS: [(&str, &str); 5] = [
    ("recorder", "Loopbox without its monitor (stacks each 10 ms)"),
    ("ours", "Loopbox with it (the same, file, log)"),
    ("block", "the block article's (one stack, log)"),
    ("uiperf", "the uiperf article's (no stack, file)"),
    ("blockcanary", "BlockCanary's way (two stacks, file)"),
];
const BASE: &str = "none";
/// The figures of a batch: nanoseconds of main and of all threads, bytes and objects of Java, and main's
/// calls that read or write.
const FIGURES: usize = 5;

pub(crate) fn run(args: &StallArgs) -> Result<()> {
    for testbed in &args.testbed {
        bench(testbed, args).with_context(|| format!("bench stall on {testbed}"))?;
    }
    Ok(())
}

fn bench(testbed: &str, args: &StallArgs) -> Result<()> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let launcher = Launcher::new(testbed, Build::App)?;
    let app = launcher.app("bench.StallBench").property("loopbox.dir", folder.path().display());
    let arguments = [args.stalls, args.rounds, args.ms];
    let app = arguments.into_iter().fold(app, |app, argument| app.argument(argument.to_string()));
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let batches = batches(&ended.lines)?;
    let base = batches.get(BASE).context("the bench printed no base line")?;
    println!(
        "\n{testbed}: {} messages of {} ms a batch, {} batches each, medians, added to each message",
        args.stalls, args.ms, args.rounds
    );
    println!(
        "  {:50} {:>9} {:>9} {:>11} {:>8} {:>12} {:>9}",
        "", "main us", "all us", "Java bytes", "objects", "calls, main", "of ours"
    );
    let added = |way: &str| {
        let all = batches.get(way)?;
        Some(std::array::from_fn::<f64, FIGURES, _>(|at| all[at] - base[at]))
    };
    let ours = added("ours").context("the monitor did not run")?;
    for (way, label) in WAYS {
        let Some([main_ns, all_ns, bytes, objects, calls]) = added(way) else { continue };
        println!(
            "  {label:50} {:9.0} {:9.0} {bytes:11.0} {objects:8.0} {calls:12.1} {:9.2}",
            main_ns / 1e3,
            all_ns / 1e3,
            all_ns / ours[1]
        );
    }
    Ok(())
}

/// The medians of each way's batches, from the output of the bench.
fn batches(lines: &[String]) -> Result<BTreeMap<String, [f64; FIGURES]>> {
    let mut batches: BTreeMap<String, Vec<[f64; FIGURES]>> = BTreeMap::new();
    for line in lines {
        let Some((way, numbers)) = line.strip_prefix("batch ").and_then(|line| line.split_once(' ')) else {
            continue;
        };
        let numbers: Vec<f64> = numbers.split(' ').filter_map(|word| word.parse().ok()).collect();
        let numbers = numbers.try_into().ok().with_context(|| format!("not five numbers: {line}"))?;
        batches.entry(way.to_owned()).or_default().push(numbers);
    }
    let medians = batches.into_iter().map(|(way, all)| {
        let of = |at: usize| median(&all.iter().map(|batch| batch[at]).collect::<Vec<_>>());
        (way, std::array::from_fn(of))
    });
    Ok(medians.collect())
}
