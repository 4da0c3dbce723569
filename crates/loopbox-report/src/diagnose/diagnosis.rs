//! The diagnosis of a report.

use super::account::Account;
use crate::model::token;
use loopbox_format::model::Token;
use schemars::JsonSchema;
use serde::Serialize;

/// How sure a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// There is some evidence, and more is needed.
    Low,
    /// Most of the evidence supports the cause.
    Medium,
    /// The evidence is direct, and nothing contradicts it.
    High,
}

/// A possible cause of the hang.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cause {
    /// The rule that found the cause: the name of its section in `docs/diagnosis.md`.
    pub rule: &'static str,
    /// The cause in one sentence.
    pub title: String,
    /// How sure the cause is.
    pub confidence: Confidence,
    /// The score, from 0 to 1; only the order of the causes has a meaning.
    pub score: f64,
    /// The evidence for the cause, and against it.
    pub evidence: Vec<String>,
    /// What to do next.
    pub advice: &'static str,
    /// The token of the message that the cause is about. What ran outside of messages has the token of the
    /// message before it, `after-45`.
    #[serde(serialize_with = "token::serialize_option")]
    #[schemars(with = "Option<token::Key>")]
    pub token: Option<Token>,
    /// The method to look at first, as a line of a Java stack trace.
    pub culprit: Option<String>,
    /// The app's methods on the way from the message to the culprit, in the order of their calls; empty when
    /// none of the methods is the app's.
    pub path: Vec<String>,
    /// The part of the message's wall time that the cause explains, from 0 to 1; left out where that was not
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// The diagnosis of a report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "verdict")]
pub struct Diagnosis {
    /// One sentence: the first cause, or that the cause is unclear.
    pub headline: String,
    /// The confidence of the first cause; `None` when the cause is unclear.
    pub confidence: Option<Confidence>,
    /// The possible causes, most probable first.
    pub causes: Vec<Cause>,
    /// What limits this diagnosis: features that were off, damaged parts, a short history.
    pub caveats: Vec<String>,
    /// How the message that the verdict is about spent its wall time; left out when the verdict is about no
    /// message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
}

impl Confidence {
    pub(super) fn of_score(score: f64) -> Self {
        if score >= 0.75 {
            Self::High
        } else if score >= 0.5 {
            Self::Medium
        } else {
            Self::Low
        }
    }

    /// The level as a word, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Diagnosis {
    /// The most probable cause; `None` when the cause is unclear.
    pub fn primary_cause(&self) -> Option<&Cause> {
        self.causes.first().filter(|_| self.confidence.is_some())
    }
}
