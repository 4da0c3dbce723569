//! The file format of speedscope (<https://www.speedscope.app/file-format-schema.json>): one sampled profile
//! for each message with stacks.

use crate::model::message_name::tree_title;
use crate::model::{Analysis, Frame, FrameId, SampledTree};
use crate::render::write_json;
use serde_json::{Value, json};
use std::io::{self, Write};

pub(crate) fn write(a: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let process = &a.meta.process.name;
    let active = a.current_token().and_then(|token| a.trees.iter().rposition(|tree| tree.token == token));
    let profiles: Vec<Value> = a.trees.iter().map(|tree| profile(a, tree)).collect();
    let mut file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": concat!("loopbox ", env!("CARGO_PKG_VERSION")),
        "name": format!("{process} (pid {})", a.meta.process.pid),
        "shared": { "frames": a.frames.iter().map(frame).collect::<Vec<_>>() },
        "profiles": profiles,
    });
    if let Some(active) = active {
        file["activeProfileIndex"] = active.into();
    }
    write_json(&mut *out, &file)?;
    out.write_all(b"\n")
}

fn frame(frame: &Frame) -> Value {
    let mut value = json!({ "name": frame.qualified() });
    if !frame.file.is_empty() {
        value["file"] = frame.file.as_str().into();
    }
    if let Some(line) = frame.line {
        value["line"] = line.into();
    }
    value
}

/// Samples and weights in order of time. Time without a stack is an empty sample, as in speedscope's own
/// importers.
fn profile(a: &Analysis, tree: &SampledTree) -> Value {
    let mut samples: Vec<Vec<FrameId>> = Vec::new();
    let mut weights: Vec<u64> = Vec::new();
    let mut push = |stack: Vec<FrameId>, start: u32, end: u32| {
        if end > start {
            samples.push(stack);
            weights.push(tree.span_ns(start, end));
        }
    };
    let mut at = 0;
    for run in tree.stack_runs() {
        push(Vec::new(), at, run.start);
        push(tree.stack(run.top), run.start, run.end);
        at = run.end;
    }
    push(Vec::new(), at, tree.samples());
    json!({
        "type": "sampled",
        "name": tree_title(a, tree.token),
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": tree.total_ns(),
        "samples": samples,
        "weights": weights,
    })
}
