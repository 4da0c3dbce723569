//! I/O on the main thread: files, databases, shared preferences, network, loading of code.

use crate::diagnose::dominant_wait::{called_from, dominant_wait, short};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::{WaitKind, WaitSite};
use crate::model::MainWaitKind;
use crate::model::framework::DATABASE_CONNECTION;

const PIPE: (&str, &str) = (
    "waits for a pipe",
    "Use pipes on another thread: the other end may be a process that does not answer, or wait for this one.",
);

const KINDS: [(WaitKind, &str, &str); 6] = [
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
    (WaitKind::Pipe, PIPE.0, PIPE.1),
    (WaitKind::File, "works on files", "Move the file access to another thread."),
];

/// What main waits for in a database, where that is known.
fn database(facts: &Facts<'_>, site: WaitSite) -> Option<(&'static str, &'static str)> {
    if site.kind != WaitKind::Database {
        return None;
    }
    if facts.analysis.frames[site.at].is(DATABASE_CONNECTION) {
        return Some((
            "waits for a database connection",
            "Another thread holds the connection, for a transaction or a long query: see the other threads' stacks. \
             Write-ahead logging lets readers in meanwhile.",
        ));
    }
    // SQLite's busy handler sleeps and tries again.
    let sleeps = is_newest(facts, site)
        && facts.analysis.main_wait().is_some_and(|wait| wait.kind == MainWaitKind::Sleep);
    sleeps.then_some((
        "waits for a database that is busy",
        "Another connection or process has locked the database: use one SQLiteOpenHelper for a file, write-ahead \
         logging, and short transactions.",
    ))
}

/// What main reads from at the moment of the report, if the kernel reports that it is not a file. Java reads
/// from files, pipes and sockets by the same methods.
fn no_file(facts: &Facts<'_>, site: WaitSite) -> Option<(&'static str, &'static str)> {
    let main = facts.analysis.main_thread.as_ref().filter(|_| site.kind == WaitKind::File)?;
    let wait = facts.analysis.main_wait().filter(|wait| wait.kind.is_specific())?;
    if !is_newest(facts, site) {
        return None;
    }
    let descriptor = main.system_call.as_ref().map_or("", |call| call.descriptor.as_str());
    let is = |what: &str| descriptor.starts_with(what) || descriptor.is_empty() && main.wchan.contains(what);
    if is("pipe") {
        return Some(PIPE);
    }
    (is("socket") || wait.kind == MainWaitKind::Socket).then_some((
        "waits for the other end of a socket",
        "Use sockets on another thread: the other end, in this device or another, may not answer.",
    ))
}

/// Whether main's newest stack at the dump waits at this place. If so, the kernel's data on what main waits
/// for at the dump are about this wait.
fn is_newest(facts: &Facts<'_>, site: WaitSite) -> bool {
    let runs = facts.primary_message().is_some_and(|slow| slow.running);
    runs && facts
        .profile
        .as_ref()
        .and_then(|profile| profile.newest)
        .is_some_and(|newest| newest.site == site)
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let found =
        KINDS.iter().filter_map(|&(kind, what, advice)| Some((dominant_wait(facts, kind)?, what, advice)));
    let (w, what, advice) = found.max_by(|a, b| a.0.score.total_cmp(&b.0.score))?;
    let (what, advice) = database(facts, w.site).or_else(|| no_file(facts, w.site)).unwrap_or((what, advice));
    let title =
        format!("{} {what}, in {}{}", w.slow.subject(), short(facts, w.site.at), called_from(facts, w.site));
    Some(
        Finding::new("io", w.score, title)
            .with_all_evidence(w.evidence)
            .at_most_medium(w.unknown)
            .with_share(w.share)
            .with_advice(advice)
            .with_message(w.slow.token)
            .with_culprit(w.site.app.or(Some(w.site.at))),
    )
}
