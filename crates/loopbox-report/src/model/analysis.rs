//! A loaded report.

use super::frame::FrameTable;
use super::identity::Identity;
use super::kernel_view::MainThread;
use super::locks::LockChain;
use super::main_wait::{MainWait, main_wait};
use super::memory_limit::MemoryLimit;
use super::pending_queue::PendingQueue;
use super::sampled_tree::SampledTree;
use super::system_trace::{SystemTrace, TraceThread};
use super::threads::{OtherThread, OtherThreads};
use super::time::WallClock;
use loopbox_format::model::{
    Anr, AnrInfo, AnrVerdict, AnrWarning, Breadcrumb, CpuUse, Detail, DumpReason, End, FeatureState,
    FrameSession, MIN_HANG_NS, MainState, Meta, Record, Running, Slowest, Statistic, Token, Uptime,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that is wrong with a report file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Issue {
    /// The byte offset in the file; `None` when the issue is not about one place.
    pub offset: Option<u64>,
    /// What is wrong with the file.
    pub what: String,
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "offset {offset}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// A report that is ready to be diagnosed and rendered: all texts are harmless, all lists bounded, all
/// indices valid.
///
/// It is made from a decoded file by [`Analysis::new`].
#[derive(Debug)]
pub struct Analysis {
    /// What distinguishes the report from others.
    pub identity: Identity,
    /// Which recorder wrote the report, about which process, when and why.
    pub meta: Meta,
    /// The uptime to which all relative times refer: when the report was dumped. If the file has lost that
    /// time, it is the last instant in the file.
    pub dump_ns: Uptime,
    /// The records of the message history, oldest first.
    pub history: Vec<Record>,
    /// The breadcrumbs that the app left, in order of time.
    pub breadcrumbs: Vec<Breadcrumb>,
    /// What the main thread was doing at the dump.
    pub main: MainState,
    /// Whether this is an ANR, and the evidence for it.
    pub anr: Anr,
    /// The system's warnings of an ANR that came while the main thread was late, oldest first.
    pub anr_warnings: Vec<AnrWarning>,
    /// The system's record of the ANR that ended the process.
    pub anr_info: Option<AnrInfo>,
    /// Who used the processors while the running message ran; `None` when that was not counted.
    pub cpu_use: Option<CpuUse>,
    /// The message queue of the main Looper.
    pub queue: PendingQueue,
    /// The locks that the main thread waited for.
    pub locks: LockChain,
    /// What the kernel reported of the main thread; `None` when the kernel was not asked.
    pub main_thread: Option<MainThread>,
    /// The other threads of the process.
    pub threads: OtherThreads,
    /// ART's own trace of the ANR. If it is of the report's moment, what it adds to the report is also in
    /// [`Self::locks`], [`Self::threads`] and [`Self::main_thread`].
    pub system_trace: Option<SystemTrace>,
    /// The distinct frames of all stacks.
    pub frames: FrameTable,
    /// What a smoothness session saw of the display's frames; empty without one.
    pub display_frames: FrameSession,
    /// The sampled stack trees, oldest first.
    pub trees: Vec<SampledTree>,
    /// The features of the recorder, and whether each was working.
    pub features: Vec<FeatureState>,
    /// Statistics of the process and the system.
    pub statistics: Vec<Statistic>,
    /// The parts of the ring that could not be used when the report was recovered.
    pub lost: Vec<String>,
    /// The parts of the file that could not be read or were left out.
    pub issues: Vec<Issue>,
}

/// Whether the time of a record's slowest message is an upper limit, because its end was not seen.
pub(crate) fn at_most(record: &Record, slowest: &Slowest) -> bool {
    let is_it = |detail: &Detail| detail.token == slowest.token && detail.end == End::Missed;
    record.details.iter().any(is_it)
}

impl Analysis {
    /// Whether the report may be about a hang or an ANR. `false` if all of these are true: the report was
    /// written for another reason (the app requested it, the system sent SIGQUIT for another app's ANR, or
    /// the process ended by a crash or with recorded display frames), the verdict is that main responded, and
    /// no message ran for [`MIN_HANG_NS`]. `true` without a verdict.
    pub fn may_be_of_hang(&self) -> bool {
        matches!(self.meta.reason, DumpReason::Hang | DumpReason::SystemTrace)
            || self.anr.verdict != AnrVerdict::Responsive
            || self.anr.ran_ns >= MIN_HANG_NS
    }

    /// The message that was running at the dump, if one was.
    pub fn running(&self) -> Option<&Running> {
        match &self.main {
            MainState::Running(running) => Some(running),
            _ => None,
        }
    }

    /// What the main thread waited in, or did, as the kernel reports it. `None` when the kernel reported
    /// nothing, or when its report is older than the running message.
    pub fn main_wait(&self) -> Option<MainWait> {
        let main = self.main_thread.as_ref()?;
        let is_earlier = self.running().is_some_and(|running| main.captured_ns < running.start_ns);
        if is_earlier { None } else { main_wait(main, &self.meta.process.abi) }
    }

    /// The stack tree of a message; `None` without stacks.
    pub fn tree(&self, token: Token) -> Option<&SampledTree> {
        self.trees.iter().rev().find(|tree| tree.token == token)
    }

    /// The newest stack of what main did at the dump, outermost frame first; `None` without one.
    pub(crate) fn last_stack(&self) -> Option<Vec<super::FrameId>> {
        let tree = self.tree(self.current_token()?)?;
        Some(tree.stack(tree.stack_runs().pop()?.top))
    }

    /// A thread as ART's trace shows it; `None` when the trace does not show it, or is of another moment.
    pub(crate) fn traced(&self, thread: &OtherThread) -> Option<&TraceThread> {
        self.system_trace.as_ref()?.threads.get(thread.trace?)
    }

    /// The part of a time that was before the recorder was installed: it has no stacks.
    pub(crate) fn before_install_ns(&self, start_ns: Uptime, wall_ns: u64) -> u64 {
        self.meta.process.installed_ns.since(start_ns).min(wall_ns)
    }

    /// A statistic of the process or the system, as the report contains it.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let statistic = self.statistics.iter().find(|statistic| statistic.name == name)?;
        Some(statistic.value.as_str())
    }

    /// A statistic of the process or the system as a number.
    pub fn statistic(&self, name: &str) -> Option<f64> {
        self.text(name)?.trim().parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// The kernel's limit on the app's memory and its counters; `None` when they were not read.
    pub fn memory_limit(&self) -> Option<MemoryLimit> {
        MemoryLimit::of(&self.statistics)
    }

    /// How long main waited for a CPU while the running message ran. `None` when that was not counted; the
    /// field in the report is 0 then. It was counted if the report is from the process itself and the
    /// statistics show that the kernel counts such waits.
    pub(crate) fn starved_ns(&self) -> Option<u64> {
        let starved_ns = self.anr.starved_ns;
        let recovered = matches!(self.meta.reason, DumpReason::Recovered { .. });
        let counts = starved_ns > 0 || self.statistic("main.waited_for_cpu_ns").is_some();
        (counts && !recovered && self.anr.hang_threshold_ns.is_some()).then_some(starved_ns)
    }

    /// Whether the report consists of the system's trace alone, without a recorder.
    pub fn is_trace_alone(&self) -> bool {
        matches!(self.meta.reason, DumpReason::SystemTrace)
    }

    /// `Build.VERSION.SDK_INT` of the device.
    pub(crate) fn api_level(&self) -> u32 {
        self.meta.process.api_level
    }

    pub(crate) fn wall_clock(&self) -> WallClock {
        WallClock(self.meta.dumped_at)
    }

    /// How long after the start of the process the recorder was installed; `None` when that is not known.
    pub(crate) fn install_after_start_ns(&self) -> Option<u64> {
        let process = &self.meta.process;
        let started_ns = process.started_ns.filter(|started| *started <= process.installed_ns)?;
        Some(process.installed_ns.since(started_ns))
    }

    /// The time from the start of the history to the dump.
    pub(crate) fn history_span_ns(&self) -> u64 {
        self.history.first().map_or(0, |first| self.dump_ns.since(first.start_ns))
    }
}
