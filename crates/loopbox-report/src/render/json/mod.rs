//! The report as JSON: what `loopbox show --json` prints, and the page's data.
//!
//! The shape is declared here and nowhere else: `docs/schema/report-1.schema.json` is made from these types
//! and their comments, and a test compares it. Fields may be added; none is renamed or removed without a new
//! name of the schema. All times are milliseconds with a fraction; `at_ms` is relative to the dump and
//! negative before it.

#[macro_use]
mod object;

mod anr;
mod breadcrumb;
mod current;
mod header;
mod history;
mod kernel_view;
mod last_stack;
mod locks;
mod memory_limit;
mod message;
mod pending;
mod recorder;
mod stacks;
mod system_trace;
mod threads;

pub use kernel_view::NativeStackView;
pub(crate) use {
    breadcrumb::BreadcrumbView, current::CurrentView, header::HeaderView, history::RecordView,
    kernel_view::MainThreadView, locks::LocksView, pending::PendingView, recorder::FeatureView,
    system_trace::SystemTraceView, threads::ThreadsView,
};

use crate::derive::last_stack;
use crate::diagnose::Diagnosis;
use crate::model::{Analysis, Frame, Issue};
use crate::render::smoothness::DisplayFrames;
use anr::AnrView;
use last_stack::LastStackView;
use memory_limit::MemoryLimitView;
use recorder::NamedValueView;
use stacks::TreeView;

/// The name and version of the JSON schema.
pub const SCHEMA: &str = "loopbox.report/1";

json_object! {
    /// What `loopbox show --json` prints. Times are milliseconds; docs/json.md describes what applies to all
    /// members. Members may be added; none is renamed, removed or given another meaning without a new version
    /// of the schema.
    pub struct ReportView<'a>(a: &'a Analysis, verdict: &'a Diagnosis) {
        /// The name and version of the schema.
        #[schemars(extend("const" = SCHEMA))]
        schema: &'static str = SCHEMA,
        /// The diagnosis: the possible causes, most probable first.
        verdict: &'a Diagnosis = verdict,
        /// Whether the report is of an ANR, and the evidence.
        anr: AnrView<'a> = AnrView::new(a),
        /// Which recorder wrote the report, about which process, when and why.
        report: HeaderView<'a> = HeaderView::new(a),
        /// The records of the message history, oldest first.
        history: Vec<RecordView<'a>> = a.history.iter().map(|record| RecordView::new(a, record)).collect(),
        /// The app's breadcrumbs, oldest first.
        breadcrumbs: Vec<BreadcrumbView<'a>> = BreadcrumbView::all(a),
        /// What the main thread was doing at the dump.
        current: CurrentView<'a> = CurrentView::new(a),
        /// The newest stack of what the main thread was doing; null when no such stack was taken.
        last_stack: Option<LastStackView> = last_stack(a).map(|stack| LastStackView::new(stack, a.dump_ns)),
        /// What the kernel reported of the main thread, and its native stack; null when the kernel was not
        /// asked.
        main_thread: Option<MainThreadView<'a>> =
            a.main_thread.as_ref().map(|main| MainThreadView::new(a, main)),
        /// The locks that kept the main thread waiting.
        locks: LocksView<'a> = LocksView::new(a),
        /// ART's own trace of the ANR; left out without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        system_trace: Option<SystemTraceView<'a>> =
            a.system_trace.as_ref().map(|trace| SystemTraceView::new(a, trace)),
        /// What the other threads were doing.
        threads: ThreadsView<'a> = ThreadsView::new(a),
        /// The pending messages of the main Looper.
        pending: PendingView<'a> = PendingView::new(a, &a.queue),
        /// The sampled stack trees, oldest first.
        trees: Vec<TreeView> = a.trees.iter().map(|tree| TreeView::new(a, tree)).collect(),
        /// The distinct frames; trees refer to them by index.
        frames: &'a [Frame] = &a.frames,
        /// The display's frames; left out when none were counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_frames: Option<DisplayFrames> = DisplayFrames::new(a),
        /// The features of the recorder, and why some were off.
        features: Vec<FeatureView<'a>> = a.features.iter().map(FeatureView::new).collect(),
        /// Statistics of the process and the system at the dump.
        statistics: Vec<NamedValueView<'a>> =
            a.statistics.iter().map(|s| NamedValueView::new(&s.name, &s.value)).collect(),
        /// What the kernel reported of its limit on the app's memory; left out when the kernel was not asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        memory_limit: Option<MemoryLimitView> = a.memory_limit().map(|limit| MemoryLimitView::new(&limit)),
        /// The parts of the ring that could not be used when the report was recovered.
        lost: &'a [String] = &a.lost,
        /// What could not be read or was left out; empty for an intact file.
        damage: &'a [Issue] = &a.issues,
    }
}
