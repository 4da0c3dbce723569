//! The result of clustering as one value: its JSON, and what text and HTML are made from.

use super::sketch::{Distinct, Top};
use super::{Cell, Clusters};
use serde::Serialize;
use std::cmp::Reverse;

/// Name and version of the JSON schema.
const SCHEMA: &str = "loopbox.cluster/1";
/// Devices and versions named in a group.
const NAMED: usize = 5;

/// Groups of reports, those with most reports first.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// `loopbox.cluster/1`; documented in `docs/clustering.md`.
    pub schema: &'static str,
    /// Reports that were grouped.
    pub reports: u64,
    /// Files that could not be used.
    pub skipped: u64,
    /// How many users the reports are of; `None` when no report says.
    pub users: Option<Count>,
    /// Reports whose group came after more groups than are kept apart; 0 in any real corpus.
    pub beyond: u64,
    /// The groups.
    pub groups: Vec<Group>,
}

/// A number of different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many.
    pub count: u64,
    /// False when it is an estimate (within a few per cent).
    pub exact: bool,
}

/// One problem.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// A short number of the signature, to tell groups of one run apart.
    pub id: String,
    /// How many reports have it.
    pub reports: u64,
    /// Their share of all reports, 0 to 1.
    pub share: f64,
    /// How many users.
    pub users: Option<Count>,
    /// How many devices.
    pub devices: Option<Count>,
    /// How many app versions.
    pub versions: Option<Count>,
    /// The most frequent devices.
    pub top_devices: Vec<Named>,
    /// The most frequent app versions.
    pub top_versions: Vec<Named>,
    /// When the first of its reports was made, Unix milliseconds.
    pub first_ms: Option<i64>,
    /// When the last one was made.
    pub last_ms: Option<i64>,
    /// The rule of `loopbox diagnose` that all its reports share.
    pub cause: String,
    /// The message that all share; empty when it has no name.
    pub message: String,
    /// The frames that all share, the entry into the app first.
    pub frames: Vec<String>,
    /// The only app version it can be of, when its names are obfuscated; else empty.
    pub obfuscated_version: String,
    /// The report to open first.
    pub representative: Representative,
}

/// A name and how often it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// How many reports have it.
    pub reports: u64,
}

/// One report that stands for its group.
#[derive(Debug, Clone, Serialize)]
pub struct Representative {
    /// Its file.
    pub path: String,
    /// What `loopbox diagnose` says of it.
    pub headline: String,
    /// The method to look at first.
    pub culprit: Option<String>,
}

impl Summary {
    pub(super) fn new(clusters: &Clusters, skipped: u64) -> Self {
        let reports = clusters.reports;
        let mut groups: Vec<Group> = clusters.cells.values().map(|cell| Group::new(cell, reports)).collect();
        let users = |group: &Group| group.users.map_or(0, |users| users.count);
        groups.sort_by(|l, r| {
            let rank = |g: &Group| (Reverse(g.reports), Reverse(users(g)));
            rank(l).cmp(&rank(r)).then_with(|| l.representative.path.cmp(&r.representative.path))
        });
        Self {
            schema: SCHEMA,
            reports,
            skipped,
            users: distinct(&clusters.users),
            beyond: clusters.beyond,
            groups,
        }
    }
}

impl Summary {
    /// `812 reports of 640 users in 12 groups, 3 files skipped`.
    pub(super) fn headline(&self) -> String {
        let users = self.users.map(|users| format!(" of {}", users.of("user"))).unwrap_or_default();
        let groups = plural(self.groups.len() as u64, "group");
        let skipped = match self.skipped {
            0 => String::new(),
            n => format!(", {} skipped", plural(n, "file")),
        };
        format!("{}{users} in {groups}{skipped}", plural(self.reports, "report"))
    }
}

impl Group {
    /// `2 users, 1 device, 3 versions`, as far as known.
    pub(super) fn counts(&self) -> String {
        let counts = [(self.users, "user"), (self.devices, "device"), (self.versions, "version")];
        let said = counts.iter().filter_map(|(count, what)| count.map(|count| count.of(what)));
        said.collect::<Vec<_>>().join(", ")
    }

    fn new(cell: &Cell, all: u64) -> Self {
        let signature = &cell.signature;
        Self {
            id: signature.id(),
            reports: cell.reports,
            share: cell.reports as f64 / all.max(1) as f64,
            users: distinct(&cell.users),
            devices: count(cell.devices.distinct()),
            versions: count(cell.versions.distinct()),
            top_devices: top(&cell.devices),
            top_versions: top(&cell.versions),
            first_ms: cell.first_ms,
            last_ms: cell.last_ms,
            cause: signature.cause.clone(),
            message: signature.message.clone(),
            frames: signature.frames.clone(),
            obfuscated_version: signature.version.clone(),
            representative: cell.representative.clone(),
        }
    }

    /// What to call the group: where the time goes, else the message, else the cause.
    pub fn title(&self) -> &str {
        let frame = self.frames.iter().rev().find(|frame| *frame != "…").map(String::as_str);
        frame.or_else(|| Some(self.message.as_str()).filter(|m| !m.is_empty())).unwrap_or(&self.cause)
    }
}

fn distinct(distinct: &Distinct) -> Option<Count> {
    count(distinct.count())
}

fn count((count, exact): (u64, bool)) -> Option<Count> {
    (count > 0).then_some(Count { count, exact })
}

fn top(top: &Top) -> Vec<Named> {
    top.most(NAMED).into_iter().map(|(name, reports)| Named { name: name.to_string(), reports }).collect()
}

impl Count {
    /// `1 user`, `~3100 users`.
    fn of(self, what: &str) -> String {
        format!("{}{}", if self.exact { "" } else { "~" }, plural(self.count, what))
    }
}

/// `1 group`, `2 groups`.
pub(super) fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
