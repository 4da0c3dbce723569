//! The result of clustering: its JSON, and what the text and the HTML page are made from.

use super::amount::{Amount, Measure};
use super::cardinality::{Count, Distinct, NameCount, TopNames};
use super::groups::{Clusters, GroupStats};
use super::rate::{Active, Population, Rate, Unit};
use super::recorder::PartOff;
use super::sighting::Representative;
use super::statistics::Counted;
use crate::model::name::Name;
use crate::model::plural::plural;
use crate::model::version::version_code;
use loopbox_format::problem::OBFUSCATED;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;

/// Name and version of the JSON schema.
const SCHEMA: &str = "loopbox.cluster/1";
/// How many versions a trend has at most, the newest ones.
const MAX_TREND: usize = 8;
/// How many devices, versions and other names a group lists at most.
const MAX_LISTED: usize = 5;

/// Groups of reports, stalls and jank frames, sorted by `ranked_by`, largest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Summary {
    /// `loopbox.cluster/1`; documented in `docs/clustering.md`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// What groups are ranked by.
    pub ranked_by: Measure,
    /// The amounts of all groups together.
    #[serde(flatten)]
    pub amount: Amount,
    /// The number of files that could not be used.
    pub skipped: u64,
    /// The number of files left out because another one has the same recording.
    pub duplicates: u64,
    /// The number of reports that show no hang and no ANR. The reasons for such reports: the app asked for
    /// them, the system sent SIGQUIT for another app's ANR, or the process ended by a crash or with recorded
    /// display frames. These reports are in no other number.
    pub without_hang: u64,
    /// The number of users; `None` when no report names its user.
    pub users: Option<Count>,
    /// What rates refer to; `None` when no number of users or uses was given.
    pub rates_of: Option<Name<Unit>>,
    /// The number of groups left out because they were known before; `None` when no known groups were given.
    pub known: Option<u64>,
    /// The number of reports, stalls and jank frames in no group, because there were too many groups already;
    /// 0 in practice.
    pub beyond: u64,
    /// The groups, sorted by `ranked_by`, largest first.
    pub groups: Vec<Group>,
    /// The parts of the recorder that were off in some of the reports, the most frequent ones first. They
    /// show how well the recorder itself works. Reports do not contain what the start guard did.
    pub recorder: Vec<PartOff>,
}

/// A group of reports with the same signature.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Group {
    /// A short hash of the signature.
    pub id: String,
    /// The amounts of the group.
    #[serde(flatten)]
    pub amount: Amount,
    /// The share of the group in the total of `ranked_by`, 0 to 1.
    pub share: f64,
    /// The share of the app's users or uses that the group affects. `None` when the number of the app's users
    /// or uses was not given. Also `None` when the group has stalls and no reports, and it is not known how
    /// many users or uses had these stalls.
    pub rate: Option<Rate>,
    /// The number of users.
    pub users: Option<Count>,
    #[serde(skip)]
    unnamed: u64,
    /// The number of devices.
    pub devices: Option<Count>,
    /// The number of app versions.
    pub versions: Option<Count>,
    /// The most frequent devices.
    pub top_devices: Vec<NameCount>,
    /// The most frequent app versions.
    pub top_versions: Vec<NameCount>,
    /// The newest versions, oldest first, each with the share of its reports that are in the group. The share
    /// is 0 for a version without a report of the group.
    pub trend: Vec<VersionShare>,
    /// When the first report of the group was dumped, in Unix milliseconds.
    pub first_ms: Option<i64>,
    /// When the last report of the group was dumped, in Unix milliseconds.
    pub last_ms: Option<i64>,
    /// The rules of `loopbox diagnose` that found the causes of most of the group's reports.
    pub top_causes: Vec<NameCount>,
    /// The most frequent messages of the group's reports, as far as they are known.
    pub top_messages: Vec<NameCount>,
    /// The ANR verdicts of the group's reports: `confirmed`, `probable`, `hang`, `responsive`, `unknown`.
    pub anr_verdicts: Vec<NameCount>,
    /// The app's methods on the hot path that the reports of the group share, outermost first. If there are
    /// none, other methods of that path.
    pub frames: Vec<String>,
    /// The app version of a group with obfuscated names, which are valid for one version only; empty for any
    /// other group.
    pub obfuscated_version: String,
    /// The report to open first.
    pub representative: Representative,
}

/// The share of a version's reports that are in a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionShare {
    /// The version, as its reports name it.
    pub version: String,
    /// The number of the group's reports of that version.
    pub reports: u64,
    /// The number of all reports of that version.
    pub of: u64,
}

impl Clusters {
    /// The groups, sorted by [`Summary::ranked_by`], largest first. `skipped` is the number of files that
    /// could not be used. `duplicates` is the number of files that were left out because another file has the
    /// same recording.
    pub fn summary(&self, skipped: u64, duplicates: u64) -> Summary {
        let newest = self.newest_versions();
        let mut groups: Vec<Group> =
            self.groups.values().map(|group| Group::new(group, &self.amount, &newest)).collect();
        let measure = self.amount.measure();
        let users = |group: &Group| group.users.map_or(0, |users| users.count);
        groups.sort_by(|l, r| {
            let rank = |g: &Group| (Reverse(g.amount.rank(measure)), Reverse(users(g)));
            rank(l).cmp(&rank(r)).then_with(|| l.representative.path.cmp(&r.representative.path))
        });
        Summary {
            schema: SCHEMA,
            ranked_by: measure,
            amount: self.amount,
            skipped,
            duplicates,
            without_hang: self.without_hang,
            users: distinct(&self.users).map(|users| users.at_most(self.amount.counted())),
            rates_of: None,
            known: None,
            beyond: self.beyond,
            groups,
            recorder: self.off.summary(),
        }
    }
}

