//! What is recorded: the types of a report.
//!
//! Types that the app fills on its main thread are generic over their string and list types, so that the same
//! definition serves a fixed-size buffer in the app and owned values in the host tools; both have the same
//! bytes.

mod anr;
mod breadcrumb;
mod context;
mod cpu_use;
mod display_frames;
mod frame_terms;
mod kernel_view;
mod lifecycle;
mod lock;
mod name;
mod pending;
mod record;
mod running;
mod system_trace;
mod threads;
mod token;
mod tree;
mod uptime;

pub use anr::{
    Anr, AnrInfo, AnrVerdict, AnrWarning, MIN_HANG_NS, ProcessExit, QuitSignal, SignalOrigin, SystemWord,
};
pub use breadcrumb::Breadcrumb;
pub use context::{ClockPair, DumpReason, Feature, FeatureState, Limits, Meta, Process, Statistic};
pub use cpu_use::CpuUse;
pub use display_frames::{
    FrameGesture, FrameScene, FrameSession, JankFrame, RateFrames, RecentFrame, ScrollSums, StageFrame,
    WorstWindow,
};
pub use frame_terms::{DropLevel, FrameCause, FrameFlags, JankPlace, SceneKind, Stage};
pub use kernel_view::{
    MainThread, NativeFrame, NativeFrameSource, NativeModule, NativeStack, Progress, SystemCall,
    SystemCallSource,
};
pub use lifecycle::{LifecycleStep, LifecycleSteps};
pub use lock::{LockChain, LockHolder, LockWait};
pub use name::Named;
pub use pending::{Pending, PendingSource};
pub use record::{Component, Detail, End, Message, NamedBy, Record, RecordKind, Slowest, own_ns};
pub use running::{MainState, Outside, Running};
pub use system_trace::PackedTrace;
pub use threads::{OtherThread, OtherThreads};
pub use token::{NoToken, Token};
pub use tree::{Location, LocationId, Method, MethodId, Phase, StackSource, StackTree, Symbols, TreeNode};
pub use uptime::Uptime;

/// Everything that a report contains.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The writer, the time, the reason, and the limits.
    pub meta: Meta,
    /// Closed records and the group still open at the dump, oldest first.
    pub history: Vec<Record>,
    /// What the main thread was doing.
    pub main: MainState,
    /// The verdict whether the main thread responded, and the evidence.
    pub anr: Anr,
    /// Warnings of a possible ANR, oldest first. The system sent them while the main thread was late.
    pub anr_warnings: Vec<AnrWarning>,
    /// What the system recorded of the ANR that ended the process; `None` when it is not known.
    pub anr_info: Option<AnrInfo>,
    /// The breadcrumbs that the app recorded, oldest first.
    pub breadcrumbs: Vec<Breadcrumb>,
    /// How much the main thread and the process used the processors while the message ran; `None` when that
    /// was not counted.
    pub cpu_use: Option<CpuUse>,
    /// The queue: what the main thread was asked to do next.
    pub pending: Pending,
    /// The methods and code locations that the trees refer to.
    pub symbols: Symbols,
    /// Stack trees of long messages, oldest first; the running message's is the last when it has one.
    pub trees: Vec<StackTree>,
    /// The locks that the main thread waited for, and who held them.
    pub locks: LockChain,
    /// What the kernel reported of the main thread, and its native stack; the default when the kernel was not
    /// asked.
    pub main_thread: MainThread,
    /// What the other threads were doing.
    pub threads: OtherThreads,
    /// What a smoothness session saw of the display's frames; empty without one.
    pub frames: FrameSession,
    /// Which features were on, which off, and why.
    pub features: Vec<FeatureState>,
    /// Statistics of the process and the machine at the dump.
    pub statistics: Vec<Statistic>,
    /// The report in plain lines, for readers in the app that know nothing else of the format: why it was
    /// written, the process, its id, the time (Unix, ms), one line of at most 900 bytes, and more
    /// (docs/file-format.md). Empty when it was not written in the app.
    pub digest: String,
    /// The parts of the ring that could not be used when the report was recovered, one line each with its
    /// offset in the ring. Empty when the whole ring could be used, and for a report that was not recovered.
    pub lost: Vec<String>,
    /// ART's own trace of the ANR that ended the process.
    pub system_trace: PackedTrace,
}
