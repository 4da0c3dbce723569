//! How a message is named in text.

use super::analysis::Analysis;
use super::token;
use loopbox_format::looper::activity_thread;
use loopbox_format::model::{Component, Message, Token};

/// What `ActivityThread$H` calls the message's `what` on this API level: `EXECUTE_TRANSACTION`.
pub(crate) fn what_name(message: &Message, api_level: u32) -> Option<&'static str> {
    let is_activity_thread =
        message.component == Some(Component::ActivityThread) && message.callback.is_empty();
    let what = message.what.filter(|_| is_activity_thread)?;
    activity_thread(what, api_level).map(|known| known.name)
}

/// One line that identifies a message: the class of a posted Runnable, else the Handler's class and `what`.
pub(crate) fn message_name(message: &Message, api_level: u32) -> String {
    let mut text = if message.callback.is_empty() {
        let target = if message.target.is_empty() { "unknown target" } else { &message.target };
        match (what_name(message, api_level), message.what) {
            (Some(name), Some(what)) => format!("{target} {name} ({what})"),
            (_, Some(what)) => format!("{target} what={what}"),
            (_, None) => target.to_owned(),
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
        Some(Component::Input) => text.push_str(" [input]"),
        _ => {}
    }
    text
}

/// The title of a stack tree: the number and the name of the message whose stacks it has, or the place outside of
/// messages.
pub(crate) fn tree_title(analysis: &Analysis, token: Token) -> String {
    let name = |message: &Message| message_name(message, analysis.api_level());
    if token.is_outside() {
        let now = if analysis.current_token() == Some(token) { " (at the dump)" } else { "" };
        return match analysis.outside_words(token) {
            Some(words) => format!("in {words}, {}{now}", token::title(token)),
            None => token::title(token) + now,
        };
    }
    if let Some(running) = analysis.running().filter(|running| running.token == token) {
        let name = running.message.as_ref().map_or_else(|| format!("message #{token}"), name);
        return format!("#{token} {name} (running at the dump)");
    }
    match analysis.recorded_message(token) {
        Some(message) => format!("#{token} {}", name(message)),
        None => format!("message #{token}"),
    }
}

impl Analysis {
    /// Where the stacks of something outside of messages are, in words: `input`.
    pub(crate) fn outside_words(&self, token: Token) -> Option<&'static str> {
        self.tree(token)?.outside_place(&self.frames)?.place.words()
    }

    /// The name fields of a message that the history keeps by name.
    pub(crate) fn recorded_message(&self, token: Token) -> Option<&Message> {
        let mut details = self.history.iter().flat_map(|record| &record.details);
        details.find(|detail| detail.token == token)?.message.as_ref()
    }
}
