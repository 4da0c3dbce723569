//! Compares two sets of reports, for example of two versions, group by group: what is new, gone, better and
//! worse, and how certain that is.

mod junit;
mod markdown;
mod text;

pub use junit::junit;
pub use markdown::markdown;
pub use text::text;

use super::amount::Amount;
use super::groups::{Clusters, GroupStats};
use super::rate::{Active, Population, Rate, Unit, digits};
use super::statistics::{CONFIDENCE, Counted, Proportion, deviations};
use super::summary::{Group, distinct};
use crate::model::name::Name;
use crate::model::sanitize::sanitize;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Name and version of the JSON schema.
const SCHEMA: &str = "loopbox.diff/1";

/// One of the two sets of reports.
#[derive(Debug)]
pub struct SideInput {
    /// The name of the set.
    pub name: String,
    /// The groups of the set.
    pub clusters: Clusters,
    /// The number of files that could not be used.
    pub skipped: u64,
    /// The number of files left out because another one of this set has the same recording.
    pub duplicates: u64,
}

/// Which groups make a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// A group that surely has a higher rate, or a new group whose rate is surely above 0.
    Worse,
    /// What [`Worse`](Self::Worse) has, and each new group, even one with a single report.
    New,
    /// No group.
    Nothing,
}

/// How a group changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The group is only in the newer set.
    New,
    /// The group surely has a higher rate in the newer set.
    Worse,
    /// The group is only in the older set.
    Gone,
    /// The group surely has a lower rate in the newer set.
    Better,
    /// The names of the group are obfuscated, so they differ from version to version.
    Incomparable,
    /// The change may be chance.
    Same,
}

impl ChangeKind {
    /// The name of the kind, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Worse => "worse",
            Self::Gone => "gone",
            Self::Better => "better",
            Self::Incomparable => "incomparable",
            Self::Same => "same",
        }
    }
}

/// One of the two sets of reports.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Side {
    /// The name of the set.
    pub name: String,
    /// The number of reports in the set.
    pub reports: u64,
    /// The number of files that could not be used.
    pub skipped: u64,
    /// The number of files left out because another one of this set has the same recording.
    pub duplicates: u64,
    /// The number of reports that show no hang and no ANR. They are in no other number.
    pub without_hang: u64,
    /// The number that rates refer to, in [`Comparison::unit`].
    pub of: u64,
}

/// A change of a rate, with its confidence interval. The confidence of 95 % is that of all groups together:
/// with this confidence, every group's rate changed by an amount within its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The rate after, minus the rate before, per 1,000.
    pub per_1000: f64,
    /// The lower bound of the difference, per 1,000.
    pub low: f64,
    /// The upper bound of the difference, per 1,000.
    pub high: f64,
}

/// A group, with its rate in both sets.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Change {
    /// The id of the group, as in `loopbox cluster`.
    pub id: String,
    /// The method where the time goes, or else the message, or else the cause.
    pub title: String,
    /// How the group changed.
    pub change: ChangeKind,
    /// Whether the interval of the difference excludes 0.
    pub certain: bool,
    /// Whether the group makes the comparison fail.
    pub fails: bool,
    /// The rate of the group in the older set.
    pub before: Rate,
    /// The rate of the group in the newer set.
    pub after: Rate,
    /// The rate in the newer set, minus the rate in the older set.
    pub difference: Difference,
    /// The rule that found the cause of most of the group's reports.
    pub cause: String,
    /// The app's frames that all reports of the group share.
    pub frames: Vec<String>,
    /// The report to open first, from the newer set if it has one.
    pub open: String,
}

/// Two sets of reports, group by group.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Comparison {
    /// `loopbox.diff/1`; documented in `docs/diff.md`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// What is counted.
    pub unit: Name<Unit>,
    /// The older set.
    pub before: Side,
    /// The newer set.
    pub after: Side,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The number of groups that were compared.
    pub compared: usize,
    /// Whether a group makes the comparison fail.
    pub failed: bool,
    /// The groups. Those that make the comparison fail come first; after that, the order is by kind of change
    /// and by size of the change.
    pub groups: Vec<Change>,
}

