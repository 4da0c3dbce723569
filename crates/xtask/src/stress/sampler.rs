//! `cargo xtask stress sampler`: `probe.Stress` for any number of samples, under SIGQUIT.
//!
//! The main thread allocates under a collector, throws from deep stacks, contends, waits, sleeps, recurses,
//! and loads and drops classes. Meanwhile other threads start, end, compete for the main thread's lock and
//! request its stack. The test fails when the process dies, hangs, leaves the main thread suspended, cannot
//! take a sample, or grows.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use lab_launch::Build;
use lab_launch::probe::Probe;

/// The phases of `probe.Stress`.
const PHASES: u64 = 9;
/// The longest time between two lines of the output. The probe prints a line for each phase, so a longer
/// pause is a hang.
const QUIET: Duration = Duration::from_mins(5);
/// The time between two requests for ART's own dump of all threads.
const QUIT_EACH: Duration = Duration::from_secs(2);
/// Lines of standard error kept for the case of a crash.
const LAST_LINES: usize = 400;
/// The memory may grow by this many KiB from the first quarter to the end: Java's collector keeps pages,
/// malloc's memory becomes fragmented, and the probe itself remembers a name for each address at which it
/// ever saw a method.
const GROWTH_KIB: i64 = 16 << 10;

/// Arguments of the sampler's stress.
#[derive(Debug, Args)]
pub(crate) struct SamplerArgs {
    /// Testbeds to run on
    #[arg(default_values = ["art10", "art11", "art11-jit", "art14"])]
    testbeds: Vec<String>,
    /// Samples on each testbed
    #[arg(long, default_value_t = 300_000)]
    samples: u64,
    /// Samples in each of the 9 phases before the next one begins
    #[arg(long, default_value_t = 1_000)]
    phase_samples: u64,
    /// Microseconds between samples
    #[arg(long, default_value_t = 200)]
    period_us: u32,
}

pub(crate) fn run(args: &SamplerArgs) -> Result<()> {
    println!(
        "| testbed | samples | stops | longest stop, ms | SIGQUITs | minutes | resident KiB | malloc KiB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut failed = Vec::new();
    for testbed in &args.testbeds {
        match stress(testbed, args) {
            Ok(row) => println!("| {testbed} | {row} |"),
            Err(error) => {
                println!("| {testbed} | failed: {error:#} |");
                failed.push(testbed.as_str());
            }
        }
    }
    ensure!(failed.is_empty(), "the sampler failed on {}", failed.join(", "));
    Ok(())
}

fn stress(testbed: &str, args: &SamplerArgs) -> Result<String> {
    let probe = Probe::built(testbed, "stress-sampler", Build::App)?;
    let jar = probe.class_path().pop().context("no jar")?.display().to_string();
    let rounds = args.samples.div_ceil(args.phase_samples.max(1) * PHASES).max(4);
    let (phase, period) = (args.phase_samples.to_string(), args.period_us.to_string());
    let mut command = probe.command("probe.Stress", &[], &[&phase, &period, &jar, "0", &rounds.to_string()]);
    let began = Instant::now();
    let run = Run::of(&mut command)?;
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let line = |key: &str| run.lines.iter().rev().find_map(|l| l.strip_prefix(key)?.strip_prefix(' '));
    let stats = line("stats").context("no statistics")?;
    let number = |key: &str| {
        let rest = stats.split_once(key)?.1.trim_start_matches([':', '=', ' ']);
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    for none in ["timeouts", "failed"] {
        ensure!(number(none) == Some(0), "{none} is not 0: {stats}");
    }
    ensure!(stats.ends_with("fuse=Some(Idle)"), "the fuse was left open: {stats}");
    let memory: Vec<[i64; 3]> =
        run.lines.iter().filter_map(|l| numbers(l.strip_prefix("memory ")?)).collect();
    let (Some(early), Some(late)) = (memory.get(memory.len() / 4), memory.last()) else {
        bail!("no figures of memory");
    };
    let (resident, malloc) = (late[1] - early[1], (late[2] - early[2]) / 1024);
    ensure!(
        resident < GROWTH_KIB && malloc < GROWTH_KIB,
        "grew from {early:?} to {late:?} (samples, KiB resident, bytes of malloc)"
    );
    Ok(format!(
        "{} | {} | {:.2} | {} | {minutes:.1} | {} {resident:+} | {} {malloc:+}",
        late[0],
        number("windows").unwrap_or_default(),
        number("longest_ns").unwrap_or_default() as f64 / 1e6,
        run.quits,
        early[1],
        early[2] / 1024,
    ))
}

fn numbers(text: &str) -> Option<[i64; 3]> {
    let numbers: Vec<i64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

/// The output of a process that did all its work.
struct Run {
    lines: Vec<String>,
    quits: u32,
}

impl Run {
    fn of(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the host program")?;
        let outcome = Self::follow(&mut child);
        // Also when it hangs: this one process only, which is our child.
        let _ = child.kill();
        let status = child.wait().context("cannot wait for the host program")?;
        let (run, errors) = outcome?;
        let errors = errors.join().unwrap_or_default();
        let done = run.lines.last().is_some_and(|line| line == "done");
        ensure!(done, "it ended with {status} after\n{}\n{errors}", run.lines.join("\n"));
        Ok(run)
    }

    /// Reads the output of the process to its end, and requests a dump of all threads every now and then.
    fn follow(child: &mut Child) -> Result<(Self, thread::JoinHandle<String>)> {
        let pid = child.id().to_string();
        let stderr = child.stderr.take().context("no standard error")?;
        let errors = thread::spawn(move || {
            let mut last = VecDeque::new();
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                last.push_back(line);
                if last.len() > LAST_LINES {
                    last.pop_front();
                }
            }
            Vec::from(last).join("\n")
        });
        let stdout = child.stdout.take().context("no standard output")?;
        let (send, receive) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut run = Self { lines: Vec::new(), quits: 0 };
        let (mut heard, mut asked) = (Instant::now(), Instant::now());
        loop {
            match receive.recv_timeout(QUIT_EACH) {
                Ok(line) => {
                    heard = Instant::now();
                    run.lines.push(line);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok((run, errors)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            ensure!(heard.elapsed() < QUIET, "it hangs; the last line was {:?}", run.lines.last());
            if asked.elapsed() >= QUIT_EACH {
                asked = Instant::now();
                let quit = Command::new("kill").args(["-QUIT", &pid]).stderr(Stdio::null()).status();
                run.quits += u32::from(quit.is_ok_and(|status| status.success()));
            }
        }
    }
}
