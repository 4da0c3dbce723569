//! All numbers that an app may choose, validated once.

use crate::MAX_DETAILS;
use crate::options as of;
use loopbox_format::model::Limits;
use std::ops::RangeInclusive;

/// Which parts of a message's identity are kept. `obj`, data and intents are never kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Class names of target and callback, and `what`.
    #[default]
    Names,
    /// Names of framework component messages only; the app's own messages stay unnamed.
    ComponentsOnly,
}

/// The sampler's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// Whether stacks are taken at all.
    pub enabled: bool,
    /// Whether a message gets only one stack, taken when sampling would begin. The stack is kept, however
    /// short the message was.
    pub once: bool,
    /// Age of a message at which sampling begins.
    pub onset_ns: u64,
    /// Time between two stacks.
    pub interval_ns: u64,
    /// A message's tree is kept when the message ran for as long as this many samples take at the configured
    /// interval.
    pub min_samples: u32,
    /// How many trees are kept; the newest replaces the oldest.
    pub trees: u32,
    /// The largest number of samples in one tree; the interval doubles as they are used up.
    pub samples_per_tree: u32,
    /// The largest number of nodes in one tree; the interval doubles as they are used up.
    pub nodes_per_tree: u32,
    /// How long the main thread may be stopped in one hour, all samples together.
    pub stop_budget_per_hour_ns: u64,
    /// A stop longer than this makes the sampler back off.
    pub slow_stop_ns: u64,
    /// The sampling interval is this many times as long while the app is in the background.
    pub background_factor: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            enabled: of::SAMPLING,
            once: of::SAMPLE_ONCE,
            onset_ns: of::SAMPLE_ONSET_MS.default * MS,
            interval_ns: of::SAMPLE_INTERVAL_MS.default * MS,
            min_samples: of::MIN_SAMPLES.default,
            trees: of::TREES.default,
            samples_per_tree: 2048,
            nodes_per_tree: 4096,
            stop_budget_per_hour_ns: 20 * SECOND,
            slow_stop_ns: 5 * MS,
            background_factor: 4,
        }
    }
}

/// The recorder's limits. The defaults are Qimao's: groups of 300 ms, descriptions from 50 ms, 100 records, a
/// stack every 10 ms from 50 ms on, and 10 trees of at least 95 samples each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The length at which a group is full, a message becomes a separate record, and a gap becomes a record.
    pub group_ns: u64,
    /// A message whose dispatch takes at least this long is kept by name.
    pub detail_ns: u64,
    /// A gap longer than this is a frozen process and not an idle one.
    pub frozen_ns: u64,
    /// How many records the history keeps.
    pub slots: u32,
    /// How many messages a record keeps by name, at most [`MAX_DETAILS`]. When more are slow, the slowest are
    /// kept.
    pub details_per_record: u32,
    /// Which parts of a message's identity are kept.
    pub keep: Keep,
    /// The sampler's numbers.
    pub sampling: Sampling,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            group_ns: of::GROUP_MS.default * MS,
            detail_ns: of::DETAIL_MS.default * MS,
            frozen_ns: 60 * SECOND,
            slots: of::SLOTS.default,
            details_per_record: of::DETAILS_PER_RECORD.default,
            keep: Keep::Names,
            sampling: Sampling::default(),
        }
    }
}

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

// A record has room for as many.
const _: () = assert!(*of::DETAILS_PER_RECORD.bounds.end() as usize == MAX_DETAILS);

/// Why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number is outside of its range.
    #[error("{name} is {value}, must be {min} to {max}")]
    OutOfRange {
        /// The field.
        name: &'static str,
        /// The value.
        value: u64,
        /// The least that is allowed.
        min: u64,
        /// The most that is allowed.
        max: u64,
    },
    /// Two numbers contradict each other.
    #[error("{name} is {value}, must be {relation} {other} ({bound})")]
    Contradiction {
        /// The field.
        name: &'static str,
        /// The value.
        value: u64,
        /// How the value must compare with the other one: `less than`, `more than`, `at most`.
        relation: &'static str,
        /// The other field.
        other: &'static str,
        /// The value of the field `other`.
        bound: u64,
    },
}

