//! One trace in all its forms, and how each is read.

use super::*;
use crate::diagnose::{Confidence, Diagnosis, diagnose};
use crate::model::Analysis;
use crate::test_support::full;
use loopbox_format::report::Decoded;
use proptest::prelude::*;

const BLOCKED: &str = include_str!("../../../tests/traces/blocked.txt");
const NO_ANSWER: &str = include_str!("../../../tests/traces/no-answer.txt");
const FROZEN: &str = include_str!("../../../tests/traces/frozen.txt");
const ENTERING: &str = include_str!("../../../tests/traces/art11-entering.txt");

fn read(bytes: &[u8]) -> TraceFile {
    TraceFile::read(bytes).expect("a trace")
}

fn analysis(trace: &ProcessTrace) -> Analysis {
    let a = Analysis::new(&Decoded { report: trace.report(), damage: Vec::new() });
    assert_eq!(a.issues, []);
    a
}

fn verdict(bytes: &[u8]) -> Diagnosis {
    diagnose(&analysis(read(bytes).first()))
}

/// The trace as the Play Console shows it: without attributes, and with a blank in front of each source.
fn of_the_play_console(text: &str) -> String {
    let threads = text.lines().skip_while(|line| !line.starts_with('"'));
    let lines = threads.filter(|line| !line.starts_with("  |") && !line.starts_with("-----"));
    let line = |line: &str| match line.split_once('(') {
        Some((method, place)) if line.starts_with("  at ") => format!("{method} ({place}\n"),
        _ => format!("{}\n", line.replace(" prio=5", "")),
    };
    lines.map(line).collect()
}

fn of_crashlytics(text: &str) -> String {
    let text =
        of_the_play_console(text).replace("\"main\" tid=1 Blocked", "main (blocked):tid=1 systid=4321");
    text.replace("\"sync\" tid=7 Sleeping", "sync (sleeping):tid=7 systid=4340 ")
}

#[test]
fn a_trace_is_the_same_in_every_form() {
    let quoted = format!("> > {}", BLOCKED.replace('\n', "\n> > "));
    let indented = format!("\t    {}", BLOCKED.replace('\n', "\n\t    "));
    let spaced = BLOCKED.replace('\n', "\n\n");
    let utf16: Vec<u8> = BLOCKED.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&[0xFF, 0xFE][..], &utf16].concat();
    let pasted = format!("Hello,\n\nour app hangs:\n```\n{BLOCKED}```\nRegards\n");
    let hard_blanks = BLOCKED.replace("  at ", "\u{A0}\u{A0}at ");
    let wanted =
        "Main waits for the monitor of a com.example.shop.Store, held by thread sync in Thread.sleep";
    for (form, bytes) in [
        ("as it is", BLOCKED.as_bytes().to_vec()),
        ("CR LF", BLOCKED.replace('\n', "\r\n").into_bytes()),
        ("CR", BLOCKED.replace('\n', "\r").into_bytes()),
        ("UTF-16", utf16),
        ("UTF-16 with a mark", marked),
        ("quoted", quoted.into_bytes()),
        ("indented", indented.into_bytes()),
        ("with blank lines", spaced.into_bytes()),
        ("with hard blanks", hard_blanks.into_bytes()),
        ("in a mail", pasted.into_bytes()),
        ("the Play Console's", of_the_play_console(BLOCKED).into_bytes()),
        ("Crashlytics'", of_crashlytics(BLOCKED).into_bytes()),
    ] {
        let verdict = verdict(&bytes);
        assert_eq!(verdict.headline, wanted, "{form}");
        let cause = verdict.primary_cause().unwrap();
        assert_eq!(
            (cause.rule, cause.confidence, cause.culprit.as_deref()),
            ("lock", Confidence::Medium, Some("com.example.shop.Cart.total(Cart.kt:40)")),
            "{form}"
        );
        assert!(verdict.caveats[0].contains("a recorder in the app knows besides"), "{form}: {verdict:?}");
    }
}

