//! The parts of a [`super::View`].

use super::MessageView;
use crate::analysis::Analysis;
use crate::clock::{ms, ms_between};
use crate::merged::Merged;
use crate::queue::Waiting;
use crate::tree::Tree;
use loopbox_format::model::{
    Detail, DumpReason, End, Feature, FeatureState, LockWait, MainState, PendingSource, Record, RecordKind,
    StackSource,
};
use serde::Serialize;

/// Who wrote the report, when, why, about which process.
#[derive(Debug, Clone, Serialize)]
pub struct ReportView {
    /// Name and version of the writing library.
    pub producer: String,
    /// Why it was written.
    pub reason: ReasonView,
    /// When it was written.
    pub dumped_at: ClockView,
    /// The process.
    pub process: ProcessView,
    /// The limits that the recorder worked under.
    pub limits: LimitsView,
    /// How far back the history reaches.
    pub history_ms: f64,
    /// What the app said about itself.
    pub annotations: Vec<FigureView>,
}

/// Why the report was written.
#[derive(Debug, Clone, Serialize)]
pub struct ReasonView {
    /// `sigquit`, `requested` or `recovered`.
    pub kind: &'static str,
    /// For a requested one, the app's own words.
    pub words: String,
    /// For a recovered one, the signal that a crash handler noted.
    pub crash_signal: Option<i32>,
}

/// An instant on all clocks.
#[derive(Debug, Clone, Serialize)]
pub struct ClockView {
    /// Uptime.
    pub uptime_ms: f64,
    /// Unix time; `None` when unknown.
    pub unix_ms: Option<i64>,
    /// RFC 3339 in UTC; `None` when unknown.
    pub utc: Option<String>,
}

/// The process that the report is about.
#[derive(Debug, Clone, Serialize)]
pub struct ProcessView {
    /// Process id.
    pub pid: u32,
    /// Process name.
    pub name: String,
    /// `Build.VERSION.SDK_INT`.
    pub api_level: u32,
    /// ABI of the running code.
    pub abi: String,
    /// The app's version; empty when unknown.
    pub app_version: String,
    /// Manufacturer and model; empty when unknown.
    pub device: String,
    /// When the recorder was installed, relative to the dump.
    pub installed_at_ms: f64,
}

/// The limits that the recorder worked under.
#[derive(Debug, Clone, Serialize)]
pub struct LimitsView {
    /// Work at which a group is full.
    pub group_ms: f64,
    /// Dispatch time from which on a message is kept by name.
    pub detail_ms: f64,
    /// Records that the history keeps.
    pub slots: u32,
    /// Messages that a record keeps by name.
    pub details_per_record: u32,
    /// Age of a message at which stack sampling begins.
    pub sample_onset_ms: f64,
    /// Time between two stacks.
    pub sample_interval_ms: f64,
}

impl ReportView {
    pub(crate) fn new(a: &Analysis) -> Self {
        let (meta, limits) = (&a.meta, a.meta.limits);
        let reason = |kind, words: &str, crash_signal| ReasonView { kind, words: words.into(), crash_signal };
        let reason = match &meta.reason {
            DumpReason::SigQuit => reason("sigquit", "", None),
            DumpReason::Requested(words) => reason("requested", words, None),
            DumpReason::Recovered { crash_signal } => reason("recovered", "", *crash_signal),
            _ => reason("unknown", "", None),
        };
        let at = meta.dumped_at.uptime_ns;
        Self {
            producer: meta.producer.clone(),
            reason,
            dumped_at: ClockView {
                uptime_ms: ms(at),
                unix_ms: a.wall_clock().unix_ms(at),
                utc: a.wall_clock().rfc3339(at),
            },
            process: ProcessView {
                pid: meta.process.pid,
                name: meta.process.name.clone(),
                api_level: meta.process.api_level,
                abi: meta.process.abi.clone(),
                app_version: meta.process.app_version.clone(),
                device: meta.process.device.clone(),
                installed_at_ms: ms_between(meta.process.installed_ns, a.zero_ns),
            },
            limits: LimitsView {
                group_ms: ms(limits.group_ns),
                detail_ms: ms(limits.detail_ns),
                slots: limits.slots,
                details_per_record: limits.details_per_record,
                sample_onset_ms: ms(limits.sample_onset_ns),
                sample_interval_ms: ms(limits.sample_interval_ns),
            },
            history_ms: ms(a.history_span_ns()),
            annotations: meta
                .annotations
                .iter()
                .map(|(name, value)| FigureView { name: name.clone(), value: value.clone() })
                .collect(),
        }
    }
}

