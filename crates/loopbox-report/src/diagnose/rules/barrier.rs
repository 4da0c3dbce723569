//! A leaked sync barrier: the queue is full, and main waits.

use super::super::Finding;
use super::super::facts::{Facts, said};
use super::super::waits::Doing;

/// A barrier that is due for this long has been forgotten: a normal one lives until the next frame.
const LEAKED_NS: u64 = 3_000_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (token, overdue) = facts.a.queue.head_barrier()?;
    let held_back = facts.a.queue.overdue_sync(0);
    if held_back == 0 || overdue < LEAKED_NS / 3 {
        return None;
    }
    let polling_stack = facts.profile.as_ref().is_some_and(|p| p.share(Doing::Polling) >= 0.8);
    let waits = facts.a.queue.polling == Some(true) || facts.idle_for_ns().is_some() || polling_stack;
    // While main is blocked in a message the barrier of the next frame grows old without being leaked.
    if !waits || facts.running().is_some_and(|r| r.wall_ns >= 500_000_000 && !polling_stack) {
        return None;
    }
    let score = match (overdue >= LEAKED_NS, facts.a.queue.polling) {
        (true, Some(true)) => 0.95,
        (true, _) => 0.8,
        (false, _) => 0.55,
    };
    let title = format!(
        "A sync barrier (token {token}) was leaked: it has held the queue back for {}",
        said(overdue)
    );
    Some(
        Finding::new("barrier", score, title)
            .because(format!("it is at the head of the queue, and {held_back} ordinary messages behind it are due"))
            .because("main ran no message meanwhile: only asynchronous messages pass a barrier")
            .advise(
                "A barrier is leaked when views are touched from another thread: scheduleTraversals posts a second \
                 one and only the last is removed.",
            ),
    )
}