#[test]
fn what_the_system_writes_in_front_of_it_is_the_header_of_the_report() {
    let file = read(BLOCKED.as_bytes());
    let a = analysis(file.first());
    let process = &a.meta.process;
    assert_eq!((process.pid, process.name.as_str()), (4_321, "com.example.shop"));
    assert_eq!(
        (process.abi.as_str(), process.app_version.as_str(), process.device.as_str()),
        ("arm64-v8a", "5.2.1 (50201)", "google shiba")
    );
    assert_eq!(a.meta.dumped_at.uptime_ns, Uptime(105_612_000_000));
    assert_eq!(a.wall_clock().rfc3339(a.dump_ns).as_deref(), Some("2026-11-26T11:00:05.612Z"));
    assert_eq!(a.anr.verdict, AnrVerdict::Confirmed);
    let trace = a.system_trace.as_ref().unwrap();
    assert_eq!((trace.complete, trace.of_art, trace.apart.as_deref()), (true, true, None));
    assert_eq!((trace.was_frozen(), trace.threads.len()), (Some(false), 3));
    // Before Android 12 the time has no zone: then it is not known.
    let old = analysis(read(ENTERING.as_bytes()).first());
    assert_eq!(old.wall_clock().rfc3339(old.dump_ns), None);
    assert_eq!(old.system_trace.unwrap().written_at, "2026-11-22 15:53:07");
}

#[test]
fn of_several_processes_the_first_is_taken_or_the_one_that_is_named() {
    let other = BLOCKED.replace("4321", "900").replace("com.example.shop", "com.example.other");
    let all = format!(
        "------ VM TRACES JUST NOW ------\n{other}\n------ VM TRACES AT LAST ANR (x: 1) ------\n\n{BLOCKED}\n{other}"
    );
    let file = read(all.as_bytes());
    assert_eq!(file.names().collect::<Vec<_>>(), ["com.example.shop", "com.example.other"]);
    assert_eq!((file.first().pid(), file.processes()), (Some(4_321), 2));
    assert_eq!(file.of("com.example.other").and_then(ProcessTrace::pid), Some(900));
    assert_eq!(file.of("900").map(ProcessTrace::name), Some("com.example.other"));
    assert!(file.of("none").is_none());
    // The same process later: a separate trace.
    let later = format!("{BLOCKED}\n{}", BLOCKED.replace("total", "count"));
    assert_eq!(read(later.as_bytes()).processes(), 2);
}

#[test]
fn where_art_does_not_answer_the_native_stacks_and_the_kernel_say_where_main_was() {
    let file = read(NO_ANSWER.as_bytes());
    assert_eq!(file.processes(), 1, "both parts are of one process");
    let a = analysis(file.first());
    let trace = a.system_trace.as_ref().unwrap();
    assert_eq!((trace.complete, trace.of_art, trace.threads.len()), (true, false, 3));
    let main = trace.main().unwrap();
    assert_eq!(
        (main.wchan.as_str(), main.native.as_ref().map(|native| native.frames.len())),
        ("futex_wait_queue", Some(3))
    );
    let verdict = diagnose(&a);
    assert_eq!(
        (verdict.headline.as_str(), verdict.confidence),
        (
            "Main was in native code, in shop::Pool::wait(int) of libshop.so, when the system took its trace",
            Some(Confidence::Medium)
        )
    );
    let evidence = verdict.causes[0].evidence.join("\n");
    assert!(evidence.contains("ART did not answer"), "{evidence}");
    assert!(
        evidence.contains("waits for a lock, a condition or a thread's end (futex_wait_queue)"),
        "{evidence}"
    );
    // Without the second part it is the list alone, and without its end it is not complete.
    let list = &NO_ANSWER[..NO_ANSWER.find("sysTid=4340").unwrap()];
    let a = analysis(read(list.as_bytes()).first());
    assert!(!a.system_trace.as_ref().unwrap().complete);
    assert!(diagnose(&a).headline.starts_with("Main waits for a lock, a condition or a thread's end"));
}

#[test]
fn a_frozen_process_is_no_hang() {
    let a = analysis(read(FROZEN.as_bytes()).first());
    assert_eq!(a.system_trace.as_ref().unwrap().waited_ns(), Some(20_012_000_000));
    let verdict = diagnose(&a);
    assert_eq!(
        (verdict.headline.as_str(), verdict.confidence),
        ("The process was frozen when the system took its trace", Some(Confidence::High))
    );
    assert!(verdict.causes[0].evidence.iter().any(|line| line.contains("do_freezer_trap")), "{verdict:?}");
    let waited = "the system had waited for 20.01 s when it asked for the trace, with a time-out of 20.00 s";
    assert!(verdict.causes[0].evidence.iter().any(|line| line == waited), "{verdict:?}");
    // A system that does not say how long its time-out was, or not as a number.
    for timeout in ["", "Timeout: 0\n", "Timeout: soon\n", "Timeout: 99999999999999999999\n"] {
        let a = analysis(read(FROZEN.replace("Timeout: 20000\n", timeout).as_bytes()).first());
        let trace = a.system_trace.as_ref().unwrap();
        assert_eq!((trace.waited_ns(), trace.time_out_ns()), (Some(20_012_000_000), None), "{timeout}");
    }
}

