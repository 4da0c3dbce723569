//! The order of causes where the system's trace shows main.

use super::facts::Facts;
use super::finding::{Finding, MIN_HEADLINE_SCORE};

/// How far below a cause that the trace shows one stays that has no more than the message's length.
const BELOW: f64 = 0.01;

/// A cause that says only how long it took, and where, comes behind one that the trace shows, which says why;
/// unless main used the CPU meanwhile. That the trace shows a place is the verdict where nothing else is.
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
