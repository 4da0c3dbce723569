//! The limit on the app's memory as a cause, and its near misses.

use super::Confidence;
use super::tests::{calm, diagnosis, evidence, expect};
use crate::test_support::{NOW_NS, ReportBuilder};
use loopbox_format::model::{MainThread, Progress, Uptime};

/// A report of a message that has filled an array for six seconds. Main used `cpu_ms` of CPU time and never
/// waited for a CPU.
fn fills(cpu_ms: u64) -> ReportBuilder {
    calm()
        .running(99, 6_000)
        .doing("com.shop.Feed", "", cpu_ms)
        .looper_tree(99, &[("com.shop.Feed.show:3 com.shop.Feed.fill:9", 590)])
        .watched(6_000, 0)
}

/// The report, completed by memory statistics of the last 3 s: `high_times` is how often the app met
/// `memory.high`, `stalled_ms` is how long its threads waited for memory.
pub(super) fn limited(report: ReportBuilder, high_times: u64, stalled_ms: u64) -> ReportBuilder {
    report
        .statistic("cgroup.current_bytes", "99614720")
        .statistic("cgroup.high_bytes", "94371840")
        .statistic("cgroup.max_bytes", "max")
        .statistic("cgroup.high_times", "900")
        .statistic("lately.ms", "3000")
        .statistic("lately.cgroup.high_times", &high_times.to_string())
        .statistic("lately.cgroup.max_times", "0")
        .statistic("lately.cgroup.stalled_us", &(stalled_ms * 1_000).to_string())
        .statistic("lately.main.major_faults", "412")
}

/// The report, with main asleep in the kernel's function `wchan`.
pub(super) fn sleeps_in(report: ReportBuilder, wchan: &str) -> ReportBuilder {
    report.with(|r| {
        r.main_thread = MainThread {
            captured_ns: Uptime(NOW_NS),
            state: Some(b'D'),
            wchan: wchan.into(),
            ..MainThread::default()
        };
    })
}

#[test]
fn memory_goes_by_the_limit_that_the_app_met_and_by_the_time_that_it_cost() {
    let v = expect(limited(fills(400), 57, 2_700), "memory", Confidence::High);
    assert!(v.headline.contains("is held up by the limit on the app's memory"), "{}", v.headline);
    assert!(v.headline.contains("Feed.fill"), "{}", v.headline);
    let words = evidence(&v);
    for wanted in [
        "in the last 3.00 s the app met memory.high 57 times, threads of the app waited for memory for 2.70 s, \
         main had 412 page faults from disk or swap",
        "the kernel limits the app: of memory it has 95.0 MiB, and is throttled above 90.0 MiB",
        "main slept or was in the kernel, while its stacks run",
    ] {
        assert!(words.contains(wanted), "{wanted}: {v:#?}");
    }
    assert_eq!(v.causes[0].share, Some(0.9));
    let seen = expect(
        sleeps_in(limited(fills(400), 57, 2_700), "mem_cgroup_handle_over_high"),
        "memory",
        Confidence::High,
    );
    assert!(evidence(&seen).contains("at the report main waits for memory"), "{seen:#?}");
}

#[test]
fn memory_claims_no_more_than_its_share() {
    // Main was on a CPU for most of the time; the waits were other threads'.
    let v = diagnosis(limited(fills(4_950), 57, 2_700));
    let found = v.causes.iter().find(|cause| cause.rule == "memory").unwrap();
    assert_eq!(found.share, Some(0.1), "{v:#?}");
    assert!(found.score < 0.4 && v.primary_cause().unwrap().rule == "current-slow", "{v:#?}");
    // Main slept for all of it, and for a third of that somebody waited for memory.
    let v = diagnosis(limited(fills(100), 57, 1_000));
    let found = v.causes.iter().find(|cause| cause.rule == "memory").unwrap();
    assert!(found.confidence < Confidence::High, "{v:#?}");
    assert!(found.evidence.iter().any(|line| line == "not sure: it explains 33 % of the time"), "{v:#?}");
}

