//! What clustering needs of one report.

use super::signature::{Problem, Signature};
use crate::diagnose::{Confidence, Diagnosis};
use crate::model::anr_words::verdict;
use crate::model::{Analysis, SampledTree};
use serde::Serialize;

/// The annotation by which an app says which user a report is of.
const USER: &str = "user";

/// One report that stands for its group.
#[derive(Debug, Clone, Serialize)]
pub struct Representative {
    /// The file of the report.
    pub path: String,
    /// The headline of its diagnosis.
    pub headline: String,
    /// The method to look at first.
    pub culprit: Option<String>,
}

/// What clustering needs of one report. Threads make sightings independently of each other.
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
    pub(super) quality: (Option<Confidence>, u32),
    pub(super) representative: Representative,
}

impl Sighting {
    /// The sighting of a report with its diagnosis. `path` is the name of the report in the result.
    pub fn new(a: &Analysis, diagnosis: &Diagnosis, path: &str) -> Self {
        let problem = Problem::new(a, diagnosis);
        let samples = problem.token.and_then(|token| a.tree(token)).map_or(0, SampledTree::samples);
        let user = a.meta.annotations.iter().find(|(name, _)| name == USER);
        Self {
            user: user.map(|(_, value)| value.clone()).unwrap_or_default(),
            device: a.meta.process.device.clone(),
            version: a.meta.process.app_version.clone(),
            seen_ms: a.wall_clock().unix_ms(a.dump_ns),
            quality: (diagnosis.confidence, samples),
            representative: Representative {
                path: path.to_string(),
                headline: diagnosis.headline.clone(),
                culprit: diagnosis.causes.first().and_then(|cause| cause.culprit.clone()),
            },
            signature: problem.signature,
            cause: problem.cause,
            message: problem.message,
            anr: verdict(a.anr.verdict),
        }
    }
}
