//! A message in words.

use loopbox_format::looper::activity_thread;
use loopbox_format::model::{Component, Message, NamedBy};
use serde::Serialize;

/// What identifies a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageView {
    /// One line for a reader.
    pub text: String,
    /// Class name of the target Handler.
    pub target: String,
    /// Class name of the callback; empty when there is none.
    pub callback: String,
    /// `Message.what`.
    pub what: i32,
    /// What `ActivityThread$H` calls this `what` on the report's API level: `EXECUTE_TRANSACTION`.
    pub what_name: Option<&'static str>,
    /// The framework component it belongs to: `activity_thread`, `receiver`, `service_connection`, `job`, `frame`.
    pub component: Option<&'static str>,
    /// Where the names come from: `observer`, `printer`, `stack`.
    pub named_by: &'static str,
}

impl MessageView {
    pub(crate) fn new(message: &Message, api_level: u32) -> Self {
        let is_h = message.component == Some(Component::ActivityThread) && message.callback.is_empty();
        let named = if is_h { activity_thread(message.what, api_level) } else { None };
        let what_name = named.map(|known| known.name);
        Self {
            text: text(message, what_name),
            what_name,
            target: message.target.clone(),
            callback: message.callback.clone(),
            what: message.what,
            component: message.component.map(component),
            named_by: match message.named_by {
                NamedBy::Observer => "observer",
                NamedBy::Printer => "printer",
                NamedBy::Stack => "stack",
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
        _ => "unknown",
    }
}

/// A posted Runnable is known by its own class, any other message by its Handler and `what`.
fn text(message: &Message, what_name: Option<&str>) -> String {
    let mut text = if message.callback.is_empty() {
        let target = if message.target.is_empty() { "unknown target" } else { &message.target };
        match what_name {
            Some(name) => format!("{target} {name} ({})", message.what),
            None => format!("{target} what={}", message.what),
        }
    } else if message.target.is_empty() {
        message.callback.clone()
    } else {
        format!("{} on {}", message.callback, message.target)
    };
    match message.component {
        Some(Component::Receiver) => text.push_str(" [broadcast receiver]"),
        Some(Component::ServiceConnection) => text.push_str(" [service connection]"),
        Some(Component::Job) => text.push_str(" [job service]"),
        Some(Component::Frame) => text.push_str(" [frame]"),
        _ => {}
    }
    text
}
