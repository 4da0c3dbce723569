//! The features of the recorder, and named values.

use crate::model::name::Name;
use loopbox_format::model::{Feature, FeatureState};

json_object! {
    /// A feature of the recorder.
    pub(crate) struct FeatureView<'a>(state: &'a FeatureState) {
        /// The name of the feature.
        name: Name<Feature> = Name(state.feature),
        /// Whether the feature was working.
        on: bool = state.on,
        /// How the feature works, or why it does not.
        detail: &'a str = &state.detail,
    }
}

json_object! {
    /// One statistic of the process or the system, or one annotation of the app.
    pub(super) struct NamedValueView<'a>(name: &'a str, value: &'a str) {
        /// The name. The name of a statistic is dotted and ends in its unit.
        name: &'a str = name,
        /// The value as text.
        value: &'a str = value,
    }
}
