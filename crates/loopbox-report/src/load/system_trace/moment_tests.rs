//! What a trace adds to a report that has no stack, and when a trace counts as taken at the moment of the
//! report.

use crate::diagnose::{Confidence, Diagnosis, diagnose};
use crate::model::Analysis;
use crate::test_support::{NOW_NS, OUTSIDE, ReportBuilder};
use loopbox_format::model::{Feature, MainState, Report, Uptime};

/// The time of the dump of every built report, in the form in which ART writes a time.
const NOW: &str = "2026-09-21 14:13:20.000000000+0000";
const LOOPER: &str = "  at android.os.Looper.loop(Looper.java:1)\n  at android.app.ActivityThread.main(ActivityThread.java:1)\n";
const SLEEPS: &str = "  at java.lang.Thread.sleep(Native method)\n  at own.A.f(A.java:1)\n  at android.os.Handler.dispatchMessage(Handler.java:1)\n";
const WAITS: &str = "  at own.A.f(A.java:1)\n  - waiting to lock <0x01> (a own.L) held by thread 7\n  at android.os.Handler.dispatchMessage(Handler.java:1)\n";
const POLLS: &str = "  at android.os.MessageQueue.nativePollOnce(Native method)\n  at android.os.MessageQueue.next(MessageQueue.java:1)\n";
const STACK: &str = "own.A.f:1";

fn trace(at: &str, state: &str, stack: &str) -> String {
    format!(
        "----- pid 4321 at {at} -----\nCmd line: own.app\nDALVIK THREADS (2):\n\"main\" prio=5 tid=1 {state}\n  | sysTid=4321\n{stack}{LOOPER}\n\
         \"w\" prio=5 tid=7 Sleeping\n  | sysTid=10\n  at java.lang.Thread.sleep(Native method)\n  at own.B.g(B.java:2)\n  - locked <0x01> (a \
         own.L)\n\n----- end 4321 -----\n"
    )
}

/// A report of an idle main thread, whose sampler was off.
fn without_stacks() -> ReportBuilder {
    ReportBuilder::new().group(10, 290, 20).idle(6_000).with(|report| {
        let sampler = report.features.iter_mut().find(|state| state.feature == Feature::Sampler).unwrap();
        (sampler.on, sampler.detail) = (false, "no offset table matches".into());
    })
}

fn slept(report: &mut Report) {
    if let MainState::Outside(outside) = &mut report.main {
        outside.cpu_ns = Some(50_000_000);
    }
}

fn of(report: ReportBuilder, trace: &str) -> (Analysis, Diagnosis) {
    let a = Analysis::new(&report.system_trace(trace).build());
    assert_eq!(a.issues, []);
    let verdict = diagnose(&a);
    (a, verdict)
}

#[test]
fn the_traces_stack_is_the_verdicts_whatever_the_ring_said() {
    let states = [
        ("idle", without_stacks().idle_at_dump(5_200)),
        ("running", without_stacks().running(46, 5_200).doing("android.os.Handler", "", 50)),
        ("outside", without_stacks().outside(5_200, true).with(slept)),
    ];
    for (name, report) in states {
        for (state, stack, rule, says) in [
            ("Sleeping", SLEEPS, "sleep", "sleeps, called from A.f"),
            ("Blocked", WAITS, "lock", "waits for the monitor of a own.L, held by thread w in Thread.sleep"),
            (
                "WaitingForGcToComplete",
                &SLEEPS[SLEEPS.find("  at own").unwrap()..],
                "gc",
                "waits for a garbage collection to complete, in A.f",
            ),
        ] {
            let (a, verdict) = of(report.clone(), &trace(NOW, state, stack));
            assert_eq!(a.system_trace.as_ref().unwrap().apart, None, "{name} {state}");
            let cause = verdict.primary_cause().unwrap_or_else(|| panic!("{name} {state}: {verdict:#?}"));
            assert_eq!(cause.rule, rule, "{name} {state}: {verdict:#?}");
            assert!(verdict.headline.contains(says), "{name} {state}: {}", verdict.headline);
            assert_eq!(cause.culprit.as_deref(), Some("own.A.f(A.java:1)"), "{name} {state}");
            // One instant is no proof.
            assert!(cause.confidence < Confidence::High, "{name} {state}: {verdict:#?}");
            let all = format!("{verdict:#?}");
            assert!(!all.contains("Main was free") && !all.contains("Unclear"), "{name} {state}: {all}");
            assert!(
                !all.contains("no stack of the message") && !all.contains("(no stack)"),
                "{name} {state}: {all}"
            );
        }
    }
}

