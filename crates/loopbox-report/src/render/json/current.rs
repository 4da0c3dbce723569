//! What the main thread was doing.

use super::message::MessageView;
use crate::model::Analysis;
use crate::model::time::{ms, ms_between};
use loopbox_format::model::MainState;
use serde::Serialize;

/// What the main thread was doing at the dump.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CurrentView {
    /// Nothing is known.
    Unknown,
    /// No message was running.
    Idle {
        /// How long no message had been running.
        for_ms: f64,
    },
    /// A message was running.
    Running {
        /// The number of the message.
        token: u64,
        /// When its dispatch started, relative to the dump.
        at_ms: f64,
        /// How long it had been running.
        age_ms: f64,
        /// The CPU time of the main thread since then; `None` when unknown.
        cpu_ms: Option<f64>,
        /// The number of nested `Looper.loop()` calls: 1 for an ordinary message.
        depth: u32,
        /// What identifies the message; `None` when that is not known.
        message: Option<MessageView>,
        /// Whether the report has a stack tree of the message.
        has_tree: bool,
    },
}

impl CurrentView {
    pub(super) fn new(a: &Analysis) -> Self {
        match &a.main {
            MainState::Idle { since_ns } => Self::Idle { for_ms: ms(a.dump_ns.saturating_sub(*since_ns)) },
            MainState::Running(running) => Self::Running {
                token: running.token,
                at_ms: ms_between(running.start_ns, a.dump_ns),
                age_ms: ms(running.age_ns()),
                cpu_ms: running.cpu_ns.map(ms),
                depth: running.depth,
                message: running.message.as_ref().map(|m| MessageView::new(m, a.api_level())),
                has_tree: a.tree(running.token).is_some(),
            },
            _ => Self::Unknown,
        }
    }
}
