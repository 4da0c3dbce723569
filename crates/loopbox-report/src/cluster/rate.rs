//! What share of the app's users a group affects, and how certain that is.

use super::amount::Amount;
use super::cardinality::Count;
use super::statistics::{Counted, Proportion, deviations};
use schemars::JsonSchema;
use serde::Serialize;

/// What rates refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// All users of the app, a number that the caller gives.
    Users,
    /// How often the app was used, a number that the caller gives.
    Sessions,
    /// The users whom reports name.
    UsersWithAReport,
    /// The reports, because none names its user.
    Reports,
}

loopbox_format::names! {
    Unit { Users: "users", Sessions: "sessions", UsersWithAReport: "users with a report", Reports: "reports" }
}

/// What the caller has counted: the app's users, or how often the app was used. Reports contain neither
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// The number of users of the app.
    Users,
    /// How often the app was used.
    Sessions,
}

impl Active {
    pub(super) fn unit(self) -> Unit {
        match self {
            Self::Users => Unit::Users,
            Self::Sessions => Unit::Sessions,
        }
    }
}

impl Unit {
    /// Whether each user counts only once, even when the user sent several reports.
    pub(super) fn is_of_users(self) -> bool {
        matches!(self, Self::Users | Self::UsersWithAReport)
    }
}

/// The share of users, uses or reports that a group affects, with its confidence interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Rate {
    /// The number of affected users, uses or reports.
    pub affected: u64,
    /// The number of all users, uses or reports.
    pub of: u64,
    /// The rate: how many of 1,000 are affected.
    pub per_1000: f64,
    /// The lower bound of the rate, per 1,000.
    pub low: f64,
    /// The upper bound of the rate, per 1,000.
    pub high: f64,
}

impl Rate {
    pub(super) fn new((affected, counted): (u64, Counted), of: Counted) -> Self {
        let p = Proportion::new(counted, of, deviations(1));
        let of = of.value as u64;
        Self { affected, of, per_1000: 1e3 * p.value, low: 1e3 * p.low, high: 1e3 * p.high }
    }

    /// The rate with its interval: `3.1 (2.0 to 4.6)`.
    pub(super) fn text(self) -> String {
        format!("{} ({} to {})", digits(self.per_1000), digits(self.low), digits(self.high))
    }
}

/// The users, uses or reports that rates refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Population {
    pub(super) unit: Unit,
    pub(super) of: Counted,
}

impl Population {
    /// How many of the population are affected. Each of the `unnamed` reports, which do not name their user,
    /// counts as one user. `None` when the group has stalls but no reports, and the number of users or uses
    /// with these stalls is not known.
    pub(super) fn affected(
        self,
        amount: &Amount,
        users: Option<Count>,
        unnamed: u64,
    ) -> Option<(u64, Counted)> {
        let (count, exact) = match users {
            Some(users) if self.unit.is_of_users() => {
                (users.count.saturating_add(unnamed).min(amount.reports + amount.stalls), users.exact)
            }
            _ if amount.reports == 0 && amount.stalls > 0 => return None,
            _ => (amount.reports, true),
        };
        Some((count.min(self.of.value as u64), Counted::new(count, exact)))
    }
}

/// A number per 1,000, with two significant digits.
pub(super) fn digits(per_1000: f64) -> String {
    match per_1000.abs() {
        x if x >= 9.95 => format!("{per_1000:.0}"),
        x if x >= 0.995 => format!("{per_1000:.1}"),
        x if x >= 0.095 => format!("{per_1000:.2}"),
        x if x >= 0.000_5 => format!("{per_1000:.3}"),
        _ => "0".into(),
    }
}
