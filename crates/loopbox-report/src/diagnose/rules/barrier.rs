//! A leaked sync barrier: messages are due, and main waits.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;
use crate::model::time::format_ns;

/// A barrier that is due for this long was leaked: normally it is removed with the next frame.
const LEAKED_NS: u64 = 3_000_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (token, overdue) = facts.analysis.queue.head_barrier()?;
    let blocked = facts.analysis.queue.overdue_synchronous(0);
    if blocked == 0 || overdue < LEAKED_NS / 3 {
        return None;
    }
    let polling_stack = facts.profile.as_ref().is_some_and(|p| p.share(WaitKind::Polling) >= 0.8);
    let idle = facts.analysis.queue.polling == Some(true) || facts.free_for_ns().is_some() || polling_stack;
    // While main is blocked in a message the barrier of the next frame grows old without being leaked.
    if !idle || facts.running().is_some_and(|r| r.wall_ns >= 500_000_000 && !polling_stack) {
        return None;
    }
    let score = match (overdue >= LEAKED_NS, facts.analysis.queue.polling) {
        (true, Some(true)) => 0.95,
        (true, _) => 0.8,
        (false, _) => 0.55,
    };
    let title = format!(
        "A sync barrier (token {token}) was leaked: it has blocked the queue for {}",
        format_ns(overdue)
    );
    Some(
        Finding::new("barrier", score, title)
            .with_evidence(format!("it is at the head of the queue, and of the ordinary messages behind it {blocked} are due"))
            .with_evidence("main ran no message meanwhile: only asynchronous messages pass a barrier")
            .with_advice(
                "A barrier is leaked when views are touched from another thread: scheduleTraversals posts a second \
                 one and only the last is removed.",
            ),
    )
}
