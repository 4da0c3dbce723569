//! What only the system's trace shows: main's state in ART, a frozen process, and main's stack when no other
//! part of the report has one.

use crate::diagnose::dominant_wait::short;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, PLACE};
use crate::diagnose::system_trace::seen_in;
use crate::diagnose::traced_main::{TracedMain, one_instant};
use crate::model::time::format_ns;
use crate::model::{Analysis, FrameId, MainWaitKind, NativeStack};

/// States of ART in which main waits for the collector, with their texts.
const OF_THE_COLLECTOR: [(&str, &str); 6] = [
    ("WaitingForGcToComplete", "waits for a garbage collection to complete"),
    ("WaitingPerformingGc", "collects garbage"),
    ("WaitingForGcThreadFlip", "waits for a garbage collection"),
    ("WaitingWeakGcRootRead", "waits for a garbage collection to let it read a weak reference"),
    ("WaitingForVisitObjects", "waits while all objects are visited"),
    ("WaitingForGetObjectsAllocated", "waits while all objects are counted"),
];
/// States in which another part of the runtime, or a debugger, keeps main from running, with their rules and
/// texts.
const OF_THE_RUNTIME: [(&str, &str, &str); 7] = [
    ("WaitingForCheckPointsToRun", "stopped", "waits until all threads have come to a checkpoint"),
    ("WaitingForDeoptimization", "stopped", "waits while code is deoptimized"),
    ("WaitingForMethodTracingStart", "stopped", "waits while method tracing starts"),
    ("WaitingForDebuggerSend", "stopped", "waits for a debugger"),
    ("WaitingForDebuggerToAttach", "stopped", "waits for a debugger to attach"),
    ("WaitingInMainDebuggerLoop", "stopped", "waits for a debugger"),
    ("WaitingForDebuggerSuspension", "stopped", "is stopped by a debugger"),
];

const GC_ADVICE: &str =
    "See what fills the heap and what allocates (the other threads' stacks); do not call System.gc().";
const RUNTIME_ADVICE: &str = "Nothing of the app's code: see who debugs, traces or dumps the process.";
const JNI_ADVICE: &str =
    "Another thread is in the library's JNI_OnLoad: load it before it is needed, and keep JNI_OnLoad short.";

/// Finds the cause when main's state in the trace is enough to name it.
pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let traced = facts.trace?;
    let slow = facts.at_dump()?;
    // The stacks of what runs now, not those of a longer message before.
    let facts = &facts.of(slow);
    let state = traced.main.state.split(' ').next()?;
    let of_state = |known: &&(&str, &str)| known.0 == state;
    let (rule, does, advice) = if let Some((_, does)) = OF_THE_COLLECTOR.iter().find(of_state) {
        ("gc", *does, GC_ADVICE)
    } else if let Some((_, rule, does)) = OF_THE_RUNTIME.iter().find(|known| known.0 == state) {
        (*rule, *does, RUNTIME_ADVICE)
    } else if state == "WaitingForJniOnLoad" {
        ("io", "waits for another thread to load a native library", JNI_ADVICE)
    } else {
        return None;
    };
    let own = own_frame(facts, traced);
    let place = own.map_or_else(String::new, |own| format!(", in {}", short(facts, own)));
    let against =
        slow.cpu_share().filter(|cpu| *cpu >= 0.5).map(|_| "main used the CPU meanwhile".to_owned());
    let stood = traced.stood(facts);
    // Main waited for something else for most of the time, and for the runtime when the trace was taken.
    let waited = facts.profile.as_ref().is_some_and(|profile| profile.waiting_share() > 0.6);
    if waited && !stood && one_instant(slow).is_none() {
        return None;
    }
    // Where main computes, its stacks are the same.
    let stands = stood && slow.cpu_share().is_some_and(|cpu| cpu <= 0.2);
    Some(
        Finding::new(rule, facts.score(slow) + 0.07, format!("{} {does}{place}", slow.subject()))
            .with_evidence(format!("the state of main in the system's trace is {state}"))
            .at_most_medium((!stands).then(|| "the system's trace shows one instant of it".to_owned()))
            .no_verdict(against)
            .with_advice(advice)
            .with_message(slow.token)
            .with_culprit(own),
    )
}

/// The system had frozen the process, according to the system or to the place where main sleeps.
pub(super) fn find_frozen(facts: &Facts<'_>) -> Option<Finding> {
    let traced = facts.trace?;
    let asleep = traced.main.wchan.contains("freezer") || traced.main.wchan.contains("refrigerator");
    let said = traced.trace.was_frozen() == Some(true);
    if !asleep && !said {
        return None;
    }
    let score = if asleep { 0.85 } else { 0.72 };
    let wchan = &traced.main.wchan;
    Some(
        Finding::new("frozen", score, "The process was frozen when the system took its trace".into())
            .with_all_evidence(said.then(|| "the system says of it: Frozen: true".to_owned()))
            .with_all_evidence(asleep.then(|| format!("main sleeps in the kernel's {wchan}")))
            .with_all_evidence(about_time(traced))
            .with_advice(
                "Time-outs that started before the freeze ran out during it: this is not a hang of the app's code.",
            ),
    )
}

