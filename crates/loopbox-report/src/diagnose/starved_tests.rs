//! Which threads or processes a verdict names when main did not get the CPU.

use super::tests::{calm, evidence, expect};
use super::{Confidence, diagnose};
use crate::model::Analysis;
use crate::test_support::{OUTSIDE, ReportBuilder};
use loopbox_format::model::{CpuUse, MainState};

/// A report in which main waits for a CPU for 4.5 s of 6 s, and in which the threads with these names are in
/// these states.
fn starved(threads: &[(String, u8)]) -> ReportBuilder {
    let report = calm().running(99, 6_000).doing("android.os.Handler", "", 500);
    let report = threads.iter().fold(report, |report, (name, _)| report.thread(name, None));
    let report = report.looper_tree(99, &[("com.shop.A.run com.shop.A.parse:4", 60)]).watched(6_000, 4_500);
    report.with(|r| r.threads.threads.iter_mut().zip(threads).for_each(|(thread, (_, s))| thread.state = *s))
}

fn pool() -> Vec<(String, u8)> {
    let pool = (1..=12).map(|n| (format!("pool-1-thread-{n}"), b'R'));
    pool.chain([("RenderThread".to_owned(), b'R'), ("pool-2-thread-1".to_owned(), b'S')]).collect()
}

fn headline(report: ReportBuilder) -> String {
    let report = report.statistic("psi.cpu.some_avg10_percent", "71.4");
    expect(report, "starved", Confidence::High).headline
}

#[test]
fn starved_by_the_apps_own_threads_goes_by_the_cpu_time_of_the_process() {
    // The threads that ran were not seen running: they were stopped while the report read them, or they were
    // not read.
    let report = starved(&[]).cpu_used(5_500, 500, 8_000, 2);
    assert_eq!(
        headline(report.clone()),
        "The app's own threads left main hardly any CPU: they used 71 % of it"
    );
    let v = expect(report, "starved", Confidence::High);
    let figures = "of the CPU time of 2 processors in the last 5.50 s, less main's, the app's other threads \
                   used 7.50 s (71 %)";
    assert!(evidence(&v).contains(figures), "{v:#?}");
    assert!(v.causes[0].advice.contains("setThreadPriority"), "{v:#?}");
}

#[test]
fn starved_names_the_pool_of_the_app_that_took_the_cpus() {
    let report = starved(&pool()).cpu_used(5_500, 500, 40_000, 8);
    let wanted = "The app's own threads left main hardly any CPU: 12 of pool-N-thread-N were running";
    assert_eq!(headline(report), wanted);
    let report = starved(&pool()[10..]).cpu_used(5_500, 500, 40_000, 8);
    let few = headline(report);
    assert!(few.ends_with(": pool-1-thread-11, pool-1-thread-12, RenderThread were running"), "{few}");
}

#[test]
fn starved_names_own_threads_whatever_they_are_called() {
    let named = |names: &[&str]| {
        let threads: Vec<(String, u8)> = names.iter().map(|name| ((*name).to_owned(), b'R')).collect();
        starved(&threads).with(|report| {
            for (nth, thread) in (1..).zip(&mut report.threads.threads) {
                thread.cpu_ns = Some(nth * 1_000_000_000);
            }
        })
    };
    let report = named(&["encoder", "thumbnails", "sync", "analytics"]);
    let counted = report.clone().cpu_used(5_500, 500, 20_000, 4);
    let wanted =
        "The app's own threads left main hardly any CPU: analytics, sync, thumbnails and 1 more were running";
    assert_eq!(headline(counted.clone()), wanted);
    let v = expect(counted, "starved", Confidence::High);
    let used = "CPU time of running threads since they began: analytics (7003) 4.00 s, sync (7002) 3.00 s";
    assert!(evidence(&v).contains(used), "{v:#?}");
    // Not counted: four want to run, and it is not known what they got.
    let unknown = "Main was starved of CPU time: who took it is not known";
    assert_eq!(headline(report), format!("{unknown} (analytics, sync, thumbnails and 1 more were running)"));
    assert_eq!(headline(named(&["encoder", "sync"])), unknown);
    assert_eq!(headline(named(&["loopbox-worker", "loopbox-sampler", "encoder", "sync"])), unknown);
    let two = named(&["encoder", "sync"]).cpu_used(5_500, 500, 9_900, 2);
    assert!(headline(two).ends_with(": sync, encoder were running"));
}

