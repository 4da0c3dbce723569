//! What the end-to-end tests share: one prepared launcher per testbed, and decoded reports with words to ask them.

pub mod causes;
pub mod exhausted;
pub mod hangs;
pub mod kill;
pub mod levels;
pub mod libraries;
pub mod links;
pub mod live;
pub mod matrix;
pub mod monitor;
pub mod platform_names;
pub mod scenario;
pub mod source_lines;
pub mod trace;
pub mod truth;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab_launch::{Build, Launcher};
use loopbox_format::model::{Detail, Feature, Location, LocationId, Method, Report, StackTree};
use loopbox_format::report::decode;
use loopbox_format::stacks;

/// How long anything may take before a test gives up. Nothing waits that long by design.
pub const LIMIT: Duration = Duration::from_mins(2);

/// The argument of an app that hangs until a signal comes: a machine that is slow to get there has no report of the hang first.
pub const HANG_REPORT_LATE: &str = "hangMs=60000";

/// The launcher of a testbed; the first to ask prepares it, for all tests of the program.
///
/// # Errors
/// When the testbed or what runs on it cannot be built.
pub fn launcher(testbed: &str) -> Result<Arc<Launcher>> {
    static READY: LazyLock<Mutex<HashMap<String, Arc<Launcher>>>> = LazyLock::new(Mutex::default);
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(launcher) = ready.get(testbed) {
        return Ok(Arc::clone(launcher));
    }
    let launcher = Arc::new(Launcher::new(testbed, Build::Dev)?);
    ready.insert(testbed.to_owned(), Arc::clone(&launcher));
    Ok(launcher)
}

/// An intact report.
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
    /// Where in its code.
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

/// Each stack of a tree, oldest first, top frame first, and whether frames were left out of it. What lies below
/// those left out is left out too.
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