#[test]
fn what_used_the_cpu_all_the_time_did_not_sleep_for_it() {
    let (_, verdict) = of(without_stacks().running(46, 5_200), &trace(NOW, "Sleeping", SLEEPS));
    assert_eq!(verdict.causes[0].rule, "current-slow", "{verdict:#?}");
}

#[test]
fn a_state_other_than_blocked_refutes_a_monitor() {
    let report = || {
        ReportBuilder::new()
            .running(46, 5_200)
            .doing("android.os.Handler", "", 50)
            .looper_tree(46, &[(STACK, 515)])
    };
    let stack = "  at own.A.f(A.java:1)\n  at android.os.Handler.dispatchMessage(Handler.java:1)\n";
    let monitor = |verdict: &Diagnosis| {
        verdict.causes.iter().any(|cause| cause.title.contains("seems to wait for a monitor"))
    };
    for state in ["Native", "WaitingForGcToComplete", "Runnable", "Suspended", "TimedWaiting"] {
        assert!(!monitor(&of(report(), &trace(NOW, state, stack)).1), "{state}");
        let locked = of(report(), &trace(NOW, state, WAITS));
        assert!(locked.0.locks.waits.is_empty(), "{state}: what its stack has is no wait");
    }
    assert!(monitor(&of(report(), &trace(NOW, "Blocked", stack)).1));
    assert!(monitor(&diagnose(&Analysis::new(&report().build()))));
}

#[test]
fn a_state_of_one_instant_is_no_cause_of_what_waited_for_something_else() {
    let gc = "  at own.A.f(A.java:1)\n  at android.os.Handler.dispatchMessage(Handler.java:1)\n";
    let report = |stacks: &[(&str, u32)]| {
        ReportBuilder::new().running(46, 5_200).looper_tree(46, stacks).with(|report| {
            let MainState::Running(running) = &mut report.main else { panic!("a message runs") };
            running.cpu_ns = None;
        })
    };
    let call = "own.A.f:3 android.os.BinderProxy.transactNative!";
    let rules = |stacks: &[(&str, u32)]| -> Vec<&str> {
        let (_, verdict) = of(report(stacks), &trace(NOW, "WaitingForGcToComplete", gc));
        verdict.causes.iter().map(|cause| cause.rule).collect()
    };
    let met = rules(&[(call, 505), (STACK, 10)]);
    assert_eq!((met[0], met.contains(&"gc")), ("binder", false), "{met:?}");
    assert_eq!(rules(&[(call, 100), (STACK, 415)])[0], "gc");
}

#[test]
fn stacks_of_the_recorder_and_the_trace_at_one_place_are_sure() {
    let idle = || ReportBuilder::new().idle_at_dump(5_200);
    let tree = |stack| idle().looper_tree(OUTSIDE, &[(stack, 515)]);
    let (_, verdict) = of(tree("own.A.f:1"), &trace(NOW, "Blocked", WAITS));
    assert_eq!(
        (verdict.causes[0].rule, verdict.confidence),
        ("lock", Some(Confidence::High)),
        "{verdict:#?}"
    );
    let (_, verdict) = of(tree("own.A.f:1 java.lang.Thread.sleep!"), &trace(NOW, "Sleeping", SLEEPS));
    assert_eq!(
        (verdict.causes[0].rule, verdict.confidence),
        ("sleep", Some(Confidence::High)),
        "{verdict:#?}"
    );
    // Main was there for the last moment alone.
    let elsewhere = idle().looper_tree(OUTSIDE, &[("own.A.f:1 own.C.work:3", 300), ("own.A.f:1", 215)]);
    let (_, verdict) = of(elsewhere, &trace(NOW, "Blocked", WAITS));
    let lock = verdict.causes.iter().find(|cause| cause.rule == "lock").unwrap();
    assert!(lock.confidence < Confidence::High, "{verdict:#?}");
}

