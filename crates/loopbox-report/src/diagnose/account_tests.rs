//! The time of a message is accounted for before a cause is named.

use super::tests::{calm, diagnosis, evidence, expect};
use super::*;
use crate::test_support::{NOW_NS, ReportBuilder};
use loopbox_format::model::{MainState, Uptime};

const MS: u64 = 1_000_000;
const PARSE: &str = "com.shop.Feed.run:3 com.shop.Json.parse:40";
const DRAW: &str = "com.shop.Feed.run:4 com.shop.Feed.draw:9";
const DUMP: &str =
    "com.leaks.Watcher.run:8 android.os.Debug.dumpHprofData:9 dalvik.system.VMDebug.dumpHprofData!";

/// The share of a time use; 0 when it does not occur.
fn part(v: &Diagnosis, time_use: TimeUse) -> f64 {
    let account = v.account.as_ref().unwrap();
    account.parts.iter().filter(|part| part.time_use == time_use).map(|part| part.share).sum()
}

/// A message with this age and CPU time, during which no stack was taken for a while.
fn with_gap(age_ms: u64, cpu_ms: u64, gap_ms: u64, stacks: [&str; 2]) -> ReportBuilder {
    let samples = ((age_ms - gap_ms) / 10 - 6) as u32;
    let half = samples / 2;
    let report = calm().running(99, age_ms).doing("android.os.Handler", "com.shop.Feed", cpu_ms);
    report.looper_tree(99, &[(stacks[0], half), (stacks[1], samples - half)]).with(|report| {
        report.trees[0].sample_deltas_ns[half as usize] += gap_ms * MS;
    })
}

fn stopped(age_ms: u64, stopped_ms: u64, cpu_ms: u64) -> ReportBuilder {
    with_gap(age_ms, cpu_ms, stopped_ms, [PARSE, DRAW]).watched(age_ms - stopped_ms, 0).with(|report| {
        report.anr.frozen_ns = stopped_ms * MS;
    })
}

#[test]
fn a_process_that_was_stopped_is_not_a_slow_message() {
    let v = expect(stopped(5_500, 4_400, 1_050), "frozen", Confidence::High);
    assert!(v.headline.contains("frozen or stopped for 4.40 s of the 5.50 s"), "{}", v.headline);
    assert_eq!((part(&v, TimeUse::Frozen), part(&v, TimeUse::OnCpu)), (0.8, 0.191));
    let slow = v.causes.iter().find(|cause| cause.rule == "current-slow").unwrap();
    assert!(slow.title.contains("5.50 s, 4.40 s of it frozen or stopped"), "{}", slow.title);
    assert!(slow.title.contains("most of the rest in"), "{}", slow.title);
    assert_ne!(slow.confidence, Confidence::High, "{v:#?}");
}

/// While the process was stopped, the kernel counted no waits for a CPU. So the share of these waits is
/// small.
#[test]
fn what_is_left_of_a_stop_is_not_the_machines_fault() {
    let report = with_gap(5_500, 170, 4_400, [PARSE, DRAW]).watched(1_130, 870).with(|report| {
        (report.anr.frozen_ns, report.anr.ran_ns) = (4_380 * MS, 1_130 * MS);
    });
    let report = report.statistic("psi.cpu.some_avg10_percent", "98.0").cpu_used(1_040, 164, 172, 2);
    let v = expect(report, "frozen", Confidence::High);
    let starved = v.causes.iter().find(|cause| cause.rule == "starved");
    assert!(starved.is_none_or(|cause| cause.confidence != Confidence::High), "{v:#?}");
    assert!(starved.is_none_or(|cause| cause.share < Some(0.25)), "{v:#?}");
}

/// A message of five minutes with a gap of 70 s between two samples.
fn minutes(frozen_ns: u64) -> Diagnosis {
    let report = calm().running(99, 95_000).doing("android.os.Handler", "com.shop.Feed", 200);
    diagnosis(report.looper_tree(99, &[(PARSE, 9_000)]).with(|report| {
        let dumped_ns = Uptime(NOW_NS + 205_000 * MS);
        report.meta.dumped_at.uptime_ns = dumped_ns;
        if let MainState::Running(running) = &mut report.main {
            running.as_of_ns = dumped_ns;
        }
        report.trees[0].sample_deltas_ns[200] = 70_000 * MS;
        report.anr.frozen_ns = frozen_ns;
    }))
}