impl Clusters {
    /// The newest versions with the number of their reports, oldest first.
    pub(super) fn newest_versions(&self) -> Vec<(String, u64)> {
        let mut all = TopNames::default();
        self.groups.values().for_each(|group| all.merge(&group.versions));
        // Those that name no number come first, by their text.
        let order = |version: &str| (version_code(version), version.to_owned());
        let mut versions: Vec<(String, u64)> =
            all.most(usize::MAX).into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        versions.sort_by_key(|(version, _)| order(version));
        versions.split_off(versions.len().saturating_sub(MAX_TREND))
    }
}

impl Summary {
    /// Gives each group its rate. `of` is how many users the app had, or how often it was used, in the time
    /// of the reports.
    pub fn add_rates(&mut self, active: Active, of: u64) {
        let population = Population { unit: active.unit(), of: Counted::new(of, true) };
        self.rates_of = Some(Name(population.unit));
        for group in &mut self.groups {
            let affected = population.affected(&group.amount, group.users, group.unnamed);
            group.rate = affected.map(|affected| Rate::new(affected, population.of));
        }
    }

    /// The rate of a group in words: `3.1 (2.0 to 4.6) of 1,000 users`; `None` when no number of users or
    /// uses was given.
    pub(super) fn rate_in_words(&self, group: &Group) -> Option<String> {
        Some(format!("{} of 1,000 {}", group.rate?.text(), self.rates_of?))
    }

    /// The first line of the result: `812 reports of 640 users in 12 groups, 3 files skipped, 2 duplicates
    /// left out, 40 reports without a hang left out`.
    pub(super) fn headline(&self) -> String {
        let users = self.users.map(|users| format!(" of {}", users.of("user"))).unwrap_or_default();
        let (new, known) = match self.known {
            None => ("group", String::new()),
            Some(known) => ("new group", format!(" and {known} known")),
        };
        let groups = plural(self.groups.len() as u64, new) + &known;
        let skipped = match self.skipped {
            0 => String::new(),
            n => format!(", {} skipped", plural(n, "file")),
        };
        let duplicates = match self.duplicates {
            0 => String::new(),
            n => format!(", {} left out", plural(n, "duplicate")),
        };
        let calm = match self.without_hang {
            0 => String::new(),
            n => format!(", {} without a hang left out", plural(n, "report")),
        };
        format!("{}{users} in {groups}{skipped}{duplicates}{calm}", self.amount.in_words())
    }
}

impl Group {
    /// The group's counts in words, as far as they are known: `2 users, 1 device, 3 versions`.
    pub(super) fn counts(&self) -> String {
        let counts = [(self.users, "user"), (self.devices, "device"), (self.versions, "version")];
        let known = counts.iter().filter_map(|(count, what)| count.map(|count| count.of(what)));
        known.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn new(group: &GroupStats, all: &Amount, newest: &[(String, u64)]) -> Self {
        let signature = &group.signature;
        Self {
            id: signature.id(),
            amount: group.amount,
            share: group.amount.share_of(all, all.measure()),
            rate: None,
            // An estimate of many may be too high.
            users: distinct(&group.users).map(|users| users.at_most(group.amount.counted())),
            unnamed: group.unnamed,
            devices: Count::known(group.devices.distinct()),
            versions: Count::known(group.versions.distinct()),
            top_devices: top(&group.devices),
            top_versions: top(&group.versions),
            trend: newest
                .iter()
                .map(|(version, of)| VersionShare {
                    version: version.clone(),
                    reports: group.versions.count(version),
                    of: *of,
                })
                .collect(),
            first_ms: group.first_ms,
            last_ms: group.last_ms,
            top_causes: top(&group.causes),
            top_messages: top(&group.messages),
            anr_verdicts: top(&group.anr_verdicts),
            frames: signature.frames.clone(),
            obfuscated_version: signature.version.clone(),
            representative: group.representative.clone(),
        }
    }

    /// The group's title: the method where the time goes, or else the message, or else the cause.
    pub fn title(&self) -> &str {
        let frame = self.frames.iter().rev().find(|frame| *frame != OBFUSCATED).map(String::as_str);
        let mut names = self.top_messages.iter().take(1).chain(&self.top_causes);
        frame.or_else(|| Some(names.next()?.name.as_str())).unwrap_or_default()
    }
}

pub(super) fn distinct(distinct: &Distinct) -> Option<Count> {
    Count::known(distinct.count())
}

fn top(top: &TopNames) -> Vec<NameCount> {
    top.most(MAX_LISTED)
        .into_iter()
        .map(|(name, reports)| NameCount { name: name.to_string(), reports })
        .collect()
}
