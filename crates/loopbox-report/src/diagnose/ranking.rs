//! The order of causes where the system's trace shows main.

use super::facts::Facts;
use super::finding::{Finding, MIN_HEADLINE_SCORE};

/// How far a cause that is only about a message's length stays below a cause that the trace shows.
const BELOW: f64 = 0.01;

/// Orders the findings. A cause that only reports how long the message took, and where, comes after one from
/// the trace, which explains why; unless main used the CPU at that time. That the trace shows a place is the
/// verdict only where there is no other finding.
pub(super) fn rank(findings: &mut Vec<Finding>, facts: &Facts<'_>) {
    if findings.iter().any(|finding| !finding.is_place() && finding.score >= MIN_HEADLINE_SCORE) {
        findings.retain(|finding| !finding.is_place());
    }
    let Some(slow) = facts.at_dump().filter(|_| facts.trace.is_some()) else { return };
    if slow.cpu_share() >= Some(0.5) {
        return;
    }
    let shown = findings.iter().filter(|finding| finding.is_about(slow.token) && finding.says_why());
    let Some(best) = shown.map(|finding| finding.score).max_by(f64::total_cmp) else { return };
    if best < MIN_HEADLINE_SCORE {
        return;
    }
    for finding in findings.iter_mut().filter(|f| f.is_about(slow.token) && !f.says_why()) {
        finding.score = finding.score.min(best - BELOW);
    }
}
