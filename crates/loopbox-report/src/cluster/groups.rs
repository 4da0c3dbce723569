//! Collecting groups of reports, stalls and jank frames in bounded memory.

use super::amount::Amount;
use super::cardinality::{Distinct, TopNames};
use super::recorder::PartsOff;
use super::sighting::{Representative, Sighting};
use crate::diagnose::Confidence;
use loopbox_format::problem::Signature;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// How many groups are kept apart; reports of further groups are only counted.
const MAX_GROUPS: usize = 50_000;

/// What is kept of the reports, stalls or jank frames with one signature.
#[derive(Debug, Clone)]
pub(super) struct GroupStats {
    pub(super) signature: Signature,
    pub(super) amount: Amount,
    pub(super) causes: TopNames,
    pub(super) messages: TopNames,
    pub(super) anr_verdicts: TopNames,
    pub(super) users: Distinct,
    /// The number of reports that do not name their user.
    pub(super) unnamed: u64,
    pub(super) devices: TopNames,
    pub(super) versions: TopNames,
    pub(super) first_ms: Option<i64>,
    pub(super) last_ms: Option<i64>,
    best: (Option<Confidence>, u32),
    pub(super) representative: Representative,
}

impl GroupStats {
    fn new(s: Sighting) -> Self {
        let mut group = Self {
            signature: s.signature,
            amount: s.amount,
            causes: TopNames::default(),
            messages: TopNames::default(),
            anr_verdicts: TopNames::default(),
            users: Distinct::default(),
            unnamed: if s.user.is_empty() { s.amount.reports } else { 0 },
            devices: TopNames::default(),
            versions: TopNames::default(),
            first_ms: s.seen_ms,
            last_ms: s.seen_ms,
            best: s.quality,
            representative: s.representative,
        };
        group.causes.add(&s.cause, 1);
        group.messages.add(&s.message, 1);
        group.anr_verdicts.add(s.anr, 1);
        group.users.add(&s.user);
        group.devices.add(&s.device, 1);
        group.versions.add(&s.version, 1);
        group
    }

    fn merge(&mut self, other: Self) {
        self.amount.add(&other.amount);
        self.causes.merge(&other.causes);
        self.messages.merge(&other.messages);
        self.anr_verdicts.merge(&other.anr_verdicts);
        self.users.merge(&other.users);
        self.unnamed += other.unnamed;
        self.devices.merge(&other.devices);
        self.versions.merge(&other.versions);
        self.first_ms = self.first_ms.into_iter().chain(other.first_ms).min();
        self.last_ms = self.last_ms.into_iter().chain(other.last_ms).max();
        // The report with the most confident diagnosis, then with most samples, then the first by name, so
        // that every run chooses the same.
        let rank = |best, r: &Representative| (best, Reverse(r.path.clone()));
        if rank(other.best, &other.representative) > rank(self.best, &self.representative) {
            (self.best, self.representative) = (other.best, other.representative);
        }
    }
}

/// Groups of the reports that were added so far.
#[derive(Debug, Default)]
pub struct Clusters {
    pub(super) groups: HashMap<u64, GroupStats>,
    pub(super) users: Distinct,
    /// The number of reports that do not name their user.
    pub(super) unnamed: u64,
    pub(super) amount: Amount,
    /// The number of reports, stalls and jank frames with a signature that was first seen after
    /// [`MAX_GROUPS`] others.
    pub(super) beyond: u64,
    pub(super) off: PartsOff,
    /// The number of reports that show no hang. They are in no group and in no other number.
    pub(super) without_hang: u64,
}

impl Clusters {
    /// Adds one report, or one stall. A report that shows no hang ([`crate::Analysis::may_be_of_hang`]) is
    /// counted as such and as nothing else.
    pub fn add(&mut self, sighting: Sighting) {
        if !sighting.counts {
            self.without_hang += 1;
            return;
        }
        self.amount.add(&sighting.amount);
        self.users.add(&sighting.user);
        self.unnamed += if sighting.user.is_empty() { sighting.amount.reports } else { 0 };
        self.off.add(&sighting.off);
        self.put(GroupStats::new(sighting));
    }

    /// Adds all jank frames of one report. The report is counted once in the total, and once in each group
    /// that has at least one of these frames.
    pub fn add_janks(&mut self, janks: Vec<Sighting>) {
        let mut groups = HashSet::new();
        self.amount.reports += u64::from(!janks.is_empty());
        self.unnamed += u64::from(janks.first().is_some_and(|jank| jank.user.is_empty()));
        for mut jank in janks {
            self.amount.add(&jank.amount);
            self.users.add(&jank.user);
            jank.amount.reports = u64::from(groups.insert(jank.signature.key()));
            self.put(GroupStats::new(jank));
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.amount == Amount::default()
    }

    /// Adds the groups of another part of the corpus.
    pub fn merge(&mut self, other: Self) {
        self.amount.add(&other.amount);
        self.beyond += other.beyond;
        self.without_hang += other.without_hang;
        self.users.merge(&other.users);
        self.unnamed += other.unnamed;
        self.off.merge(other.off);
        for group in other.groups.into_values() {
            self.put(group);
        }
    }

    fn put(&mut self, group: GroupStats) {
        let key = group.signature.key();
        let full = self.groups.len() >= MAX_GROUPS;
        match self.groups.get_mut(&key) {
            Some(known) => known.merge(group),
            None if full => self.beyond += group.amount.counted(),
            None => {
                self.groups.insert(key, group);
            }
        }
    }
}
