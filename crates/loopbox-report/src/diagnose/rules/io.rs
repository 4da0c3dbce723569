//! I/O on the main thread: files, databases, shared preferences, network, loading of code.

use crate::diagnose::dominant_wait::{called_from, dominant_wait, short};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;

const KINDS: [(WaitKind, &str, &str); 5] = [
    (
        WaitKind::Preferences,
        "waits for shared preferences",
        "Preferences are loaded and flushed whole: keep the files small, use apply() sparingly before a component \
         stops, or move to DataStore.",
    ),
    (
        WaitKind::Database,
        "works on a database",
        "Query from another thread; a long wait for a connection means that another thread holds a transaction.",
    ),
    (WaitKind::Network, "waits for the network", "Never use the network on the main thread."),
    (
        WaitKind::Loading,
        "loads code",
        "Load native libraries and large classes before they are needed, on another thread.",
    ),
    (WaitKind::File, "works on files", "Move the file access to another thread."),
];

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let found =
        KINDS.iter().filter_map(|&(kind, what, advice)| Some((dominant_wait(facts, kind)?, what, advice)));
    let (w, what, advice) = found.max_by(|a, b| a.0.score.total_cmp(&b.0.score))?;
    let title =
        format!("{} {what}, in {}{}", w.slow.subject(), short(facts, w.site.at), called_from(facts, w.site));
    Some(
        Finding::new("io", w.score, title)
            .with_all_evidence(w.evidence)
            .at_most_medium(w.unknown)
            .with_advice(advice)
            .with_message(w.slow.token)
            .with_culprit(w.site.app.or(Some(w.site.at))),
    )
}