/// When a frame may be of several methods, R8's retrace writes a line for each method.
#[test]
fn other_methods_that_a_frame_may_be_of_are_no_frames() {
    let text = "----- pid 9 at 2026-11-26 12:00:25.612345678+0100 -----\nCmd line: own.app\nDALVIK THREADS (1):\n\
                \"main\" prio=5 tid=1 Native\n  | sysTid=9\n  at own.List2.sorted(List2.java)\n  \
                <OR> at own.List2.drop(List2.java)\n  at own.App.run(App.java:3)\n\n----- end 9 -----\n";
    for text in [text.to_owned(), format!("> {}", text.replace('\n', "\n> "))] {
        let a = analysis(read(text.as_bytes()).first());
        let main = a.system_trace.as_ref().unwrap().main().unwrap();
        let frames: Vec<String> = main.java().iter().map(|&id| a.frames[id].full()).collect();
        assert_eq!(frames, ["own.App.run(App.java:3)", "own.List2.sorted"], "{:?}", main.stack);
    }
}

/// The diagnosis for main in this state and stack.
fn of_main(state: &str, stack: &str) -> Diagnosis {
    let looper = "  at android.os.Looper.loop(Looper.java:294)\n  at android.app.ActivityThread.main(ActivityThread.java:9177)\n";
    let text = format!(
        "----- pid 9 at 2026-11-26 12:00:25.612345678+0100 -----\nCmd line: own.app\nDALVIK THREADS (1):\n\"main\" prio=5 tid=1 {state}\n  | \
         sysTid=9\n{stack}{looper}\n----- end 9 -----\n"
    );
    verdict(text.as_bytes())
}

#[test]
fn the_same_rules_read_the_stack_of_a_trace() {
    let dispatch = "  at own.A.f(A.java:1)\n  at android.os.Handler.dispatchMessage(Handler.java:1)\n";
    for (state, top, rule, headline) in [
        ("Sleeping", "java.lang.Thread.sleep(Native method)", "sleep", "Main sleeps, called from A.f"),
        (
            "Native",
            "android.os.BinderProxy.transactNative(Native method)\n  at own.IShop$Stub$Proxy.load(IShop.java:3)",
            "binder",
            "Main waits for a binder call, IShop.load, called from A.f",
        ),
        (
            "Native",
            "libcore.io.Linux.fsync(Native method)",
            "io",
            "Main works on files, in Linux.fsync, called from A.f",
        ),
        (
            "WaitingForGcToComplete",
            "own.A.make(A.java:7)",
            "gc",
            "Main waits for a garbage collection to complete, in A.make",
        ),
        (
            "WaitingInMainDebuggerLoop",
            "own.A.make(A.java:7)",
            "stopped",
            "Main waits for a debugger, in A.make",
        ),
        ("Runnable", "own.A.make(A.java:7)", "in-trace", "Main was in A.make when the system took its trace"),
        (
            "Suspended",
            "own.A.make(A.java:7)",
            "in-trace",
            "Main was in A.make when the system took its trace",
        ),
        (
            "Waiting",
            "java.util.concurrent.locks.LockSupport.park(LockSupport.java:3)",
            "lock",
            "Main waits for another thread in LockSupport.park, called from A.f",
        ),
    ] {
        let verdict = of_main(state, &format!("  at {top}\n{dispatch}"));
        let cause = verdict.primary_cause().expect(headline);
        assert_eq!((cause.rule, verdict.headline.as_str()), (rule, headline), "{state}");
        assert_eq!(cause.confidence, Confidence::Medium, "{headline}");
    }
    let idle = of_main(
        "Native",
        "  at android.os.MessageQueue.nativePollOnce(Native method)\n  at android.os.MessageQueue.next(MessageQueue.java:336)\n",
    );
    assert!(idle.headline.starts_with("Main waited for its next message when"), "{}", idle.headline);
}

