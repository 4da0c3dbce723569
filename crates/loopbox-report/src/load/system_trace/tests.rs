//! How reports change with real traces of ART 10 and 11 (tests/traces), and with a trace of Android 14 that
//! was written by hand.

use crate::diagnose::diagnose;
use crate::model::{Analysis, LockSource, OtherThread, SystemTrace};
use crate::test_support::ReportBuilder;
use loopbox_format::model::Uptime;
use proptest::prelude::*;

const CHAIN: &str = include_str!("../../../tests/traces/art10-chain.txt");
const DEADLOCK: &str = include_str!("../../../tests/traces/art10-deadlock.txt");
const ENTERING: &str = include_str!("../../../tests/traces/art11-entering.txt");
const ANDROID_14: &str = include_str!("../../../tests/traces/android14-binder.txt");

/// The process and the time of the trace with a chain of locks.
const CHAIN_OF: (u32, u64) = (28_946, 1_795_362_127_000);
/// The process and the time of the trace with a deadlock.
const DEADLOCK_OF: (u32, u64) = (29_423, 1_795_362_133_000);
/// The process and the time of the trace in which main waits to enter a monitor.
const ENTERING_OF: (u32, u64) = (3_461, 1_795_362_787_000);

/// A report of the hang that a trace shows, without locks or other threads.
fn hang((pid, unix_ms): (u32, u64)) -> ReportBuilder {
    let stack = "scenario.Holders.main:59 android.os.Looper.loop:214 scenario.Holders$1.run:53 scenario.Holders.pay:117";
    ReportBuilder::new()
        .running(46, 5_200)
        .doing("android.os.Handler", "scenario.Holders$1", 20)
        .tree(46, &[(stack, 515)])
        .with(|report| {
            report.meta.process.pid = pid;
            report.meta.dumped_at.unix_ms = unix_ms;
        })
}

fn loaded(report: ReportBuilder) -> Analysis {
    let analysis = Analysis::new(&report.build());
    assert_eq!(analysis.issues, []);
    analysis
}

fn trace(a: &Analysis) -> &SystemTrace {
    a.system_trace.as_ref().expect("a trace")
}

fn steps(a: &Analysis) -> Vec<String> {
    let step = |wait: &crate::model::LockWait| {
        let holder = wait.holder.as_ref();
        format!("{} by {}", wait.object, holder.map_or("no holder", |holder| &holder.name))
    };
    a.locks.waits.iter().map(step).collect()
}

#[test]
fn a_holder_that_only_the_trace_knows_is_the_verdicts() {
    let a = loaded(hang(ENTERING_OF).system_trace(ENTERING));
    assert_eq!((trace(&a).apart.as_deref(), trace(&a).complete), (None, true));
    let verdict = diagnose(&a);
    assert_eq!(
        verdict.headline,
        "The running message (#46, 5.20 s) waits for the monitor of a scenario.Holders$Basket, held by thread holder in Thread.sleep"
    );
    let evidence = verdict.causes[0].evidence.join("\n");
    assert!(evidence.contains("called from scenario.Holders.deliver(Holders.java:150)"), "{evidence}");
    assert!(evidence.contains("ART's own trace of the ANR says"), "{evidence}");
}

#[test]
fn the_trace_has_whole_chains_and_deadlocks() {
    let a = loaded(hang(CHAIN_OF).system_trace(CHAIN));
    let wanted = [
        "a scenario.Holders$Basket by holder",
        "a scenario.Holders$Price by middle",
        "the class scenario.Holders by last",
    ];
    assert_eq!((steps(&a), a.locks.deadlock), (wanted.map(str::to_owned).to_vec(), false));

    let a = loaded(hang(DEADLOCK_OF).system_trace(DEADLOCK));
    assert_eq!(steps(&a), ["a scenario.Holders$Basket by holder", "a scenario.Holders$Price by main"]);
    assert_eq!((a.locks.deadlock, a.locks.source), (true, LockSource::SystemTrace));
    let headline = diagnose(&a).headline;
    assert!(headline.starts_with("Deadlock: ") && headline.ends_with("in a cycle with holder"), "{headline}");
}