#[test]
fn without_an_own_stack_the_moment_is_compared_by_time_and_queue() {
    let idle = || without_stacks().idle_at_dump(5_200);
    let apart = |report: ReportBuilder, text: &str| of(report, text).0.system_trace.unwrap().apart;
    let sleeps = |at: &str| trace(at, "Sleeping", SLEEPS);
    assert_eq!(apart(idle(), &sleeps("2026-09-21 14:13:24.000000000+0000")), None);
    let late = apart(idle(), &sleeps("2026-09-21 14:13:40.000000000+0000"));
    assert_eq!(
        late.as_deref(),
        Some("it was written 20.00 s after the report, and the report has no stack of main to compare")
    );
    let unknown = apart(idle(), &sleeps("unknown"));
    assert_eq!(
        unknown.as_deref(),
        Some("when it was written is not known, and the report has no stack of main to compare")
    );
    let polling = idle().pending("(Total messages: 0, polling=true, quitting=false)");
    let waited = apart(polling.clone(), &sleeps(NOW));
    assert_eq!(
        waited.as_deref(),
        Some("main waited for its next message at the report, and was in Thread.sleep by then")
    );
    // What is left aside is said, and takes the certainty from a verdict against it.
    let known = polling.idle_cpu_read();
    let (_, verdict) = of(known, &sleeps(NOW));
    let free = verdict.causes.iter().find(|cause| cause.rule == "main-free").unwrap();
    assert!(free.confidence < Confidence::High, "{verdict:#?}");
    assert!(free.evidence.iter().any(|line| line.contains("shows main in Thread.sleep")), "{verdict:#?}");
    let running = without_stacks().running(46, 5_200);
    let over = apart(running, &trace(NOW, "Native", POLLS));
    assert_eq!(over.as_deref(), Some("main waited for its next message by then"));
}

#[test]
fn an_idle_main_thread_in_the_trace_is_no_hang() {
    let (a, verdict) = of(without_stacks().idle_at_dump(5_200), &trace(NOW, "Native", POLLS));
    assert_eq!(a.system_trace.as_ref().unwrap().apart, None);
    assert!(verdict.causes.iter().all(|cause| matches!(cause.rule, "main-free")), "{verdict:#?}");
    let evidence = format!("{verdict:#?}");
    assert!(!evidence.contains("whether the Looper waited at the dump is not known"), "{evidence}");
}

#[test]
fn the_stack_of_the_trace_is_the_tree_of_what_main_was_in() {
    let (a, _) = of(without_stacks().running(46, 5_200), &trace(NOW, "Sleeping", SLEEPS));
    let tree = a.tree(a.current_token().unwrap()).unwrap();
    assert_eq!((tree.token.0, tree.samples(), tree.total_ns()), (46, 1, 1_000));
    assert_eq!(tree.first_sample_ns(), Uptime(NOW_NS - 1_000));
    let names: Vec<String> = a.last_stack().unwrap().iter().map(|&id| a.frames[id].short()).collect();
    assert_eq!(
        names,
        ["ActivityThread.main", "Looper.loop", "Handler.dispatchMessage", "A.f", "Thread.sleep"]
    );
    assert_eq!(tree.entry.map(|id| a.frames[id].short()).as_deref(), Some("A.f"));
    assert_eq!(crate::invariant_violations(&a), Vec::<String>::new());
    // The report's own stacks stay what is shown.
    let own = without_stacks().running(46, 5_200).looper_tree(46, &[("own.A.f:1", 515)]);
    let (a, _) = of(own, &trace(NOW, "Sleeping", SLEEPS));
    assert_eq!(a.trees.len(), 1);
}
