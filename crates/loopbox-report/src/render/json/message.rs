//! What identifies a message.

use crate::model::message_name::{message_name, what_name};
use loopbox_format::model::{Component, Message, NamedBy};
use serde::Serialize;

/// What identifies a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageView {
    /// The message in one line.
    pub text: String,
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
    pub(super) fn new(message: &Message, api_level: u32) -> Self {
        Self {
            text: message_name(message, api_level),
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
