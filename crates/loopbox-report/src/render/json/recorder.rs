//! The features of the recorder and the statistics it took.

use loopbox_format::model::{Feature, FeatureState};
use serde::Serialize;

/// A feature of the recorder.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureView {
    /// `hook`, `sampler`, `ring`, `sigquit`, `frames`, `stages` or `touch`.
    pub name: &'static str,
    /// Whether the feature was working.
    pub on: bool,
    /// How the feature works, or why it does not.
    pub detail: String,
}

impl FeatureView {
    pub(super) fn new(state: &FeatureState) -> Self {
        Self {
            name: match state.feature {
                Feature::Hook => "hook",
                Feature::Sampler => "sampler",
                Feature::Ring => "ring",
                Feature::SigQuit => "sigquit",
                Feature::Frames => "frames",
                Feature::Stages => "stages",
                Feature::Touch => "touch",
                Feature::Janks => "janks",
                _ => "unknown",
            },
            on: state.on,
            detail: state.detail.clone(),
        }
    }
}

/// One statistic of the process or the system, or one annotation of the app.
#[derive(Debug, Clone, Serialize)]
pub struct NamedValueView {
    /// The name; that of a statistic is dotted and ends in its unit.
    pub name: String,
    /// The value as text.
    pub value: String,
}
