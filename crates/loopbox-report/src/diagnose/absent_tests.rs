//! Tests that missing data are not used as evidence: each input is removed from each report, and no verdict
//! may follow from its absence.

use super::blind_spots_tests as spots;
use super::memory_tests::{limited, sleeps_in};
use super::*;
use crate::test_support::{NOW_NS, OUTSIDE, ReportBuilder};
use loopbox_format::model::{
    Anr, LockChain, MainState, MainThread, Meta, OtherThreads, PackedTrace, Pending, PendingSource,
    RecordKind, Report, Symbols, Uptime,
};
use loopbox_format::report::{Decoded, decode};
use std::collections::BTreeSet;

/// A report with its name.
type Scenario = (String, Report);

const LOOPER: &str = "android.os.Looper.loop:160 android.os.MessageQueue.next:323";
const WAITS: &str =
    "android.os.Looper.loop:160 android.os.MessageQueue.next:323 android.os.MessageQueue.nativePollOnce!";
const MONITOR: &str = "com.shop.Feed.show:20 com.shop.Feed.update:41";
const SLEEP: &str = "com.shop.Retry.run:3 java.lang.Thread.sleep!";
const BINDER: &str =
    "com.shop.A.run:3 com.shop.IShop$Stub$Proxy.get:9 android.os.BinderProxy.transactNative!";
const LATCH: &str = "com.shop.Feed.await:3 java.util.concurrent.CountDownLatch.await:9 sun.misc.Unsafe.park!";
const NATIVE: &str = "com.shop.Photo.show:3 com.shop.Codec.decode!";

fn calm() -> ReportBuilder {
    ReportBuilder::new().idle(20_000).group(60, 300, 4_000).idle(4_000).group(38, 110, 900).idle_cpu_read()
}

/// A complete dump of a queue: its entries and the line at its end.
fn queue(mut report: ReportBuilder, entries: &[String], polling: bool) -> ReportBuilder {
    report = report.pending("Looper (main, tid 1) {c0ffee}");
    for (nth, entry) in entries.iter().enumerate() {
        report = report.pending(&format!("  Message {nth}: {{ {entry} }}"));
    }
    report.pending(&format!("  (Total messages: {}, polling={polling}, quitting=false)", entries.len()))
}

fn seconds(when_ms: i64, rest: &str) -> String {
    format!(
        "when={}{}s{}ms {rest}",
        if when_ms < 0 { '-' } else { '+' },
        when_ms.abs() / 1_000,
        when_ms.abs() % 1_000
    )
}

/// A hang of six seconds in this stack, with all inputs known.
fn hang(stack: &str, cpu_ms: u64, starved_ms: u64) -> ReportBuilder {
    let report = calm().running(99, 6_000).doing("android.os.Handler", "com.shop.A$1", cpu_ms);
    let report = report.looper_tree(99, &[(stack, 590)]).watched(6_000, starved_ms);
    let report = report.statistic("psi.cpu.some_avg10_percent", "12.0");
    queue(report, &[seconds(-5_500, "what=3 target=com.shop.Feed")], false)
}

/// Main idle for eight seconds.
fn idle(entries: &[String], polling: bool) -> ReportBuilder {
    let report = calm().idle(9_000).idle_cpu_read().idle_at_dump(8_000).tree(OUTSIDE, &[(WAITS, 1)]);
    let report = report.with(|r| r.trees[0].sample_deltas_ns = vec![8_000_000_000]);
    queue(report.interrupted(22, &[]), entries, polling)
}

fn barrier(messages: i64, age_ms: i64) -> Vec<String> {
    let behind = (0..messages).map(|nth| seconds(nth - age_ms, "what=3 target=com.shop.Feed"));
    [seconds(-age_ms, "barrier=7")].into_iter().chain(behind).collect()
}

fn flooded(report: ReportBuilder, oldest_ms: i64) -> ReportBuilder {
    let entries: Vec<String> =
        (0..200).map(|n| seconds(n * 20 - oldest_ms, "what=7 target=com.shop.Ticker")).collect();
    queue(report, &entries, false)
}

