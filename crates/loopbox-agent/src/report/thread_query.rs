//! The worker's side of a thread query: when it asks the sampler, and how the answer gets into the report.

use super::used_symbols::UsedSymbols;
use crate::session::Session;
use crate::session::thread_query::ThreadAnswer;
use crate::sys::clock;
use loopbox_format::model::{DumpReason, LockChain, MainState, Report, Uptime};

/// How long the worker waits for an answer; the report has what has arrived by then.
const BUDGET_NS: u64 = 2_000_000_000;
/// How long the worker waits for an answer at most while a SIGQUIT waits to be forwarded. Once ART writes its
/// own trace, no thread can be suspended.
const BEFORE_TRACE_NS: u64 = 500_000_000;
/// A message that has run for this long is worth a dump of all threads, whatever the report was written for.
const LONG_NS: u64 = 1_000_000_000;

/// Asks the sampler for what the report needs, and returns the deadline. The report is on disk already.
/// `None` when it needs nothing, or no sampler can answer. The sampler wakes the worker when the answer is
/// complete.
pub(super) fn ask(session: &Session, report: &Report) -> Option<Uptime> {
    let (locks, all_threads) = wanted(report);
    if !(locks || all_threads) || !session.shared.sampler.answers_queries() {
        return None;
    }
    let deadline_ns = clock::now_ns().plus(BUDGET_NS);
    session.thread_queries.start(all_threads, deadline_ns);
    session.shared.notify_query();
    Some(deadline_ns)
}

/// Waits for the answer, for [`BEFORE_TRACE_NS`] at most, and only while the signal waits to be forwarded:
/// the stall monitor may forward it meanwhile.
pub(super) fn wait_before_trace(session: &Session) {
    let until_ns = clock::now_ns().plus(BEFORE_TRACE_NS);
    while session.shared.signal_since_ns().is_some() && !session.thread_queries.is_complete() {
        let left_ns = until_ns.since(clock::now_ns());
        if left_ns == 0 {
            break;
        }
        session.wait_for_work((left_ns / 1_000_000 + 1) as i32);
    }
    // What else it was woken for meanwhile, is still to be done.
    session.wake_worker();
}

/// Puts the present part of the answer into the report, and ends the query. The locations must not have been
/// renumbered since the query began.
pub(super) fn take(session: &Session, report: &mut Report, used: &mut UsedSymbols) {
    let ThreadAnswer { generation, mut locks, mut threads } = session.thread_queries.take();
    if generation != session.symbols.generation() {
        return;
    }
    if !matches!(report.main, MainState::Running(_) | MainState::Outside(_)) {
        locks = LockChain::default();
    }
    let all = session.symbols.symbols();
    let holders =
        locks.waits.iter_mut().filter_map(|wait| wait.holder.as_mut()).map(|holder| &mut holder.stack);
    let others = threads.threads.iter_mut().filter_map(|thread| thread.stack.as_mut());
    for location in holders.chain(others).flatten() {
        *location = used.number(&all, *location);
    }
    report.symbols = used.symbols.clone();
    (report.locks, report.threads) = (locks, threads);
}

/// Whether the report needs the lock chain, and whether it needs all threads.
fn wanted(report: &Report) -> (bool, bool) {
    let long = match &report.main {
        MainState::Running(running) => Some(running.age_ns() >= LONG_NS),
        MainState::Outside(_) => Some(report.anr.ran_ns >= LONG_NS),
        _ => None,
    };
    let asked_by_app = matches!(report.meta.reason, DumpReason::Requested(_));
    (long.is_some(), !asked_by_app || long == Some(true))
}