/// One entry of the history.
#[derive(Debug, Clone, Serialize)]
pub struct RecordView {
    /// Its number.
    pub seq: u64,
    /// `group`, `single`, `idle` or `frozen`.
    pub kind: &'static str,
    /// When it began, relative to the dump.
    pub at_ms: f64,
    /// When it began, time of day in UTC.
    pub clock: Option<String>,
    /// Number of its first message.
    pub first_token: u64,
    /// How many messages it covers.
    pub count: u32,
    /// Its length.
    pub wall_ms: f64,
    /// The part spent in messages.
    pub work_ms: f64,
    /// The part spent between messages.
    pub idle_ms: f64,
    /// CPU time of the main thread; `None` when unknown.
    pub cpu_ms: Option<f64>,
    /// How late the sampler thread woke at worst; `None` when it did not sleep.
    pub checktime_late_ms: Option<f64>,
    /// The slowest message; `None` when there is none.
    pub slowest: Option<SlowestView>,
    /// Messages kept by name.
    pub details: Vec<DetailView>,
    /// How many more deserved a name but found no room.
    pub dropped_details: u32,
    /// False for the group still open at the dump.
    pub closed: bool,
}

/// The slowest message of a record.
#[derive(Debug, Clone, Serialize)]
pub struct SlowestView {
    /// Its number.
    pub token: u64,
    /// How long it took.
    pub wall_ms: f64,
}

impl RecordView {
    pub(crate) fn new(a: &Analysis, record: &Record) -> Self {
        Self {
            seq: record.seq,
            kind: match record.kind {
                RecordKind::Group => "group",
                RecordKind::Single => "single",
                RecordKind::Idle => "idle",
                RecordKind::Frozen => "frozen",
                _ => "unknown",
            },
            at_ms: ms_between(record.start_ns, a.zero_ns),
            clock: a.wall_clock().time_of_day(record.start_ns),
            first_token: record.first_token,
            count: record.count,
            wall_ms: ms(record.wall_ns),
            work_ms: ms(record.work_ns),
            idle_ms: ms(record.idle_ns),
            cpu_ms: record.cpu_ns.map(ms),
            checktime_late_ms: record.checktime_late_ns.map(ms),
            slowest: (record.slowest.wall_ns > 0)
                .then(|| SlowestView { token: record.slowest.token, wall_ms: ms(record.slowest.wall_ns) }),
            details: record.details.iter().map(|detail| DetailView::new(a, detail)).collect(),
            dropped_details: record.dropped_details,
            closed: record.closed,
        }
    }
}

/// A message kept by name.
#[derive(Debug, Clone, Serialize)]
pub struct DetailView {
    /// Its number.
    pub token: u64,
    /// When its dispatch began, relative to the dump.
    pub at_ms: f64,
    /// How long its dispatch took.
    pub wall_ms: f64,
    /// How long it waited past its `when`; `None` when unknown.
    pub wait_ms: Option<f64>,
    /// `returned`, `threw` or `missed`.
    pub end: &'static str,
    /// Its name; `None` when the hook could not give one.
    pub message: Option<MessageView>,
    /// Whether the report has its stack tree.
    pub has_tree: bool,
}

