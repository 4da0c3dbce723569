//! Input and output on the main thread: files, databases, shared preferences, network, loading of code.

use super::super::Finding;
use super::super::facts::Facts;
use super::super::waits::Doing;
use super::{called_from, short, subject, waiting};

const KINDS: [(Doing, &str, &str); 5] = [
    (
        Doing::Preferences,
        "waits for shared preferences",
        "Preferences are loaded and flushed whole: keep the files small, use apply() sparingly before a component \
         stops, or move to DataStore.",
    ),
    (
        Doing::Database,
        "works on a database",
        "Query from another thread; a long wait for a connection means that another thread holds a transaction.",
    ),
    (Doing::Network, "waits for the network", "Never use the network on the main thread."),
    (
        Doing::Loading,
        "loads code",
        "Load native libraries and large classes before they are needed, elsewhere.",
    ),
    (Doing::File, "works on files", "Move the file access to another thread."),
];

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let found =
        KINDS.iter().filter_map(|&(doing, what, advice)| Some((waiting(facts, doing)?, what, advice)));
    let (w, what, advice) = found.max_by(|a, b| a.0.score.total_cmp(&b.0.score))?;
    let title =
        format!("{} {what}, in {}{}", subject(w.slow), short(facts, w.site.at), called_from(facts, w.site));
    Some(
        Finding::new("io", w.score, title)
            .because_of(w.evidence)
            .advise(advice)
            .about(w.slow.token)
            .blames(w.site.app.or(Some(w.site.at))),
    )
}
