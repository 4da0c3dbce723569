//! The rules about the pending queue: floods, leaked barriers, and what was cut or changed while it was read.

use super::tests::{calm, diagnosis, evidence, expect, first};
use super::*;
use crate::test_support::{OUTSIDE, ReportBuilder};
use loopbox_format::model::MainState;

/// A queue of `count` equal messages. The first is overdue by `from_ms`, and each next one is due `each_ms`
/// later.
fn flood(mut report: ReportBuilder, count: u32, from_ms: u32, each_ms: u32) -> ReportBuilder {
    for i in 0..count {
        let (s, ms) = ((from_ms - i * each_ms) / 1_000, (from_ms - i * each_ms) % 1_000);
        report =
            report.pending(&format!("Message {i}: {{ when=-{s}s{ms}ms what=7 target=com.shop.Ticker }}"));
    }
    report.pending("(Total messages: 3, polling=false, quitting=false)")
}

#[test]
fn flood_ignores_messages_behind_a_blocked_main() {
    let mut busy = ReportBuilder::new();
    for _ in 0..40 {
        busy = busy.group(300, 300, 5);
    }
    let v = expect(flood(busy.running(500, 20), 200, 9_000, 40), "flood", Confidence::High);
    assert!(v.headline.contains("com.shop.Ticker what=7"), "{}", v.headline);
    let blocked = calm().running(99, 5_200).looper_tree(99, &[("com.shop.A.run", 500)]);
    let v = expect(flood(blocked, 200, 5_100, 25), "current-slow", Confidence::High);
    assert!(v.causes.iter().all(|c| c.rule != "flood" || c.confidence == Confidence::Low), "{v:#?}");
}

#[test]
fn barrier_ignores_one_that_waits_for_its_frame() {
    let queue = |report: ReportBuilder, polling| {
        report
            .pending("Message 0: { when=-6s12ms barrier=41 }")
            .pending("Message 1: { when=-6s1ms what=3 target=com.shop.FeedHandler }")
            .pending("Message 2: { when=-2s1ms callback=com.shop.A$1 target=android.os.Handler }")
            .pending(&format!("(Total messages: 3, polling={polling}, quitting=false)"))
    };
    let idle = calm().idle(6_000).with(|r| {
        r.main = MainState::Idle { since_ns: r.meta.dumped_at.uptime_ns - 6_000_000_000 };
    });
    let v = expect(queue(idle, true), "barrier", Confidence::High);
    assert!(v.headline.contains("token 41") && v.headline.contains("6.01 s"), "{}", v.headline);
    let blocked = calm().running(99, 6_100).looper_tree(99, &[("com.shop.A.run", 500)]);
    let v = expect(queue(blocked, false), "current-slow", Confidence::High);
    assert!(v.causes.iter().all(|c| c.rule != "barrier"), "{v:#?}");
}

/// Main is idle for seven seconds behind a barrier. The queue has 500 messages, but its dump has only the
/// first 200 lines, so the last line is missing.
fn cut_queue(newest_first: bool) -> ReportBuilder {
    let implementation = if newest_first { "DeliQueue" } else { "Legacy" };
    let report = calm().idle_at_dump(7_000).pending("Looper (main, tid 1) {c0ffee}");
    let report = report.pending(&format!("(MessageQueue is using {implementation} implementation)"));
    let due =
        |nth: u32| format!("Message {nth}: {{ when=-6s{}ms what={nth} target=com.shop.Feed }}", 500 - nth);
    let report = if newest_first {
        (302..500).rev().fold(report, |report, nth| report.pending(&due(nth)))
    } else {
        let report = report.pending("Message 0: { when=-7s12ms barrier=0 }");
        (1..198).fold(report, |report, nth| report.pending(&due(nth)))
    };
    report.with(|r| r.pending.dropped_lines = 304)
}

#[test]
fn barrier_is_seen_at_the_head_of_a_queue_that_was_cut() {
    let polls = "android.os.Looper.loop android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce!";
    let v = expect(cut_queue(false).tree(OUTSIDE, &[(polls, 1)]), "barrier", Confidence::High);
    assert!(v.headline.contains("token 0") && v.headline.contains("7.01 s"), "{}", v.headline);
    let read = "of the ordinary messages behind it that were read, 197 are due";
    assert!(evidence(&v).contains(read), "{v:#?}");
    // The hook has seen no message at all: the barrier is known all the same.
    let unseen = cut_queue(false).tree(OUTSIDE, &[(polls, 1)]).with(|r| {
        r.main = MainState::Unknown;
        r.history.clear();
    });
    let v = expect(unseen, "barrier", Confidence::High);
    assert!(v.causes.iter().all(|cause| cause.rule != "no-data"), "{v:#?}");
    // Nothing says whether the Looper waited.
    let v = expect(cut_queue(false), "barrier", Confidence::Medium);
    assert!(evidence(&v).contains("not sure: whether the Looper waited at the dump is not known"), "{v:#?}");
}

#[test]
fn main_free_concludes_nothing_from_what_was_not_read() {
    for report in [cut_queue(false), cut_queue(true)] {
        let v = diagnosis(report);
        assert!(v.causes.iter().all(|c| c.rule != "main-free"), "{v:#?}");
        assert!(!evidence(&v).contains("no pending message"), "{v:#?}");
        assert!(!evidence(&v).contains("did not wait for one"), "{v:#?}");
    }
    // The newest messages are not due yet, and the head was not read.
    let newest = calm().idle_at_dump(7_000).pending("(MessageQueue is using DeliQueue implementation)");
    let newest = newest.pending("Message 0: { when=+9s0ms what=1 target=com.shop.Feed }");
    let v = diagnosis(newest.with(|r| r.pending.dropped_lines = 300));
    assert_eq!(first(&v), ("unclear", None), "{v:#?}");
    assert!(evidence(&v).contains("not sure: the queue was not read to its end"), "{v:#?}");
    assert!(!evidence(&v).contains("no pending message"), "{v:#?}");
}

#[test]
fn a_message_that_was_removed_speaks_against_nothing() {
    // Removed from the concurrent queue of API 36: it prints as a barrier, with a when of 0.
    let report = calm().idle(9_000).idle_cpu_read().idle_at_dump(8_000);
    let report = report
        .pending("(MessageQueue is using Concurrent implementation)")
        .pending("PriorityQueue Messages: ");
    let report = report.pending("Message 0: { when=-1m40s0ms barrier=0 }");
    let report = report.pending("Message 1: { when=+50ms what=1 target=com.shop.Feed }");
    let report = report.pending("(Total messages: 2, polling=true, quitting=false)");
    let v = expect(report, "main-free", Confidence::High);
    assert!(v.causes.iter().all(|c| c.rule != "barrier"), "{v:#?}");
}

#[test]
fn flood_says_of_what_was_read() {
    let mut busy = ReportBuilder::new();
    for _ in 0..40 {
        busy = busy.group(300, 300, 5);
    }
    let cut = flood(busy.running(12_001, 20), 200, 9_000, 40).with(|r| {
        r.pending.lines.pop();
        r.pending.dropped_lines = 800;
    });
    let v = expect(cut, "flood", Confidence::High);
    assert!(
        evidence(&v).contains("200 of the 200 pending messages that were read are com.shop.Ticker"),
        "{v:#?}"
    );
}
