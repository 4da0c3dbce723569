//! A sleep on the main thread.

use super::super::Finding;
use super::super::facts::Facts;
use super::super::waits::Doing;
use super::{called_from, subject, waiting};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = waiting(facts, Doing::Sleep)?;
    let title = format!("{} sleeps{}", subject(w.slow), called_from(facts, w.site));
    Some(
        Finding::new("sleep", w.score, title)
            .because_of(w.evidence)
            .advise("Post the rest of the work with a delay instead of sleeping.")
            .about(w.slow.token)
            .blames(w.site.app),
    )
}
