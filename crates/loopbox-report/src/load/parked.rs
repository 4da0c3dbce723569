//! The chain of locks of `java.util.concurrent` that main is parked for, from the statistics of a report.

use super::limits;
use crate::model::framework::JAVA_LOCKS;
use crate::model::{Analysis, LockChain, LockHolder, LockSource, LockWait, OtherThread, locked_object};
use loopbox_format::model::{MainState, Uptime};

/// The length that the kernel cuts the name of a thread to, in bytes.
const KERNEL_NAME: usize = 15;

/// Adds the chain of locks, if it was read during the message that was still running at the dump, and the
/// recorder followed no chain of monitors. Leaves out the recorder's chain if it is of another message.
pub(super) fn complete(a: &mut Analysis) {
    if !a.locks.waits.is_empty() {
        if a.running().is_some() && !is_of_this_message(a, a.locks.captured_ns) {
            a.locks = LockChain::default();
        }
        return;
    }
    let text = |name: &str| a.text(name);
    let Some(captured_ns) = text("parked.at_ns").and_then(|at| at.parse::<u64>().ok()) else { return };
    if !is_of_this_message(a, Uptime(captured_ns)) {
        return;
    }
    let deadlock = text("parked.deadlock") == Some("true");
    let mut waits = Vec::new();
    while waits.len() < limits::LOCK_WAITS {
        let step = waits.len() + 1;
        let (class, owner) = (text(&format!("parked.{step}.for")), text(&format!("parked.{step}.owner")));
        let (Some(class), Some(owner)) = (class, owner) else { break };
        waits.push(LockWait { object: locked_object(lock_of(class), ""), holder: Some(holder(a, owner)) });
    }
    if deadlock && let Some(last) = waits.last_mut().and_then(|wait| wait.holder.as_mut()) {
        // A chain that comes back mostly comes back to main, of which the other threads know nothing.
        last.tid = last.tid.or_else(|| (last.name == "main").then_some(a.meta.process.pid));
    }
    if !waits.is_empty() {
        a.locks = LockChain {
            captured_ns: Uptime(captured_ns),
            waits,
            deadlock,
            source: LockSource::Synchronizers,
        };
    }
}

/// Whether `seen_ns` is in the message, or in the work outside of messages, that was still running at the
/// dump. Data about main were read up to some seconds after the dump. The message may have ended before they
/// were read.
pub(super) fn is_of_this_message(a: &Analysis, seen_ns: Uptime) -> bool {
    match &a.main {
        MainState::Running(running) => {
            let end_ns = a.anr.ended_after_ns.map_or(Uptime::MAX, |ns| running.start_ns.plus(ns));
            (running.start_ns..=end_ns).contains(&seen_ns)
        }
        MainState::Outside(outside) => seen_ns >= outside.start_ns.unwrap_or(outside.after_ns),
        _ => false,
    }
}

/// The lock that a class implements internally: `ReentrantLock` for `ReentrantLock$NonfairSync`.
fn lock_of(class: &str) -> &str {
    let of_java = class.starts_with(JAVA_LOCKS);
    if of_java { class.split('$').next().unwrap_or(class) } else { class }
}

/// The holder with this name. Its id and its stack are known only when exactly one thread has the name.
fn holder(a: &Analysis, name: &str) -> LockHolder {
    let mut named = a.threads.threads.iter().filter(|thread| is_named(thread, name));
    let thread = named.next().filter(|_| named.next().is_none());
    let stack = thread.and_then(|thread| thread.stack.clone()).unwrap_or_default();
    LockHolder { name: name.to_owned(), tid: thread.and_then(|thread| thread.tid), stack }
}