impl DetailView {
    fn new(a: &Analysis, detail: &Detail) -> Self {
        Self {
            token: detail.token,
            at_ms: ms_between(detail.start_ns, a.zero_ns),
            wall_ms: ms(detail.wall_ns),
            wait_ms: detail.wait_ns.map(ms),
            end: match detail.end {
                End::Returned => "returned",
                End::Threw => "threw",
                End::Missed => "missed",
                _ => "unknown",
            },
            message: detail.message.as_ref().map(|m| MessageView::new(m, a.meta.process.api_level)),
            has_tree: a.tree(detail.token).is_some(),
        }
    }
}

/// What the main thread was doing at the dump.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CurrentView {
    /// Nothing is known.
    Unknown,
    /// It ran no message.
    Idle {
        /// For how long.
        for_ms: f64,
    },
    /// It ran a message.
    Running {
        /// Its number.
        token: u64,
        /// When its dispatch began, relative to the dump.
        at_ms: f64,
        /// How long it had run.
        age_ms: f64,
        /// CPU time of the main thread since; `None` when unknown.
        cpu_ms: Option<f64>,
        /// Nested `Looper.loop()` calls: 1 for an ordinary message.
        depth: u32,
        /// Its name; `None` when nothing could give one.
        message: Option<MessageView>,
        /// Whether the report has its stack tree.
        has_tree: bool,
    },
}

impl CurrentView {
    pub(crate) fn new(a: &Analysis) -> Self {
        match &a.main {
            MainState::Idle { since_ns } => Self::Idle { for_ms: ms(a.zero_ns.saturating_sub(*since_ns)) },
            MainState::Running(running) => Self::Running {
                token: running.token,
                at_ms: ms_between(running.start_ns, a.zero_ns),
                age_ms: ms(running.age_ns()),
                cpu_ms: running.cpu_ns.map(ms),
                depth: running.depth,
                message: running.message.as_ref().map(|m| MessageView::new(m, a.meta.process.api_level)),
                has_tree: a.tree(running.token).is_some(),
            },
            _ => Self::Unknown,
        }
    }
}

/// What the main thread was asked to do next.
#[derive(Debug, Clone, Serialize)]
pub struct PendingView {
    /// `looper_dump`, `messages_field` or `unavailable`.
    pub source: &'static str,
    /// Why it is unavailable.
    pub why: String,
    /// When it was read, relative to the dump.
    pub captured_at_ms: f64,
    /// Which of the framework's queues it is, when it says so.
    pub implementation: Option<String>,
    /// Whether the Looper sat waiting for a message.
    pub polling: Option<bool>,
    /// Whether the Looper was quitting.
    pub quitting: Option<bool>,
    /// What waits, in order of time.
    pub messages: Vec<WaitingView>,
    /// How many of them are overdue.
    pub overdue: usize,
    /// By how much the oldest of them is.
    pub most_overdue_ms: f64,
    /// Removed messages that the queue had not dropped yet.
    pub tombstones: u32,
    /// Lines of the dump without a known meaning.
    pub unread: Vec<String>,
    /// How many more lines were printed than kept.
    pub dropped_lines: u32,
}

/// One entry of the queue.
#[derive(Debug, Clone, Serialize)]
pub struct WaitingView {
    /// When it is due, relative to the dump of the queue; negative when overdue; `None` for one put at the front.
    pub due_in_ms: Option<f64>,
    /// Its name; `None` for a sync barrier.
    pub message: Option<MessageView>,
    /// The token of a sync barrier.
    pub barrier: Option<i32>,
    /// Whether a sync barrier lets it pass; `None` when unknown.
    pub asynchronous: Option<bool>,
    /// What is left of the text of its `obj`.
    pub object: Option<String>,
}

