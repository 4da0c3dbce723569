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

    /// Sets the state of a feature for a while. Returns the state before, for [`Features::put_back`]; `None`
    /// when there was none.
    pub(crate) fn replace(&self, feature: Feature, on: bool, detail: &str) -> Option<FeatureState> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = states.iter_mut().find(|known| known.feature == feature)?;
        Some(std::mem::replace(known, FeatureState { feature, on, detail: detail.to_owned() }))
    }

    /// Sets a feature to its state before [`Features::replace`], unless it was changed meanwhile. Returns
    /// whether it was set.
    pub(crate) fn put_back(&self, before: FeatureState, replaced_with: &str) -> bool {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_replaced =
            |known: &&mut FeatureState| known.feature == before.feature && known.detail == replaced_with;
        states.iter_mut().find(is_replaced).map(|known| *known = before).is_some()
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

    #[test]
    fn a_state_that_was_replaced_is_put_back_unless_another_one_came() {
        let features = Features::default();
        assert_eq!(features.replace(Feature::Sampler, false, "stuck"), None);
        features.set(Feature::Sampler, true, "table");
        let before = features.list();
        let state = features.replace(Feature::Sampler, false, "stuck").unwrap();
        assert_eq!((features.list()[0].on, features.list()[0].detail.as_str()), (false, "stuck"));
        assert!(features.put_back(state.clone(), "stuck"));
        assert_eq!(features.list(), before);
        features.replace(Feature::Sampler, false, "stuck");
        features.set(Feature::Sampler, false, "switched off");
        assert!(!features.put_back(state, "stuck"));
        assert_eq!(features.list()[0].detail, "switched off");
    }
}
