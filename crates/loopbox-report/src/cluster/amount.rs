//! The size of a group: the number of its reports, or the total time of its stalls or jank frames.

use crate::model::format_ms;
use crate::model::plural::plural;
use crate::model::time::{ms, share};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The measure that groups are ranked by, and that a group's share refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The number of reports.
    Reports,
    /// The total time of all stalls or jank frames: the duration of a stall, the hitch of a jank frame.
    Time,
}

/// The amounts that groups are ranked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Amount {
    /// The number of reports.
    pub reports: u64,
    /// The number of stalls of a performance monitor.
    pub stalls: u64,
    /// The total duration of the stalls.
    #[serde(rename = "stall_ms", serialize_with = "as_ms")]
    #[schemars(with = "f64")]
    pub stall_ns: u64,
    /// The number of jank frames.
    pub janks: u64,
    /// The total hitch of the jank frames. The hitch of a frame is its duration, rounded to whole refreshes,
    /// less one refresh.
    #[serde(rename = "hitch_ms", serialize_with = "as_ms")]
    #[schemars(with = "f64")]
    pub hitch_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn as_ms<S: Serializer>(ns: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(ms(*ns))
}

impl Amount {
    /// The amount of one report.
    pub(super) const REPORT: Self = Self { reports: 1, stalls: 0, stall_ns: 0, janks: 0, hitch_ns: 0 };

    /// The amount of one stall.
    pub(super) fn stall(wall_ns: u64) -> Self {
        Self { stalls: 1, stall_ns: wall_ns, ..Self::default() }
    }

    /// The amount of one jank frame.
    pub(super) fn jank(hitch_ns: u64) -> Self {
        Self { janks: 1, hitch_ns, ..Self::default() }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.reports += other.reports;
        self.stalls += other.stalls;
        self.stall_ns = self.stall_ns.saturating_add(other.stall_ns);
        self.janks += other.janks;
        self.hitch_ns = self.hitch_ns.saturating_add(other.hitch_ns);
    }

    /// The number of things counted: the jank frames if there are any, else the reports and stalls.
    pub(super) fn counted(&self) -> u64 {
        if self.janks > 0 { self.janks } else { self.reports + self.stalls }
    }

    /// The measure by which groups with this total are ranked.
    pub(super) fn measure(&self) -> Measure {
        if self.janks > 0 || self.reports == 0 && self.stalls > 0 { Measure::Time } else { Measure::Reports }
    }

    /// The figure that a group is ranked by, then the one that orders equal groups.
    pub(super) fn rank(&self, measure: Measure) -> (u64, u64) {
        let time = self.stall_ns.saturating_add(self.hitch_ns);
        match measure {
            Measure::Reports => (self.reports, time),
            Measure::Time => (time, self.counted()),
        }
    }

    /// This amount's share of a whole, 0 to 1.
    pub(super) fn share_of(&self, whole: &Self, measure: Measure) -> f64 {
        share(self.rank(measure).0, whole.rank(measure).0).min(1.0)
    }

    /// The amount in words: `12 reports`, `31 stalls, 12.3 s in all`, `40 jank frames in 12 reports, 3.41 s
    /// of hitches`.
    pub(super) fn in_words(&self) -> String {
        let mut parts = Vec::new();
        if self.janks > 0 {
            let (frames, reports) = (plural(self.janks, "jank frame"), plural(self.reports, "report"));
            parts.push(format!("{frames} in {reports}, {} of hitches", format_ms(ms(self.hitch_ns))));
        } else if self.reports > 0 || self.stalls == 0 {
            parts.push(plural(self.reports, "report"));
        }
        if self.stalls > 0 {
            let stalls = plural(self.stalls, "stall");
            parts.push(format!("{stalls}, {} in all", format_ms(ms(self.stall_ns))));
        }
        parts.join("; ")
    }

    /// The figure that the group is ranked by, for a narrow column: `12`, `12.3 s`.
    pub(super) fn short(&self, measure: Measure) -> String {
        match measure {
            Measure::Reports if self.reports > 0 || self.stalls == 0 => self.reports.to_string(),
            _ => format_ms(ms(self.rank(Measure::Time).0)),
        }
    }
}