#[test]
fn a_waiter_without_a_holder_is_joined_with_the_thread_that_locked_the_same() {
    let anonymous = BLOCKED.replace(" held by thread 7", "");
    assert!(verdict(anonymous.as_bytes()).headline.contains("held by thread sync"), "by its id");
    let other = anonymous.replace("- locked <0x0a1b2c3d>", "- locked <0x0a1b2c3e>");
    assert!(!verdict(other.as_bytes()).headline.contains("held by"), "of another object");
    // Two threads cannot have it: the ids are of two objects.
    let twice = anonymous.replace(
        "(no managed stack frames)",
        "at a.B.c(B.java:1)\n  - locked <0x0a1b2c3d> (a com.example.shop.Store)",
    );
    assert!(!verdict(twice.as_bytes()).headline.contains("held by"));
}

#[test]
fn threads_without_a_number_of_the_kernel_are_shown() {
    let lines: Vec<&str> = BLOCKED.lines().filter(|line| !line.contains("sysTid")).collect();
    let text = lines.join(
        "
",
    );
    let a = analysis(read(text.as_bytes()).first());
    let names: Vec<(&str, Option<u32>)> =
        a.threads.threads.iter().map(|t| (t.name.as_str(), t.tid)).collect();
    assert_eq!(names, [("sync", None), ("Signal Catcher", None)]);
    assert!(diagnose(&a).headline.contains("held by thread sync"));
}

#[test]
fn traces_of_one_problem_are_one_group() {
    use crate::cluster::{Clusters, Sighting};
    let mut clusters = Clusters::default();
    let other = BLOCKED.replace("Cart.total", "Cart.count").replace("CartView.onClick", "CartView.onKey");
    for text in
        [BLOCKED.to_owned(), BLOCKED.replace("Cart.kt:40", "Cart.kt:43"), of_the_play_console(BLOCKED), other]
    {
        let a = analysis(read(text.as_bytes()).first());
        clusters.add(Sighting::new(&a, &diagnose(&a), "anr.txt"));
    }
    let summary = clusters.summary(0, 0);
    let text = crate::cluster::text(&summary, 20);
    assert_eq!(summary.groups.len(), 2, "{text}");
    assert!(!text.contains("outside of messages"), "{text}");
}

#[test]
fn files_of_another_kind_are_none() {
    let report = loopbox_format::report::encode(&full().build().report).unwrap();
    for (what, bytes) in [
        ("nothing", &b""[..]),
        ("a log", b"11-26 12:00:00.000  900  900 I ActivityManager: Start proc\n  at a.B.c(B.java:1)\n"),
        ("an exception", b"java.lang.Error: main\n\tat a.B.c(B.java:1)\n"),
        ("a report", &report),
        ("another thread", b"\"sync\" prio=5 tid=7 Sleeping\n  at a.B.c(B.java:1)\n"),
        ("bytes", &[0; 100]),
    ] {
        assert!(TraceFile::read(bytes).is_none(), "{what}");
    }
}

#[test]
fn a_file_of_any_number_of_processes_is_bounded() {
    let one = "----- pid 9 at x -----\n\"main\" tid=1 Native\n----- end 9 -----\n";
    let many: String = (0..3_000).map(|pid| one.replace(" 9 ", &format!(" {pid} "))).collect();
    assert_eq!(read(many.as_bytes()).processes(), MAX_DUMPS);
    let head = "Subject: x\n".repeat(50_000) + one;
    assert!(read(head.as_bytes()).first().text().len() < 2_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any bytes, and lines of traces in any order: no panic, and a verdict where the text is a trace.
    #[test]
    fn any_text_is_read(picks in proptest::collection::vec((0_usize..200, 0_usize..80), 0..150), noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = TraceFile::read(&noise);
        let lines: Vec<&str> = [BLOCKED, NO_ANSWER, FROZEN].iter().flat_map(|text| text.lines()).collect();
        let pick = |&(line, cut): &(usize, usize)| {
            lines[line % lines.len()].chars().take(if cut < 40 { usize::MAX } else { cut - 40 }).collect::<String>()
        };
        let text = picks.iter().map(pick).collect::<Vec<_>>().join("\n");
        if let Some(file) = TraceFile::read(text.as_bytes()) {
            for dump in &file.dumps {
                let a = Analysis::new(&Decoded { report: dump.report(), damage: Vec::new() });
                let headline = diagnose(&a).headline;
                prop_assert!(!headline.is_empty());
            }
        }
    }
}
