//! `cargo xtask bench frames`: what watching display frames costs.
//!
//! Times are CPU time of one thread, so that waiting for a processor on a busy machine does not count.

use super::stats::{LIMIT, median};
use anyhow::{Context, Result};
use clap::Args;
use lab_launch::{Build, Launcher};
use std::collections::BTreeMap;

/// Arguments of the bench of frames.
#[derive(Debug, Args)]
pub(crate) struct FramesArgs {
    /// Testbeds to run on
    #[arg(long, value_delimiter = ',', default_value = "art10,art10-jit,art11,art11-jit,art14")]
    testbed: Vec<String>,
    /// Frames per batch; on a device at most 170 wait for the worker
    #[arg(long, default_value_t = 160)]
    frames: u32,
    /// Batches for each way to record frames
    #[arg(long, default_value_t = 31)]
    rounds: u32,
    /// How long nothing moves while refreshes are counted, in milliseconds
    #[arg(long, default_value_t = 1_000)]
    idle_ms: u32,
}

/// The ways to record on the main thread: their names in `bench.FrameBench`, what each is compared with, and
/// their descriptions.
const WAYS: [(&str, &str, &str); 4] = [
    ("empty", BASE, "an empty FrameCallback"),
    ("frames", BASE, "Loopbox, frames alone"),
    ("observer", BASE, "Loopbox, messages by Observer"),
    ("observer-frames", "observer", "Loopbox, frames, too"),
];
const BASE: &str = "none";

pub(crate) fn run(args: &FramesArgs) -> Result<()> {
    for testbed in &args.testbed {
        let launcher = Launcher::new(testbed, Build::App)?;
        on_main(&launcher, testbed, args)
            .and_then(|()| on_listener(&launcher, args))
            .and_then(|()| refreshes(&launcher, args))
            .with_context(|| format!("bench frames on {testbed}"))?;
    }
    Ok(())
}

/// The output of a class of `tests/app/bench`.
fn lines(launcher: &Launcher, class: &str, arguments: &[u32]) -> Result<Vec<String>> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let app = launcher.app(class).property("loopbox.dir", folder.path().display());
    let app = arguments.iter().fold(app, |app, argument| app.argument(argument.to_string()));
    Ok(app.start()?.finish(LIMIT)?.success()?.lines)
}

/// The numbers for each way, in order, from lines of the form `KIND WAY NUMBER...`.
fn all_of<const N: usize>(lines: &[String], kind: &str) -> Result<BTreeMap<String, Vec<[f64; N]>>> {
    let mut all: BTreeMap<String, Vec<[f64; N]>> = BTreeMap::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let (Some(first), Some(way)) = (words.next(), words.next()) else { continue };
        if first != kind {
            continue;
        }
        let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        let numbers = numbers.try_into().ok().with_context(|| format!("not {N} numbers: {line}"))?;
        all.entry(way.to_owned()).or_default().push(numbers);
    }
    Ok(all)
}

/// For each way to record frames, the median of each of the numbers that [`all_of`] reads.
fn medians<const N: usize>(lines: &[String], kind: &str) -> Result<BTreeMap<String, [f64; N]>> {
    Ok(all_of(lines, kind)?.into_iter().map(|(way, all)| (way, middle(all.iter().copied()))).collect())
}

fn middle<const N: usize>(all: impl Iterator<Item = [f64; N]> + Clone) -> [f64; N] {
    std::array::from_fn(|at| median(&all.clone().map(|numbers| numbers[at]).collect::<Vec<_>>()))
}

/// Time, objects, bytes and calls of malloc for each frame.
type Frame = [f64; 4];

