//! The worker's side of a thread query: when it asks the sampler, and how the answer gets into the report.

use super::outside;
use super::used_symbols::UsedSymbols;
use crate::session::Session;
use crate::session::thread_query::ThreadAnswer;
use crate::sys::clock;
use loopbox_format::model::{DumpReason, LockChain, MainState, Report, Token, Uptime};

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

/// Puts what the sampler has answered so far into the report, and ends the query. Puts in nothing if the
/// locations have been renumbered since that answer.
pub(super) fn take(session: &Session, report: &mut Report, used: &mut UsedSymbols) {
    let ThreadAnswer { generation, locks, locks_of, mut threads } = session.thread_queries.take();
    if generation != session.symbols.generation() {
        return;
    }
    let mut locks = of_report(&report.main, locks, locks_of);
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

/// The lock chain for a report with the main thread's state `main`. `locks` are the locks that main waited
/// for in the message `locks_of`. The result is empty if the report is about another message: the report's
/// message may have ended before the locks were read.
fn of_report(main: &MainState, locks: LockChain, locks_of: Token) -> LockChain {
    let token = outside::token(main);
    if token != Token::NONE && token == locks_of { locks } else { LockChain::default() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{LockWait, Outside, Running};

    #[test]
    fn a_lock_that_main_waits_for_in_another_message_is_not_the_reported_ones() {
        let wait = LockWait { class: "com.shop.Db".into(), of_class: String::new(), holder: None };
        let locks = LockChain { captured_ns: Uptime(9), waits: vec![wait], deadlock: false };
        let unknown = LockChain::default();
        let found = |main: &MainState, of| of_report(main, locks.clone(), of);
        let (token, start_ns, as_of_ns) = (Token(7), Uptime(3), Uptime(8));
        let running = Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None };
        let running = MainState::Running(running);
        assert_eq!(found(&running, token), locks);
        for other in [Token(8), Token::outside_before(Token(8)), Token::NONE] {
            assert_eq!(found(&running, other), unknown, "{other:?}");
        }
        let token = Token::outside_before(Token(8));
        let outside = Outside { token, after_ns: Uptime(8), start_ns: None, as_of_ns, cpu_ns: None };
        let outside = MainState::Outside(outside);
        assert_eq!((found(&outside, token), found(&outside, Token(8))), (locks.clone(), unknown.clone()));
        for main in [MainState::Unknown, MainState::Idle { since_ns: Uptime(8) }] {
            assert_eq!(found(&main, Token::NONE), unknown);
        }
    }
}