fn busy() -> ReportBuilder {
    (0..40).fold(ReportBuilder::new(), |report, _| report.group(300, 300, 5))
}

/// A report for each rule, and for each near miss of a rule, as complete as a recorder writes them.
pub(super) fn complete() -> Vec<(&'static str, ReportBuilder)> {
    let held = |stack: &str, cpu_ms, starved_ms| {
        hang(stack, cpu_ms, starved_ms).waits_for(
            "com.shop.Feed",
            "sync-1",
            "com.shop.Sync.run:9 libcore.io.Linux.fsync!",
        )
    };
    let late = |report: ReportBuilder| {
        report.with(|r| r.history.iter_mut().for_each(|r| r.checktime_late_ns = Some(750_000_000)))
    };
    let native = |cpu_ms, starved_ms| {
        hang(NATIVE, cpu_ms, starved_ms).interrupted(98, &[("/data/app/lib/libshop.so", &[2; 20], 7)])
    };
    let pooled = |starved_ms| {
        let report = (0..12).fold(hang("com.shop.A.run com.shop.A.parse:4", 500, starved_ms), |report, n| {
            report.thread(&format!("pool-1-thread-{n}"), None)
        });
        let report = report.with(|r| r.threads.threads.iter_mut().for_each(|thread| thread.state = b'R'));
        report.cpu_used(5_500, 500, 40_000, 8)
    };
    let heap = |stack: &str, cpu_ms, starved_ms| {
        let report = hang(stack, cpu_ms, starved_ms)
            .statistic("heap.used_bytes", "950")
            .statistic("heap.max_bytes", "1000");
        let report = report.statistic("gc.lately.ms", "4000").statistic("gc.lately.blocking_count", "9");
        report.statistic("gc.lately.blocking_time_ms", "3000")
    };
    let parked = |stack: &str, cpu_ms| {
        let sync = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
        let report =
            hang(stack, cpu_ms, 0).statistic("parked.1.for", sync).statistic("parked.1.owner", "writer");
        let report =
            report.statistic("parked.deadlock", "false").statistic("parked.at_ns", &NOW_NS.to_string());
        report.thread("writer", Some("com.shop.Store$1.run:40 java.io.FileDescriptor.sync!"))
    };
    let earlier = |report: ReportBuilder| {
        let report = report.single("com.shop.Sync", 7_000, 6_500).group(3, 60, 0).idle_cpu_read();
        report.watched(0, 0)
    };
    let behind =
        |report: ReportBuilder| queue(report, &[seconds(-6_900, "what=3 target=com.shop.Feed")], false);
    let started =
        ReportBuilder::new().running(1, 6_000).doing("android.app.ActivityThread$H", "", 60).with(|r| {
            let MainState::Running(running) = &mut r.main else { panic!("a message runs") };
            r.meta.process.started_ns = Some(running.start_ns);
            r.meta.process.installed_ns = running.start_ns + 5_000_000_000;
        });
    let outside = |cpu_ms: u64| {
        let busy = format!("{LOOPER} com.shop.Trim.queueIdle:5 com.shop.Cart.total:88");
        let report = calm().outside(6_000, true).tree(OUTSIDE, &[(&busy, 590)]).watched(6_000, 0);
        let report = report.with(|r| {
            let MainState::Outside(outside) = &mut r.main else { panic!("it is outside") };
            outside.cpu_ns = Some(cpu_ms * 1_000_000);
        });
        queue(report, &[seconds(-5_900, "what=3 target=com.shop.Feed")], false)
    };
    vec![
        ("computes", hang(MONITOR, 5_900, 0)),
        ("a monitor", hang(MONITOR, 15, 0)),
        ("a monitor or a starved machine", late(hang(MONITOR, 15, 2_000))),
        ("a held monitor", held(MONITOR, 15, 0)),
        ("a held monitor, met at the end", held(MONITOR, 5_400, 0)),
        ("a held monitor on a machine that is half starved", late(held(MONITOR, 300, 2_800))),
        ("a held monitor on a starved machine", late(held(MONITOR, 300, 5_000))),
        (
            "a deadlock",
            held(MONITOR, 15, 0).waits_for("com.shop.Db", "main", MONITOR).with(|r| r.locks.deadlock = true),
        ),
        ("a parked lock", parked(LATCH, 15)),
        ("a parked lock, met at the end", parked("com.shop.A.run:1 com.shop.A.sum:2", 5_900)),
        ("sleeps", hang(SLEEP, 9, 0)),
        ("sleeps on a starved machine", late(hang(SLEEP, 9, 2_000))),
        ("binder", hang(BINDER, 40, 0)),
        ("a call that computes", hang(BINDER, 4_000, 0)),
        ("a latch", hang(LATCH, 15, 0).thread("feed", Some("com.shop.Feed$1.run:40 java.lang.Object.wait!"))),
        (
            "files",
            hang("com.shop.Disk.load:3 java.io.FileInputStream.read libcore.io.Linux.readBytes!", 900, 0),
        ),
        ("collects", hang("com.shop.Trim.run:3 java.lang.System.gc java.lang.Runtime.gc!", 5_000, 0)),
        ("a full heap", heap("com.shop.Feed.decode:9", 2_000, 0)),
        ("a full heap, and sleeps", heap(SLEEP, 20, 0)),
        ("above the memory limit", limited(hang("com.shop.Feed.fill:9", 300, 0), 57, 2_700)),
        (
            "above the memory limit, and the kernel says so",
            sleeps_in(limited(hang("com.shop.Feed.fill:9", 300, 0), 57, 2_700), "try_charge_memcg"),
        ),
        ("above the memory limit, and sleeps", limited(hang(SLEEP, 20, 0), 57, 2_700)),
        ("native code waits", native(20, 0)),
        ("native code computes", native(5_300, 0)),
        ("native code is starved", native(700, 4_500)),
        ("starved by a pool", late(pooled(4_500))),
        ("not starved by a pool", late(pooled(5))),
        (
            "an earlier message",
            behind(earlier(calm()).running(103, 120).looper_tree(103, &[("com.shop.Innocent.run", 7)])),
        ),
        (
            "an earlier message, longer than the running one",
            behind(earlier(calm()).running(199, 6_000).looper_tree(199, &[(SLEEP, 590)]).watched(6_000, 0)),
        ),
        ("an earlier message, shorter than the running one", {
            let report = calm()
                .single("com.shop.Sync", 5_000, 4_500)
                .running(199, 6_000)
                .looper_tree(199, &[(MONITOR, 590)]);
            behind(report.watched(6_000, 0))
        }),
        ("an earlier message, and idle since", queue(earlier(calm()).idle_at_dump(2_000), &[], true)),
        ("many messages", flooded(busy().running(12_001, 20), 900)),
        ("a flood", flooded(busy().running(12_001, 20), 9_000)),
        (
            "a queue behind a message",
            flooded(hang(MONITOR, 5_900, 0).with(|r| r.pending.lines.clear()), 5_100),
        ),
        ("a queue behind an earlier message", flooded(earlier(calm()).running(199, 20), 7_000)),
        ("a leaked barrier", idle(&barrier(500, 7_000), true)),
        ("a leaked barrier and few messages", idle(&barrier(2, 7_000), true)),
        (
            "a barrier that waits for its frame",
            queue(hang(MONITOR, 5_900, 0).with(|r| r.pending.lines.clear()), &barrier(3, 5_000), false),
        ),
        ("free", idle(&[], true)),
        (
            "free, with messages to come",
            idle(&[seconds(90, "what=1 target=H"), seconds(5_000, "what=2 target=H")], true),
        ),
        ("idle with a message that is due", idle(&[seconds(-4_000, "what=1 target=H")], true)),
        ("idle with a message that is due, awake", idle(&[seconds(-4_000, "what=1 target=H")], false)),
        (
            "idle, and yet it used the CPU",
            idle(&[], true).with(|r| r.history.last_mut().unwrap().cpu_ns = Some(3_600_000_000)),
        ),
        (
            "idle, as a displaced hook says",
            idle(&[], true).with(|r| {
                (r.features[0].on, r.features[0].detail) = (false, "displaced by another library".into());
            }),
        ),
        (
            "idle, after messages that nobody saw",
            idle(&[], true).with(|r| r.history.last_mut().unwrap().kind = RecordKind::Unseen),
        ),
        ("outside of messages", outside(5_900)),
        ("outside of messages, asleep", outside(10)),
        (
            "frozen between messages",
            queue(calm().idle(300_000).group(2, 40, 10).running(199, 30), &[], false),
        ),
        (
            "frozen between messages, and slow since",
            queue(calm().idle(300_000).single("com.shop.Sync", 3_000, 2_900).running(199, 30), &[], false),
        ),
        (
            "frozen in a message",
            hang(MONITOR, 5_900, 0)
                .with(|r| r.main = MainState::Unknown)
                .running(99, 95_000)
                .doing("H", "", 200)
                .with(|r| {
                    r.trees[0].start_ns = Uptime(NOW_NS - 95_000_000_000);
                    r.trees[0].sample_deltas_ns[200] = 80_000_000_000;
                }),
        ),
        (
            "a start that was hardly recorded",
            queue(started.looper_tree(1, &[(SLEEP, 90)]).watched(6_000, 0), &[], false),
        ),
        ("a young message", queue(calm().running(99, 200), &[], false)),
    ]
}

