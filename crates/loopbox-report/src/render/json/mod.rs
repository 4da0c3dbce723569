//! The report as JSON: what `loopbox show --json` prints, and what the text and the HTML page are made from.
//!
//! The schema is documented in `docs/json.md` and named in [`ReportView::schema`]. Fields may be added; none is renamed
//! or removed without a new name of the schema. All times are milliseconds with a fraction; `at_ms` is relative to the
//! dump and negative before it.

mod anr;
mod current;
mod display_frames;
mod header;
mod history;
mod last_stack;
mod locks;
mod main_thread;
mod message;
mod pending;
mod recorder;
mod stacks;
mod system_trace;
mod threads;

pub use anr::{AnrView, ExitView, SignalView};
pub use current::CurrentView;
pub use display_frames::{DisplayFrameView, DisplayFramesView};
pub use header::{ClockView, HeaderView, LimitsView, ProcessView, ReasonView};
pub use history::{DetailView, RecordView, SlowestView};
pub use last_stack::LastStackView;
pub use locks::{HolderView, LockView, LocksView};
pub use main_thread::{
    MainThreadView, NativeFrameView, NativeModuleView, NativeStackView, ProgressView, SystemCallView,
};
pub use message::MessageView;
pub use pending::{PendingEntryView, PendingView};
pub use recorder::{FeatureView, NamedValueView};
pub use stacks::{HotFrame, NodeView, TreeView};
pub use system_trace::{SystemTraceView, ThreadTraceView};
pub use threads::{ThreadView, ThreadsView};

use crate::diagnose::Diagnosis;
use crate::model::{Analysis, Frame, Issue};
use serde::Serialize;

/// The name and version of the JSON schema.
pub const SCHEMA: &str = "loopbox.report/1";

/// A whole report.
#[derive(Debug, Clone, Serialize)]
pub struct ReportView {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The diagnosis: the possible causes, most probable first.
    pub verdict: Diagnosis,
    /// Whether the report is of an ANR, and the evidence.
    pub anr: AnrView,
    /// Which recorder wrote the report, about which process, when and why.
    pub report: HeaderView,
    /// The records of the message history, oldest first.
    pub history: Vec<RecordView>,
    /// What the main thread was doing at the dump.
    pub current: CurrentView,
    /// What it did at the newest look before the dump; `None` without stacks of it.
    pub last_stack: Option<LastStackView>,
    /// What the kernel reported of the main thread, and its native stack; `None` when it was not asked.
    pub main_thread: Option<MainThreadView>,
    /// The locks that kept the main thread waiting.
    pub locks: LocksView,
    /// ART's own trace of the ANR; left out without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_trace: Option<SystemTraceView>,
    /// What the other threads were doing.
    pub threads: ThreadsView,
    /// The pending messages of the main Looper.
    pub pending: PendingView,
    /// The sampled stack trees, oldest first.
    pub trees: Vec<TreeView>,
    /// The distinct frames; trees refer to them by index.
    pub frames: Vec<Frame>,
    /// The display's frames; left out when none were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_frames: Option<DisplayFramesView>,
    /// The features of the recorder, and why some were off.
    pub features: Vec<FeatureView>,
    /// Statistics of the process and the system at the dump.
    pub statistics: Vec<NamedValueView>,
    /// What could not be used of the ring that the report was recovered from.
    pub lost: Vec<String>,
    /// What could not be read; empty for an intact file.
    pub damage: Vec<Issue>,
}

impl ReportView {
    /// The view of a report and of what [`crate::diagnose::diagnose`] found in it.
    pub fn new(analysis: &Analysis, diagnosis: &Diagnosis) -> Self {
        Self {
            schema: SCHEMA,
            verdict: diagnosis.clone(),
            anr: AnrView::new(analysis),
            report: HeaderView::new(analysis),
            history: analysis.history.iter().map(|record| RecordView::new(analysis, record)).collect(),
            current: CurrentView::new(analysis),
            last_stack: LastStackView::new(analysis),
            main_thread: MainThreadView::new(analysis),
            locks: LocksView::new(analysis),
            system_trace: SystemTraceView::new(analysis),
            threads: ThreadsView::new(analysis),
            pending: PendingView::new(analysis),
            trees: analysis.trees.iter().map(|tree| TreeView::new(analysis, tree)).collect(),
            frames: analysis.frames.to_vec(),
            display_frames: DisplayFramesView::new(analysis),
            features: analysis.features.iter().map(FeatureView::new).collect(),
            statistics: analysis
                .statistics
                .iter()
                .map(|f| NamedValueView { name: f.name.clone(), value: f.value.clone() })
                .collect(),
            lost: analysis.lost.clone(),
            damage: analysis.issues.clone(),
        }
    }
}
