//! Decides whether the main thread did not respond, and whether that was an ANR, by the evidence.

use loopbox_format::looper::{AnrClass, component_anr_class};
use loopbox_format::model::{
    Anr, AnrVerdict, Component, Message, NamedBy, ProcessExit, SignalOrigin, SystemWord,
};

/// The time-out of the system's input dispatcher. The system's other time-outs are scaled by the ratio of the
/// configured threshold to this one.
const INPUT_MS: u64 = 5_000;

/// The verdict that the evidence allows.
///
/// * What the system reports is final: `getProcessesInErrorState` while the process lives,
///   `ApplicationExitInfo` after its end.
/// * On an ANR the system also signals processes that have no part in it. So its signal makes an ANR probable
///   only if the main thread was busy, or a message overdue, for at least two fifths of the hang threshold
///   (two seconds of five). A message that has just ended counts, too.
/// * A signal from any other sender proves nothing.
/// * Without such evidence, the verdict is a hang if the main thread has not responded for at least its hang
///   threshold. That is so if it computes, waits for a processor, or takes nothing from its queue.
/// * With a debugger attached, nothing waits for the main thread, not even the system. Then only a report of
///   the system counts.
pub fn classify(anr: &Anr) -> AnrVerdict {
    let exit = anr.exit.as_ref().map(|exit| exit.reason);
    if exit == Some(ProcessExit::ANR) || matches!(anr.system, Some(SystemWord::NotResponding(_))) {
        return AnrVerdict::Confirmed;
    }
    if anr.debugged {
        return AnrVerdict::Responsive;
    }
    let threshold_ns = anr.hang_threshold_ns.unwrap_or(INPUT_MS * 1_000_000);
    let signalled = anr.signal.is_some_and(|signal| signal.origin == SignalOrigin::System);
    let busy_ns = anr.ran_ns.max(anr.overdue_ns.unwrap_or(0)).max(anr.before_ns);
    if signalled && busy_ns >= threshold_ns / 5 * 2 {
        return AnrVerdict::Probable;
    }
    // Who had no processor did not respond either, and nor does a queue that nobody takes from, as behind a
    // barrier or a flood.
    let waited_ns = anr.ran_ns.max(anr.overdue_ns.unwrap_or(0));
    if waited_ns >= threshold_ns { AnrVerdict::Hang } else { AnrVerdict::Responsive }
}

/// How long a message may run before it counts as a hang: `input_ns` when only input waits for it, and longer
/// for the framework's component messages, in proportion to the system's time-outs (a service may take twenty
/// seconds where input waits five). Outside of messages, and in a message without a name, the limit is that
/// of input.
pub fn threshold_ns(input_ns: u64, message: Option<&Message>, api_level: u32) -> u64 {
    // By the head of the queue it may be another's name.
    let certain = message.filter(|message| !matches!(message.named_by, NamedBy::Peek));
    let class = certain.and_then(|message| match message.component? {
        Component::ActivityThread => message.what.and_then(component_anr_class),
        Component::Receiver => Some(AnrClass::Broadcast),
        Component::Job => Some(AnrClass::Job),
        _ => None,
    });
    let timeout_ms = class.and_then(|class| class.timeout(api_level)).map_or(0, |time| time.foreground_ms);
    input_ns / INPUT_MS * timeout_ms.max(INPUT_MS)
}

