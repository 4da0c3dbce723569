//! What clustering needs to know about a report, a stall or a jank frame.

use super::amount::Amount;
use super::recorder::{Off, off_in};
use super::signature::Problem;
use crate::diagnose::{Confidence, Diagnosis};
use crate::model::time::format_ns;
use crate::model::{Analysis, SampledTree};
use crate::smoothness::FramesOnce;
use loopbox_format::model::{JankFrame, Named, Running};
use loopbox_format::problem::{OBFUSCATED, Signature};
use loopbox_frames::RefreshInterval;
use schemars::JsonSchema;
use serde::Serialize;

/// The annotation by which an app names the user of a report.
const USER: &str = "user";

/// The report, or the file of a stall, that represents a group.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Representative {
    /// The file of the report.
    pub path: String,
    /// The headline of the report's diagnosis; for a stall, which message took how long.
    pub headline: String,
    /// The method to look at first.
    pub culprit: Option<String>,
}

/// What clustering needs of one report, stall or jank frame. Sightings do not depend on each other, so
/// threads can share the work.
#[derive(Debug, Clone)]
pub struct Sighting {
    pub(super) signature: Signature,
    pub(super) cause: String,
    pub(super) message: String,
    pub(super) anr: &'static str,
    pub(super) user: String,
    pub(super) device: String,
    pub(super) version: String,
    pub(super) seen_ms: Option<i64>,
    pub(super) amount: Amount,
    pub(super) quality: (Option<Confidence>, u32),
    pub(super) representative: Representative,
    /// Parts of the recorder that were off; reports only.
    pub(super) off: Vec<Off>,
    /// Whether the sighting is grouped. `false` for a report that shows no hang.
    pub(super) counts: bool,
}

impl Sighting {
    /// The sighting of a report with its diagnosis. `path` is the name of the report in the result.
    pub fn new(a: &Analysis, diagnosis: &Diagnosis, path: &str) -> Self {
        let problem = Problem::new(a, diagnosis);
        let samples = problem.token.and_then(|token| a.tree(token)).map_or(0, SampledTree::samples);
        let representative = Representative {
            path: path.to_string(),
            headline: diagnosis.headline.clone(),
            culprit: diagnosis.causes.first().and_then(|cause| cause.culprit.clone()),
        };
        Self {
            off: off_in(a),
            counts: a.may_be_of_hang(),
            ..Self::of(a, problem, Amount::REPORT, (diagnosis.confidence, samples), representative)
        }
    }

    /// The sighting of a stall, which is the running message of a separate report.
    pub fn of_stall(a: &Analysis, diagnosis: &Diagnosis, path: &str) -> Self {
        let wall_ns = a.running().map_or(0, Running::age_ns);
        let report = Self::new(a, diagnosis, path);
        let what = if report.message.is_empty() { "a message" } else { &report.message };
        let headline = format!("{what} took {}", format_ns(wall_ns));
        Self {
            amount: Amount::stall(wall_ns),
            // No verdict was asked for: what there is of one says why it is slow, or nothing.
            anr: "",
            cause: diagnosis.primary_cause().map_or(String::new(), |_| report.cause),
            // Of stalls the longest stands for the group, and any report before it.
            quality: (None, (wall_ns / 1_000_000).try_into().unwrap_or(u32::MAX)),
            representative: Representative { headline, ..report.representative },
            off: Vec::new(),
            counts: true,
            ..report
        }
    }

    /// The sightings of a report's jank frames. A jank frame gets a sighting only if it was shown at least
    /// one refresh too long and its refresh interval is valid.
    pub fn of_janks(a: &Analysis, once: &FramesOnce, path: &str) -> Vec<Self> {
        once.janks(a).filter_map(|jank| Self::of_jank(a, jank, path)).collect()
    }

    fn of_jank(a: &Analysis, jank: &JankFrame, path: &str) -> Option<Self> {
        let interval = RefreshInterval::from_ns(jank.interval_ns.into())?;
        let hitch_ns = u64::from(interval.dropped(jank.duration_ns)) * interval.ns();
        let problem = Problem::of_jank(a, jank);
        let (samples, culprit) = problem.token.and_then(|token| a.tree(token)).map_or((0, None), |tree| {
            let frames = problem.signature.frames.iter().rev().find(|frame| *frame != OBFUSCATED);
            (tree.samples(), frames.cloned())
        });
        let scene = a.display_frames.scenes.get(usize::from(jank.scene)).map(crate::smoothness::scene_name);
        let headline =
            format!("a frame of {} stood {}", scene.as_deref().unwrap_or("?"), format_ns(jank.duration_ns));
        let representative = Representative { path: path.to_string(), headline, culprit };
        (hitch_ns > 0).then(|| {
            let quality = (None, samples);
            // The report may be of a hang, or an ANR, that came later.
            Self { anr: "", ..Self::of(a, problem, Amount::jank(hitch_ns), quality, representative) }
        })
    }

    fn of(
        a: &Analysis,
        problem: Problem,
        amount: Amount,
        quality: (Option<Confidence>, u32),
        representative: Representative,
    ) -> Self {
        let user = a.meta.annotations.iter().find(|(name, _)| name == USER);
        Self {
            user: user.map(|(_, value)| value.clone()).unwrap_or_default(),
            device: a.meta.process.device.clone(),
            version: a.meta.process.app_version.clone(),
            seen_ms: a.wall_clock().unix_ms(a.dump_ns),
            amount,
            quality,
            representative,
            signature: problem.signature,
            cause: problem.cause,
            message: problem.message,
            anr: a.anr.verdict.name(),
            off: Vec::new(),
            counts: true,
        }
    }
}
