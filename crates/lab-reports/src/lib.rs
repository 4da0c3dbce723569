#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod live;
pub mod phases;
pub mod truth;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use loopbox_format::model::{Detail, Feature, Location, LocationId, Method, Report, StackTree};
use loopbox_format::report::decode;
use loopbox_format::stacks;

/// How long a test waits for anything before it gives up. In an undisturbed run everything takes less time.
pub const LIMIT: Duration = Duration::from_mins(2);

/// Reads an intact report.
///
/// # Errors
/// When the file cannot be read or is damaged in any place.
pub fn read(file: &Path) -> Result<Report> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let decoded = decode(&bytes).with_context(|| format!("{}", file.display()))?;
    ensure!(decoded.damage.is_empty(), "{} is damaged: {:?}", file.display(), decoded.damage);
    Ok(decoded.report)
}

/// Every message that the history keeps by name, oldest first.
pub fn details(report: &Report) -> impl Iterator<Item = &Detail> {
    report.history.iter().flat_map(|record| &record.details)
}

/// The details whose message has this target class, or this callback class when it is a posted Runnable.
pub fn details_of<'a>(report: &'a Report, class: &'a str) -> impl Iterator<Item = &'a Detail> {
    details(report)
        .filter(move |d| d.message.as_ref().is_some_and(|m| m.target == class || m.callback == class))
}

/// Whether a part of the recorder worked, and how, or why not.
pub fn feature(report: &Report, feature: Feature) -> (bool, &str) {
    let state = report.features.iter().find(|f| f.feature == feature);
    state.map_or((false, "absent"), |f| (f.on, &*f.detail))
}

/// A frame of a sampled stack with its method.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The method.
    pub method: Method,
    /// The position in its code.
    pub dex_pc: Option<u32>,
    /// Source line.
    pub line: Option<u32>,
}

impl Frame {
    /// `Class.method` without the package.
    pub fn short(&self) -> String {
        let class = self.method.class.rsplit('.').next().unwrap_or_default();
        format!("{class}.{}", self.method.name)
    }
}

/// Each stack of a tree, oldest stack first, and whether the stack is incomplete. A stack begins with its top
/// frame. If frames were left out in the middle of a stack, the result ends above them.
///
/// # Errors
/// When the tree contradicts itself.
pub fn stacks_of(report: &Report, tree: &StackTree) -> Result<Vec<(Vec<Frame>, bool)>> {
    let frame = |&location: &LocationId| match report.symbols.location(location) {
        Some(&Location::Frame { method, dex_pc, line }) => {
            let method = report.symbols.method(method)?.clone();
            Some(Frame { method, dex_pc, line })
        }
        _ => None,
    };
    let top_first = |stack: Vec<LocationId>| {
        let frames: Vec<_> = stack.iter().rev().map_while(frame).collect();
        let elided = frames.len() < stack.len();
        (frames, elided)
    };
    Ok(stacks::stacks(tree)?.map(top_first).collect())
}
