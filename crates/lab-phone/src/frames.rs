//! Samples code of every kind as often as possible, and compares each stack with the phone's own dex files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use lab_oracle::Oracle;
use lab_reports::phases::{Figures, PHASES, phase_reports};
use loopbox_format::model::{FeatureState, Report, StackSource, StackTree, Statistic};

use crate::stage::Stage;

/// How many phases run in one process, because a directory keeps a limited number of reports.
const AT_ONCE: usize = 6;
/// The first API level with method handles.
const FIRST_WITH_HANDLES: u32 = 26;

/// The results of the scenario.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Name and version of the library.
    pub(crate) producer: String,
    /// The state of each feature, and how it works, from the last report.
    pub(crate) features: Vec<FeatureState>,
    /// Statistics of the sampler and the hook, from the last report.
    pub(crate) statistics: Vec<Statistic>,
    /// The oracle's results.
    pub(crate) checked: Figures,
    /// How many stacks are from `Thread.getStackTrace`. They have no dex pcs, so they cannot be checked.
    pub(crate) by_java_api: usize,
    /// Phases without a stack.
    pub(crate) unseen: Vec<String>,
    /// Times between two stacks, in order of size.
    pub(crate) intervals_ns: Vec<u64>,
    /// The parts of the boot class path that could not be read, and why.
    pub(crate) unread: Vec<String>,
    /// How many classes the oracle knows.
    pub(crate) classes: usize,
}

pub(crate) fn play(stage: &Stage<'_>, apps: &Path) -> Result<Frames> {
    let mut frames = Frames::default();
    let oracle = oracle(stage, apps, &mut frames)?;
    let runs = |phase: &&str| *phase != "Handles" || stage.about.api_level >= FIRST_WITH_HANDLES;
    let phases: Vec<&str> = PHASES.into_iter().filter(runs).collect();
    for (at, phases) in phases.chunks(AT_ONCE).enumerate() {
        let scenario = format!("frames-{}", at + 1);
        let words = [stage.options.phase_ms.to_string()];
        let words: Vec<String> = words.into_iter().chain(phases.iter().map(|&phase| phase.into())).collect();
        let said = stage.phone.start(&scenario, "frames.Frames", &words)?.finish();
        let said = said.with_context(|| format!("while it ran {}", phases.join(", ")))?;
        let done = format!("phases done: {}", phases.len());
        ensure!(said.contains(&done), "the app said {said:?}, not `{done}`");
        let mut reports: BTreeMap<_, _> = phase_reports(&stage.reports(&scenario)?)?.into_iter().collect();
        for phase in phases {
            let report = reports.remove(*phase).with_context(|| format!("no report of {phase}"))?;
            frames.add(&oracle, phase, &report)?;
        }
    }
    frames.intervals_ns.sort_unstable();
    Ok(frames)
}

/// The oracle over the phone's boot class path and the scripted apps.
fn oracle(stage: &Stage<'_>, apps: &Path, frames: &mut Frames) -> Result<Oracle> {
    let mut oracle = Oracle::default();
    for jar in stage.phone.boot_class_path()? {
        let added = stage.phone.read(&jar).and_then(|bytes| Ok(oracle.add_jar(&bytes)?));
        if let Err(error) = added {
            frames.unread.push(format!("{jar}: {error:#}"));
        }
    }
    ensure!(oracle.class_count() > 0, "nothing of the boot class path can be read: {:?}", frames.unread);
    oracle.add_jar(&fs::read(apps).with_context(|| format!("cannot read {}", apps.display()))?)?;
    frames.classes = oracle.class_count();
    Ok(oracle)
}

impl Frames {
    fn add(&mut self, oracle: &Oracle, phase: &str, report: &Report) -> Result<()> {
        self.producer.clone_from(&report.meta.producer);
        self.features.clone_from(&report.features);
        let is_known = |statistic: &&Statistic| {
            ["sampler.", "hook."].iter().any(|part| statistic.name.starts_with(part))
        };
        self.statistics = report.statistics.iter().filter(is_known).cloned().collect();
        for tree in &report.trees {
            self.intervals_ns.extend(tree.sample_deltas_ns.iter().skip(1));
        }
        let by_java_api = |tree: &&StackTree| tree.source == StackSource::JavaApi;
        let stacks: usize =
            report.trees.iter().filter(by_java_api).map(|tree| tree.sample_deltas_ns.len()).sum();
        self.by_java_api += stacks;
        if stacks == 0 && !self.checked.add(oracle, phase, report)? {
            self.unseen.push(phase.to_owned());
        }
        Ok(())
    }

    /// The median of the time between two stacks.
    pub(crate) fn usual_interval_ns(&self) -> Option<u64> {
        self.intervals_ns.get(self.intervals_ns.len() / 2).copied()
    }
}
