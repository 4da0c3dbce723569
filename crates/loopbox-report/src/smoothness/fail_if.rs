//! Conditions of a gate: `hitch>+10%`.

use super::compare::{Comparison, METRICS, MetricChange, Verdict};
use std::fmt;
use std::str::FromStr;

/// A comparison fails when this condition holds for all screens together.
///
/// `hitch>+10%` is a condition on the change in per cent of the base. `hitch>+2` is a condition on the change
/// in the figure's unit. These two hold only when the change is more than chance. `hitch>25` is a condition
/// on the variant alone.
#[derive(Debug, Clone, PartialEq)]
pub struct FailIf {
    text: String,
    metric: &'static str,
    above: bool,
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Percent(f64),
    Change(f64),
    Value(f64),
}

/// Why a condition is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailIfError {
    /// The condition has no `<` or `>`.
    #[error("there is no < or >: write METRIC>+N%, METRIC<-N% or METRIC>N")]
    NoComparison,
    /// There is no figure with this name.
    #[error("there is no metric {0:?}: it is one of {known}", known = METRICS.map(|metric| metric.name).join(", "))]
    Metric(String),
    /// The limit is not a number.
    #[error("{0:?} is no limit: write +N%, -N%, +N, -N or N")]
    Limit(String),
}

impl FromStr for FailIf {
    type Err = FailIfError;

    fn from_str(text: &str) -> Result<Self, FailIfError> {
        let at = text.find(['<', '>']).ok_or(FailIfError::NoComparison)?;
        let (name, limit) = (text[..at].trim(), text[at + 1..].trim());
        let metric = METRICS.iter().find(|metric| metric.name == name);
        let metric = metric.ok_or_else(|| FailIfError::Metric(name.to_string()))?.name;
        let wrong = || FailIfError::Limit(limit.to_string());
        let is_change = limit.starts_with(['+', '-']);
        let (digits, is_percent) = match limit.strip_suffix('%') {
            Some(digits) if is_change => (digits, true),
            Some(_) => return Err(wrong()),
            None => (limit, false),
        };
        let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
        let number = Some(number).filter(|number| number.is_finite()).ok_or_else(wrong)?;
        let limit = match (is_percent, is_change) {
            (true, _) => Limit::Percent(number),
            (_, true) => Limit::Change(number),
            _ => Limit::Value(number),
        };
        Ok(Self { text: text.trim().to_string(), metric, above: text[at..].starts_with('>'), limit })
    }
}

impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FailIf {
    /// Whether the condition holds. `None` when the reports do not have the figure. A condition on a change
    /// needs the figure of both sets.
    pub fn holds(&self, comparison: &Comparison) -> Option<bool> {
        let change = comparison.scenes.first()?.metrics.iter().find(|change| change.metric == self.metric)?;
        let needed = if let Limit::Value(_) = self.limit { change.variant } else { change.change };
        needed.map(|_| self.holds_for(change))
    }

    fn holds_for(&self, change: &MetricChange) -> bool {
        let certain = change.verdict != Verdict::CannotTell;
        let (value, limit) = match self.limit {
            // Of a base of nothing, any change is more than a number of per cent.
            Limit::Percent(limit) => {
                let endless = change.change.map(|change| f64::INFINITY.copysign(change));
                (change.change_percent.or(endless).filter(|_| certain), limit)
            }
            Limit::Change(limit) => (change.change.filter(|_| certain), limit),
            Limit::Value(limit) => (change.variant, limit),
        };
        value.is_some_and(|value| if self.above { value > limit } else { value < limit })
    }
}
