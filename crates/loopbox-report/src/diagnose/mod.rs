//! The most probable cause of a hang, with the evidence for it.
//!
//! Each rule is a file under `rules` and a section of `docs/diagnosis.md`. A rule reads the `facts::Facts`
//! and returns at most one possible cause with a score; the causes are ranked by their scores. Scores are not
//! probabilities. They are chosen so that a rule with direct evidence (the message that has run for five
//! seconds is on the stack) outranks one with circumstantial evidence, and so that a single weak sign stays
//! below [`Confidence::Low`]. A wrong confident diagnosis costs a developer a day, so when no rule is sure,
//! the diagnosis says that the cause is unclear, and why.

mod account;
mod collections;
mod cpu_takers;
mod cpu_wait;
mod diagnosis;
mod dominant_wait;
mod facts;
mod finding;
mod hot_method;
mod load;
mod lock_chain;
mod machine;
mod monitor;
mod not_idle;
mod rules;
mod slow_message;
mod suspects;
mod suspender;
mod system_trace;
mod time_out;
mod traced_main;
mod unseen;
mod wait_kind;

pub use account::{Account, AccountPart, TimeUse};
pub use diagnosis::{Cause, Confidence, Diagnosis};

use crate::model::Analysis;
use crate::model::time::format_ns;
use facts::Facts;
use finding::{Finding, MIN_HEADLINE_SCORE};
use rules::Rule;

/// Below this score a possible cause is not reported.
const MIN_REPORTED_SCORE: f64 = 0.3;
/// How many possible causes are reported.
const MAX_CAUSES: usize = 12;
/// A cause that only reports how long the message took, and where, is scored this much lower than the best
/// cause that explains why.
const BELOW: f64 = 0.01;

/// Finds the possible causes of the hang that a report is about.
pub fn diagnose(analysis: &Analysis) -> Diagnosis {
    let facts = Facts::new(analysis);
    let messages: Vec<Facts<'_>> = facts.candidates().into_iter().map(|slow| facts.of(slow)).collect();
    let found = rules::ALL.iter().flat_map(|rule| match rule {
        Rule::Report(find) => find(&facts).into_iter().collect::<Vec<_>>(),
        Rule::Message(find) => messages.iter().filter_map(find).collect(),
    });
    let mut findings: Vec<Finding> =
        found.map(|finding| of_what_is_known(finding, &facts).of_its_share()).collect();
    rank(&mut findings, &facts);
    findings.retain(|finding| finding.score >= MIN_REPORTED_SCORE);
    // Stable: of equal scores the rule that comes first in the list is the more specific one.
    findings.sort_by(|x, y| y.score.total_cmp(&x.score));
    findings.truncate(MAX_CAUSES);
    let causes: Vec<Cause> = findings.into_iter().map(|finding| finding.into_cause(analysis)).collect();
    let first = causes.first().filter(|cause| cause.score >= MIN_HEADLINE_SCORE);
    let about = first.and_then(|cause| cause.token).and_then(|token| {
        messages.iter().find(|facts| facts.primary_message().is_some_and(|slow| slow.token == token))
    });
    let account = account::account(about.unwrap_or(&facts));
    Diagnosis {
        headline: first.map_or_else(|| unclear(&facts), |cause| cause.title.clone()),
        confidence: first.map(|cause| cause.confidence),
        caveats: rules::caveats(&facts, causes.iter().any(|cause| cause.rule == "starved")),
        causes,
        account,
    }
}

/// Lowers the confidence of a finding about the running message, when earlier messages are not known: one of
/// them may have taken longer.
fn of_what_is_known(finding: Finding, facts: &Facts<'_>) -> Finding {
    match facts.running() {
        Some(running) if finding.is_about(running.token) => finding.at_most_medium(facts.unknown_history()),
        _ => finding,
    }
}

/// Drops findings and lowers scores, before the findings are sorted by score.
///
/// First, if another finding can be the headline, the findings that only name main's place in the system's
/// trace are dropped.
///
/// Second, a finding that only says how long the message at the dump took, and where, must come after the
/// best finding that explains why. Its score is lowered below the score of that finding. This is done if
/// three things are true: the system's trace shows main, the explaining finding can be the headline, and main
/// is not known to have been on the CPU for at least half of the message's time.
fn rank(findings: &mut Vec<Finding>, facts: &Facts<'_>) {
    if findings.iter().any(|finding| !finding.is_place() && finding.score >= MIN_HEADLINE_SCORE) {
        findings.retain(|finding| !finding.is_place());
    }
    let Some(slow) = facts.at_dump().filter(|_| facts.trace.is_some()) else { return };
    if slow.cpu_share() >= Some(0.5) {
        return;
    }
    let shown = findings.iter().filter(|finding| finding.is_about(slow.token) && finding.says_why());
    let Some(best) = shown.map(|finding| finding.score).max_by(f64::total_cmp) else { return };
    if best < MIN_HEADLINE_SCORE {
        return;
    }
    for finding in findings.iter_mut().filter(|f| f.is_about(slow.token) && !f.says_why()) {
        finding.score = finding.score.min(best - BELOW);
    }
}

/// The headline when no rule is sure.
fn unclear(facts: &Facts<'_>) -> String {
    let state = match (facts.running(), facts.idle_for_ns()) {
        (Some(running), _) if running.is_outside() => {
            format!("{}, took {} so far", running.noun(), running.length())
        }
        (Some(running), _) => format!("the running message is only {} old", format_ns(running.wall_ns)),
        (None, Some(idle)) if facts.not_idle.is_some() => {
            format!("main had run no message for {}, and may not have been idle", format_ns(idle))
        }
        (None, Some(idle)) => format!("main had been idle for {}", format_ns(idle)),
        (None, None) => "what main was doing is not known".into(),
    };
    let load = facts.load;
    if load.span_ns == 0 {
        return format!("Unclear: {state}, and nothing before it is recorded");
    }
    format!(
        "Unclear: {state}, and messages took {} of the {} before it",
        format_ns(load.work_ns),
        format_ns(load.span_ns)
    )
}

#[cfg(test)]
mod absent_tests;
#[cfg(test)]
mod account_tests;
#[cfg(test)]
mod blind_spots_tests;
#[cfg(test)]
mod instant_tests;
#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
mod names_tests;
#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod starved_tests;
#[cfg(test)]
mod suspects_tests;
#[cfg(test)]
mod synthetic_tests;
#[cfg(test)]
mod tests;
