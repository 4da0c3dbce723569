//! The result of a rule.

use super::diagnosis::{Cause, Confidence};
use super::hot_method::path_to;
use crate::model::time::percent;
use crate::model::{Analysis, Frame, FrameId};
use loopbox_format::model::Token;

/// The score just below [`Confidence::High`].
const BELOW_HIGH: f64 = 0.74;
/// The score just below [`MIN_HEADLINE_SCORE`].
const BELOW_HEADLINE: f64 = 0.39;
/// Scores above a limit are compressed into this range below the limit, and keep their order.
const NEAR_LIMIT: f64 = 0.04;

/// The name of the rule that only reports where main was in the system's trace.
pub(super) const PLACE: &str = "in-trace";

/// The lowest score with which a possible cause can be the headline.
pub(super) const MIN_HEADLINE_SCORE: f64 = 0.4;

/// A possible cause that a rule found.
#[derive(Debug)]
pub(super) struct Finding {
    rule: &'static str,
    pub(super) score: f64,
    title: String,
    evidence: Vec<String>,
    advice: &'static str,
    token: Option<Token>,
    culprit: Option<FrameId>,
    share: Option<f64>,
}

/// A cause that explains less than this share of the time is not sure.
const SURE_SHARE: f64 = 0.5;
/// A cause that explains less than this share of the time is no verdict.
const MIN_SHARE: f64 = 0.2;

impl Finding {
    pub(super) fn new(rule: &'static str, score: f64, title: String) -> Self {
        Self { rule, score, title, evidence: Vec::new(), advice: "", token: None, culprit: None, share: None }
    }

    pub(super) fn with_evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    pub(super) fn with_all_evidence(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// Keeps the cause below high confidence when there are `unknown` facts that it depends on, or that could
    /// contradict it.
    pub(super) fn at_most_medium(self, unknown: impl IntoIterator<Item = String>) -> Self {
        self.limited(BELOW_HIGH, unknown)
    }

    /// Prevents the cause from being the verdict when there are `unknown` facts that could contradict it.
    pub(super) fn no_verdict(self, unknown: impl IntoIterator<Item = String>) -> Self {
        self.limited(BELOW_HEADLINE, unknown)
    }

    fn limited(mut self, limit: f64, unknown: impl IntoIterator<Item = String>) -> Self {
        let from = limit - NEAR_LIMIT;
        for what in unknown {
            let what = format!("not sure: {what}");
            if self.evidence.contains(&what) {
                continue;
            }
            self.evidence.push(what);
            // Once: what is below it keeps its score.
            if self.score > limit {
                self.score = from + (self.score - from) / (1.0 - from) * NEAR_LIMIT;
            }
        }
        self
    }

    pub(super) fn with_advice(mut self, advice: &'static str) -> Self {
        self.advice = advice;
        self
    }

    /// Whether the finding is about what this token names: a message, or what ran outside of messages.
    pub(super) fn is_about(&self, token: Token) -> bool {
        self.token == Some(token)
    }

    /// Whether the finding explains why a message was slow, and not only that it was.
    pub(super) fn says_why(&self) -> bool {
        !matches!(self.rule, "current-slow" | "outside" | PLACE)
    }

    /// Whether the finding only names the place of main in the system's trace.
    pub(super) fn is_place(&self) -> bool {
        self.rule == PLACE
    }

    pub(super) fn with_message(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Sets the share of the message's time that the finding explains.
    pub(super) fn with_share(mut self, share: f64) -> Self {
        self.share = Some(share.clamp(0.0, 1.0));
        self
    }

    /// Limits the score of a finding that explains only a part of the time: with less than half, the cause is
    /// not sure; with less than a fifth, it is no verdict.
    pub(super) fn of_its_share(self) -> Self {
        let Some(share) = self.share.filter(|share| *share < SURE_SHARE) else { return self };
        let little = format!("it explains {} of the time", percent(share));
        if share < MIN_SHARE { self.no_verdict([little]) } else { self.at_most_medium([little]) }
    }

    pub(super) fn with_culprit(mut self, frame: Option<FrameId>) -> Self {
        self.culprit = frame;
        self
    }

    pub(super) fn into_cause(self, a: &Analysis) -> Cause {
        let path = self.token.zip(self.culprit).map(|(token, culprit)| path_to(a, token, culprit));
        Cause {
            rule: self.rule,
            title: self.title,
            confidence: Confidence::of_score(self.score),
            score: (self.score.clamp(0.0, 1.0) * 100.0).round() / 100.0,
            evidence: self.evidence,
            advice: self.advice,
            token: self.token,
            culprit: self.culprit.map(|frame| Frame::full(&a.frames[frame])),
            path: path.into_iter().flatten().collect(),
            share: self.share.map(|share| (share * 1e3).round() / 1e3),
        }
    }
}
