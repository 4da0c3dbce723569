//! A sleep on the main thread.

use crate::diagnose::dominant_wait::{called_from, dominant_wait};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = dominant_wait(facts, WaitKind::Sleep)?;
    let title = format!("{} sleeps{}", w.slow.subject(), called_from(facts, w.site));
    Some(
        Finding::new("sleep", w.score, title)
            .with_all_evidence(w.evidence)
            .at_most_medium(w.unknown)
            .with_share(w.share)
            .with_advice("Post the rest of the work with a delay instead of sleeping.")
            .with_message(w.slow.token)
            .with_culprit(w.site.app),
    )
}
