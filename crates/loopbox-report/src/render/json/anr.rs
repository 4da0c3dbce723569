//! The JSON about the ANR: whether the report is of one, and the evidence.

use crate::derive;
use crate::model::Analysis;
use crate::model::anr_type::{anr_call, words_of};
use crate::model::anr_words::{exit_reason, verdict_summary};
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use loopbox_format::model::{
    AnrInfo, AnrVerdict, AnrWarning, CpuUse, ProcessExit, QuitSignal, SignalOrigin, SystemWord, Uptime,
};
use std::borrow::Cow;

json_object! {
    /// Whether the report is of an ANR, and the evidence.
    pub(super) struct AnrView<'a>(a: &'a Analysis) {
        /// `confirmed`: the system reported it; `probable`: the system's signal came while main was busy;
        /// `hang`: a message ran longer than its hang threshold, or messages were due for longer than that;
        /// `responsive`: nothing shows that main did not respond; `unknown`: no verdict.
        verdict: Name<AnrVerdict> = Name(a.anr.verdict),
        /// The verdict in words; empty when it is `unknown`.
        summary: &'static str = verdict_summary(&a.anr),
        /// The evidence in words.
        evidence: Vec<String> = derive::evidence(a),
        /// How long the running message had been running, or, when no message ran, how long main had slept
        /// while messages were due. `frozen_ms` is not included.
        ran_ms: f64 = ms(a.anr.ran_ns),
        /// The hang threshold for the message that was running; null when there was none.
        hang_threshold_ms: Option<f64> = a.anr.hang_threshold_ns.map(ms),
        /// The part of the running message's age in which the process did not run.
        frozen_ms: f64 = ms(a.anr.frozen_ns),
        /// How long the main thread waited for a CPU since the hang was first suspected; null when that was
        /// not counted.
        starved_ms: Option<f64> = a.starved_ns().map(ms),
        /// Who used the processors while the running message ran; null when that was not counted.
        cpu: Option<CpuView> = a.cpu_use.map(CpuView::new),
        /// The total time of the message, once it has ended.
        ended_after_ms: Option<f64> = a.anr.ended_after_ns.map(ms),
        /// How long the first message of the queue has been overdue.
        overdue_ms: Option<f64> = a.anr.overdue_ns.map(ms),
        /// The duration of the longest message that had ended in the ten seconds before the dump.
        before_ms: f64 = ms(a.anr.before_ns),
        /// Whether a debugger was attached to the process.
        debugged: bool = a.anr.debugged,
        /// The SIGQUIT that caused this report, or that came earlier during the same message; null when there
        /// was none.
        signal: Option<SignalView> = a.anr.signal.map(SignalView::new),
        /// What the system answered when the recorder asked it about the ANR; null when the recorder did not
        /// ask.
        system: Option<Name<&'a SystemWord>> = a.anr.system.as_ref().map(Name),
        /// How the system describes the ANR; empty when it did not report one.
        system_words: &'a str = match &a.anr.system {
            Some(SystemWord::NotResponding(words)) => words,
            _ => "",
        },
        /// How the process ended, as `ApplicationExitInfo` has it.
        exit: Option<ExitView<'a>> = a.anr.exit.as_ref().map(|exit| ExitView::new(exit, a.anr_info)),
        /// What the system waited for, according to the system; null when it is not known.
        awaited: Option<Cow<'static, str>> = anr_call(a).map(|call| call.words),
        /// The system's time-out for what it waited for; null when it does not report one.
        timeout_ms: Option<f64> = anr_call(a).and_then(|call| call.timeout_ms).map(|ms| ms as f64),
        /// The system's warnings of an ANR that came while the main thread was late, oldest first.
        warnings: Vec<WarningView> =
            a.anr_warnings.iter().map(|warning| WarningView::new(warning, a.dump_ns, a.anr_info)).collect(),
    }
}

json_object! {
    /// A warning of the system that it would soon call an ANR.
    struct WarningView(warning: &AnrWarning, dump_ns: Uptime, info: Option<AnrInfo>) {
        /// When the warning came, relative to the dump.
        at_ms: f64 = ms_between(warning.at_ns, dump_ns),
        /// The number of the ANR, unique for its type until the device restarts.
        id: i32 = warning.id,
        /// The number of the `AnrTypes.ANR_TYPE_*` constant.
        kind: i32 = warning.kind,
        /// The type in words; for a type that is newer than this program, `type` and the number.
        name: Cow<'static, str> = words_of(warning.kind),
        /// How much of the time-out had passed.
        consumed_ms: f64 = warning.consumed_ms as f64,
        /// The time-out.
        timeout_ms: f64 = warning.timeout_ms as f64,
        /// Whether the warning is of the ANR that ended the process: both have the same type and number.
        ended_process: bool = info.is_some_and(|info| warning.is_of(&info)),
    }
}

json_object! {
    /// What the system recorded of the ANR that ended a process.
    struct AnrInfoView(info: AnrInfo) {
        /// The number of the ANR, unique for its type until the device restarts.
        id: i32 = info.id,
        /// The number of the `AnrTypes.ANR_TYPE_*` constant.
        kind: i32 = info.kind,
        /// The type in words; for a type that is newer than this program, `type` and the number.
        name: Cow<'static, str> = words_of(info.kind),
        /// The time-out.
        timeout_ms: f64 = info.timeout_ms as f64,
        /// Whether the user could notice the ANR.
        user_perceptible: bool = info.user_perceptible,
    }
}

json_object! {
    /// Who used the processors while the running message ran.
    struct CpuView(used: CpuUse) {
        /// The length of the time in which the processors' use was counted.
        over_ms: f64 = ms(used.over_ns),
        /// CPU time of the main thread.
        main_ms: f64 = ms(used.main_ns),
        /// CPU time of the process, the main thread included; null when it was not read.
        process_ms: Option<f64> = used.process_ns.map(ms),
        /// How many processors the main thread may run on; null when that was not read.
        processors: Option<u32> = used.processors,
    }
}

json_object! {
    /// A SIGQUIT signal.
    struct SignalView(signal: QuitSignal) {
        /// The sender.
        origin: Name<SignalOrigin> = Name(signal.origin),
        /// The process id of the sender.
        pid: u32 = signal.pid,
        /// The user id of the sender.
        uid: u32 = signal.uid,
        /// The number of SIGQUIT signals so far.
        count: u32 = signal.count,
    }
}

json_object! {
    /// The end of a process.
    struct ExitView<'a>(exit: &'a ProcessExit, info: Option<AnrInfo>) {
        /// The number of the `ApplicationExitInfo.REASON_*` constant.
        reason: i32 = exit.reason,
        /// The reason in words; for a reason that is newer than this program, `reason` and the number.
        name: Cow<'static, str> = exit_reason(exit),
        /// How the system describes the end.
        description: &'a str = &exit.description,
        /// The Unix time of the end.
        unix_ms: u64 = exit.unix_ms,
        /// More about the ANR that ended the process; null when the system reports no more.
        anr: Option<AnrInfoView> = info.map(AnrInfoView::new),
    }
}
