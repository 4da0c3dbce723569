//! Tests of data that were read only at the dump, such as locks. They describe one instant, and only the
//! place that the newest stack shows. A verdict must not name them as the cause when the message did
//! something else for most of its time.

use super::tests::{calm, diagnosis, evidence, expect};
use super::*;
use crate::test_support::ReportBuilder;
use loopbox_format::model::MainState;

const MONITOR: &str = "com.shop.Feed.show:20 com.shop.Feed.update:41";
const BINDER: &str =
    "com.shop.A.run:3 com.shop.IShop$Stub$Proxy.get:9 android.os.BinderProxy.transactNative!";
const FILE: &str = "com.shop.Disk.save:3 java.io.FileDescriptor.sync!";
const DATABASE: &str = "com.shop.Orders.all:9 android.database.sqlite.SQLiteConnection.nativeExecute!";
const LIBRARIES: [(&str, &[u8], u64); 1] = [("/data/app/lib/libshop.so", &[2; 20], 7)];
/// nanosleep and read, by their arm64 numbers.
const NANOSLEEP: u32 = 101;
const READ: u32 = 63;

/// A message of 6 s that does not use the CPU, in these stacks.
fn hang(stacks: &[(&str, u32)]) -> ReportBuilder {
    calm().running(99, 6_000).doing("android.os.Handler", "", 30).looper_tree(99, stacks)
}

/// Main waits for a monitor at the dump.
fn held(stacks: &[(&str, u32)]) -> ReportBuilder {
    hang(stacks).waits_for("com.shop.Feed", "sync-1", "com.shop.Sync.run:9 libcore.io.Linux.fsync!")
}

fn names(v: &Diagnosis, words: &str) -> bool {
    v.causes.iter().any(|cause| cause.title.contains(words))
}

#[test]
fn a_monitor_that_main_met_at_the_end_of_another_wait_is_no_cause() {
    let sleep = "com.shop.Retry.run:3 java.lang.Thread.sleep!";
    let network = "com.shop.Api.call:9 java.net.Socket.connect:4 libcore.io.Linux.connect!";
    let latch = "com.shop.Feed.await:3 java.util.concurrent.CountDownLatch.await:9 sun.misc.Unsafe.park!";
    let native = "com.shop.Chart.draw:9 android.graphics.HardwareRenderer.nSyncAndDrawFrame!";
    for (stack, rule) in [
        (BINDER, "binder"),
        (sleep, "sleep"),
        (network, "io"),
        (latch, "lock"),
        (FILE, "io"),
        (native, "native"),
    ] {
        // The newest stack shows the monitor, or is of the moment before it.
        for stacks in [&[(stack, 580), (MONITOR, 10)][..], &[(stack, 590)]] {
            let v = expect(held(stacks), rule, Confidence::High);
            assert!(!names(&v, "monitor"), "{v:#?}");
        }
    }
}

#[test]
fn a_monitor_claims_its_share_of_the_stacks() {
    let v = expect(held(&[(MONITOR, 590)]), "lock", Confidence::High);
    assert_eq!(v.causes[0].share, Some(1.0));
    let v = expect(held(&[(BINDER, 170), (MONITOR, 420)]), "lock", Confidence::High);
    assert!(v.causes[0].share.is_some_and(|share| (0.7..0.72).contains(&share)), "{v:#?}");
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Feed.update(Feed.java:41)"));
    // Main waited for it for the smaller part of the time.
    let v = expect(held(&[(BINDER, 330), (MONITOR, 260)]), "binder", Confidence::High);
    let lock = v.causes.iter().find(|cause| cause.rule == "lock").unwrap();
    assert_eq!(lock.confidence, Confidence::Medium, "{v:#?}");
    assert_eq!(
        lock.culprit.as_deref(),
        Some("com.shop.Feed.update(Feed.java:41)"),
        "of the lock, not of the call"
    );
    assert!(lock.evidence.iter().any(|line| line == "not sure: it explains 44 % of the time"), "{v:#?}");
    // It is the same wait at each line of the method.
    let other_line = MONITOR.replace(":41", ":52");
    expect(held(&[(&other_line, 295), (MONITOR, 295)]), "lock", Confidence::High);
}

#[test]
fn a_monitor_without_stacks_is_not_sure() {
    let v = expect(held(&[(MONITOR, 590)]).with(|r| r.trees.clear()), "lock", Confidence::Medium);
    assert!(evidence(&v).contains("there are no stacks, which would show the wait"), "{v:#?}");
    let v = expect(held(&[(MONITOR, 150)]), "lock", Confidence::Medium);
    assert!(evidence(&v).contains("the stacks cover only"), "{v:#?}");
}