#[test]
fn a_thread_that_main_joins_and_that_wants_mains_lock_is_a_deadlock() {
    // As the trace, but that main waits for the other one to end.
    let waits = "  - waiting to lock <0x";
    let (before, after) = DEADLOCK.split_once("\"main\"").unwrap();
    let trace = format!("{before}\"main\"{}", after.replacen(waits, "  - waiting on <0x", 1));
    let stack = "scenario.Holders.main:59 android.os.Looper.loop:214 scenario.Holders$1.run:53 scenario.Holders.pay:117 \
                 java.lang.Thread.join:9 java.lang.Object.wait!";
    let join = ReportBuilder::new().running(46, 5_200).doing("android.os.Handler", "scenario.Holders$1", 20);
    let join = join.tree(46, &[(stack, 515)]).with(|report| {
        report.meta.process.pid = DEADLOCK_OF.0;
        report.meta.dumped_at.unix_ms = DEADLOCK_OF.1;
    });
    let holder = loaded(hang(DEADLOCK_OF).system_trace(DEADLOCK)).locks.waits[0].holder.clone().unwrap();
    let join =
        join.statistic("joined.name", &holder.name).statistic("joined.tid", &holder.tid.unwrap().to_string());
    let join = join.statistic("joined.at_ns", &crate::test_support::NOW_NS.to_string());
    let a = loaded(join.system_trace(&trace));
    assert_eq!(steps(&a), ["the end of thread holder by holder", "a scenario.Holders$Price by main"]);
    assert_eq!((a.locks.deadlock, a.locks.source), (true, LockSource::Join));
    let headline = diagnose(&a).headline;
    assert!(headline.ends_with("waits for the end of thread holder, in a cycle with holder"), "{headline}");
}

#[test]
fn what_the_recorder_saw_itself_counts_more() {
    let own = hang(CHAIN_OF).waits_for("com.shop.Db", "sync", "com.shop.Sync.run:9").system_trace(CHAIN);
    let a = loaded(own);
    assert_eq!((steps(&a), a.locks.source), (vec!["a com.shop.Db by sync".to_owned()], LockSource::Recorder));
    let unknown = hang(CHAIN_OF).waits_for("com.shop.Db", "sync", "com.shop.Sync.run:9");
    let unknown = unknown.with(|report| report.locks.waits[0].holder = None).system_trace(CHAIN);
    assert_eq!(loaded(unknown).locks.waits.len(), 3, "the trace knows a holder, and the recorder none");
}

#[test]
fn a_trace_of_another_moment_changes_nothing() {
    let (pid, at) = CHAIN_OF;
    for (report, why) in [
        (hang((pid + 1, at)), "it is of another process (28946)"),
        (hang((pid, at - 400_000)), "it was written 6 min 40 s after the report"),
        (hang((pid, at + 3 * 86_400_000)), "it was written 3 d 00 h before the report"),
        (
            hang(CHAIN_OF).with(|report| {
                report
                    .symbols
                    .methods
                    .iter_mut()
                    .filter(|m| m.name == "main")
                    .for_each(|m| m.name = "other".into());
            }),
            "main was in other code by then (Holders.main, not Holders.other)",
        ),
    ] {
        let a = loaded(report.system_trace(CHAIN));
        assert_eq!(trace(&a).apart.as_deref(), Some(why));
        assert!(a.locks.waits.is_empty() && a.threads.threads.is_empty() && a.main_thread.is_none(), "{why}");
    }
    // The clock of the device, two hours and a half ahead of UTC, and a trace that took a while.
    let a = loaded(hang((pid, at - 9_000_000 - 20_000)).system_trace(CHAIN));
    assert_eq!(trace(&a).apart, None);
}

#[test]
fn threads_get_their_whole_names_and_stacks() {
    let cut = |report: ReportBuilder, tid, name: &str, stack| {
        report.thread(name, stack).with(|report| report.threads.threads.last_mut().expect("one").tid = tid)
    };
    let report = cut(hang(CHAIN_OF), 28_975, "nceQueueDaemon", None);
    let report = cut(report, 28_976, "FinalizerDaemon", Some("com.shop.A.b:1"));
    let report = cut(report, 28_977, "rWatchdogDaemon", None);
    let report = report.with(|report| report.threads.left_out = 30);
    let a = loaded(report.system_trace(CHAIN));
    let find = |tid: u32| -> &OtherThread {
        a.threads.threads.iter().find(|thread| thread.tid == Some(tid)).expect("a thread")
    };
    let top = |thread: &OtherThread| a.frames[*thread.stack.as_ref().unwrap().last().unwrap()].short();
    assert_eq!(find(28_977).name, "FinalizerWatchdogDaemon");
    assert_eq!(
        (find(28_975).name.as_str(), top(find(28_975)).as_str()),
        ("nceQueueDaemon", "Object.wait"),
        "not what the kernel cuts"
    );
    assert_eq!(top(find(28_976)), "A.b", "the recorder's own stack");
    assert!(a.threads.threads.iter().all(|thread| thread.tid != Some(28_946)), "main is no other thread");
    assert_eq!((a.threads.threads.len(), trace(&a).threads.len(), a.threads.left_out), (15, 16, 18));
    let holder = a
        .threads
        .threads
        .iter()
        .find(|thread| thread.name == "middle")
        .expect("one that was not in the report");
    let locks: Vec<String> =
        a.traced(holder).unwrap().locks().map(|lock| format!("{:?} {}", lock.action, lock.object)).collect();
    assert_eq!(locks, ["Wants the class scenario.Holders", "Holds a scenario.Holders$Price"]);
    let without =
        a.threads.threads.iter().position(|thread| thread.stack.as_ref().is_none_or(Vec::is_empty)).unwrap();
    assert!(
        a.threads.threads[without..].iter().all(|t| t.stack.as_ref().is_none_or(Vec::is_empty)),
        "those with a stack first"
    );
}