#[test]
fn a_gap_between_samples_counts_for_its_share_of_the_message() {
    let v = minutes(0);
    let frozen = v.causes.iter().find(|cause| cause.rule == "frozen").unwrap();
    assert!(frozen.score < 0.7 && frozen.share.is_some_and(|share| share < 0.25), "{frozen:#?}");
    assert_ne!(v.causes[0].rule, "frozen", "{v:#?}");
    // How long it was frozen was measured, and is less than a third.
    let v = minutes(70_000 * MS);
    assert!(v.causes.iter().all(|cause| cause.rule != "frozen"), "{v:#?}");
}

#[test]
fn a_message_that_is_slow_without_its_freeze_is_still_the_cause() {
    let v = diagnosis(stopped(9_000, 3_500, 5_300));
    assert_eq!(v.primary_cause().unwrap().rule, "current-slow", "{v:#?}");
    assert!(v.headline.contains("9.00 s, 3.50 s of it frozen or stopped"), "{}", v.headline);
    let short = diagnosis(stopped(9_000, 1_200, 7_600));
    assert!(short.causes.iter().all(|cause| cause.rule != "frozen"), "{short:#?}");
}

#[test]
fn a_heap_dump_that_suspends_all_is_named_with_its_thread() {
    let report = with_gap(5_000, 400, 4_500, [PARSE, PARSE]).watched(5_000, 0);
    let v = expect(report.clone().thread("leaks", Some(DUMP)), "suspended", Confidence::High);
    assert!(v.headline.contains("stood still for 4.60 s"), "{}", v.headline);
    assert!(v.headline.contains("thread leaks is in VMDebug.dumpHprofData"), "{}", v.headline);
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.leaks.Watcher.run(Watcher.java:8)"));
    // The dump is over, or of another tool: that main stood still is known all the same.
    let v = expect(report.clone(), "current-slow", Confidence::Medium);
    assert!(
        evidence(&v).contains("neither on a CPU nor in a known wait: it was stopped or suspended"),
        "{v:#?}"
    );
    assert!(v.causes.iter().all(|cause| cause.rule != "lock"), "{v:#?}");
    assert!(part(&v, TimeUse::Suspended) > 0.85, "{v:#?}");
    // Main computed meanwhile, so nobody had stopped it.
    let computes =
        with_gap(5_000, 4_800, 4_500, [PARSE, PARSE]).watched(5_000, 0).thread("leaks", Some(DUMP));
    let v = diagnosis(computes);
    assert_eq!(v.primary_cause().unwrap().rule, "current-slow", "{v:#?}");
    assert!(v.causes.iter().all(|cause| cause.rule != "suspended"), "{v:#?}");
}

/// The first report was seen on ART 10, where a debugger had stopped all threads. The others differ in main's
/// CPU time.
#[test]
fn a_debugger_that_stops_all_is_named() {
    let report = |cpu_ms| {
        let report = with_gap(5_500, cpu_ms, 4_400, [PARSE, DRAW]).watched(5_500, 300);
        report.with(|report| report.anr.debugged = true)
    };
    let v = expect(report(670), "suspended", Confidence::High);
    assert!(v.headline.contains("stood still for 4.53 s"), "{}", v.headline);
    assert!(v.headline.ends_with("a debugger was attached"), "{}", v.headline);
    assert_eq!(v.causes[0].culprit, None);
    // One that stops nobody explains nothing.
    expect(report(5_000), "current-slow", Confidence::High);
    // Nor is it known, without main's CPU time, that main stood still.
    let v = diagnosis(report(670).with(|report| {
        let MainState::Running(running) = &mut report.main else { panic!("a message runs") };
        running.cpu_ns = None;
    }));
    assert!(v.causes.iter().all(|cause| cause.rule != "suspended"), "{v:#?}");
}

/// Heap dumps stop main again and again, each time too briefly to count as a `SampleGap`. On ART 10 a report
/// then had one stack every 0.2 s, always at the same place in Java code, without CPU time. A wait for a
/// monitor gives the same samples, but must not be named as the cause here.
#[test]
fn many_short_stops_are_no_monitor() {
    let stopped = |missed| {
        let report = calm().running(99, 5_000).doing("android.os.Handler", "com.shop.Feed", 200);
        report.looper_tree(99, &[(PARSE, 24)]).watched(5_000, 100).with(|report| {
            let tree = &mut report.trees[0];
            tree.missed_samples = missed;
            tree.sample_deltas_ns[1..].fill(205 * MS);
        })
    };
    for missed in [18, 300] {
        let v = expect(stopped(missed), "current-slow", Confidence::Medium);
        assert!(v.causes.iter().all(|cause| cause.rule != "lock"), "{v:#?}");
    }
    let v = diagnosis(stopped(300));
    assert!(part(&v, TimeUse::Unexplained) > 0.85, "{v:#?}");
    assert!(
        evidence(&v).contains("neither on a CPU nor in a known wait: it was stopped or suspended"),
        "{v:#?}"
    );
    // Rare because rare ones were asked for: main could be sampled whenever a sample was due.
    expect(stopped(0), "lock", Confidence::High);
    // But the kernel saw it run, and no signal had made it run.
    let runs = stopped(0).interrupted(98, &[]).with(|report| {
        let main = &mut report.main_thread;
        (main.state, main.system_call, main.native) = (Some(b'R'), None, None);
    });
    let v = expect(runs, "current-slow", Confidence::Medium);
    assert!(v.causes.iter().all(|cause| cause.rule != "lock"), "{v:#?}");
}

