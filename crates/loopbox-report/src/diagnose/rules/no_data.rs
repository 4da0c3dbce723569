//! The verdict that there is not enough data for a diagnosis, with the reason, and the limits of any other
//! diagnosis.

use crate::diagnose::facts::{Facts, INPUT_TIMEOUT_NS};
use crate::diagnose::finding::Finding;
use crate::diagnose::machine;
use crate::diagnose::not_idle::{blind_hook, why_off};
use crate::diagnose::rules::{barrier, trace_state};
use crate::diagnose::traced_main::{TracedMain, is_of_trace};
use crate::model::Analysis;
use crate::model::plural::plural;
use crate::model::time::format_ns;
use loopbox_format::model::{Feature, MainState};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let a = facts.analysis;
    let hook_off = blind_hook(a);
    let nothing = a.history.is_empty() && matches!(a.main, MainState::Unknown);
    // What main did at the dump is known all the same: by its message, its stacks or its queue.
    let known = facts.running().is_some_and(|running| running.wall_ns >= 500_000_000)
        || facts.not_idle.as_ref().is_some_and(|found| found.now)
        || facts.waits == Some(true) && barrier::holds_back(facts).is_some()
        || facts.trace.is_some_and(TracedMain::shows_a_place);
    if known || !nothing && hook_off.is_none() {
        return None;
    }
    let title = match hook_off {
        Some(hook) if hook.on => {
            "Not enough data: another library has displaced the hook into the main Looper"
        }
        Some(_) => "Not enough data: the hook into the main Looper was off",
        None => "Not enough data: the report has neither a history nor a running message",
    };
    let finding = Finding::new("no-data", 0.9, title.into())
        .with_all_evidence(hook_off.map(|hook| why_off(hook).to_owned()));
    Some(
        finding
            .with_all_evidence(a.issues.iter().take(3).map(|issue| issue.what.clone()))
            .with_advice("See the features of the recorder in the report: each that is off has a reason."),
    )
}

/// The caveat that parts of the file could not be used.
fn unused_parts(a: &Analysis) -> Option<String> {
    let parts = plural(a.issues.len() as u64, "part");
    (!a.issues.is_empty()).then(|| format!("{parts} of the file could not be used"))
}

/// The limits that apply to every cause of this diagnosis. If `starved` is true, the machine's shortage of
/// CPU time is already one of the causes, so it is not repeated as a limit.
pub(crate) fn caveats(facts: &Facts<'_>, starved: bool) -> Vec<String> {
    let a = facts.analysis;
    if let Some(alone) = trace_state::alone(a) {
        return [Some(alone), unused_parts(a)].into_iter().flatten().collect();
    }
    let mut caveats = Vec::new();
    let of_trace = facts.primary_message().and_then(|slow| slow.tree).is_some_and(is_of_trace);
    if of_trace {
        let off = a.features.iter().find(|f| f.feature == Feature::Sampler && !f.on);
        let off = off.map_or_else(String::new, |f| format!(" (the sampler was off: {})", f.detail));
        caveats
            .push(format!("no stacks of the recorder's own{off}: where main was is by the system's trace"));
    } else if let Some(sampler) = a.features.iter().find(|f| f.feature == Feature::Sampler && !f.on) {
        caveats.push(format!("no stacks: the sampler was off ({})", sampler.detail));
    } else if facts.primary_message().is_some_and(|slow| slow.wall_ns >= 300_000_000 && slow.tree.is_none()) {
        caveats.push("the message with the largest effect has no stacks".into());
    }
    if let Some(hook) = blind_hook(a) {
        caveats.push(format!("messages may be missing: the hook was off ({})", why_off(hook)));
    } else if let Some(hook) = a.features.iter().find(|f| f.feature == Feature::Hook)
        && hook.detail.contains("armed again")
    {
        caveats.push(format!(
            "messages may be missing: another library had displaced the hook ({})",
            hook.detail
        ));
    }
    if a.features.is_empty() {
        caveats.push("which features of the recorder worked is not known".into());
    }
    let machine = machine::signs(facts);
    if !starved && !machine.is_empty() {
        let signs: Vec<String> = machine.into_iter().map(|(_, sign)| sign).collect();
        caveats.push(format!("the device was short of resources: {}", signs.join("; ")));
    }
    caveats.extend(unused_parts(a));
    if !a.lost.is_empty() {
        caveats.push("not all of the ring could be recovered".into());
    }
    let reach = a.history_span_ns();
    if reach > 0 && reach < INPUT_TIMEOUT_NS {
        caveats.push(format!("the history reaches back only {}", format_ns(reach)));
    }
    if !facts.analysis.queue.is_known() {
        caveats.push("the pending queue is not known".into());
    }
    if let Some(tree) = facts.primary_message().and_then(|slow| slow.tree)
        && tree.missed_samples > tree.samples() / 3
    {
        caveats.push(format!("{} of the samples that were due are missing", tree.missed_samples));
    }
    caveats
}