/// Hangs for which the report has ART's own trace, which names the lock.
fn traced() -> Vec<(&'static str, ReportBuilder)> {
    let stack = "scenario.Holders.main:59 android.os.Looper.loop:214 scenario.Holders$1.run:53 scenario.Holders.pay:117";
    let traces = [
        (
            "a holder that only the trace knows",
            3_461,
            1_795_362_787_000,
            include_str!("../../tests/traces/art11-entering.txt"),
        ),
        (
            "a deadlock that only the trace knows",
            29_423,
            1_795_362_133_000,
            include_str!("../../tests/traces/art10-deadlock.txt"),
        ),
    ];
    let report = |pid, unix_ms, text| {
        let report = calm().running(99, 5_200).doing("android.os.Handler", "scenario.Holders$1", 20);
        let report = report.tree(99, &[(stack, 515)]).watched(5_200, 0).with(|r| {
            (r.meta.process.pid, r.meta.dumped_at.unix_ms) = (pid, unix_ms);
        });
        queue(report.system_trace(text), &[], false)
    };
    traces.map(|(name, pid, unix_ms, text)| (name, report(pid, unix_ms, text))).into()
}

fn scenarios() -> Vec<Scenario> {
    let tables = [
        spots::cold_starts(),
        spots::outside_of_messages(),
        spots::reported_as_idle(),
        spots::starved_or_not(),
        spots::named_by_their_stacks(),
    ];
    let spots = tables.into_iter().flatten().map(|case| (case.name.to_owned(), case.report.build().report));
    let complete =
        complete().into_iter().chain(traced()).map(|(name, report)| (name.to_owned(), report.build().report));
    let golden = std::env::current_dir().unwrap().join("../../tests/golden");
    let files = ["", "-anr", "-native", "-lost", "-starved"].map(|name| {
        let name = format!("report-1.0{name}");
        let bytes = std::fs::read(golden.join(format!("{name}.lbx"))).unwrap();
        (name, decode(&bytes).unwrap().report)
    });
    complete.chain(spots).chain(files).collect()
}

