//! Not enough data, and why; and what limits any other verdict.

use super::super::Finding;
use super::super::facts::{Facts, INPUT_TIMEOUT_NS, said};
use loopbox_format::model::{Feature, MainState};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let a = facts.a;
    let hook_off = a.features.iter().find(|f| f.feature == Feature::Hook && !f.on);
    let nothing = a.history.is_empty() && matches!(a.main, MainState::Unknown);
    if !nothing && hook_off.is_none() {
        return None;
    }
    let title = match hook_off {
        Some(_) => "Not enough data: the hook into the main Looper was off",
        None => "Not enough data: the report has neither a history nor a running message",
    };
    let finding = Finding::new("no-data", 0.9, title.into()).because_of(
        hook_off.map(|f| if f.detail.is_empty() { "no reason is given".into() } else { f.detail.clone() }),
    );
    Some(
        finding
            .because_of(a.losses.iter().take(3).map(|loss| loss.what.clone()))
            .advise("See the recorder's features in the report: each that is off says why."),
    )
}

/// What a reader must know before believing any verdict.
pub(in crate::diagnose) fn caveats(facts: &Facts<'_>) -> Vec<String> {
    let a = facts.a;
    let mut caveats = Vec::new();
    if let Some(sampler) = a.features.iter().find(|f| f.feature == Feature::Sampler && !f.on) {
        caveats.push(format!("no stacks: the sampler was off ({})", sampler.detail));
    } else if facts.focus().is_some_and(|slow| slow.wall_ns >= 300_000_000 && slow.tree.is_none()) {
        caveats.push("the message that matters most has no stacks".into());
    }
    if !a.losses.is_empty() {
        caveats.push(format!("{} parts of the file could not be used", a.losses.len()));
    }
    let reach = a.history_span_ns();
    if reach > 0 && reach < INPUT_TIMEOUT_NS {
        caveats.push(format!("the history reaches back only {}", said(reach)));
    }
    if !facts.a.queue.known {
        caveats.push("the pending queue is not known".into());
    }
    if let Some(tree) = facts.focus().and_then(|slow| slow.tree)
        && tree.missed_samples > tree.samples() / 3
    {
        caveats.push(format!("{} of the samples that were due are missing", tree.missed_samples));
    }
    caveats
}
