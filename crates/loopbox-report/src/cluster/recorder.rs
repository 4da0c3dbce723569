//! Which parts of the recorder were off in many reports, and why. This shows how well the recorder itself
//! works on the devices of all users.

use super::cardinality::{NameCount, TopNames};
use crate::model::Analysis;
use crate::model::name::Name;
use loopbox_format::model::{Feature, Named};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many reasons are kept for each part.
const MAX_REASONS: usize = 8;
/// How many characters of a reason are compared.
const MAX_REASON_CHARS: usize = 80;

/// A part of the recorder that was off in some of the reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartOff {
    /// The part.
    pub name: Name<Feature>,
    /// The number of reports in which the part was off.
    pub reports: u64,
    /// The most frequent reasons, the most frequent one first. A reason is the recorder's text up to its
    /// first comma, colon or semicolon.
    pub reasons: Vec<NameCount>,
}

/// A part of the recorder that was off in one report, and the reason.
pub(super) type Off = (Feature, String);

/// The parts that were off in a report.
pub(super) fn off_in(a: &Analysis) -> Vec<Off> {
    a.features.iter().filter(|part| !part.on).map(|part| (part.feature, reason(&part.detail))).collect()
}

/// The text up to its first comma, colon or semicolon. This part has no numbers and names of one process, so
/// it is equal in all processes.
fn reason(detail: &str) -> String {
    let kind = detail.split([',', ':', ';']).next().unwrap_or_default().trim();
    let kind = if kind.is_empty() { "no reason" } else { kind };
    kind.chars().take(MAX_REASON_CHARS).collect()
}

/// The parts that were off, in many reports.
#[derive(Debug, Default)]
pub(super) struct PartsOff(BTreeMap<&'static str, (Feature, u64, TopNames)>);

impl PartsOff {
    /// Adds the parts that were off in one report.
    pub(super) fn add(&mut self, off: &[Off]) {
        for (part, reason) in off {
            let (_, reports, reasons) =
                self.0.entry(part.name()).or_insert_with(|| (*part, 0, TopNames::default()));
            *reports += 1;
            reasons.add(reason, 1);
        }
    }

    /// Adds the parts of other reports.
    pub(super) fn merge(&mut self, other: Self) {
        for (name, (part, reports, reasons)) in other.0 {
            let own = self.0.entry(name).or_insert_with(|| (part, 0, TopNames::default()));
            own.1 += reports;
            own.2.merge(&reasons);
        }
    }

    /// The parts, those that were off in most reports first.
    pub(super) fn summary(&self) -> Vec<PartOff> {
        let part = |(part, reports, reasons): &(Feature, u64, TopNames)| PartOff {
            name: Name(*part),
            reports: *reports,
            reasons: reasons
                .most(MAX_REASONS)
                .into_iter()
                .map(|(name, reports)| NameCount { name: name.to_owned(), reports })
                .collect(),
        };
        let mut parts: Vec<PartOff> = self.0.values().map(part).collect();
        parts.sort_by_key(|part| Reverse(part.reports));
        parts
    }
}

impl PartOff {
    /// The reasons with the number of their reports: `unknown ART 30, fuse blown 1`.
    pub(super) fn reasons_in_words(&self) -> String {
        let reason = |each: &NameCount| format!("{} {}", each.name, each.reports);
        self.reasons.iter().map(reason).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(part: Feature, detail: &str) -> Off {
        (part, reason(detail))
    }

    #[test]
    fn reasons_are_counted_without_what_is_of_one_process() {
        let blown = |left| {
            format!("fuse blown, an earlier process ended in phase walk; starts until the next try: {left}")
        };
        let mut one = PartsOff::default();
        one.add(&[off(Feature::Sampler, &blown(4)), off(Feature::SigQuit, "")]);
        let mut other = PartsOff::default();
        other.add(&[off(Feature::Sampler, &blown(3))]);
        other.add(&[off(Feature::Sampler, "unknown ART: older than Android 8")]);
        one.merge(other);
        let parts = one.summary();
        let words: Vec<(&str, u64, String)> =
            parts.iter().map(|part| (part.name.as_str(), part.reports, part.reasons_in_words())).collect();
        let expected = [
            (Feature::Sampler.name(), 3, "fuse blown 2, unknown ART 1".to_owned()),
            (Feature::SigQuit.name(), 1, "no reason 1".to_owned()),
        ];
        assert_eq!(words, expected);
    }
}