impl PendingView {
    pub(crate) fn new(a: &Analysis) -> Self {
        let (source, why) = match &a.pending.source {
            PendingSource::LooperDump => ("looper_dump", String::new()),
            PendingSource::MessagesField => ("messages_field", String::new()),
            PendingSource::Unavailable(why) => ("unavailable", why.clone()),
            _ => ("unknown", String::new()),
        };
        let q = &a.queue;
        let waiting = |w: &Waiting| WaitingView {
            due_in_ms: (!w.front)
                .then(|| ms_between(w.due_in_ns.max(0) as u64, w.due_in_ns.min(0).unsigned_abs())),
            message: w.message.as_ref().map(|m| MessageView::new(m, a.meta.process.api_level)),
            barrier: w.barrier,
            asynchronous: w.asynchronous,
            object: w.object.clone(),
        };
        Self {
            source,
            why,
            captured_at_ms: ms_between(a.pending.captured_ns, a.zero_ns),
            implementation: q.implementation.clone(),
            polling: q.polling,
            quitting: q.quitting,
            messages: q.waiting.iter().map(waiting).collect(),
            overdue: q.waiting.iter().filter(|w| w.overdue_ns() > 0).count(),
            most_overdue_ms: ms(q.waiting.iter().map(Waiting::overdue_ns).max().unwrap_or(0)),
            tombstones: q.tombstones,
            unread: q.unread.clone(),
            dropped_lines: a.pending.dropped_lines,
        }
    }
}

/// The locks that kept main waiting, step by step.
#[derive(Debug, Clone, Serialize)]
pub struct LocksView {
    /// When they were followed, relative to the dump.
    pub captured_at_ms: f64,
    /// The first is what main waits for, each further one what the holder before it waits for.
    pub waits: Vec<LockView>,
    /// Whether the last holder waits for a thread before it.
    pub deadlock: bool,
}

/// A lock that a thread waits for.
#[derive(Debug, Clone, Serialize)]
pub struct LockView {
    /// What is locked: `a java.lang.Object`, `the class com.example.Foo`.
    pub object: String,
    /// The thread that holds it; `None` when nobody does.
    pub holder: Option<HolderView>,
}

/// A thread that holds a lock.
#[derive(Debug, Clone, Serialize)]
pub struct HolderView {
    /// Its name.
    pub name: String,
    /// Its id in the kernel.
    pub tid: u32,
    /// What it was doing, top frame first, as lines of a Java stack trace.
    pub stack: Vec<String>,
}

impl LocksView {
    pub(crate) fn new(a: &Analysis) -> Self {
        let full = |&frame: &u32| a.frames.get(frame as usize).map(crate::Frame::full).unwrap_or_default();
        Self {
            captured_at_ms: ms_between(a.locks.captured_ns, a.zero_ns),
            waits: a
                .locks
                .waits
                .iter()
                .map(|wait| LockView {
                    object: locked_object(wait),
                    holder: wait.holder.as_ref().map(|h| HolderView {
                        name: h.name.clone(),
                        tid: h.tid,
                        stack: h.stack.iter().rev().map(full).collect(),
                    }),
                })
                .collect(),
            deadlock: a.locks.deadlock,
        }
    }
}

/// What is locked, in words.
pub(crate) fn locked_object(wait: &LockWait) -> String {
    match (wait.class.as_str(), wait.of_class.as_str()) {
        (_, of) if !of.is_empty() => format!("the class {of}"),
        ("", _) => "an unknown object".into(),
        (class, _) => format!("a {class}"),
    }
}

/// The sampled stacks of one message.
#[derive(Debug, Clone, Serialize)]
pub struct TreeView {
    /// The message's number.
    pub token: u64,
    /// When its dispatch began, relative to the dump.
    pub at_ms: f64,
    /// `art`, `java_api` or `unknown`.
    pub source: &'static str,
    /// How many stacks were taken.
    pub samples: u32,
    /// When the first was taken, relative to the dump.
    pub first_sample_at_ms: f64,
    /// The time that the samples stand for.
    pub total_ms: f64,
    /// The interval asked for at the end; it doubles for very long messages.
    pub interval_ms: f64,
    /// The median interval reached; `None` with fewer than two samples.
    pub reached_interval_ms: Option<f64>,
    /// Samples that were due but could not be taken.
    pub missed_samples: u32,
    /// The longest time that one sample kept the main thread stopped.
    pub longest_stop_ms: f64,
    /// The time that all samples kept it stopped.
    pub total_stop_ms: f64,
    /// In pre-order.
    pub nodes: Vec<NodeView>,
    /// The path of the heaviest merged frames, bottom first.
    pub hot_path: Vec<HotFrame>,
}

