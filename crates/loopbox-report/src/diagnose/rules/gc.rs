//! An explicit garbage collection.

use crate::diagnose::dominant_wait::{called_from, dominant_wait};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = dominant_wait(facts, WaitKind::Gc)?;
    let title =
        format!("{} runs an explicit garbage collection{}", w.slow.subject(), called_from(facts, w.site));
    Some(
        Finding::new("gc", w.score, title)
            .with_all_evidence(w.evidence)
            .with_advice("Do not call System.gc() on the main thread.")
            .with_message(w.slow.token)
            .with_culprit(w.site.app),
    )
}