#[test]
fn starved_by_others_is_the_machine_whatever_threads_wanted_to_run() {
    for report in [starved(&[]), starved(&pool())] {
        let report = report.cpu_used(5_500, 500, 2_000, 8);
        assert_eq!(headline(report), "The machine was starved: this app hardly got to run");
    }
}

#[test]
fn starved_by_both_says_the_part_of_each() {
    let report = starved(&pool()).cpu_used(5_500, 500, 16_000, 8);
    let wanted = "The machine was starved: the app's own threads used 36 % of the CPU (12 of pool-N-thread-N were running), \
                  and others the rest";
    assert_eq!(headline(report), wanted);
}

#[test]
fn starved_by_whom_is_unknown_where_it_was_not_counted() {
    let unknown = "Main was starved of CPU time: who took it is not known";
    assert_eq!(headline(starved(&[])), unknown);
    // They wanted to run, which says nothing of what they got.
    let report = starved(&pool());
    assert_eq!(headline(report.clone()), format!("{unknown} (12 of pool-N-thread-N were running)"));
    let unread: [fn(&mut CpuUse); 2] = [|used| used.process_ns = None, |used| used.processors = None];
    for of in unread {
        let report = report.clone().cpu_used(5_500, 500, 40_000, 8);
        let report = report.with(|r| r.cpu_use.iter_mut().for_each(of));
        assert!(headline(report).starts_with(unknown));
    }
}

#[test]
fn starved_earlier_message_has_no_part_in_what_was_counted_since() {
    let late = |r: &mut loopbox_format::model::Report| {
        r.history.iter_mut().for_each(|record| record.checktime_late_ns = Some(750_000_000));
    };
    let report = calm().single("com.shop.Sync", 3_000, 300).running(99, 40).with(late);
    let token = report.clone().build().report.history.last().unwrap().first_token.0;
    let report = report.looper_tree(token, &[("com.shop.Sync.run:1 com.shop.Sync.merge:4", 290)]);
    let v = diagnose(&Analysis::new(&report.cpu_used(40, 1, 79, 2).build()));
    let starved = v.causes.iter().find(|cause| cause.rule == "starved").unwrap();
    assert_eq!(starved.title, "Main was starved of CPU time: who took it is not known");
}

/// The machine's figures describe the time of the dump.
#[test]
fn starved_start_of_an_app_does_not_explain_a_sleep_at_the_dump() {
    let report = calm().single("com.shop.Boot", 1_400, 200);
    let boot = report.clone().build().report.history.last().unwrap().details[0].token.0;
    let report = report.looper_tree(boot, &[("com.shop.Boot.parse:4", 140)]);
    let sleeps = "android.os.Looper.loop:160 android.os.MessageQueue.next:323 android.os.MessageQueue.nativePollOnce! \
                  com.shop.Touch.dispatch:4 java.lang.Thread.sleep!";
    let report = report.idle(300).outside(3_000, true).tree(OUTSIDE, &[(sleeps, 290)]);
    let report = report
        .with(|r| {
            if let MainState::Outside(outside) = &mut r.main {
                outside.cpu_ns = Some(1_000_000);
            }
        })
        .statistic("psi.cpu.some_avg10_percent", "91.4")
        .statistic("load.1", "9.50");
    let v = diagnose(&Analysis::new(&report.build()));
    let starved = v.causes.iter().find(|cause| cause.rule == "starved");
    assert!(starved.is_none_or(|cause| cause.score < 0.5), "{v:#?}");
    assert!(!v.headline.contains("starved"), "{v:#?}");
}