#[test]
fn a_deadlock_needs_no_share_because_it_does_not_end() {
    let deadlock = |stacks: &[(&str, u32)]| {
        held(stacks).waits_for("com.shop.Db", "main", MONITOR).with(|r| r.locks.deadlock = true)
    };
    let v = expect(deadlock(&[(BINDER, 580), (MONITOR, 10)]), "lock", Confidence::High);
    assert!(v.headline.starts_with("Deadlock: "), "{}", v.headline);
    expect(deadlock(&[(MONITOR, 590)]).with(|r| r.trees.clear()), "lock", Confidence::High);
}

#[test]
fn a_lock_that_main_met_at_the_end_does_not_hide_a_starved_machine() {
    let computes = ["com.shop.A.run com.shop.A.parse:4", "com.shop.A.run com.shop.A.draw:9"];
    let report = |last: u32| {
        let report = held(&[(computes[0], 280), (computes[1], 300 - last), (MONITOR, last)]);
        report.watched(6_000, 3_000)
    };
    let starved = |report| diagnosis(report).causes.iter().any(|cause| cause.rule == "starved");
    assert!(starved(report(10)));
    assert!(!starved(report(300)));
}

#[test]
fn a_stop_of_the_moment_of_the_report_is_not_one_of_the_time_that_stacks_show() {
    let computes = "com.shop.A.run:3 com.shop.A.parse:4";
    let stopped = |report: ReportBuilder| {
        report.interrupted(NANOSLEEP, &LIBRARIES).with(|r| {
            r.main_thread.state = Some(b'T');
            let MainState::Running(running) = &mut r.main else { panic!("a message runs") };
            running.cpu_ns = None;
        })
    };
    let frozen = |v: &Diagnosis| v.causes.iter().any(|cause| cause.rule == "frozen");
    let v = expect(stopped(hang(&[(computes, 590)])), "current-slow", Confidence::Medium);
    assert!(!frozen(&v), "{v:#?}");
    // Nothing speaks against it where no stack was taken. It is still of one instant.
    let v = expect(stopped(hang(&[(computes, 100)])), "frozen", Confidence::Medium);
    assert!(evidence(&v).contains("is known of the moment of the report alone"), "{v:#?}");
}

#[test]
fn what_the_kernel_says_is_of_the_place_of_the_newest_stack() {
    let asks = |report: ReportBuilder, call, descriptor: &str| {
        report.watched(6_000, 0).interrupted(call, &LIBRARIES).with(|r| {
            let call = r.main_thread.system_call.as_mut().unwrap();
            call.descriptor = descriptor.into();
        })
    };
    let read = "com.shop.Bus.poll:8 java.io.FileInputStream.read libcore.io.Linux.readBytes!";
    let v = diagnosis(asks(hang(&[(FILE, 570), (read, 20)]), READ, "socket:[4711]"));
    assert!(names(&v, "works on files") && !names(&v, "socket"), "{v:#?}");
    let v = diagnosis(asks(hang(&[(FILE, 20), (read, 570)]), READ, "socket:[4711]"));
    assert!(names(&v, "waits for the other end of a socket"), "{v:#?}");

    let sleep = "com.shop.Retry.run:3 java.lang.Thread.sleep!";
    let v = diagnosis(asks(hang(&[(DATABASE, 570), (sleep, 20)]), NANOSLEEP, ""));
    assert!(names(&v, "works on a database"), "{v:#?}");
    let v = diagnosis(asks(hang(&[(sleep, 20), (DATABASE, 570)]), NANOSLEEP, ""));
    assert!(names(&v, "waits for a database that is busy"), "{v:#?}");

    let native = "com.shop.Photo.show:3 com.shop.Codec.decode!";
    let v = diagnosis(asks(hang(&[(native, 570), (sleep, 20)]), NANOSLEEP, ""));
    assert!(!names(&v, "waits in native code"), "{v:#?}");
    let known = v.account.iter().flat_map(|account| &account.parts);
    let known: f64 = known.filter(|part| part.time_use == TimeUse::KnownWait).map(|part| part.share).sum();
    assert!(known < 0.1, "the sleep alone: {v:#?}");
    let v = diagnosis(asks(hang(&[(sleep, 20), (native, 570)]), NANOSLEEP, ""));
    assert!(names(&v, "waits in native code, in Codec.decode"), "{v:#?}");
}
