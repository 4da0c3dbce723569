//! What the main thread was doing.

use super::message::MessageView;
use crate::model::Analysis;
use crate::model::time::{ms, ms_between};
use crate::model::token::Key;
use loopbox_format::model::MainState;
use schemars::JsonSchema;
use serde::Serialize;

/// What the main thread was doing at the dump.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum CurrentView<'a> {
    /// Nothing is known.
    Unknown,
    /// No message was running.
    Idle {
        /// How long no message had been running.
        for_ms: f64,
        /// The key under which `trees` has the main thread's stacks of this idle time; null when there are
        /// none.
        token: Option<Key>,
    },
    /// The main thread was busy, and in no message.
    Outside {
        /// The key of the stacks in `trees`. It has the number of the message before: `after-45`.
        token: Key,
        /// When the last message had ended, relative to the dump.
        after_ms: f64,
        /// When the work outside of messages began, relative to the dump; the end of the last message when
        /// that is not known.
        at_ms: f64,
        /// How long the work had been running.
        age_ms: f64,
        /// Whether the start of the work is not known. Then the work began after `at_ms`, and `age_ms` is the
        /// most that it can have taken.
        at_most: bool,
        /// The CPU time of the main thread since the last message; null when unknown.
        cpu_ms: Option<f64>,
        /// What ran, by the stacks: `input`, `an idle handler`; null when they do not show it.
        place: Option<&'static str>,
        /// Whether the report has a stack tree of the work.
        has_tree: bool,
    },
    /// A message was running.
    Running {
        /// The number of the message.
        token: Key,
        /// When the dispatch of the message started, relative to the dump.
        at_ms: f64,
        /// How long the message had been running.
        age_ms: f64,
        /// The part of `age_ms` before the recorder was installed: there are no stacks of that part.
        before_install_ms: f64,
        /// The CPU time of the main thread since the message's start; null when unknown.
        cpu_ms: Option<f64>,
        /// The number of nested `Looper.loop()` calls: 1 for an ordinary message.
        depth: u32,
        /// What identifies the message; null when that is not known.
        message: Option<MessageView<'a>>,
        /// Whether the report has a stack tree of the message.
        has_tree: bool,
    },
}

impl<'a> CurrentView<'a> {
    pub(crate) fn new(a: &'a Analysis) -> Self {
        match &a.main {
            MainState::Idle { since_ns } => {
                Self::Idle { for_ms: ms(a.dump_ns.since(*since_ns)), token: a.current_token().map(Key) }
            }
            MainState::Outside(outside) => Self::Outside {
                token: Key(outside.token),
                after_ms: ms_between(outside.after_ns, a.dump_ns),
                at_ms: ms_between(outside.start_ns.unwrap_or(outside.after_ns), a.dump_ns),
                age_ms: ms(outside.age_ns()),
                at_most: outside.start_ns.is_none(),
                cpu_ms: outside.cpu_ns.map(ms),
                place: a.outside_words(outside.token),
                has_tree: a.tree(outside.token).is_some(),
            },
            MainState::Running(running) => Self::Running {
                token: Key(running.token),
                at_ms: ms_between(running.start_ns, a.dump_ns),
                age_ms: ms(running.age_ns()),
                before_install_ms: ms(a.before_install_ns(running.start_ns, running.age_ns())),
                cpu_ms: running.cpu_ns.map(ms),
                depth: running.depth,
                message: running.message.as_ref().map(|m| MessageView::new(a, Some(running.token), m)),
                has_tree: a.tree(running.token).is_some(),
            },
            _ => Self::Unknown,
        }
    }
}