/// One frame over a run of consecutive samples.
#[derive(Debug, Clone, Serialize)]
pub struct NodeView {
    /// Index into [`super::View::frames`].
    pub frame: u32,
    /// 0 for a root.
    pub depth: u32,
    /// When its first sample was taken, relative to the tree's first.
    pub from_ms: f64,
    /// The time that its samples stand for.
    pub total_ms: f64,
    /// The part of it with the frame on top of the stack.
    pub self_ms: f64,
    /// How many samples have it.
    pub samples: u32,
}

/// A frame of the hot path.
#[derive(Debug, Clone, Serialize)]
pub struct HotFrame {
    /// Index into [`super::View::frames`].
    pub frame: u32,
    /// Time in it and what it calls, over the whole message.
    pub total_ms: f64,
    /// Time with it on top of the stack.
    pub self_ms: f64,
}

impl TreeView {
    pub(crate) fn new(a: &Analysis, tree: &Tree) -> Self {
        let mut gaps: Vec<u64> = tree
            .sample_ns
            .windows(2)
            .take(tree.samples().saturating_sub(1) as usize)
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .collect();
        gaps.sort_unstable();
        Self {
            token: tree.token,
            at_ms: ms_between(tree.start_ns, a.zero_ns),
            source: match tree.source {
                Some(StackSource::Art) => "art",
                Some(StackSource::JavaApi) => "java_api",
                _ => "unknown",
            },
            samples: tree.samples(),
            first_sample_at_ms: ms_between(
                tree.sample_ns.first().copied().unwrap_or(tree.start_ns),
                a.zero_ns,
            ),
            total_ms: ms(tree.total_ns()),
            interval_ms: ms(tree.phases.last().map_or(0, |phase| phase.interval_ns)),
            reached_interval_ms: gaps.get(gaps.len() / 2).copied().map(ms),
            missed_samples: tree.missed_samples,
            longest_stop_ms: ms(tree.longest_stop_ns),
            total_stop_ms: ms(tree.total_stop_ns),
            nodes: tree
                .nodes
                .iter()
                .map(|node| NodeView {
                    frame: node.frame,
                    depth: node.depth,
                    from_ms: ms(tree.span_ns(0, node.begin)),
                    total_ms: ms(node.total_ns),
                    self_ms: ms(node.self_ns),
                    samples: node.end - node.begin,
                })
                .collect(),
            hot_path: Merged::new([tree], &a.frames)
                .hot_path()
                .into_iter()
                .map(|hot| HotFrame {
                    frame: hot.frame,
                    total_ms: ms(hot.total_ns),
                    self_ms: ms(hot.self_ns),
                })
                .collect(),
        }
    }
}

/// A part of the recorder.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureView {
    /// `hook`, `sampler`, `ring` or `sigquit`.
    pub name: &'static str,
    /// Whether it was working.
    pub on: bool,
    /// How it works, or why it does not.
    pub detail: String,
}

impl FeatureView {
    pub(crate) fn new(state: &FeatureState) -> Self {
        Self {
            name: match state.feature {
                Feature::Hook => "hook",
                Feature::Sampler => "sampler",
                Feature::Ring => "ring",
                Feature::SigQuit => "sigquit",
                _ => "unknown",
            },
            on: state.on,
            detail: state.detail.clone(),
        }
    }
}

/// One figure of the process or the machine, or one annotation of the app.
#[derive(Debug, Clone, Serialize)]
pub struct FigureView {
    /// For a figure, a dotted name with its unit at the end.
    pub name: String,
    /// The value as text.
    pub value: String,
}
