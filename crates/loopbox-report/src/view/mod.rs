//! The report as one value to show: the JSON of `loopbox show --json`, and what text and HTML are made from.
//!
//! The schema is documented in `docs/json.md` and named in [`View::schema`]; fields are added, never renamed or
//! removed, without changing that name. All times are milliseconds with a fraction; `at_ms` is relative to the
//! dump and negative before it.

mod anr;
mod message;
mod parts;
mod queue;
mod stacks;
mod threads;

pub use anr::{AnrView, ExitView, SignalView};
pub use message::MessageView;
pub use parts::{
    ClockView, CurrentView, DetailView, FeatureView, FigureView, LimitsView, ProcessView, ReasonView,
    RecordView, ReportView, SlowestView,
};
pub(crate) use queue::locked_object;
pub use queue::{HolderView, LockView, LocksView, PendingView, WaitingView};
pub use stacks::{HotFrame, NodeView, TreeView};
pub use threads::{ThreadView, ThreadsView};

use crate::analysis::{Analysis, Loss};
use crate::diagnose::{Verdict, diagnose};
use crate::frame::Frame;
use serde::Serialize;

/// Name and version of the JSON schema.
pub const SCHEMA: &str = "loopbox.report/1";

/// A whole report.
#[derive(Debug, Clone, Serialize)]
pub struct View {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The most probable cause.
    pub verdict: Verdict,
    /// Whether the main thread did not respond, in whose eyes.
    pub anr: AnrView,
    /// Who wrote the report, when, why, about which process.
    pub report: ReportView,
    /// The past, oldest first.
    pub history: Vec<RecordView>,
    /// The present.
    pub current: CurrentView,
    /// The locks that main waited for.
    pub locks: LocksView,
    /// What the other threads were doing.
    pub threads: ThreadsView,
    /// The future.
    pub pending: PendingView,
    /// Stack trees, oldest first.
    pub trees: Vec<TreeView>,
    /// The distinct frames that the trees refer to by index.
    pub frames: Vec<Frame>,
    /// Which parts of the recorder were on, and why not.
    pub features: Vec<FeatureView>,
    /// Figures of the process and the machine at the dump.
    pub figures: Vec<FigureView>,
    /// What could not be read; empty for an intact file.
    pub damage: Vec<Loss>,
}

impl View {
    /// Puts an analysed report into words and milliseconds.
    pub fn new(analysis: &Analysis) -> Self {
        Self {
            schema: SCHEMA,
            verdict: diagnose(analysis),
            anr: AnrView::new(analysis),
            report: ReportView::new(analysis),
            history: analysis.history.iter().map(|record| RecordView::new(analysis, record)).collect(),
            current: CurrentView::new(analysis),
            locks: LocksView::new(analysis),
            threads: ThreadsView::new(analysis),
            pending: PendingView::new(analysis),
            trees: analysis.trees.iter().map(|tree| TreeView::new(analysis, tree)).collect(),
            frames: analysis.frames.clone(),
            features: analysis.features.iter().map(FeatureView::new).collect(),
            figures: analysis
                .figures
                .iter()
                .map(|f| FigureView { name: f.name.clone(), value: f.value.clone() })
                .collect(),
            damage: analysis.losses.clone(),
        }
    }
}