impl Comparison {
    /// Compares two sets. `active` has the number of the app's users, or of its uses, for each set. If it is
    /// `None`, rates refer to the users who sent a report. If one of the sets names no users either, they
    /// refer to the reports.
    pub fn new(
        before: &SideInput,
        after: &SideInput,
        active: Option<(Active, [u64; 2])>,
        gate: Gate,
    ) -> Self {
        let sides = [before, after];
        let known = sides.map(|side| side.clusters.users.count());
        let unit = match active {
            Some((active, _)) => active.unit(),
            None if known.iter().all(|(count, _)| *count > 0) => Unit::UsersWithAReport,
            None => Unit::Reports,
        };
        let populations = [0, 1].map(|at: usize| {
            let reports = sides[at].clusters.amount.reports;
            let of = match active {
                Some((_, of)) => Counted::new(of[at], true),
                None if unit.is_of_users() => {
                    Counted::new((known[at].0 + sides[at].clusters.unnamed).min(reports), known[at].1)
                }
                None => Counted::new(reports, true),
            };
            Population { unit, of }
        });
        let maps: [&HashMap<u64, GroupStats>; 2] = sides.map(|side| &side.clusters.groups);
        let keys: BTreeSet<u64> = maps.iter().flat_map(|groups| groups.keys().copied()).collect();
        let pairs: Vec<[Option<&GroupStats>; 2]> =
            keys.iter().map(|key| maps.map(|groups| groups.get(key))).collect();
        let compared = pairs.iter().filter(|pair| is_comparable(**pair)).count();
        let mut groups: Vec<Change> = pairs
            .into_iter()
            .filter_map(|pair| change(pair, populations, deviations(compared), gate))
            .collect();
        groups.sort_by(|x, y| {
            let size = |change: &Change| change.difference.per_1000.abs();
            let rank = |change: &Change| (!change.fails, change.change, !change.certain);
            rank(x).cmp(&rank(y)).then(size(y).total_cmp(&size(x))).then_with(|| x.id.cmp(&y.id))
        });
        let side = |at: usize| Side {
            name: sanitize(&sides[at].name, usize::MAX),
            reports: sides[at].clusters.amount.reports,
            skipped: sides[at].skipped,
            duplicates: sides[at].duplicates,
            without_hang: sides[at].clusters.without_hang,
            of: populations[at].of.value as u64,
        };
        Self {
            schema: SCHEMA,
            unit: Name(unit),
            before: side(0),
            after: side(1),
            confidence: CONFIDENCE,
            compared,
            failed: groups.iter().any(|change| change.fails),
            groups,
        }
    }

    /// `passed`, or `failed: 1 new, 1 worse`.
    fn verdict(&self) -> String {
        let count = |kind| self.groups.iter().filter(|change| change.fails && change.change == kind).count();
        match (count(ChangeKind::New), count(ChangeKind::Worse)) {
            (0, 0) => "passed".into(),
            (new, worse) => format!("failed: {new} new, {worse} worse"),
        }
    }
}

/// Whether the group can be found in every version: its names are not obfuscated.
fn is_comparable(pair: [Option<&GroupStats>; 2]) -> bool {
    pair.iter().flatten().all(|group| group.signature.version.is_empty())
}

fn change(
    pair: [Option<&GroupStats>; 2],
    populations: [Population; 2],
    joint: f64,
    gate: Gate,
) -> Option<Change> {
    let [before, after] = pair;
    // What is shown of the group is that of the newer set.
    let group = Group::new(after.or(before)?, &Amount::default(), &[]);
    let counts = [0, 1].map(|at: usize| match pair[at] {
        None => (0, Counted::new(0, true)),
        // Both sides have reports, and no stalls.
        Some(group) => populations[at]
            .affected(&group.amount, distinct(&group.users), group.unnamed)
            .unwrap_or((0, Counted::new(0, true))),
    });
    let proportion = |at: usize, z: f64| Proportion::new(counts[at].1, populations[at].of, z);
    let difference = proportion(1, joint).difference(proportion(0, joint));
    let (certain_more, certain_less) = (difference.low > 0.0, difference.high < 0.0);
    let kind = match (counts[0].0, counts[1].0) {
        _ if !is_comparable(pair) => ChangeKind::Incomparable,
        (0, _) => ChangeKind::New,
        (_, 0) => ChangeKind::Gone,
        _ if certain_more => ChangeKind::Worse,
        _ if certain_less => ChangeKind::Better,
        _ => ChangeKind::Same,
    };
    let fails = match (gate, kind) {
        (Gate::Nothing, _) => false,
        (_, ChangeKind::Worse) | (Gate::New, ChangeKind::New) => true,
        (Gate::Worse, ChangeKind::New) => certain_more,
        _ => false,
    };
    let rate = |at: usize| Rate::new(counts[at], populations[at].of);
    Some(Change {
        id: group.id.clone(),
        title: group.title().to_owned(),
        change: kind,
        certain: kind != ChangeKind::Incomparable && (certain_more || certain_less),
        fails,
        before: rate(0),
        after: rate(1),
        difference: Difference {
            per_1000: 1e3 * difference.value,
            low: 1e3 * difference.low.max(-1.0),
            high: 1e3 * difference.high.min(1.0),
        },
        cause: group.top_causes.first().map(|cause| cause.name.clone()).unwrap_or_default(),
        frames: group.frames,
        open: sanitize(&group.representative.path, usize::MAX),
    })
}

impl Difference {
    /// The difference with its interval: `+3.1 (2.0 to 4.6)`.
    fn text(self) -> String {
        let sign = if self.per_1000 > 0.0 { "+" } else { "" };
        format!("{sign}{} ({} to {})", digits(self.per_1000), digits(self.low), digits(self.high))
    }
}

#[cfg(test)]
mod tests;