/// An input that is removed.
struct Absent {
    name: String,
    take: Box<dyn Fn(&mut Report)>,
    /// Parts of statements. A diagnosis without this input must contain none of them.
    silent: &'static [&'static str],
}

fn absent(
    name: impl Into<String>,
    silent: &'static [&'static str],
    take: impl Fn(&mut Report) + 'static,
) -> Absent {
    Absent { name: name.into(), take: Box::new(take), silent }
}

/// Beginnings or parts of statements about a queue's entries.
const OF_QUEUE: &[&str] =
    &["pending messages", "no pending message", "first message of the queue", "barrier"];
const OF_STACKS: &[&str] = &["sampled in", "its stacks", "the stacks show", "most of it in", "last seen in"];
const OF_HISTORY: &[&str] =
    &["An earlier message", "messages took", "between two messages nothing", "no message ran for"];
const OF_CPU: &[&str] =
    &["main was on the CPU for", "main computed:", "main waited: only", "got the CPU for only"];

const OF_TAKERS: &[&str] = &["The app's own threads", "The machine was starved", "of the CPU time of"];

fn sections() -> Vec<Absent> {
    vec![
        absent("section META", &["before the recorder was installed"], |r| r.meta = Meta::default()),
        absent("section MAIN", &["The running message", "no message was running at the dump"], |r| {
            r.main = MainState::Unknown;
        }),
        absent("section CPU", OF_TAKERS, |r| r.cpu_use = None),
        absent("section ANR", &["main waited for a CPU for"], |r| r.anr = Anr::default()),
        absent("section HIST", OF_HISTORY, |r| r.history.clear()),
        absent(
            "section FEAT",
            &["the hook may have missed messages", "the hook into the main Looper was off"],
            |r| r.features.clear(),
        ),
        absent("section SYMB", &[], |r| r.symbols = Symbols::default()),
        absent("section TREE", OF_STACKS, |r| r.trees.clear()),
        absent("section LOCK", &[], |r| r.locks = LockChain::default()),
        absent("section KTHR", &["waits in native code", "native code:", "at the report main waits"], |r| {
            r.main_thread = MainThread::default();
        }),
        absent("section PEND", OF_QUEUE, |r| r.pending = Pending::default()),
        absent("section STAT", &["pressure:", "of the heap's limit", "memory.high", "limits the app"], |r| {
            r.statistics.clear();
        }),
        absent("section THRD", &["were running", "main may wait for"], |r| {
            r.threads = OtherThreads::default();
        }),
        absent("section TRAC", &["ART's own trace"], |r| r.system_trace = PackedTrace::default()),
    ]
}