impl Config {
    /// Returns the configuration if every value is valid.
    ///
    /// # Errors
    /// The first value that is not valid, with what would be allowed.
    pub fn validated(self) -> Result<Self, ConfigError> {
        let s = &self.sampling;
        let ranges: [(&'static str, u64, RangeInclusive<u64>); 14] = [
            ("group_ns", self.group_ns, of::GROUP_MS.ns()),
            ("detail_ns", self.detail_ns, of::DETAIL_MS.ns()),
            ("frozen_ns", self.frozen_ns, SECOND..=3_600 * SECOND),
            ("slots", self.slots.into(), of::SLOTS.range()),
            ("details_per_record", self.details_per_record.into(), of::DETAILS_PER_RECORD.range()),
            ("sampling.onset_ns", s.onset_ns, of::SAMPLE_ONSET_MS.ns()),
            ("sampling.interval_ns", s.interval_ns, of::SAMPLE_INTERVAL_MS.ns()),
            ("sampling.min_samples", s.min_samples.into(), of::MIN_SAMPLES.range()),
            ("sampling.trees", s.trees.into(), of::TREES.range()),
            ("sampling.samples_per_tree", s.samples_per_tree.into(), 64..=65_536),
            ("sampling.nodes_per_tree", s.nodes_per_tree.into(), 512..=65_536),
            ("sampling.stop_budget_per_hour_ns", s.stop_budget_per_hour_ns, 10 * MS..=600 * SECOND),
            ("sampling.slow_stop_ns", s.slow_stop_ns, MS / 10..=SECOND),
            ("sampling.background_factor", s.background_factor.into(), 1..=100),
        ];
        for (name, value, allowed) in ranges {
            if !allowed.contains(&value) {
                return Err(ConfigError::OutOfRange {
                    name,
                    value,
                    min: *allowed.start(),
                    max: *allowed.end(),
                });
            }
        }
        let contradictions = [
            (
                "detail_ns",
                self.detail_ns,
                self.detail_ns < self.group_ns,
                "less than",
                "group_ns",
                self.group_ns,
            ),
            (
                "frozen_ns",
                self.frozen_ns,
                self.frozen_ns > self.group_ns,
                "more than",
                "group_ns",
                self.group_ns,
            ),
            (
                "sampling.min_samples",
                s.min_samples.into(),
                s.min_samples <= s.samples_per_tree,
                "at most",
                "sampling.samples_per_tree",
                s.samples_per_tree.into(),
            ),
        ];
        for (name, value, holds, relation, other, bound) in contradictions {
            if !holds {
                return Err(ConfigError::Contradiction { name, value, relation, other, bound });
            }
        }
        Ok(self)
    }
}

impl From<&Config> for Limits {
    fn from(config: &Config) -> Self {
        Self {
            group_ns: config.group_ns,
            detail_ns: config.detail_ns,
            slots: config.slots,
            details_per_record: config.details_per_record,
            sample_onset_ns: config.sampling.onset_ns,
            sample_interval_ns: if config.sampling.once { 0 } else { config.sampling.interval_ns },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_the_formats() {
        let config = Config::default().validated().unwrap();
        assert_eq!(Limits::from(&config), Limits::default());
    }

    #[test]
    fn a_refusal_names_the_value_and_what_is_allowed() {
        let refuse = |config: Config| config.validated().unwrap_err().to_string();
        assert_eq!(refuse(Config { slots: 3, ..Config::default() }), "slots is 3, must be 10 to 500");
        assert_eq!(
            refuse(Config { details_per_record: 9, ..Config::default() }),
            "details_per_record is 9, must be 1 to 8"
        );
        assert_eq!(
            refuse(Config { detail_ns: 300 * MS, ..Config::default() }),
            "detail_ns is 300000000, must be less than group_ns (300000000)"
        );
        let sampling = Sampling { interval_ns: 0, ..Sampling::default() };
        assert_eq!(
            refuse(Config { sampling, ..Config::default() }),
            "sampling.interval_ns is 0, must be 1000000 to 10000000000"
        );
    }
}
