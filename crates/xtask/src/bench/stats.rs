//! Functions that several benches use.

use std::time::Duration;

/// How long a bench may take before it is called stuck.
pub(super) const LIMIT: Duration = Duration::from_mins(20);

/// The median; 0 when there are no values.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
