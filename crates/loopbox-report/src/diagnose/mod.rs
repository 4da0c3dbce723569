//! From a report to the most probable cause of the hang, with the evidence for it.
//!
//! Each rule is a file under `rules` and a section of `docs/diagnosis.md`. A rule looks at the [`facts::Facts`] and
//! answers nothing or one [`Cause`] with a score; the causes are ranked by it. Scores are not probabilities. They
//! are chosen so that a rule whose evidence is direct (the message that has run for five seconds is on the stack)
//! outranks one whose evidence is circumstantial, and so that a lone weak hint stays below [`Confidence::Low`].
//! A wrong confident verdict sends a developer the wrong way for a day, so when no rule is sure the verdict says
//! that it is unclear, and why.

mod facts;
mod rules;
mod waits;

use crate::Analysis;
use crate::clock::duration;
use facts::Facts;
use serde::Serialize;

/// How far a cause is to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Something speaks for it, more is needed.
    Low,
    /// Most of what is known speaks for it.
    Medium,
    /// The evidence is direct and nothing contradicts it.
    High,
}

/// A possible cause of the hang.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// The rule that found it: the name of its section in `docs/diagnosis.md`.
    pub rule: &'static str,
    /// One sentence.
    pub title: String,
    /// How far to believe it.
    pub confidence: Confidence,
    /// From 0 to 1; only its order among the causes has a meaning.
    pub score: f64,
    /// What speaks for it, and what against it.
    pub evidence: Vec<String>,
    /// What to do next.
    pub advice: &'static str,
    /// The message it is about.
    pub token: Option<u64>,
    /// The method to look at first, as a line of a Java stack trace.
    pub culprit: Option<String>,
}

/// What [`diagnose`] found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// One sentence: the first cause, or that it is unclear.
    pub headline: String,
    /// The confidence of the first cause; `None` when it is unclear.
    pub confidence: Option<Confidence>,
    /// Most probable first.
    pub causes: Vec<Cause>,
    /// What limits this verdict: features that were off, damage, a short history.
    pub caveats: Vec<String>,
}

/// Below this a cause is not told.
const TOLD: f64 = 0.3;
/// From here on a cause can be the verdict.
const BELIEVED: f64 = 0.4;

impl Confidence {
    fn of(score: f64) -> Self {
        if score >= 0.75 {
            Self::High
        } else if score >= 0.5 {
            Self::Medium
        } else {
            Self::Low
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What a rule hands in.
pub(crate) struct Finding {
    rule: &'static str,
    score: f64,
    title: String,
    evidence: Vec<String>,
    advice: &'static str,
    token: Option<u64>,
    culprit: Option<u32>,
}

impl Finding {
    pub(crate) fn new(rule: &'static str, score: f64, title: String) -> Self {
        Self { rule, score, title, evidence: Vec::new(), advice: "", token: None, culprit: None }
    }

    fn because(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    fn because_of(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    fn advise(mut self, advice: &'static str) -> Self {
        self.advice = advice;
        self
    }

    fn about(mut self, token: u64) -> Self {
        self.token = Some(token);
        self
    }

    fn blames(mut self, frame: Option<u32>) -> Self {
        self.culprit = frame;
        self
    }
}

/// Judges a report.
pub fn diagnose(a: &Analysis) -> Verdict {
    let facts = Facts::new(a);
    let mut found: Vec<Finding> = rules::ALL.iter().filter_map(|rule| rule(&facts)).collect();
    found.retain(|f| f.score >= TOLD);
    // Stable: of equal scores the rule that comes first in the list is the more specific one.
    found.sort_by(|x, y| y.score.total_cmp(&x.score));
    let causes: Vec<Cause> = found
        .into_iter()
        .map(|f| Cause {
            rule: f.rule,
            title: f.title,
            confidence: Confidence::of(f.score),
            score: (f.score.clamp(0.0, 1.0) * 100.0).round() / 100.0,
            evidence: f.evidence,
            advice: f.advice,
            token: f.token,
            culprit: f.culprit.and_then(|frame| a.frames.get(frame as usize)).map(crate::Frame::full),
        })
        .collect();
    let first = causes.first().filter(|cause| cause.score >= BELIEVED);
    Verdict {
        headline: match first {
            Some(cause) => cause.title.clone(),
            None => unclear(&facts),
        },
        confidence: first.map(|cause| cause.confidence),
        caveats: rules::caveats(&facts),
        causes,
    }
}

/// What can be said when no rule is sure.
fn unclear(facts: &Facts<'_>) -> String {
    let state = match (facts.running(), facts.idle_for_ns()) {
        (Some(current), _) => format!("the running message is only {} old", facts::said(current.wall_ns)),
        (None, Some(idle)) => format!("main had been free for {}", facts::said(idle)),
        (None, None) => "what main was doing is not known".into(),
    };
    let busy = facts.busy;
    format!(
        "Unclear: {state}, and messages took {} of the {} before it",
        facts::said(busy.work_ns),
        duration(crate::clock::ms(busy.span_ns))
    )
}

#[cfg(test)]
mod scenario_test;
