//! A small map of numbers, for the few hundred methods of a stack tree.

/// A map from number to number. It is a sorted list and not the standard library's tree, which adds 11 KB to
/// the library that ships.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    entries: Vec<(u64, u32)>,
}

impl Numbers {
    pub(super) fn get(&self, key: u64) -> Option<u32> {
        let at = self.entries.binary_search_by_key(&key, |entry| entry.0).ok()?;
        self.entries.get(at).map(|entry| entry.1)
    }

    pub(super) fn set(&mut self, key: u64, value: u32) {
        match self.entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(at) => self.entries.get_mut(at).into_iter().for_each(|entry| entry.1 = value),
            Err(at) => self.entries.insert(at, (key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn keeps_the_last_value_of_each_key(entries in prop::collection::vec((0_u64..40, any::<u32>()), 0..80)) {
            let mut numbers = Numbers::default();
            entries.iter().for_each(|&(key, value)| numbers.set(key, value));
            let expected: BTreeMap<u64, u32> = entries.into_iter().collect();
            for key in 0..40 {
                prop_assert_eq!(numbers.get(key), expected.get(&key).copied());
            }
        }
    }
}
