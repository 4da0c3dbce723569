//! Which features work, how, and why others do not.

use loopbox_format::model::{Feature, FeatureState};
use std::sync::{Mutex, PoisonError};

/// The state of each feature, for reports and `Status`. Changed seldom, never for each message.
#[derive(Debug, Default)]
pub(crate) struct Features(Mutex<Vec<FeatureState>>);

impl Features {
    pub(crate) fn set(&self, feature: Feature, on: bool, detail: impl Into<String>) {
        self.update(feature, on, detail.into());
    }

    /// Sets the state of a feature. Returns whether it differs from the last one.
    pub(crate) fn update(&self, feature: Feature, on: bool, detail: String) -> bool {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = FeatureState { feature, on, detail };
        match states.iter_mut().find(|known| known.feature == feature) {
            Some(known) if *known == state => return false,
            Some(known) => *known = state,
            None => states.push(state),
        }
        true
    }

    pub(crate) fn list(&self) -> Vec<FeatureState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_state_replaces_an_earlier_one() {
        let features = Features::default();
        features.set(Feature::Hook, true, "Printer");
        features.set(Feature::Ring, true, "");
        features.set(Feature::Hook, false, "displaced");
        let list = features.list();
        assert_eq!(list.len(), 2);
        assert_eq!((list[0].on, list[0].detail.as_str()), (false, "displaced"));
    }
}