#[test]
fn newer_systems_say_what_it_is_about_and_when_and_main_has_native_frames() {
    let binder = "com.example.shop.Cart$1.run:31 com.example.shop.Cart.load:44 android.os.BinderProxy.transact:571 android.os.BinderProxy.transactNative!";
    let report = ReportBuilder::new().running(46, 5_200).looper_tree(46, &[(binder, 515)]);
    let a = loaded(report.clone().system_trace(ANDROID_14));
    let found = trace(&a);
    assert!(found.subject.starts_with("Input dispatching timed out (com.example.shop/"), "{}", found.subject);
    assert_eq!(
        (found.pid, found.asked_ns, found.threads.len(), found.apart.as_deref()),
        (Some(4_321), Some(Uptime(100_412_000_000)), 4, None)
    );
    assert_eq!(found.threads[2].tid, None, "not attached to ART");
    let native = a.main_thread.as_ref().unwrap().native.as_ref().unwrap();
    let frames: Vec<_> =
        native.frames.iter().map(|f| (f.offset, f.function().map_or("", |f| &f.name))).collect();
    assert_eq!(frames[0], (0x9_b5f8, "__ioctl"));
    assert_eq!(frames.len(), 4);
    assert_eq!(native.modules[0].build_id, "a87908b48b368e6282bcc9f34bcfc28c");
    assert_eq!(native.captured_ns, Uptime(100_412_000_000));
    // A native stack from our signal counts more.
    let own = report.interrupted(29, &[("/own/libc.so", &[1], 7)]).system_trace(ANDROID_14);
    assert_eq!(loaded(own).main_thread.unwrap().native.unwrap().frames.len(), 1);
}

#[test]
fn a_trace_without_its_end_is_used_as_far_as_it_goes() {
    let cut = &ENTERING[..ENTERING.find("\"Runtime worker thread 1\"").unwrap()];
    let a = loaded(hang(ENTERING_OF).system_trace(cut));
    assert!(!trace(&a).complete);
    assert_eq!(
        (trace(&a).threads.len(), steps(&a)),
        (3, vec!["a scenario.Holders$Basket by 13 (not in the trace)".to_owned()])
    );
    let a = loaded(hang(ENTERING_OF).system_trace("no trace at all"));
    assert_eq!(trace(&a).apart.as_deref(), Some("it does not show the main thread"));
    let damaged = hang(ENTERING_OF).with(|report| report.system_trace.gzip = b"no gzip".to_vec()).build();
    let a = Analysis::new(&damaged);
    assert!(a.issues[0].what.starts_with("section TRAC: "), "{:?}", a.issues);
}

#[test]
fn a_trace_of_any_length_is_bounded() {
    let thread = "\"t\" prio=5 tid=9 Waiting\n  | sysTid=9 nice=0\n  at a.B.c(D.java:1)\n\n";
    let deep = "  at a.B.c(D.java:1)\n  - locked <0x1> (a a.B)\n".repeat(2_000);
    let text = format!("\"main\" prio=5 tid=1 Waiting\n{deep}\n{}", thread.repeat(5_000));
    let a = loaded(hang(ENTERING_OF).system_trace(&text));
    assert_eq!((trace(&a).threads.len(), trace(&a).left_out), (1_024, 3_977));
    assert_eq!(trace(&a).threads[0].stack.len(), 512);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines of real traces, in another order, cut and doubled.
    #[test]
    fn any_order_of_lines_is_loaded(picks in proptest::collection::vec((0_usize..1_300, 0_usize..80), 0..200)) {
        let lines: Vec<&str> = [CHAIN, DEADLOCK, ENTERING, ANDROID_14].iter().flat_map(|text| text.lines()).collect();
        let pick = |&(line, cut): &(usize, usize)| {
            let line = lines[line % lines.len()];
            line.chars().take(if cut < 40 { usize::MAX } else { cut - 40 }).collect::<String>()
        };
        let text = picks.iter().map(pick).collect::<Vec<_>>().join("\n");
        let a = Analysis::new(&hang(CHAIN_OF).system_trace(&text).build());
        prop_assert!(a.locks.waits.len() <= 64);
        prop_assert!(!diagnose(&a).headline.is_empty());
    }
}