fn each_record(r: &mut Report, change: impl Fn(&mut loopbox_format::model::Record)) {
    r.history.iter_mut().for_each(change);
}

fn fields() -> Vec<Absent> {
    vec![
        absent("main's CPU time", OF_CPU, |r| match &mut r.main {
            MainState::Running(running) => running.cpu_ns = None,
            MainState::Outside(outside) => outside.cpu_ns = None,
            _ => {}
        }),
        absent("the process's CPU time", OF_TAKERS, |r| {
            if let Some(used) = &mut r.cpu_use {
                used.process_ns = None;
            }
        }),
        absent("the number of processors", OF_TAKERS, |r| {
            if let Some(used) = &mut r.cpu_use {
                used.processors = None;
            }
        }),
        absent("the message's name", &[], |r| {
            if let MainState::Running(running) = &mut r.main {
                running.message = None;
            }
        }),
        absent("the start of what runs outside", &[], |r| {
            if let MainState::Outside(outside) = &mut r.main {
                outside.start_ns = None;
            }
        }),
        absent("the records' CPU time", &["main used the CPU for"], |r| {
            each_record(r, |record| record.cpu_ns = None);
        }),
        absent("the sampler's lateness", &["the sampler thread woke"], |r| {
            each_record(r, |record| record.checktime_late_ns = None);
        }),
        absent("the slowest messages", &[], |r| each_record(r, |record| record.slowest = None)),
        absent("the messages' names", &["of those kept by name"], |r| {
            each_record(r, |record| record.details.clear());
        }),
        absent("the older half of the history", &[], |r| drop(r.history.drain(..r.history.len() / 2))),
        absent("the hang threshold", &["main waited for a CPU for"], |r| r.anr.hang_threshold_ns = None),
        absent("the other threads' stacks", &["main may wait for"], |r| {
            r.threads.threads.iter_mut().for_each(|thread| thread.stack = None);
        }),
        absent("the second half of the threads", &[], |r| {
            let threads = &mut r.threads;
            threads.left_out += threads.threads.len().div_ceil(2) as u32;
            threads.threads.truncate(threads.threads.len() / 2);
        }),
        absent("the holders' names", &[], |r| {
            r.locks
                .waits
                .iter_mut()
                .filter_map(|wait| wait.holder.as_mut())
                .for_each(|holder| holder.name.clear());
        }),
        absent("the holders' stacks", &[], |r| {
            r.locks
                .waits
                .iter_mut()
                .filter_map(|wait| wait.holder.as_mut())
                .for_each(|holder| holder.stack.clear());
        }),
        absent("the system call", &[], |r| r.main_thread.system_call = None),
        absent("the kernel's function", &[], |r| r.main_thread.wchan.clear()),
        absent("main's state", &[], |r| r.main_thread.state = None),
        absent("main's progress", &[], |r| r.main_thread.progress = None),
        absent("the native stack", &["native code:"], |r| r.main_thread.native = None),
        absent("when the process started", &[], |r| r.meta.process.started_ns = None),
        absent("the API level", &["by the system before it calls an ANR"], |r| r.meta.process.api_level = 0),
    ]
}