/// Whether a thread may be the one with this name. When the name is too long, the kernel has only its start
/// or, where ART cut it, only its end.
fn is_named(thread: &OtherThread, name: &str) -> bool {
    let kernel = thread.name.as_str();
    kernel == name || kernel.len() == KERNEL_NAME && (name.starts_with(kernel) || name.ends_with(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;

    const SYNC: &str = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
    const STACK: &str = "com.shop.Store$1.run:40 java.lang.Thread.sleep!";

    fn parked(steps: &[(&str, &str)], deadlock: bool, at_ms: u64) -> ReportBuilder {
        let mut report = ReportBuilder::new().running(99, 5_000).thread("disk-writer-num", Some(STACK));
        for (at, (class, owner)) in steps.iter().enumerate() {
            report = report.statistic(&format!("parked.{}.for", at + 1), class);
            report = report.statistic(&format!("parked.{}.owner", at + 1), owner);
        }
        let report = report.statistic("parked.deadlock", &deadlock.to_string());
        let at_ns = crate::test_support::NOW_NS - 5_000_000_000 + at_ms * 1_000_000;
        report.statistic("parked.at_ns", &at_ns.to_string())
    }

    fn loaded(report: ReportBuilder) -> Analysis {
        Analysis::new(&report.build())
    }

    #[test]
    fn the_owner_is_the_thread_whose_name_the_kernel_has_cut() {
        let a = loaded(parked(&[(SYNC, "disk-writer-number-7")], false, 4_000));
        let wait = &a.locks.waits[0];
        assert_eq!(wait.object, "a java.util.concurrent.locks.ReentrantLock");
        let holder = wait.holder.as_ref().unwrap();
        assert_eq!(
            (holder.name.as_str(), holder.tid, holder.stack.len()),
            ("disk-writer-number-7", Some(7_000), 2)
        );
        assert_eq!((a.locks.source, a.locks.deadlock), (LockSource::Synchronizers, false));
    }

    #[test]
    fn with_two_threads_of_one_name_the_holder_is_unknown() {
        let report = parked(&[("com.shop.Gate", "disk-writer-num")], false, 4_000);
        let a = loaded(report.thread("disk-writer-num", None));
        let wait = &a.locks.waits[0];
        assert_eq!(wait.object, "a com.shop.Gate");
        assert_eq!(wait.holder.as_ref().unwrap().tid, None);
    }

    #[test]
    fn a_chain_that_comes_back_to_main_is_a_deadlock() {
        let a = loaded(parked(&[(SYNC, "disk-writer-num"), (SYNC, "main")], true, 4_000));
        let holders: Vec<_> = a.locks.waits.iter().filter_map(|wait| wait.holder.as_ref()?.tid).collect();
        assert_eq!((holders, a.locks.deadlock), (vec![7_000, a.meta.process.pid], true));
    }

    #[test]
    fn what_was_seen_before_the_message_is_no_evidence_of_it() {
        let mut report = parked(&[(SYNC, "disk-writer-num")], false, 0);
        report = report.with(|r| r.statistics.last_mut().unwrap().value = "1".into());
        assert!(loaded(report).locks.waits.is_empty());
        let idle = parked(&[(SYNC, "disk-writer-num")], false, 4_000).idle_at_dump(100);
        assert!(loaded(idle).locks.waits.is_empty());
    }

    #[test]
    fn what_was_seen_after_the_message_ended_is_no_evidence_of_it() {
        let ended = |report: ReportBuilder, after_ms: u64| {
            loaded(report.with(|r| r.anr.ended_after_ns = Some(after_ms * 1_000_000))).locks
        };
        let parked = || parked(&[(SYNC, "disk-writer-num")], false, 5_400);
        assert_eq!(ended(parked(), 5_400).waits.len(), 1);
        assert_eq!(ended(parked(), 5_399), LockChain::default());
        let locked = || {
            let report = ReportBuilder::new().running(99, 5_000).waits_for("com.shop.Db", "sync", "a.B.c");
            report.with(|r| r.locks.captured_ns.0 += 400_000_000)
        };
        assert_eq!(ended(locked(), 5_400).waits.len(), 1);
        assert_eq!(
            ended(locked(), 5_399),
            LockChain::default(),
            "it is not known what the message waited for"
        );
    }

    #[test]
    fn a_chain_of_monitors_comes_first() {
        let report =
            parked(&[(SYNC, "disk-writer-num")], false, 4_000).waits_for("com.shop.Db", "sync", "a.B.c");
        let a = loaded(report);
        assert_eq!((a.locks.waits.len(), a.locks.source), (1, LockSource::Recorder));
    }
}