fn on_main(launcher: &Launcher, testbed: &str, args: &FramesArgs) -> Result<()> {
    let lines = lines(launcher, "bench.FrameBench", &[args.frames, args.rounds])?;
    let batches: BTreeMap<String, Vec<Frame>> = all_of(&lines, "batch")?;
    let base = batches.get(BASE).context("the bench printed no base line")?;
    println!(
        "\n{testbed}: {} frames a batch, {} batches each, medians; a frame with the app's own callback takes {:.0} ns",
        args.frames,
        args.rounds,
        middle(base.iter().copied())[0]
    );
    // Within each round, so that a load that comes and goes meets both.
    let added = |way: &str, over: &str| {
        let (with, without) = (batches.get(way)?, batches.get(over)?);
        let pairs = with.iter().zip(without);
        Some(middle(
            pairs.map(|(with, without)| std::array::from_fn::<f64, 4, _>(|at| with[at] - without[at])),
        ))
    };
    let own = |way: &str| {
        let (_, over, _) = WAYS.iter().find(|(name, ..)| *name == way)?;
        added(way, over)
    };
    println!(
        "  {:42} {:>9} {:>9} {:>11} {:>8} {:>11}",
        "on the main thread, added to a frame", "ns", "objects", "Java bytes", "mallocs", "of empty's"
    );
    let empty = own("empty").context("no empty callback ran")?;
    for (way, _, label) in WAYS {
        let Some([ns, objects, bytes, mallocs]) = own(way) else { continue };
        println!("  {label:42} {ns:9.0} {objects:9.2} {bytes:11.1} {mallocs:8.2} {:11.2}", ns / empty[0]);
    }
    let frames = own("frames").context("Loopbox did not run")?;
    let both = own("observer-frames").context("Loopbox did not run with its hook")?;
    budget("a counted frame, of an empty callback", frames[0] / empty[0], 2.0);
    budget("objects per frame", frames[1], 0.0);
    budget("frames and messages, of frames alone", both[0] / frames[0], 1.0);
    Ok(())
}

fn on_listener(launcher: &Launcher, args: &FramesArgs) -> Result<()> {
    let lines = lines(launcher, "bench.StageBench", &[args.frames * 10, args.rounds])?;
    let batches: BTreeMap<String, [f64; 3]> = medians(&lines, "batch")?;
    let [ns, objects, bytes] = batches.get("ours").context("Loopbox did not run")?;
    println!(
        "  {:42} {:>9} {:>9} {:>11}",
        "on the listener's thread, a FrameMetrics", "ns", "objects", "Java bytes"
    );
    println!("  {:42} {ns:9.0} {objects:9.2} {bytes:11.1}", "Loopbox, stages (all values, causes)");
    Ok(())
}

fn refreshes(launcher: &Launcher, args: &FramesArgs) -> Result<()> {
    let lines = lines(launcher, "bench.RefreshBench", &[args.idle_ms, 30])?;
    let asked: BTreeMap<String, [f64; 2]> = medians(&lines, "refreshes")?;
    let none = asked.get(BASE).context("nothing was counted")?;
    println!("  refreshes asked for             idle for {} ms   one scroll, added", args.idle_ms);
    for (way, label) in [(BASE, "nothing watches"), ("ours", "Loopbox")] {
        let Some([idle, scroll]) = asked.get(way) else { continue };
        println!("  {label:30} {idle:18} {:19}", scroll - none[1]);
    }
    let ours = asked.get("ours").context("Loopbox did not run")?;
    budget("refreshes while nothing moves", ours[0], 0.0);
    budget("refreshes added by a scroll", ours[1] - none[1], 1.0);
    let memory: BTreeMap<String, Vec<[f64; 3]>> = all_of(&lines, "memory")?;
    for (with, without, label) in
        [("frames", "recorder", "installed"), ("frames-used", "recorder-used", "all that is kept")]
    {
        let ways = [with, "before-frames", without, "before-recorder"].map(|way| memory.get(way));
        let [Some(with), Some(before), Some(without), Some(before_that)] = ways else { continue };
        let rounds = with.iter().zip(before).zip(without.iter().zip(before_that));
        let [heap, mapped, file] = middle(rounds.map(|((with, before), (without, before_that))| {
            [0, 1, 2].map(|at| (with[at] - before[at] - (without[at] - before_that[at])) / 1024.0)
        }));
        println!(
            "  memory besides the recorder's, {label}: {heap:.0} KiB of malloc, {mapped:.0} KiB mapped; \
             the ring's file on the disk is {file:.0} KiB longer"
        );
        budget("KiB of memory", heap + mapped, 64.0);
    }
    Ok(())
}

/// Prints a figure next to its limit.
fn budget(what: &str, is: f64, most: f64) {
    let verdict = if is <= most + 0.005 { "met" } else { "missed" };
    println!("    budget: {what}: {is:.2}, at most {most:.2}: {verdict}");
}