#[test]
fn what_no_figure_explains_keeps_a_slow_message_at_medium() {
    let stacks = [(PARSE, 200), (DRAW, 290)];
    let report = |cpu_ms| calm().running(99, 5_000).doing("android.os.Handler", "", cpu_ms);
    let v =
        expect(report(400).looper_tree(99, &stacks).watched(5_000, 0), "current-slow", Confidence::Medium);
    assert!(part(&v, TimeUse::Unexplained) > 0.85, "{v:#?}");
    expect(report(4_700).looper_tree(99, &stacks).watched(5_000, 0), "current-slow", Confidence::High);
    // Main may have had no CPU: that was not counted.
    let v = expect(report(400).looper_tree(99, &stacks), "current-slow", Confidence::Medium);
    assert!(evidence(&v).contains("it was stopped or suspended, or got no CPU"), "{v:#?}");
    let unread = report(400).looper_tree(99, &stacks).watched(5_000, 0).with(|report| {
        let MainState::Running(running) = &mut report.main else { panic!("a message runs") };
        running.cpu_ns = None;
    });
    let v = expect(unread, "current-slow", Confidence::Medium);
    assert!(part(&v, TimeUse::Unmeasured) > 0.9, "{v:#?}");
}

/// A wait that has a name ends in a native method, too. The native wait that the kernel reports is this same
/// wait.
#[test]
fn a_native_wait_is_counted_once() {
    let sleep = "com.shop.Retry.run:3 java.lang.Thread.sleep!";
    let native = "com.shop.Codec.run:3 com.shop.Codec.decode!";
    let report = |stacks: &[(&str, u32)]| {
        let report = calm().running(99, 5_000).doing("android.os.Handler", "", 30);
        report.looper_tree(99, stacks).watched(5_000, 0).interrupted(101, &[])
    };
    let v = diagnosis(report(&[(sleep, 160), (PARSE, 330)]));
    assert!((part(&v, TimeUse::KnownWait) - 0.33).abs() < 0.03, "{v:#?}");
    let v = diagnosis(report(&[(sleep, 160), (native, 330)]));
    assert!(part(&v, TimeUse::KnownWait) > 0.95, "{v:#?}");
    let known = v.account.as_ref().unwrap().parts.iter().find(|part| part.time_use == TimeUse::KnownWait);
    assert_eq!(known.unwrap().detail, "native code 3.30 s, a sleep 1.60 s");
}

#[test]
fn a_wait_explains_what_it_took_and_no_gap_makes_it_shorter() {
    let sleep = "com.shop.Retry.run:3 java.lang.Thread.sleep!";
    let v = expect(with_gap(5_500, 20, 3_000, [sleep, sleep]), "sleep", Confidence::High);
    assert!(part(&v, TimeUse::KnownWait) > 0.95, "{v:#?}");
    assert!(v.causes[0].share > Some(0.95), "{v:#?}");
    // Stopped while it slept: the sleep is what is left.
    let report = with_gap(5_500, 20, 4_400, [sleep, sleep]).watched(1_100, 0);
    let v = expect(report.with(|report| report.anr.frozen_ns = 4_400 * MS), "frozen", Confidence::High);
    let sleep = v.causes.iter().find(|cause| cause.rule == "sleep").unwrap();
    assert!(sleep.share < Some(0.25) && sleep.confidence != Confidence::High, "{v:#?}");
}

#[test]
fn the_parts_of_an_account_are_all_of_the_time() {
    for (name, report) in absent_tests::complete() {
        let v = diagnosis(report);
        let Some(account) = &v.account else { continue };
        let sum: f64 = account.parts.iter().map(|part| part.ms).sum();
        assert!((sum - account.wall_ms).abs() < 0.01, "{name}: {account:#?}");
        for cause in &v.causes {
            let sure = cause.confidence == Confidence::High;
            assert!(!sure || cause.share.is_none_or(|share| share >= 0.5), "{name}: {cause:#?}");
        }
    }
}