/// Reclaim is work of the kernel that the thread does itself, on a CPU.
#[test]
fn memory_counts_what_main_does_in_the_kernel() {
    let in_kernel = |report: ReportBuilder| {
        report.with(|r| {
            r.main_thread = MainThread {
                captured_ns: Uptime(NOW_NS),
                state: Some(b'R'),
                progress: Some(Progress {
                    over_ns: 1_000_000_000,
                    ran_ns: Some(900_000_000),
                    waited_ns: Some(0),
                    kernel_ns: 800_000_000,
                    user_ns: 100_000_000,
                    ..Progress::default()
                }),
                ..MainThread::default()
            };
        })
    };
    expect(in_kernel(limited(fills(4_950), 57, 2_700)), "memory", Confidence::High);
}

#[test]
fn memory_ignores_a_limit_that_costs_nothing_and_waits_for_something_else() {
    let lock = calm()
        .running(99, 6_000)
        .doing("com.shop.Feed", "", 20)
        .looper_tree(99, &[("com.shop.Feed.show:3 java.lang.Thread.sleep!", 590)])
        .watched(6_000, 0);
    for report in [
        limited(fills(400), 57, 100),
        limited(fills(400), 0, 2_700),
        limited(lock, 57, 2_700),
        fills(400),
        // The kernel's word of one instant, and nothing else.
        sleeps_in(limited(fills(400), 0, 0), "shrink_folio_list"),
    ] {
        let v = diagnosis(report);
        assert!(v.causes.iter().all(|cause| cause.rule != "memory"), "{v:#?}");
    }
}

/// The near miss of a full Java heap: there are collections, but no limit of the kernel is met.
#[test]
fn memory_is_not_a_full_heap() {
    let heap = |report: ReportBuilder| {
        let report = report.statistic("heap.used_bytes", "950").statistic("heap.max_bytes", "1000");
        let report = report.statistic("gc.lately.ms", "3000").statistic("gc.lately.blocking_count", "40");
        report.statistic("gc.lately.blocking_time_ms", "2400")
    };
    let v = expect(heap(limited(fills(400), 0, 20)), "gc", Confidence::High);
    assert!(v.causes.iter().all(|cause| cause.rule != "memory"), "{v:#?}");
    // Both: the collections may be what waits for memory.
    let v = diagnosis(heap(limited(fills(400), 57, 2_700)));
    let found = v.causes.iter().find(|cause| cause.rule == "memory").unwrap();
    assert!(found.confidence < Confidence::High, "{v:#?}");
    let unsure = "not sure: collections that threads had to wait for took 80 % of the time";
    assert!(found.evidence.iter().any(|line| line == unsure), "{v:#?}");
}

/// A slow disk resembles a limit on memory: main waits for pages of files in both cases. Here the device
/// waits for I/O, so memory is not the cause. If the app also meets its memory limit, memory is a possible
/// cause without high confidence.
#[test]
fn memory_is_not_a_slow_disk() {
    let disk = |report: ReportBuilder| {
        sleeps_in(report.statistic("psi.io.some_avg10_percent", "85.0"), "folio_wait_bit_common")
    };
    let v = diagnosis(disk(limited(fills(300), 0, 60)));
    assert!(v.causes.iter().all(|cause| cause.rule != "memory"), "{v:#?}");
    // A limit that is met, too: what main waited for is not sure.
    let v = diagnosis(disk(limited(fills(300), 9, 2_000)));
    let found = v.causes.iter().find(|cause| cause.rule == "memory").unwrap();
    assert!(found.confidence < Confidence::High, "{v:#?}");
}

#[test]
fn memory_of_the_device_is_distinguished_from_the_limit_and_is_never_sure() {
    let short = |report: ReportBuilder| {
        sleeps_in(report.statistic("psi.memory.some_avg10_percent", "48.0"), "do_swap_page")
    };
    let v = diagnosis(short(limited(fills(300), 0, 2_900)));
    let found = v.causes.iter().find(|cause| cause.rule == "memory").unwrap();
    assert!(found.title.contains("waits for memory, which the device is short of"), "{v:#?}");
    assert!(found.confidence < Confidence::High, "{v:#?}");
    assert!(evidence(&v).contains("not sure: the app met no limit on its memory meanwhile"), "{v:#?}");
    let refused = fills(300).statistic("cgroup.refused", "memory.current: Permission denied (os error 13)");
    let v = diagnosis(short(refused));
    let why = "not sure: whether the app met a limit on its memory is not known: memory.current: Permission denied \
               (os error 13)";
    assert!(evidence(&v).contains(why), "{v:#?}");
}
