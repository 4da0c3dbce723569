//! Compares the sampled stacks of a report with the dex files of the process.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use lab_launch::Launcher;
use lab_oracle::{Frame, Oracle, Pair};
use loopbox_format::model::Report;

use crate::stacks_of;

/// The oracle for everything that runs on a testbed.
///
/// # Errors
/// When a jar of the class path cannot be read.
pub fn oracle(launcher: &Launcher) -> Result<Oracle> {
    let mut oracle = Oracle::default();
    for jar in launcher.class_path() {
        let bytes = fs::read(&jar).with_context(|| format!("cannot read {}", jar.display()))?;
        oracle.add_jar(&bytes).with_context(|| format!("{}", jar.display()))?;
    }
    Ok(oracle)
}

/// A frame as the oracle knows it.
pub fn named(frame: &crate::Frame) -> Frame {
    let method = &frame.method;
    Frame {
        class: method.class.clone(),
        name: method.name.clone(),
        signature: method.signature.clone(),
        dex_pc: frame.dex_pc,
    }
}

/// The oracle's results for many stacks.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many stacks were checked.
    pub samples: usize,
    /// Pairs of neighbouring frames that are possible, by reason.
    pub pairs: BTreeMap<Pair, usize>,
    /// Stacks that are not possible: why, and how often.
    pub wrong: BTreeMap<String, usize>,
    /// How many stacks do not end where the process began, although nothing was left out of them.
    pub rootless: usize,
    /// Distinct methods seen.
    pub methods: BTreeMap<String, usize>,
    /// The longest time that one sample kept the main thread stopped.
    pub longest_stop_ns: u64,
    /// How many samples were due and could not be taken.
    pub missed: u64,
}

impl Tally {
    /// Checks every stack of every tree of a report. Each stack must end at one of `roots`.
    ///
    /// # Errors
    /// When a tree contradicts itself.
    pub fn add(&mut self, oracle: &Oracle, report: &Report, roots: &[&str]) -> Result<()> {
        for tree in &report.trees {
            self.longest_stop_ns = self.longest_stop_ns.max(tree.longest_stop_ns);
            self.missed += u64::from(tree.missed_samples);
            for (stack, elided) in stacks_of(report, tree)? {
                self.samples += 1;
                let frames: Vec<_> = stack.iter().map(named).collect();
                for frame in &stack {
                    *self.methods.entry(frame.short()).or_default() += 1;
                }
                match oracle.check(&frames) {
                    Ok(pairs) => pairs.into_iter().for_each(|p| *self.pairs.entry(p).or_default() += 1),
                    Err(wrong) => {
                        let at = wrong.caller;
                        let around = stack.iter().skip(at.saturating_sub(2)).take(4).map(crate::Frame::short);
                        let around: Vec<_> = around.collect();
                        let why = format!(
                            "{} (frame {at} of {}, near {})",
                            wrong.why,
                            stack.len(),
                            around.join(" < ")
                        );
                        *self.wrong.entry(why).or_default() += 1;
                    }
                }
                let rooted = stack.last().is_some_and(|f| roots.contains(&&*f.short()));
                self.rootless += usize::from(!elided && !rooted);
            }
        }
        Ok(())
    }

    /// How many pairs of neighbouring frames are possible. The pairs of a stack that is not possible do not
    /// count.
    pub fn pairs_checked(&self) -> usize {
        self.pairs.values().sum()
    }
}
