//! `cargo xtask bench sampler`: how long a sample stops the main thread, the interval actually reached, and
//! the sizes of trees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use lab_launch::{Build, Launcher, wait_for_report};
use loopbox_format::model::{MainState, Report, StackTree};
use loopbox_format::{codec, report, stacks, tree_text};
use loopbox_setup::workspace::{cargo, root, run as run_command, target};

use super::stats::{LIMIT, median};

/// Size in bytes of a sampled frame: a method pointer and a position in its code.
const RAW_FRAME: usize = 12;
const MS: f64 = 1e6;

/// Arguments of the sampler bench.
#[derive(Debug, Args)]
pub(crate) struct SamplerArgs {
    /// Testbeds to run on
    #[arg(long, value_delimiter = ',', default_value = "art10,art11,art14")]
    testbed: Vec<String>,
    /// Samples at each stack depth for each way to take stacks
    #[arg(long, default_value_t = 1_000)]
    samples: u32,
    /// Depths of the stack
    #[arg(long, value_delimiter = ',', default_value = "10,50,100")]
    depths: Vec<u32>,
    /// How many seconds the message hangs; the intervals between its samples are measured
    #[arg(long, default_value_t = 6)]
    seconds: u64,
    /// Read the hung messages of these reports only, for example from a phone; nothing is run
    #[arg(long)]
    report: Vec<PathBuf>,
}

pub(crate) fn run(args: &SamplerArgs) -> Result<()> {
    if !args.report.is_empty() {
        for file in &args.report {
            let report = read(file)?;
            let tree = hung(&report)?;
            intervals(&file.display().to_string(), tree);
            sizes(&report, tree)?;
        }
        return Ok(());
    }
    let example = ["--package", "loopbox-art", "--example", "art_bench"];
    run_command(cargo().args(["build", "--quiet", "--locked", "--profile", "app"]).args(example))?;
    for testbed in &args.testbed {
        let launcher = Launcher::new(testbed, Build::App)?;
        stops(testbed, args).with_context(|| format!("bench sampler on {testbed}"))?;
        hangs(&launcher, args).with_context(|| format!("bench sampler on {testbed}"))?;
    }
    Ok(())
}

/// Median and 99th percentile in ns.
type Figure = (f64, f64);
/// The figures by phase, depth, way and measured quantity.
type Figures = BTreeMap<(String, u32, String, String), Figure>;

fn stops(name: &str, args: &SamplerArgs) -> Result<()> {
    let testbed = loopbox_testbed::ensure(name)?;
    let folder = root().join("crates/loopbox-art/tests/java/probe");
    let mut sources = Vec::new();
    for entry in fs::read_dir(&folder).context("no sources of the bench")? {
        sources.push(entry?.path());
    }
    let jar = target().join(format!("art-bench-{name}.jar"));
    testbed.dex(&sources, &[], &jar)?;
    let app = target().join("app");
    let (host, examples) = (app.join("lab-host"), app.join("examples"));
    let mut command = testbed.java(&host, &jar, &examples, "probe.SamplerBench");
    command.arg("--").arg(args.samples.to_string()).args(args.depths.iter().map(u32::to_string));
    let out = command.output().context("cannot start the host program")?;
    let text = String::from_utf8_lossy(&out.stdout);
    let errors = String::from_utf8_lossy(&out.stderr);
    ensure!(out.status.success() && text.ends_with("done\n"), "{}\n{text}\n{errors}", out.status);
    let mut figures = Figures::new();
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if let ["row", phase, depth, way, what, p50, p99] = words[..] {
            let key = (phase.to_owned(), depth.parse()?, way.to_owned(), what.to_owned());
            figures.insert(key, (p50.parse()?, p99.parse()?));
        } else {
            ensure!(!line.starts_with("failed"), "{line}");
        }
    }
    print_stops(name, args.samples, &figures);
    Ok(())
}

fn print_stops(testbed: &str, samples: u32, figures: &Figures) {
    println!(
        "\n{testbed}: main thread stopped by one sample, us p50/p99 of {samples} of each way (load {})",
        load()
    );
    println!(
        "  {:8} {:>5} {:>13} {:>13} {:>13} {:>13} {:>13} {:>13} | {:>9} {:>9} {:>9} {:>9}",
        "phase",
        "depth",
        "ours",
        "unrehearsed",
        "article",
        "ours whole",
        "article whole",
        "getStackTrace",
        "/unreh.",
        "/article",
        "/getStack",
        "whole/get"
    );
    let stops = figures.keys().filter(|(_, _, way, what)| (&**way, &**what) == ("ours", "held"));
    for (phase, depth, ..) in stops {
        let of = |way: &str, what: &str| {
            let key = (phase.clone(), *depth, way.to_owned(), what.to_owned());
            figures.get(&key).copied().unwrap_or((f64::NAN, f64::NAN))
        };
        let show = |(p50, p99): Figure| format!("{:.1}/{:.1}", p50 / 1e3, p99 / 1e3);
        let (ours, cold) = (of("ours", "held"), of("cold", "held"));
        let (article, trace, whole) = (of("article", "held"), of("trace", "whole"), of("ours", "whole"));
        println!(
            "  {phase:8} {depth:>5} {:>13} {:>13} {:>13} {:>13} {:>13} {:>13} | {:>9.3} {:>9.3} {:>9.3} {:>9.3}",
            show(ours),
            show(cold),
            show(article),
            show(whole),
            show(of("article", "whole")),
            show(trace),
            ours.0 / cold.0,
            ours.0 / article.0,
            ours.0 / trace.0,
            whole.0 / trace.0
        );
        println!(
            "  {:8} {:>5} {:>13} {:>13} {:>13}   until the call that resumes has returned",
            "",
            "",
            show(of("ours", "stopped")),
            show(of("cold", "stopped")),
            show(of("article", "stopped")),
        );
        println!(
            "  {:8} {:>5} {:>13} {:>13} {:>13}   of the stop: the call into the fast native; waited to suspend: {}",
            "",
            "",
            show(of("ours", "hop")),
            show(of("cold", "hop")),
            "-",
            show(of("ours", "suspend"))
        );
    }
    println!("  budgets at depth 50: stop <= 0.200 of Qimao's, <= 0.100 of getStackTrace (whole call)");
}

