//! A corpus of reports as an app with some hundred thousand users would send them: variations of recorded
//! reports.
//!
//! Each generated report shows one of [`PROBLEMS`] problems, and has a version, a device and a user. Some
//! problems are far more frequent than others (Zipf). A problem is a recorded report with other names for the
//! app's classes. Each version adds another number to all line numbers. Reports of one problem differ as two
//! reports of one hang do: in how often each stack was sampled, in how long the messages took, and in the
//! time of the dump.

use loopbox_format::model::{Location, MainState, Report, StackTree};
use loopbox_format::report;
use loopbox_format::stacks::{self, TreeMerger};
use std::error::Error;
use std::fs;
use std::path::Path;

const PROBLEMS: usize = 40;
const VERSIONS: u64 = 5;
const DEVICES: u64 = 60;
const USERS: u64 = 100_000;
/// The number of reports in one folder.
const PER_FOLDER: usize = 1_000;

/// Writes `count` reports below `folder`.
pub(crate) fn write(folder: &Path, count: usize, recordings: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    let originals = recordings
        .iter()
        .map(|bytes| Ok(report::decode(bytes)?.report))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    // Problem n has 1/n times as many reports as problem 1.
    let weights: Vec<f64> = (1..=PROBLEMS).map(|n| 1.0 / n as f64).collect();
    let whole: f64 = weights.iter().sum();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for i in 0..count {
        let mut left = random.below(1 << 32) as f64 / (1_u64 << 32) as f64 * whole;
        let problem = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        let problem = problem.unwrap_or(PROBLEMS - 1);
        let made = vary(&originals[problem % originals.len()], problem, &mut random);
        let folder = folder.join(format!("{:03}", i / PER_FOLDER));
        if i % PER_FOLDER == 0 {
            fs::create_dir_all(&folder)?;
        }
        fs::write(folder.join(format!("{i:06}.lbx")), report::encode(&made)?)?;
    }
    Ok(())
}

fn vary(original: &Report, problem: usize, random: &mut Random) -> Report {
    let mut r = original.clone();
    let version = random.below(VERSIONS);
    r.meta.process.app_version = format!("5.{version}.0 (50{version}00)");
    r.meta.process.device = format!("Device {}", random.below(DEVICES));
    r.meta.process.pid = 1_000 + random.below(30_000) as u32;
    r.meta.annotations = vec![("user".into(), format!("{:016x}", random.below(USERS)))];
    r.meta.dumped_at.unix_ms += random.below(30 * 86_400_000);
    for method in r.symbols.methods.iter_mut().filter(|m| m.class.starts_with("com.example.")) {
        method.class = format!("{}P{problem}", method.class);
    }
    for location in &mut r.symbols.locations {
        if let Location::Frame { line: Some(line), .. } = location {
            *line += 3 * version as u32;
        }
    }
    for record in &mut r.history {
        record.work_ns = scaled(record.work_ns, random);
        record.wall_ns = record.work_ns + record.idle_ns;
    }
    if let MainState::Running(running) = &mut r.main {
        running.token.0 += random.below(1_000);
        let token = running.token;
        if let Some(tree) = r.trees.last_mut() {
            tree.token = token;
        }
    }
    r.trees = r.trees.iter().map(|tree| resampled(tree, random)).collect();
    r
}

/// A random value between 85 and 115 per cent of `ns`.
fn scaled(ns: u64, random: &mut Random) -> u64 {
    ns / 100 * (85 + random.below(31))
}

/// The tree of another run of the same message: each stack was seen a little more or less often.
fn resampled(tree: &StackTree, random: &mut Random) -> StackTree {
    let mut merger = TreeMerger::new(usize::MAX);
    let mut deltas = Vec::new();
    let Ok(stacks) = stacks::stacks(tree) else { return tree.clone() };
    for (stack, delta) in stacks.zip(&tree.sample_deltas_ns) {
        let times = match random.below(20) {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        for _ in 0..times {
            merger.push(stack.iter().copied());
            deltas.push(scaled(*delta, random));
        }
    }
    if deltas.is_empty() {
        return tree.clone();
    }
    StackTree { nodes: merger.nodes().to_vec(), sample_deltas_ns: deltas, ..tree.clone() }
}

/// xorshift64: every run generates the same corpus.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
