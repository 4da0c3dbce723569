//! A report as one self-contained HTML page: it needs no network, no server and no other file.
//!
//! The page is a fixed skeleton with the verdict and the stack at the dump as HTML, and the report as JSON
//! for its script. Texts of the report are escaped, or enter the document as text nodes, and the page's
//! policy forbids any request. So texts of a hostile report are shown and never executed.

mod summary;
mod wait_graph;

use super::escape::escape;
use super::json::{
    BreadcrumbView, CurrentView, FeatureView, HeaderView, LocksView, MainThreadView, PendingView, RecordView,
    SystemTraceView, ThreadsView,
};
use super::smoothness::{DisplayFrame, DisplayFrames};
use crate::derive::process_name;
use crate::diagnose::Diagnosis;
use crate::model::message_name::tree_title;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::token::Key;
use crate::model::{Analysis, CodeOwner, Frame, FrameKind, Issue, SampledTree};
use crate::smoothness::JankView;
use loopbox_format::model::StackSource;
use serde::Serialize;
use std::collections::HashMap;

const SKELETON: &str = include_str!("page.html");
pub(crate) const STYLE: &str = include_str!("page.css");
/// The parts of the page's one script, in the order in which they are joined.
const SCRIPT: [&str; 5] = [
    include_str!("common.js"),
    include_str!("verdict.js"),
    include_str!("timeline.js"),
    include_str!("stacks.js"),
    include_str!("tables.js"),
];

/// The data of the page's script. Most of it is stack trees, which are stored as columns of integers.
#[derive(Serialize)]
struct Page<'a> {
    report: HeaderView<'a>,
    history: Vec<RecordView<'a>>,
    breadcrumbs: Vec<BreadcrumbView<'a>>,
    current: CurrentView<'a>,
    main_thread: Option<MainThreadView<'a>>,
    locks: LocksView<'a>,
    threads: ThreadsView<'a>,
    system_trace: Option<SystemTraceView<'a>>,
    pending: PendingView<'a>,
    display_frames: Option<PageFrames>,
    features: Vec<FeatureView<'a>>,
    /// The name and the value of each statistic, in readable units.
    statistics: Vec<[String; 2]>,
    lost: &'a [String],
    damage: &'a [Issue],
    strings: Vec<&'a str>,
    /// For each frame: class, method and file as indices into `strings`, the line or -1, the dex pc or -1,
    /// the kind.
    frames: Vec<[i64; 6]>,
    trees: Vec<PageTree>,
}

/// The newest display frames, and the known reasons for those that stood too long.
#[derive(Serialize)]
struct PageFrames {
    recent: Vec<DisplayFrame>,
    /// What delayed each frame, in words.
    why: Vec<Option<String>>,
}

impl PageFrames {
    fn new(frames: DisplayFrames) -> Option<Self> {
        let why = |frame: &DisplayFrame| {
            let jank = frames.janks.iter().find(|jank| jank.at_ms.total_cmp(&frame.at_ms).is_eq());
            jank.map(JankView::in_words)
        };
        let why = frames.recent.iter().map(why).collect();
        (!frames.recent.is_empty()).then_some(Self { recent: frames.recent, why })
    }
}

#[derive(Serialize)]
struct PageTree {
    token: Key,
    title: String,
    at_ms: f64,
    source: Name<StackSource>,
    interval_ms: f64,
    missed_samples: u32,
    longest_stop_ms: f64,
    /// For each sample, the microseconds since the sample before it; for the first sample, since the start of
    /// the message. One more entry has the microseconds that the last sample covers.
    gaps_us: Vec<u64>,
    /// For each node in pre-order: frame, depth, first sample, number of samples.
    nodes: Vec<u32>,
}

