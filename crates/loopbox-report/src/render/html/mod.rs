//! A report as one self-contained HTML page: it needs no network, no server and no other file.
//!
//! The page is a fixed skeleton with the verdict and the stack at the dump as HTML, and the report as JSON for its script. Texts of
//! the report are escaped, or reach the document as text nodes, and the page's policy forbids any request, so those of a
//! hostile report are shown and never run.

mod summary;
mod wait_graph;

use super::escape::escape;
use super::json::{
    CurrentView, DisplayFrameView, DisplayFramesView, FeatureView, HeaderView, LocksView, MainThreadView,
    PendingView, RecordView, ReportView, SystemTraceView, ThreadsView, TreeView,
};
use crate::model::{Analysis, CodeOwner, Frame, FrameKind, Issue, SampledTree, token};
use crate::smoothness::JankView;
use loopbox_format::model::Token;
use serde::Serialize;
use std::collections::HashMap;

const SKELETON: &str = include_str!("page.html");
pub(crate) const STYLE: &str = include_str!("page.css");
/// Parts of one script, in this order.
const SCRIPT: [&str; 5] = [
    include_str!("common.js"),
    include_str!("verdict.js"),
    include_str!("timeline.js"),
    include_str!("stacks.js"),
    include_str!("tables.js"),
];

/// The data of the page's script. Most of it are stack trees, so those are columns of integers.
#[derive(Serialize)]
struct Page<'a> {
    report: &'a HeaderView,
    history: &'a [RecordView],
    current: &'a CurrentView,
    main_thread: Option<&'a MainThreadView>,
    locks: &'a LocksView,
    threads: &'a ThreadsView,
    system_trace: Option<&'a SystemTraceView>,
    pending: &'a PendingView,
    display_frames: Option<PageFrames<'a>>,
    features: &'a [FeatureView],
    /// Names and values in the units of people.
    statistics: Vec<[String; 2]>,
    lost: &'a [String],
    damage: &'a [Issue],
    strings: Vec<&'a str>,
    /// Class, method and file as indices into `strings`, line or -1, dex pc or -1, kind.
    frames: Vec<[i64; 6]>,
    trees: Vec<PageTree<'a>>,
}

/// The newest display frames, each with what is known of why it stood, if that was too long.
#[derive(Serialize)]
struct PageFrames<'a> {
    recent: &'a [DisplayFrameView],
    /// For each of them what held it up, in words.
    why: Vec<Option<String>>,
}

impl<'a> PageFrames<'a> {
    fn new(view: &'a DisplayFramesView) -> Option<Self> {
        let why = |frame: &DisplayFrameView| {
            let jank = view.janks.iter().find(|jank| jank.at_ms.total_cmp(&frame.at_ms).is_eq());
            jank.map(JankView::in_words)
        };
        (!view.recent.is_empty())
            .then(|| Self { recent: &view.recent, why: view.recent.iter().map(why).collect() })
    }
}

#[derive(Serialize)]
struct PageTree<'a> {
    #[serde(serialize_with = "token::serialize")]
    token: Token,
    title: &'a str,
    at_ms: f64,
    source: &'a str,
    interval_ms: f64,
    missed_samples: u32,
    longest_stop_ms: f64,
    /// When each sample was taken, in microseconds after the one before it, the first after the start of the
    /// message; the
    /// last entry ends the last sample.
    gaps_us: Vec<u64>,
    /// For each node in pre-order: frame, depth, first sample, number of samples.
    nodes: Vec<u32>,
}

impl<'a> PageTree<'a> {
    fn new(tree: &SampledTree, view: &'a TreeView) -> Self {
        let mut before = tree.start_ns;
        let gaps_us = tree
            .sample_ns
            .iter()
            .map(|&at| (at.since(std::mem::replace(&mut before, at)) / 1_000).min(u64::from(u32::MAX) << 10))
            .collect();
        Self {
            token: tree.token,
            title: &view.title,
            at_ms: view.at_ms,
            source: view.source,
            interval_ms: view.interval_ms,
            missed_samples: view.missed_samples,
            longest_stop_ms: view.longest_stop_ms,
            gaps_us,
            nodes: tree
                .nodes
                .iter()
                .flat_map(|n| [n.frame.index() as u32, n.depth, n.start, n.end - n.start])
                .collect(),
        }
    }
}

/// The kind of a frame as a number, by which the page colours it.
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

/// The page of a report. `view` is the view of `analysis`.
///
/// # Errors
/// When the report cannot be written as JSON, which does not happen.
pub fn page(analysis: &Analysis, view: &ReportView) -> serde_json::Result<String> {
    let (strings, frames) = frames(&analysis.frames);
    let data = Page {
        report: &view.report,
        history: &view.history,
        current: &view.current,
        main_thread: view.main_thread.as_ref(),
        locks: &view.locks,
        threads: &view.threads,
        system_trace: view.system_trace.as_ref(),
        pending: &view.pending,
        display_frames: view.display_frames.as_ref().and_then(PageFrames::new),
        features: &view.features,
        statistics: view.statistics.iter().map(|f| summary::statistic(&f.name, &f.value)).collect(),
        lost: &view.lost,
        damage: &view.damage,
        strings,
        frames,
        trees: analysis.trees.iter().zip(&view.trees).map(|(tree, view)| PageTree::new(tree, view)).collect(),
    };
    let title =
        if view.report.process.name.is_empty() { "unknown process" } else { &view.report.process.name };
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPT.concat());
    let mut page = String::with_capacity(256 << 10);
    for part in SKELETON.split("{{").flat_map(|piece| piece.split_inclusive("}}")) {
        match part {
            "title}}" => page.push_str(&escape(title)),
            "about}}" => page.push_str(&summary::about(view)),
            "verdict}}" => page.push_str(&summary::verdict(view)),
            "graph}}" => page.push_str(&wait_graph::section(analysis)),
            "stack}}" => page.push_str(&summary::stack(view)),
            "style}}" => page.push_str(STYLE),
            "data}}" => page.push_str(&in_script(&serde_json::to_string(&data)?)),
            "script}}" => page.push_str(&script),
            text => page.push_str(text),
        }
    }
    Ok(page)
}

/// JSON that cannot end the script element that it is in, nor start a comment in it.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
