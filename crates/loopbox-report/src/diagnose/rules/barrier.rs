//! A leaked sync barrier: messages are due, and main waits.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;
use crate::model::time::format_ns;

/// A barrier that has been due for this long was leaked: normally the next frame removes it.
const LEAKED_NS: u64 = 3_000_000_000;

/// A barrier that is at the head of the queue and has been due for a relevant time, while messages after it
/// are due.
pub(super) struct HeldBack {
    token: i32,
    overdue_ns: u64,
    /// How many due messages wait behind the barrier, of the messages that were read.
    messages: usize,
}

pub(super) fn holds_back(facts: &Facts<'_>) -> Option<HeldBack> {
    let queue = &facts.analysis.queue;
    let (token, overdue_ns) = queue.head_barrier()?;
    let messages = queue.held_back();
    (messages > 0 && overdue_ns >= LEAKED_NS / 3).then_some(HeldBack { token, overdue_ns, messages })
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let HeldBack { token, overdue_ns, messages } = holds_back(facts)?;
    let polling_stack = facts.profile.as_ref().is_some_and(|p| p.share(WaitKind::Polling) >= 0.8);
    let waits = facts.waits == Some(true) || polling_stack;
    // While main is blocked in a message the barrier of the next frame grows old without being leaked.
    if !(waits || facts.free_for_ns().is_some())
        || facts.running().is_some_and(|r| r.wall_ns >= 500_000_000 && !polling_stack)
    {
        return None;
    }
    let score = match (overdue_ns >= LEAKED_NS, waits) {
        (true, true) => 0.95,
        (true, false) => 0.8,
        (false, _) => 0.55,
    };
    let title = format!(
        "A sync barrier (token {token}) was leaked: it has blocked the queue for {}",
        format_ns(overdue_ns)
    );
    let whole = facts.analysis.queue.whole;
    let of_read = if whole { "" } else { " that were read," };
    let meanwhile = match facts.idle_for_ns() {
        Some(idle) => format!("main has run no message for {}", format_ns(idle)),
        None => "main waits".into(),
    };
    Some(
        Finding::new("barrier", score, title)
            .with_evidence(format!("it is at the head of the queue, and of the ordinary messages behind it{of_read} {messages} are due"))
            .with_evidence(format!("{meanwhile}: only asynchronous messages pass a barrier"))
            .at_most_medium((!waits).then(|| "whether the Looper waited at the dump is not known".into()))
            .with_advice(
                "A barrier is leaked when views are touched from another thread: scheduleTraversals posts a second \
                 one and only the last is removed.",
            ),
    )
}
