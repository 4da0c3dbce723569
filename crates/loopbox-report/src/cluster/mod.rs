//! Many reports grouped by cause and stack signature.
//!
//! Reports are added one by one and forgotten; what stays is a bounded summary of each group, so that memory grows
//! with the number of different problems and not with the number of reports. Two halves of a corpus can be grouped
//! apart (by two threads) and merged. The result does not depend on the order in which reports come, except where a
//! group sees more distinct versions or devices than it keeps ([`sketch::Top`]).

mod html;
mod signature;
mod sketch;
mod summary;
mod text;

pub use html::html;
pub use signature::Signature;
pub use summary::{Group, Named, Representative, Summary};
pub use text::text;

use crate::diagnose::Confidence;
use crate::{Analysis, diagnose};
use sketch::{Distinct, Top};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Groups that are kept apart; what comes after shares one.
const GROUPS: usize = 50_000;
/// The annotation by which an app says which user a report is of.
const USER: &str = "user";

/// What clustering needs of one report; made by many threads at once.
#[derive(Debug, Clone)]
pub struct Sighting {
    signature: Signature,
    user: String,
    device: String,
    version: String,
    seen_ms: Option<i64>,
    quality: (Option<Confidence>, u32),
    representative: Representative,
}

impl Sighting {
    /// Judges a report. `path` is what the result calls it.
    pub fn new(a: &Analysis, path: &str) -> Self {
        let verdict = diagnose::diagnose(a);
        let signature = Signature::new(a, &verdict);
        let samples = signature.token.and_then(|token| a.tree(token)).map_or(0, crate::Tree::samples);
        let user = a.meta.annotations.iter().find(|(name, _)| name == USER);
        Self {
            user: user.map(|(_, value)| value.clone()).unwrap_or_default(),
            device: a.meta.process.device.clone(),
            version: a.meta.process.app_version.clone(),
            seen_ms: a.wall_clock().unix_ms(a.zero_ns),
            quality: (verdict.confidence, samples),
            representative: Representative {
                path: path.to_string(),
                headline: verdict.headline,
                culprit: verdict.causes.first().and_then(|cause| cause.culprit.clone()),
            },
            signature,
        }
    }
}

/// What is known of the reports with one signature.
#[derive(Debug, Clone)]
struct Cell {
    signature: Signature,
    reports: u64,
    users: Distinct,
    devices: Top,
    versions: Top,
    first_ms: Option<i64>,
    last_ms: Option<i64>,
    best: (Option<Confidence>, u32),
    representative: Representative,
}

impl Cell {
    fn new(s: Sighting) -> Self {
        let mut cell = Self {
            signature: s.signature,
            reports: 1,
            users: Distinct::default(),
            devices: Top::default(),
            versions: Top::default(),
            first_ms: s.seen_ms,
            last_ms: s.seen_ms,
            best: s.quality,
            representative: s.representative,
        };
        cell.users.add(&s.user);
        cell.devices.add(&s.device, 1);
        cell.versions.add(&s.version, 1);
        cell
    }

    fn merge(&mut self, other: Self) {
        self.reports += other.reports;
        self.users.merge(&other.users);
        self.devices.merge(&other.devices);
        self.versions.merge(&other.versions);
        self.first_ms = self.first_ms.into_iter().chain(other.first_ms).min();
        self.last_ms = self.last_ms.into_iter().chain(other.last_ms).max();
        // The surest verdict with the most samples; of equals the first by name, so that every run shows the same.
        let rank = |best, r: &Representative| (best, Reverse(r.path.clone()));
        if rank(other.best, &other.representative) > rank(self.best, &self.representative) {
            (self.best, self.representative) = (other.best, other.representative);
        }
    }
}

/// Groups of reports.
#[derive(Debug, Default)]
pub struct Clusters {
    cells: HashMap<u64, Cell>,
    users: Distinct,
    reports: u64,
    /// Reports of signatures that came after [`GROUPS`] others.
    beyond: u64,
}

impl Clusters {
    /// Adds one report.
    pub fn add(&mut self, sighting: Sighting) {
        self.reports += 1;
        self.users.add(&sighting.user);
        self.put(Cell::new(sighting));
    }

    /// Adds the groups of another part of the corpus.
    pub fn merge(&mut self, other: Self) {
        self.reports += other.reports;
        self.beyond += other.beyond;
        self.users.merge(&other.users);
        for cell in other.cells.into_values() {
            self.put(cell);
        }
    }

    fn put(&mut self, cell: Cell) {
        let key = cell.signature.key();
        let full = self.cells.len() >= GROUPS;
        match self.cells.get_mut(&key) {
            Some(known) => known.merge(cell),
            None if full => self.beyond += cell.reports,
            None => {
                self.cells.insert(key, cell);
            }
        }
    }

    /// The groups, most reports first. `skipped` is how many files could not be used.
    pub fn summary(&self, skipped: u64) -> Summary {
        Summary::new(self, skipped)
    }
}

#[cfg(test)]
mod cluster_test;