/// Whether a line of the queue's dump is a message or a barrier.
fn is_entry(line: &str) -> bool {
    line.trim_start().starts_with("Message ")
}

fn without_last_line(r: &mut Report) {
    r.pending.lines.retain(|line| !line.contains("(Total messages:"));
}

fn cut(r: &mut Report, keep: usize) {
    let head = r.pending.lines.iter().take_while(|line| !is_entry(line)).count();
    let kept = (head + keep).min(r.pending.lines.len());
    r.pending.dropped_lines += (r.pending.lines.len() - kept) as u32;
    r.pending.lines.truncate(kept);
}

fn queues() -> Vec<Absent> {
    let looper_waits: &[&str] = &["and the Looper did not wait for one"];
    let mut all = vec![
        absent("the queue's last line", looper_waits, without_last_line),
        absent("the queue's last line, and the recorder says why", looper_waits, |r| {
            without_last_line(r);
            r.pending.lines.push("Loopbox: failed: java.lang.IllegalStateException".into());
        }),
        absent("all but the recorder's word", OF_QUEUE, |r| {
            r.pending.lines = vec!["Loopbox: not complete within 500 ms".into()];
        }),
        absent("the queue, which could not be read", OF_QUEUE, |r| {
            r.pending =
                Pending { source: PendingSource::Unavailable("interrupted".into()), ..Pending::default() };
        }),
        absent("all lines of the queue", OF_QUEUE, |r| r.pending.lines.clear()),
        absent("polling", looper_waits, |r| {
            for line in &mut r.pending.lines {
                *line = line.replace(", polling=true", "").replace(", polling=false", "");
            }
        }),
    ];
    for keep in [0, 1, 2, 10, 100] {
        all.push(absent(format!("all but {keep} of the queue's lines"), looper_waits, move |r| cut(r, keep)));
    }
    all
}

/// Inputs that a test removes: each statistic that a report of the scenarios has, by its name, and each of
/// the first four features of a report, by its position.
fn named(scenarios: &[Scenario]) -> Vec<Absent> {
    let statistics: BTreeSet<&str> =
        scenarios.iter().flat_map(|(_, r)| r.statistics.iter().map(|s| s.name.as_str())).collect();
    let statistics = statistics.into_iter().map(|name| {
        let wanted = name.to_owned();
        absent(format!("the statistic {name}"), &[], move |r| r.statistics.retain(|s| s.name != wanted))
    });
    let features = (0..4).map(|nth| {
        absent(format!("feature {nth}"), &[], move |r| {
            if nth < r.features.len() {
                r.features.remove(nth);
            }
        })
    });
    statistics.chain(features).collect()
}

