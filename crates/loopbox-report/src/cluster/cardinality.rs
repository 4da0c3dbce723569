//! Counting different values in bounded memory.

use crate::model::plural::plural;
use loopbox_format::problem::hash64;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The count is exact up to this number of different values.
const MAX_EXACT: usize = 512;
/// The binary logarithm of the number of registers; the standard error is 1.04 / sqrt(2^10) = 3.3 %.
const REGISTER_BITS: u32 = 10;

/// The number of different values: exact for few, estimated for many.
///
/// Few values are kept by their hash; above [`MAX_EXACT`] the hashes go into the registers of a HyperLogLog
/// (Flajolet et al., 2007).
#[derive(Debug, Clone)]
pub(super) enum Distinct {
    Few(BTreeSet<u64>),
    Many(Box<[u8; 1 << REGISTER_BITS]>),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Few(BTreeSet::new())
    }
}

impl Distinct {
    /// Counts a value. The empty value means unknown and is not counted.
    pub(super) fn add(&mut self, value: &str) {
        if !value.is_empty() {
            self.add_hash(hash64(value));
        }
    }

    fn add_hash(&mut self, hash: u64) {
        match self {
            Self::Few(hashes) => {
                hashes.insert(hash);
                if hashes.len() > MAX_EXACT {
                    let mut registers = Box::new([0; 1 << REGISTER_BITS]);
                    for &hash in hashes.iter() {
                        record_hash(&mut registers, hash);
                    }
                    *self = Self::Many(registers);
                }
            }
            Self::Many(registers) => record_hash(registers, hash),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        match other {
            Self::Few(hashes) => hashes.iter().for_each(|&hash| self.add_hash(hash)),
            Self::Many(theirs) => {
                let mut merged = theirs.clone();
                match self {
                    Self::Few(hashes) => hashes.iter().for_each(|&hash| record_hash(&mut merged, hash)),
                    Self::Many(ours) => {
                        for (merged, ours) in merged.iter_mut().zip(ours.iter()) {
                            *merged = (*merged).max(*ours);
                        }
                    }
                }
                *self = Self::Many(merged);
            }
        }
    }

    /// The count, and whether it is exact.
    pub(super) fn count(&self) -> (u64, bool) {
        let registers = match self {
            Self::Few(hashes) => return (hashes.len() as u64, true),
            Self::Many(registers) => registers,
        };
        let m = registers.len() as f64;
        let sum: f64 = registers.iter().map(|&rank| 0.5_f64.powi(i32::from(rank))).sum();
        let estimate = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        let empty = registers.iter().fold(0_u32, |n, rank| n + u32::from(*rank == 0));
        // While registers are empty, their number gives a better estimate (linear counting).
        let estimate =
            if estimate <= 2.5 * m && empty > 0 { m * (m / f64::from(empty)).ln() } else { estimate };
        (estimate.round() as u64, false)
    }
}

fn record_hash(registers: &mut [u8; 1 << REGISTER_BITS], hash: u64) {
    let rank = (hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1)).leading_zeros() + 1;
    let register = &mut registers[(hash >> (64 - REGISTER_BITS)) as usize];
    *register = (*register).max(rank as u8);
}

/// How many names are kept.
const MAX_NAMES: usize = 256;

/// A name and its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameCount {
    /// The name.
    pub name: String,
    /// The number of reports, stalls and jank frames that have the name.
    pub reports: u64,
}

/// The counts of the most frequent names, and the number of different names.
///
/// The counts are exact while there are at most [`MAX_NAMES`] names. At each name above that, the rarest half
/// is dropped, which can only lose names that are rarer than those kept.
#[derive(Debug, Clone, Default)]
pub(super) struct TopNames {
    counts: BTreeMap<String, u64>,
    distinct: Distinct,
}

impl TopNames {
    pub(super) fn add(&mut self, name: &str, times: u64) {
        if name.is_empty() {
            return;
        }
        self.distinct.add(name);
        if let Some(count) = self.counts.get_mut(name) {
            *count += times;
        } else {
            self.counts.insert(name.to_string(), times);
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.counts.len() <= MAX_NAMES {
            return;
        }
        let kept: Vec<_> =
            self.most(MAX_NAMES / 2).into_iter().map(|(name, count)| (name.to_string(), count)).collect();
        self.counts = kept.into_iter().collect();
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (name, &count) in &other.counts {
            *self.counts.entry(name.clone()).or_default() += count;
        }
        self.distinct.merge(&other.distinct);
        self.shrink();
    }

    /// The most frequent names, most frequent first; names with equal counts by name.
    pub(super) fn most(&self, n: usize) -> Vec<(&str, u64)> {
        let mut list: Vec<_> = self.counts.iter().map(|(name, &count)| (name.as_str(), count)).collect();
        list.sort_by(|l, r| r.1.cmp(&l.1).then(l.0.cmp(r.0)));
        list.truncate(n);
        list
    }

    /// How often a name was counted; 0 for one that is not kept.
    pub(super) fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    pub(super) fn distinct(&self) -> (u64, bool) {
        self.distinct.count()
    }
}

/// A number of different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Count {
    /// The number.
    pub count: u64,
    /// False when the number is an estimate (within a few per cent).
    pub exact: bool,
}

impl Count {
    /// The number; `None` for 0, which means that it is not known.
    pub(super) fn known((count, exact): (u64, bool)) -> Option<Self> {
        (count > 0).then_some(Self { count, exact })
    }

    pub(super) fn at_most(self, most: u64) -> Self {
        Self { count: self.count.min(most), ..self }
    }

    /// The count with its noun; an estimate has a `~`: `1 user`, `~3100 users`.
    pub(super) fn of(self, what: &str) -> String {
        format!("{}{}", if self.exact { "" } else { "~" }, plural(self.count, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_is_exact_for_few_and_close_for_many() {
        for n in [0_u32, 1, 500, 512, 513, 2_000, 30_000, 400_000] {
            let (mut all, mut odd) = (Distinct::default(), Distinct::default());
            for i in 0..n {
                if i % 2 == 0 { &mut all } else { &mut odd }.add(&format!("user {i}"));
                all.add(&format!("user {}", i / 2 * 2));
            }
            all.merge(&odd);
            let (count, exact) = all.count();
            assert_eq!(exact, n as usize <= MAX_EXACT, "{n}");
            let off = (count as f64 - f64::from(n)).abs();
            assert!(if exact { off == 0.0 } else { off < 0.1 * f64::from(n) }, "{n}: {count}");
        }
    }

    #[test]
    fn top_names_keep_frequent_names_among_many_rare_ones() {
        let (mut left, mut right) = (TopNames::default(), TopNames::default());
        for i in 0..5_000 {
            left.add(&format!("rare {i}"), 1);
            right.add(&format!("other {i}"), 1);
            left.add(if i % 3 == 0 { "Pixel" } else { "Galaxy" }, 1);
        }
        left.merge(&right);
        assert_eq!(left.most(2), [("Galaxy", 3_333), ("Pixel", 1_667)]);
        let (distinct, exact) = left.distinct();
        assert!(!exact && (9_000..11_000).contains(&distinct), "{distinct}");
        assert!(left.counts.len() <= MAX_NAMES);
    }

    #[test]
    fn top_names_do_not_count_unknown() {
        let mut top = TopNames::default();
        top.add("", 3);
        assert_eq!((top.most(3), top.distinct()), (vec![], (0, true)));
    }
}