impl PageTree {
    fn new(a: &Analysis, tree: &SampledTree) -> Self {
        let mut before = tree.start_ns;
        let gaps_us = tree
            .sample_ns
            .iter()
            .map(|&at| (at.since(std::mem::replace(&mut before, at)) / 1_000).min(u64::from(u32::MAX) << 10))
            .collect();
        Self {
            token: Key(tree.token),
            title: tree_title(a, tree.token),
            at_ms: ms_between(tree.start_ns, a.dump_ns),
            source: Name(tree.source),
            interval_ms: ms(tree.interval_ns()),
            missed_samples: tree.missed_samples,
            longest_stop_ms: ms(tree.longest_suspend_ns),
            gaps_us,
            nodes: tree
                .nodes
                .iter()
                .flat_map(|n| [n.frame.index() as u32, n.depth, n.start, n.end - n.start])
                .collect(),
        }
    }
}

/// The kind of a frame as a number, which selects its colour on the page.
fn kind(frame: &Frame) -> i64 {
    match (frame.kind, frame.owner == CodeOwner::Platform) {
        (FrameKind::Java, false) => 0,
        (FrameKind::Java, true) => 1,
        (FrameKind::Native, false) => 2,
        (FrameKind::Native, true) => 3,
        (FrameKind::Elided, _) => 4,
        (FrameKind::Unknown, _) => 5,
    }
}

fn frames<'a>(frames: &'a [Frame]) -> (Vec<&'a str>, Vec<[i64; 6]>) {
    let mut strings = Vec::new();
    let mut known: HashMap<&str, i64> = HashMap::new();
    let mut index = |text: &'a str| {
        *known.entry(text).or_insert_with(|| {
            strings.push(text);
            strings.len() as i64 - 1
        })
    };
    let rows = frames
        .iter()
        .map(|f| {
            let (line, pc) = (f.line.map_or(-1, i64::from), f.dex_pc.map_or(-1, i64::from));
            [index(&f.class), index(&f.method), index(&f.file), line, pc, kind(f)]
        })
        .collect();
    (strings, rows)
}

/// The page of a report and of what [`crate::diagnose::diagnose`] found in it.
///
/// # Errors
/// When the report cannot be written as JSON, which does not happen.
pub fn page(a: &Analysis, diagnosis: &Diagnosis) -> serde_json::Result<String> {
    let (strings, frames) = frames(&a.frames);
    let data = Page {
        report: HeaderView::new(a),
        history: a.history.iter().map(|record| RecordView::new(a, record)).collect(),
        breadcrumbs: BreadcrumbView::all(a),
        current: CurrentView::new(a),
        main_thread: a.main_thread.as_ref().map(|main| MainThreadView::new(a, main)),
        locks: LocksView::new(a),
        threads: ThreadsView::new(a),
        system_trace: a.system_trace.as_ref().map(|trace| SystemTraceView::new(a, trace)),
        pending: PendingView::new(a, &a.queue),
        display_frames: DisplayFrames::new(a).and_then(PageFrames::new),
        features: a.features.iter().map(FeatureView::new).collect(),
        statistics: a.statistics.iter().map(|f| summary::statistic(&f.name, &f.value)).collect(),
        lost: &a.lost,
        damage: &a.issues,
        strings,
        frames,
        trees: a.trees.iter().map(|tree| PageTree::new(a, tree)).collect(),
    };
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPT.concat());
    let mut page = String::with_capacity(256 << 10);
    for part in SKELETON.split("{{").flat_map(|piece| piece.split_inclusive("}}")) {
        match part {
            "title}}" => page.push_str(&escape(process_name(a))),
            "about}}" => page.push_str(&summary::about(a)),
            "verdict}}" => page.push_str(&summary::verdict(a, diagnosis)),
            "graph}}" => page.push_str(&wait_graph::section(a)),
            "stack}}" => page.push_str(&summary::stack(a)),
            "style}}" => page.push_str(STYLE),
            "data}}" => page.push_str(&in_script(&serde_json::to_string(&data)?)),
            "script}}" => page.push_str(&script),
            text => page.push_str(text),
        }
    }
    Ok(page)
}

/// JSON that cannot end the script element around it, nor start a comment in it.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
