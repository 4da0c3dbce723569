//! What a rule answers.

use super::diagnosis::{Cause, Confidence};
use crate::model::{Frame, FrameId, FrameTable};
use loopbox_format::model::Token;

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
}

impl Finding {
    pub(super) fn new(rule: &'static str, score: f64, title: String) -> Self {
        Self { rule, score, title, evidence: Vec::new(), advice: "", token: None, culprit: None }
    }

    pub(super) fn with_evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    pub(super) fn with_all_evidence(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub(super) fn with_advice(mut self, advice: &'static str) -> Self {
        self.advice = advice;
        self
    }

    pub(super) fn with_message(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    pub(super) fn with_culprit(mut self, frame: Option<FrameId>) -> Self {
        self.culprit = frame;
        self
    }

    pub(super) fn into_cause(self, frames: &FrameTable) -> Cause {
        Cause {
            rule: self.rule,
            title: self.title,
            confidence: Confidence::of_score(self.score),
            score: (self.score.clamp(0.0, 1.0) * 100.0).round() / 100.0,
            evidence: self.evidence,
            advice: self.advice,
            token: self.token,
            culprit: self.culprit.map(|frame| Frame::full(&frames[frame])),
        }
    }
}
