//! How much of a message the chain of locks explains. The chain is of one instant, the dump: only the stacks
//! show whether main waited for a lock before.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use super::wait_kind::WaitKind;
use crate::model::LockSource;

/// When the wait may be on less than this share of the stacks, the lock is not the cause: main began to wait
/// for it shortly before the dump.
const MIN_SHARE: f64 = 0.4;

/// Whether main waits for the first lock of the chain in `LockSupport.park` or in `Thread.join`. A stack
/// shows such a wait by its frames. It does not show a wait for a monitor, which has no frame.
pub(super) fn is_parked(source: LockSource) -> bool {
    matches!(source, LockSource::Synchronizers | LockSource::Join)
}

/// The share of a message's stacks that may show the wait for the first lock of the chain. `None` when there
/// is no chain, when the message has ended, or when the stacks or the names that this needs are missing. Also
/// `None` for a deadlock: it lasts, so no stacks are needed.
pub(super) fn chain_share(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<f64> {
    let locks = &facts.analysis.locks;
    if !slow.running || locks.waits.is_empty() || locks.deadlock {
        return None;
    }
    let profile = facts.profile.as_ref()?;
    if is_parked(locks.source) { Some(profile.share(WaitKind::Lock)) } else { profile.monitor_share() }
}

/// Whether a message may have waited for the lock that main waits for at the dump.
pub(super) fn may_explain(facts: &Facts<'_>, slow: SlowMessage<'_>) -> bool {
    let has_chain = slow.running && !facts.analysis.locks.waits.is_empty();
    has_chain && chain_share(facts, slow).is_none_or(|share| share >= MIN_SHARE)
}