/// Who sent a signal, by the sender's user. A kernel that does not know the sender gives user 0 and process
/// id 0.
pub fn origin(pid: u32, uid: u32, own_pid: u32, own_uid: u32) -> SignalOrigin {
    /// `Process.SYSTEM_UID`.
    const SYSTEM: u32 = 1_000;
    /// `Process.SHELL_UID`.
    const SHELL: u32 = 2_000;
    if pid == own_pid {
        SignalOrigin::SameProcess
    } else if uid == SYSTEM {
        SignalOrigin::System
    } else if pid == 0 {
        SignalOrigin::Other
    } else if uid == own_uid {
        SignalOrigin::SameUser
    } else if uid == 0 || uid == SHELL {
        SignalOrigin::Shell
    } else {
        SignalOrigin::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::QuitSignal;

    const S: u64 = 1_000_000_000;

    fn signal(origin: SignalOrigin) -> QuitSignal {
        QuitSignal { origin, pid: 1, uid: 1, count: 1 }
    }

    fn exit(reason: i32) -> ProcessExit {
        ProcessExit { reason, description: String::new(), unix_ms: 0 }
    }

    /// Each case has a name, the evidence and the expected verdict.
    #[test]
    fn the_verdict_follows_from_the_evidence() {
        use AnrVerdict::{Confirmed, Hang, Probable, Responsive};
        use SignalOrigin::{Other, SameProcess, SameUser, Shell, System};
        let base = Anr { hang_threshold_ns: Some(5 * S), ..Anr::default() };
        let ran = |seconds| Anr { ran_ns: seconds * S, ..base.clone() };
        let not_responding = Some(SystemWord::NotResponding("Input dispatching timed out".into()));
        let cases = [
            ("idle", base.clone(), Responsive),
            ("short of the threshold", ran(4), Responsive),
            ("at the threshold", ran(5), Hang),
            ("frozen time does not count", Anr { frozen_ns: 60 * S, ..ran(1) }, Responsive),
            ("no processor to run on", Anr { starved_ns: 6 * S, ..ran(7) }, Hang),
            ("no processor for a moment", Anr { starved_ns: 4 * S, ..ran(4) }, Responsive),
            ("starved a little", Anr { starved_ns: S, ..ran(6) }, Hang),
            ("a hang that ended", Anr { ended_after_ns: Some(9 * S), ..ran(5) }, Hang),
            ("debugger", Anr { debugged: true, ..ran(60) }, Responsive),
            (
                "debugger and signal",
                Anr { debugged: true, signal: Some(signal(System)), ..ran(60) },
                Responsive,
            ),
            ("signal to the idle", Anr { signal: Some(signal(System)), ..base.clone() }, Responsive),
            ("signal to the busy", Anr { signal: Some(signal(System)), ..ran(2) }, Probable),
            ("signal, short messages", Anr { signal: Some(signal(System)), ..ran(1) }, Responsive),
            (
                "queue overdue",
                Anr { signal: Some(signal(System)), overdue_ns: Some(3 * S), ..ran(0) },
                Probable,
            ),
            ("just over", Anr { signal: Some(signal(System)), before_ns: 6 * S, ..ran(0) }, Probable),
            ("queue alone", Anr { overdue_ns: Some(30 * S), ..ran(0) }, Hang),
            ("queue a little late", Anr { overdue_ns: Some(4 * S), ..ran(0) }, Responsive),
            ("kill -3", Anr { signal: Some(signal(Shell)), ..ran(4) }, Responsive),
            ("kill -3 in a hang", Anr { signal: Some(signal(Shell)), ..ran(7) }, Hang),
            ("another library", Anr { signal: Some(signal(SameProcess)), ..ran(4) }, Responsive),
            ("another process of ours", Anr { signal: Some(signal(SameUser)), ..ran(4) }, Responsive),
            ("unknown sender", Anr { signal: Some(signal(Other)), ..ran(4) }, Responsive),
            ("dialog for us", Anr { system: not_responding.clone(), ..base.clone() }, Confirmed),
            ("dialog under a debugger", Anr { debugged: true, system: not_responding, ..ran(9) }, Confirmed),
            (
                "asked in vain",
                Anr { signal: Some(signal(System)), system: Some(SystemWord::Silent), ..ran(3) },
                Probable,
            ),
            ("killed for an ANR", Anr { exit: Some(exit(6)), ..base.clone() }, Confirmed),
            ("killed for memory", Anr { exit: Some(exit(3)), ..base.clone() }, Responsive),
            ("killed for memory in a hang", Anr { exit: Some(exit(3)), ..ran(8) }, Hang),
            ("no threshold known", Anr { hang_threshold_ns: None, ..ran(4) }, Responsive),
            ("no threshold known, long", Anr { hang_threshold_ns: None, ..ran(5) }, Hang),
        ];
        for (name, anr, expected) in cases {
            assert_eq!(classify(&anr), expected, "{name}");
        }
    }

    #[test]
    fn threshold_ns_is_longer_for_component_messages() {
        let message = |component, what| Message {
            target: String::new(),
            callback: String::new(),
            what,
            component,
            named_by: NamedBy::Stack,
        };
        let cases = [
            (None, Some(0), 29, 5),
            (Some(Component::Frame), Some(0), 29, 5),
            (Some(Component::ActivityThread), Some(159), 29, 5),
            (Some(Component::ActivityThread), Some(114), 29, 20),
            (Some(Component::ActivityThread), Some(113), 29, 10),
            (Some(Component::ActivityThread), Some(110), 35, 10),
            (Some(Component::ActivityThread), Some(110), 36, 15),
            (Some(Component::ActivityThread), Some(118), 36, 5),
            (Some(Component::ActivityThread), Some(145), 29, 10),
            (Some(Component::ActivityThread), None, 29, 5),
            (Some(Component::Input), None, 29, 5),
            (Some(Component::Receiver), None, 30, 10),
            (Some(Component::Job), Some(0), 30, 5),
            (Some(Component::Job), Some(0), 34, 8),
        ];
        for (component, what, level, expected) in cases {
            let message = message(component, what);
            assert_eq!(threshold_ns(5 * S, Some(&message), level), expected * S, "{component:?} {what:?}");
            assert_eq!(threshold_ns(S, Some(&message), level), expected * S / 5, "{component:?} {what:?}");
        }
        let peeked =
            Message { named_by: NamedBy::Peek, ..message(Some(Component::ActivityThread), Some(114)) };
        assert_eq!(threshold_ns(5 * S, Some(&peeked), 29), 5 * S, "it may be another's name");
        assert_eq!(threshold_ns(5 * S, None, 29), 5 * S);
    }

    #[test]
    fn senders_are_distinguished() {
        let cases = [
            ((4_711, 10_123), SignalOrigin::SameProcess),
            ((1_500, 1_000), SignalOrigin::System),
            ((4_712, 10_123), SignalOrigin::SameUser),
            ((99, 2_000), SignalOrigin::Shell),
            ((99, 0), SignalOrigin::Shell),
            ((0, 0), SignalOrigin::Other),
            ((99, 10_200), SignalOrigin::Other),
        ];
        for ((pid, uid), expected) in cases {
            assert_eq!(origin(pid, uid, 4_711, 10_123), expected, "{pid} {uid}");
        }
    }
}
