//! What identifies a message.

use crate::model::Analysis;
use crate::model::message_name::{message_name, what_name};
use loopbox_format::model::{Component, Message, NamedBy, Token};
use serde::Serialize;

/// What identifies a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageView {
    /// The message in one line.
    pub text: String,
    /// The method of the app by which the message's stacks name it, which is in `text`, too:
    /// `com.example.Feed$load$1.invokeSuspend`. `None` without stacks, and where the message has the name
    /// of that method's class.
    pub by_stacks: Option<String>,
    /// The class of the target Handler.
    pub target: String,
    /// The class of the callback; empty when there is none.
    pub callback: String,
    /// `Message.what`; `None` when it is not known.
    pub what: Option<i32>,
    /// What `ActivityThread$H` calls this `what` on the report's API level: `EXECUTE_TRANSACTION`.
    pub what_name: Option<&'static str>,
    /// The framework component that the message belongs to: `activity_thread`, `receiver`, `service_connection`, `job`, `frame`, `input`.
    pub component: Option<&'static str>,
    /// Where the names come from: `observer`, `printer`, `stack`, `window`.
    pub named_by: &'static str,
}

impl MessageView {
    /// A message that ran, or runs.
    pub(super) fn of(a: &Analysis, token: Token, message: &Message) -> Self {
        let view = Self::new(message, a.api_level());
        let text = a.title_of(token, Some(message)).unwrap_or_else(|| view.text.clone());
        Self { text, by_stacks: a.named_by_stacks(token, Some(message)), ..view }
    }

    /// A message by what the Looper says of it.
    pub(super) fn new(message: &Message, api_level: u32) -> Self {
        Self {
            text: message_name(message, api_level),
            by_stacks: None,
            what_name: what_name(message, api_level),
            target: message.target.clone(),
            callback: message.callback.clone(),
            what: message.what,
            component: message.component.map(component),
            named_by: match message.named_by {
                NamedBy::Observer => "observer",
                NamedBy::Printer => "printer",
                NamedBy::Stack => "stack",
                NamedBy::Window => "window",
                _ => "unknown",
            },
        }
    }
}

fn component(component: Component) -> &'static str {
    match component {
        Component::ActivityThread => "activity_thread",
        Component::Receiver => "receiver",
        Component::ServiceConnection => "service_connection",
        Component::Job => "job",
        Component::Frame => "frame",
        Component::Input => "input",
        _ => "unknown",
    }
}