fn verdict(report: &Report) -> Diagnosis {
    diagnose(&Analysis::new(&Decoded { report: report.clone(), damage: Vec::new() }))
}

/// The rules whose causes have high confidence. "Not enough data" is left out, because it makes no claim
/// about the app.
fn high(diagnosis: &Diagnosis) -> BTreeSet<&'static str> {
    let high = diagnosis.causes.iter().filter(|cause| cause.confidence == Confidence::High);
    high.map(|cause| cause.rule).filter(|rule| *rule != "no-data").collect()
}

/// Whether a verdict may be surer when an input is missing. Two verdicts may. One is "not enough data". The
/// other is "main was free" when the CPU time of earlier idle times is missing. It then has medium confidence
/// at most, and names the missing CPU time as the reason. The recorder often cannot separate this CPU time
/// from that of the messages before.
fn may_be_stronger(absent: &Absent, after: &Diagnosis) -> bool {
    match after.primary_cause() {
        Some(cause) if cause.rule == "no-data" => true,
        Some(cause) if cause.rule == "main-free" && absent.name == "the records' CPU time" => {
            let unread = "not sure: main's CPU time between messages was not read";
            cause.confidence <= Confidence::Medium && cause.evidence.iter().any(|line| line == unread)
        }
        _ => false,
    }
}

/// All statements of a diagnosis.
fn claims(diagnosis: &Diagnosis) -> Vec<&String> {
    let texts = diagnosis.causes.iter().flat_map(|cause| cause.evidence.iter().chain([&cause.title]));
    texts.filter(|text| !text.starts_with("not sure: ")).collect()
}

#[test]
fn no_verdict_comes_of_an_absent_input() {
    let scenarios = scenarios();
    let absents: Vec<Absent> =
        [sections(), fields(), queues(), named(&scenarios)].into_iter().flatten().collect();
    let (mut wrong, mut changed) = (Vec::new(), BTreeSet::new());
    for (name, report) in &scenarios {
        let before = verdict(report);
        for absent in &absents {
            let mut without = report.clone();
            (absent.take)(&mut without);
            if without == *report {
                continue;
            }
            changed.insert(absent.name.as_str());
            let after = verdict(&without);
            let mut faults = Vec::new();
            if after.confidence > before.confidence && !may_be_stronger(absent, &after) {
                faults.push(format!("stronger: {:?}, was {:?}", after.confidence, before.confidence));
            }
            faults.extend(high(&after).difference(&high(&before)).map(|rule| format!("{rule} became high")));
            let claims = claims(&after);
            let said = absent.silent.iter().filter(|words| claims.iter().any(|claim| claim.contains(*words)));
            faults.extend(said.map(|words| format!("says {words:?}")));
            if !faults.is_empty() {
                let (before, after) = (summary(&before), summary(&after));
                wrong.push(format!(
                    "{name}, without {}: {}\n  was {before}\n  is  {after}",
                    absent.name,
                    faults.join("; ")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    // Each of them is in some report, or its removal shows nothing.
    let unused: Vec<&str> =
        absents.iter().map(|a| a.name.as_str()).filter(|name| !changed.contains(name)).collect();
    assert_eq!(unused, Vec::<&str>::new());
}

fn summary(diagnosis: &Diagnosis) -> String {
    let causes =
        diagnosis.causes.iter().map(|cause| format!("{} {} {:?}", cause.rule, cause.score, cause.evidence));
    format!("{:?} {:?} {}", diagnosis.headline, diagnosis.confidence, causes.collect::<Vec<_>>().join(" | "))
}
