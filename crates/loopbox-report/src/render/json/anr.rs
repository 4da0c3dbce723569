//! Whether the report is of an ANR.

use crate::derive;
use crate::model::Analysis;
use crate::model::anr_words::{exit_reason, verdict_summary};
use crate::model::name::Name;
use crate::model::time::ms;
use loopbox_format::model::{AnrVerdict, CpuUse, ProcessExit, QuitSignal, SignalOrigin, SystemWord};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether the report is of an ANR, by whose report, and the evidence.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnrView<'a> {
    /// `confirmed`: the system reported it; `probable`: the system's signal came while main was busy; `hang`: a message outran
    /// its hang threshold, or main slept while messages were due; `responsive`; `unknown`: no verdict.
    verdict: Name<AnrVerdict>,
    /// The verdict in words; empty when it is `unknown`.
    summary: &'static str,
    /// The evidence in words.
    evidence: Vec<String>,
    /// How long the running message had been running, or main had slept while messages were due, without `frozen_ms`.
    ran_ms: f64,
    /// The hang threshold for such a message; null when there was none.
    hang_threshold_ms: Option<f64>,
    /// The part of its age in which the process did not run.
    frozen_ms: f64,
    /// How long the main thread waited for a CPU since the hang was first suspected; null when that was not counted.
    starved_ms: Option<f64>,
    /// Who used the processors meanwhile; null when that was not counted.
    cpu: Option<CpuView>,
    /// The total time of the message, once it has ended.
    ended_after_ms: Option<f64>,
    /// How long the first message of the queue has been overdue.
    overdue_ms: Option<f64>,
    /// The longest message that had ended in the ten seconds before.
    before_ms: f64,
    /// Whether a debugger was attached to the process.
    debugged: bool,
    /// The SIGQUIT that the report answers.
    signal: Option<SignalView>,
    /// What the system answered; null when the recorder did not ask it.
    system: Option<Name<&'a SystemWord>>,
    /// How the system describes the ANR.
    system_words: &'a str,
    /// How the process ended, as `ApplicationExitInfo` has it.
    exit: Option<ExitView<'a>>,
}

/// Who used the processors while the running message ran.
#[derive(Debug, Serialize, JsonSchema)]
struct CpuView {
    /// The length of the time that this is about.
    over_ms: f64,
    /// CPU time of the main thread.
    main_ms: f64,
    /// CPU time of the process, the main thread included; null when it was not read.
    process_ms: Option<f64>,
    /// How many processors the main thread may run on; null when that was not read.
    processors: Option<u32>,
}

/// A SIGQUIT signal.
#[derive(Debug, Serialize, JsonSchema)]
struct SignalView {
    /// The sender.
    origin: Name<SignalOrigin>,
    /// The process id of the sender.
    pid: u32,
    /// The user id of the sender.
    uid: u32,
    /// The number of SIGQUIT signals so far.
    count: u32,
}

/// The end of a process.
#[derive(Debug, Serialize, JsonSchema)]
struct ExitView<'a> {
    /// The number of the `ApplicationExitInfo.REASON_*` constant.
    reason: i32,
    /// The reason in words.
    name: &'static str,
    /// How the system describes the end.
    description: &'a str,
    /// The Unix time of the end.
    unix_ms: u64,
}

impl<'a> AnrView<'a> {
    pub(super) fn new(a: &'a Analysis) -> Self {
        let anr = &a.anr;
        Self {
            verdict: Name(anr.verdict),
            summary: verdict_summary(anr),
            evidence: derive::evidence(a),
            ran_ms: ms(anr.ran_ns),
            hang_threshold_ms: anr.hang_threshold_ns.map(ms),
            frozen_ms: ms(anr.frozen_ns),
            starved_ms: a.starved_ns().map(ms),
            cpu: a.cpu_use.map(CpuView::new),
            ended_after_ms: anr.ended_after_ns.map(ms),
            overdue_ms: anr.overdue_ns.map(ms),
            before_ms: ms(anr.before_ns),
            debugged: anr.debugged,
            signal: anr.signal.map(SignalView::new),
            system: anr.system.as_ref().map(Name),
            system_words: match &anr.system {
                Some(SystemWord::NotResponding(words)) => words,
                _ => "",
            },
            exit: anr.exit.as_ref().map(ExitView::new),
        }
    }
}

impl CpuView {
    fn new(used: CpuUse) -> Self {
        Self {
            over_ms: ms(used.over_ns),
            main_ms: ms(used.main_ns),
            process_ms: used.process_ns.map(ms),
            processors: used.processors,
        }
    }
}

impl SignalView {
    fn new(signal: QuitSignal) -> Self {
        Self { origin: Name(signal.origin), pid: signal.pid, uid: signal.uid, count: signal.count }
    }
}

impl<'a> ExitView<'a> {
    fn new(exit: &'a ProcessExit) -> Self {
        Self {
            reason: exit.reason,
            name: exit_reason(exit.reason),
            description: &exit.description,
            unix_ms: exit.unix_ms,
        }
    }
}
