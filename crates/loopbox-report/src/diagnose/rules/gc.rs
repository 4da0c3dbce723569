//! A garbage collection that the code asked for.

use super::super::Finding;
use super::super::facts::Facts;
use super::super::waits::Doing;
use super::{called_from, subject, waiting};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = waiting(facts, Doing::Gc)?;
    let title =
        format!("{} runs an explicit garbage collection{}", subject(w.slow), called_from(facts, w.site));
    Some(
        Finding::new("gc", w.score, title)
            .because_of(w.evidence)
            .advise("Do not call System.gc() on the main thread.")
            .about(w.slow.token)
            .blames(w.site.app),
    )
}