/// The intervals of a hung message and the sizes of its tree, from reports of the product.
fn hangs(launcher: &Launcher, args: &SamplerArgs) -> Result<()> {
    println!(
        "  interval of a message that hangs {} s, asked 10 ms (budget: p95 <= 12 ms on an idle machine)",
        args.seconds
    );
    for loaded in [false, true] {
        let before = load();
        let report =
            if loaded { under_load(|| hang(launcher, args.seconds)) } else { hang(launcher, args.seconds) }?;
        let tree = hung(&report)?;
        let what = if loaded { "all processors loaded" } else { "nothing else of ours runs" };
        intervals(&format!("{what} (load before {before})"), tree);
        if !loaded {
            sizes(&report, tree)?;
        }
    }
    Ok(())
}

fn hang(launcher: &Launcher, seconds: u64) -> Result<Report> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let app = launcher.app("scenario.Demo").argument(format!("dir={}", folder.path().display()));
    let mut app = app.start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    thread::sleep(Duration::from_secs(seconds));
    app.signal("QUIT")?;
    app.wait_for("SCRIPT report", LIMIT)?;
    let file = wait_for_report(folder.path(), LIMIT)?;
    read(&file)
}

pub(super) fn read(file: &Path) -> Result<Report> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let decoded = report::decode(&bytes).with_context(|| format!("{}", file.display()))?;
    ensure!(decoded.damage.is_empty(), "damaged: {:?}", decoded.damage);
    Ok(decoded.report)
}

/// The stacks of the message that was running.
fn hung(report: &Report) -> Result<&StackTree> {
    let MainState::Running(running) = &report.main else { bail!("no message was running") };
    report.trees.iter().rfind(|tree| tree.token == running.token).context("it has no stacks")
}

/// Runs `body` while every processor is kept busy.
fn under_load<T>(body: impl FnOnce() -> T) -> T {
    let stop = Arc::new(AtomicBool::new(false));
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let spin = |_| {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        })
    };
    let threads: Vec<_> = (0..cores).map(spin).collect();
    let result = body();
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        let _ = thread.join();
    }
    result
}

fn intervals(what: &str, tree: &StackTree) {
    for (at, phase) in tree.phases.iter().enumerate() {
        let first = phase.first_sample as usize;
        let end =
            tree.phases.get(at + 1).map_or(tree.sample_deltas_ns.len(), |next| next.first_sample as usize);
        // The first sample of the message is due at its onset, the first of a phase still at the interval
        // before.
        let mut deltas: Vec<u64> = tree.sample_deltas_ns.get(first + 1..end).unwrap_or_default().to_vec();
        deltas.sort_unstable();
        let Some(last) = deltas.len().checked_sub(1) else { continue };
        let of = |share: usize| deltas[last * share / 100] as f64 / MS;
        println!(
            "    asked {:>4.0} ms: {:>4} samples, p50 {:.2} p95 {:.2} p99 {:.2} ms; {what}",
            phase.interval_ns as f64 / MS,
            deltas.len(),
            of(50),
            of(95),
            of(99)
        );
    }
    let lasted_ns = tree.sample_deltas_ns.iter().sum::<u64>().max(1);
    println!(
        "    stopped for {:.3} % of the message's time, at most {:.3} ms at once; missed samples: {}",
        tree.total_stop_ns as f64 * 100.0 / lasted_ns as f64,
        tree.longest_stop_ns as f64 / MS,
        tree.missed_samples
    );
}

fn sizes(report: &Report, tree: &StackTree) -> Result<()> {
    let depths: Vec<usize> = stacks::stacks(tree)?.map(|stack| stack.len()).collect();
    let frames: usize = depths.iter().sum();
    let raw = frames * RAW_FRAME;
    let encoded = codec::encode(tree)?.len();
    let times = codec::encode(&tree.sample_deltas_ns)?.len();
    let symbols = codec::encode(&report.symbols)?.len();
    let text = tree_text::write(tree, &report.symbols)?.len();
    let deep: Vec<f64> = depths.iter().map(|depth| *depth as f64).collect();
    println!(
        "  tree of {} samples of {:.0} frames (median): raw {raw} B, encoded {encoded} B ({times} B of them times of samples), its names {symbols} B, article's text {text} B",
        depths.len(),
        median(&deep)
    );
    let ratio = |large: usize, small: usize| large as f64 / small.max(1) as f64;
    println!(
        "    raw / encoded {:.1} (budget >= 50), without times {:.1}; article's text / nodes {:.2}, / nodes and names {:.2} (budget >= 4)",
        ratio(raw, encoded),
        ratio(raw, encoded - times),
        ratio(text, encoded - times),
        ratio(text, encoded - times + symbols)
    );
    Ok(())
}

/// The machine's load in the last minute. It is printed because others may be using the machine.
pub(super) fn load() -> String {
    fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split(' ').next().map(str::to_owned))
        .unwrap_or_default()
}
