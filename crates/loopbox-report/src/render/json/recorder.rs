//! The features of the recorder, and named values.

use crate::model::name::Name;
use loopbox_format::model::{Feature, FeatureState};
use schemars::JsonSchema;
use serde::Serialize;

/// A feature of the recorder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FeatureView<'a> {
    /// Which feature it is.
    name: Name<Feature>,
    /// Whether the feature was working.
    on: bool,
    /// How the feature works, or why it does not.
    detail: &'a str,
}

impl<'a> FeatureView<'a> {
    pub(crate) fn new(state: &'a FeatureState) -> Self {
        Self { name: Name(state.feature), on: state.on, detail: &state.detail }
    }
}

/// One statistic of the process or the system, or one annotation of the app.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NamedValueView<'a> {
    /// The name; that of a statistic is dotted and ends in its unit.
    pub(super) name: &'a str,
    /// The value as text.
    pub(super) value: &'a str,
}
