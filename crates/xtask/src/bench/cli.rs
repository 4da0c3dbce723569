//! `cargo xtask bench cli`: what one report and many reports cost the `loopbox` command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use loopbox_setup::workspace::{cargo, run as run_command, target};

/// The most that decoding and diagnosing one full report may take.
const BUDGET_US: f64 = 10_000.0;

/// Arguments of the bench of the command.
#[derive(Debug, Args)]
pub(crate) struct CliArgs {
    /// Sizes of the fleets
    #[arg(long, value_delimiter = ',', default_value = "1000,10000")]
    reports: Vec<usize>,
    /// Reports to vary, for example target/demo/*.lbx; without them, a full report that the bench builds is
    /// varied
    #[arg(long)]
    from: Vec<PathBuf>,
}

pub(crate) fn run(args: &CliArgs) -> Result<()> {
    run_command(cargo().args(["build", "--quiet", "--release", "--package", "loopbox-cli"]))?;
    let example = ["--package", "loopbox-report", "--features", "test-support", "--example", "bench_reports"];
    run_command(cargo().args(["build", "--quiet", "--release"]).args(example))?;
    let release = target().join("release");
    check_time(&release.join("examples/bench_reports"), args)?;
    let of = if args.from.is_empty() {
        "the built report".into()
    } else {
        format!("{} recordings", args.from.len())
    };
    println!("\nloopbox cluster: fleets of variations of {of}");
    println!(
        "  {:>8} {:>5} {:>10} {:>11} {:>12} {:>9} {:>7}",
        "reports", "jobs", "MiB", "reports/s", "cpu us each", "peak MiB", "groups"
    );
    for &count in &args.reports {
        let folder = tempfile::tempdir_in(target()).context("no folder below target")?;
        let mut make = Command::new(release.join("examples/bench_reports"));
        run_command(make.arg("corpus").arg(folder.path()).arg(count.to_string()).args(&args.from))?;
        for jobs in [1, 2] {
            cluster(&release.join("loopbox"), folder.path(), count, jobs)?;
        }
    }
    Ok(())
}

fn check_time(example: &Path, args: &CliArgs) -> Result<()> {
    let out =
        Command::new(example).arg("time").args(&args.from).output().context("cannot run the example")?;
    ensure!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    println!("one report, medians in us (budget of all three: {BUDGET_US:.0})");
    println!("  {:>8} {:>9} {:>9} {:>9} {:>9}  of", "bytes", "decode", "analyse", "diagnose", "sum");
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let ["time", name, bytes, decode, analyse, diagnose] = words[..] else { continue };
        let sum: f64 = [decode, analyse, diagnose].iter().filter_map(|us| us.parse::<f64>().ok()).sum();
        println!("  {bytes:>8} {decode:>9} {analyse:>9} {diagnose:>9} {sum:>9.1}  {name}");
    }
    Ok(())
}

fn cluster(loopbox: &Path, folder: &Path, count: usize, jobs: usize) -> Result<()> {
    let bytes = size(folder)?;
    let result = folder.join("groups.json");
    let start = Instant::now();
    let child = Command::new(loopbox)
        .arg("cluster")
        .arg(folder)
        .args(["--json", "--jobs", &jobs.to_string(), "--output"])
        .arg(&result)
        .stderr(Stdio::null())
        .spawn()
        .context("cannot run loopbox")?;
    let used = watch(child)?;
    let seconds = start.elapsed().as_secs_f64();
    ensure!(used.code == Some(0), "loopbox cluster ended with {:?}", used.code);
    let json = fs::read_to_string(&result).context("no result")?;
    let groups = json.matches("\"representative\"").count();
    fs::remove_file(result)?;
    let n = count as f64;
    println!(
        "  {count:>8} {jobs:>5} {:>10.1} {:>11.0} {:>12.0} {:>9.1} {groups:>7}",
        bytes as f64 / f64::from(1 << 20),
        n / seconds,
        used.cpu_ms as f64 * 1e3 / n,
        used.peak_kib as f64 / 1024.0
    );
    Ok(())
}

/// The time and memory that a process used until shortly before its end.
#[derive(Debug, Default)]
struct Used {
    peak_kib: u64,
    /// CPU time on all cores. Unlike elapsed time it does not depend on what else the machine does.
    cpu_ms: u64,
    code: Option<i32>,
}

/// Waits for a process.
fn watch(mut child: Child) -> Result<Used> {
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    let mut used = Used::default();
    loop {
        let status = fs::read_to_string(proc.join("status")).unwrap_or_default();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        used.peak_kib = used.peak_kib.max(peak.unwrap_or(0));
        // After the name in brackets: state is the first field, utime and stime the 12th and 13th, in 1/100
        // s.
        let stat = fs::read_to_string(proc.join("stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: u64 = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
        used.cpu_ms = used.cpu_ms.max(10 * ticks);
        if let Some(ended) = child.try_wait()? {
            used.code = ended.code();
            return Ok(used);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { size(&entry.path())? } else { meta.len() };
    }
    Ok(bytes)
}