/// A finding that says only where main was in the system's trace. It is dropped when another finding can be
/// the headline.
pub(super) fn find_place(facts: &Facts<'_>) -> Option<Finding> {
    let traced = facts.trace?;
    let a = facts.analysis;
    let stack = traced.main.java();
    if stack.is_empty() {
        return native_place(facts, traced);
    }
    if traced.waits_for_a_message(a) {
        return a.is_trace_alone().then(|| waited(facts, traced));
    }
    let slow = facts.at_dump()?;
    let top = *stack.last()?;
    let own = own_frame(facts, traced);
    let caller = own.filter(|own| *own != top);
    let caller = caller.map_or_else(String::new, |own| format!(", called from {}", short(facts, own)));
    let title = format!("Main was in {}{} when the system took its trace", short(facts, top), caller);
    // It says where, and neither why nor for how long.
    let score = if a.is_trace_alone() { 0.55 } else { 0.4 };
    Some(
        Finding::new(PLACE, score, title)
            .with_all_evidence(seen_in(facts, slow))
            .with_all_evidence(about_time(traced))
            .at_most_medium(one_instant(slow))
            .with_advice("See the stack: move the named work off the main thread or make it smaller.")
            .with_message(slow.token)
            .with_culprit(own.or(Some(top))),
    )
}

/// The finding for a report that is only a trace, in which main is idle.
fn waited(facts: &Facts<'_>, traced: TracedMain<'_>) -> Finding {
    let title =
        "Main waited for its next message when the system took its trace: the hang was over, or is elsewhere";
    Finding::new(PLACE, 0.55, title.into())
        .with_evidence("main's stack is in nativePollOnce, where an idle main thread waits")
        .with_all_evidence(about_time(traced))
        .at_most_medium(["what main did before is not known".to_owned()])
        .at_most_medium(facts.unknown_main())
        .with_advice(
            "A trace is late by seconds: without the messages that ran before, nobody can say what took the time. A recorder in the \
             app keeps them.",
        )
}

/// Main has no Java stack in the trace: ART did not answer, or main runs no Java code.
fn native_place(facts: &Facts<'_>, traced: TracedMain<'_>) -> Option<Finding> {
    let a = facts.analysis;
    let place = traced.main.native.as_ref().and_then(native_function);
    // The kernel's word, when it is of the trace.
    let wait = a.main_wait().filter(|wait| {
        !traced.main.wchan.is_empty() && !matches!(wait.kind, MainWaitKind::Unknown | MainWaitKind::Stopped)
    });
    let title = match (&place, &wait) {
        (Some(place), _) => format!("Main was in native code, in {place}, when the system took its trace"),
        (None, Some(wait)) => format!("Main {} when the system took its trace", wait.text),
        (None, None) => return None,
    };
    let art = (!traced.trace.of_art).then(|| {
        "ART did not answer, so the system took the native stacks itself: they have no Java methods"
            .to_owned()
    });
    Some(
        Finding::new(PLACE, if a.is_trace_alone() { 0.55 } else { 0.4 }, title)
            .with_all_evidence(art)
            .with_all_evidence(wait.map(|wait| format!("main {}", wait.text)))
            .with_all_evidence(about_time(traced))
            .at_most_medium(["the system's trace shows one instant of it".to_owned()])
            .with_advice(
                "Name the native frames (loopbox symbolize), and call the native method from another thread.",
            ),
    )
}

/// The innermost function outside of the C library: `android::IPCThreadState::talkWithDriver(bool) of
/// libbinder.so`.
fn native_function(native: &NativeStack) -> Option<String> {
    let named = native.frames.iter().filter_map(|frame| Some((frame, native.modules.get(frame.module?)?)));
    let outside = |module: &str| !module.starts_with("libc.so") && module != "[vdso]";
    let mut outside = named.filter(|(_, module)| outside(module.file_name()));
    outside.next().map(|(frame, module)| match frame.function() {
        Some(function) => format!("{} of {}", function.name, module.file_name()),
        None => format!("{} at {:#x}", module.file_name(), frame.offset),
    })
}

/// A sentence for each of three things: the subject that the system wrote into the trace, how long the system
/// had waited for the app, and the system's debug store.
fn about_time(traced: TracedMain<'_>) -> Vec<String> {
    let trace = traced.trace;
    let time_out = trace.time_out_ns().map(|ns| format!(", with a time-out of {}", format_ns(ns)));
    let time_out = time_out.as_deref().map_or("", |words| words);
    let waited = trace.waited_ns().map(|ns| {
        format!("the system had waited for {} when it asked for the trace{time_out}", format_ns(ns))
    });
    let subject = Some(&trace.subject).filter(|subject| !subject.is_empty());
    let subject = subject.map(|subject| format!("the system says: {subject}"));
    let debug_store = trace.field("Debug Store").filter(|words| !words.is_empty());
    let debug_store = debug_store.map(|words| format!("the system's debug store says: {words}"));
    [subject, waited, debug_store].into_iter().flatten().collect()
}

/// The first frame of the app's own code from the top.
fn own_frame(facts: &Facts<'_>, traced: TracedMain<'_>) -> Option<FrameId> {
    facts.analysis.frames.first_own(traced.main.java().iter().rev(), |id| *id).copied()
}

/// The caveat of every cause in a report that consists of a trace alone: the data that only a recorder adds
/// is missing.
pub(super) fn alone(a: &Analysis) -> Option<String> {
    a.is_trace_alone().then(|| {
        "this is the system's trace of one instant: a recorder in the app knows besides for how long main was in this, what ran before, \
         main's CPU time, whether it waited for a processor, and which messages waited"
            .into()
    })
}
