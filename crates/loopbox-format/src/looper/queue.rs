//! A whole queue, as `Looper.dump` prints it.

use super::component::component;
use super::line::{Fields, fields};
use crate::model::{self, Component, Uptime};
use crate::text;

/// How many lines of unknown meaning are kept word for word.
const MAX_UNREAD: usize = 50;
/// A message put at the front of the queue has a `when` of 0, which the framework prints as minus the uptime.
/// No other message is due in the first 2 s after boot.
const FRONT_NS: i128 = 2_000_000_000;

/// Which kind of queue printed itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Implementation {
    /// The queue did not print its kind: API 35 and older have only one.
    #[default]
    Unnamed,
    /// The linked list, when the queue printed its kind (API 36). Older versions have only this kind of queue
    /// and do not print the kind.
    Legacy,
    /// Two heaps (API 36, system processes only).
    Concurrent,
    /// The lock-free queue of Android 17. It prints the newest message first, and removed messages too.
    DeliQueue,
    /// The name of a kind that this parser does not know.
    Other(String),
}

/// What a queue held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    /// Name of the Looper's thread.
    pub thread: Option<String>,
    /// The implementation of the queue.
    pub implementation: Implementation,
    /// The messages and barriers that wait, in the order in which they are due.
    pub messages: Vec<Pending>,
    /// How many entries the framework counted, barriers and removed messages included; `None` when the
    /// framework's last line is missing.
    pub total: Option<u32>,
    /// Whether `messages` and `tombstones` are everything that was counted. False when that is not known: the
    /// last line is missing, lines were dropped, or a message's line could not be read.
    pub whole: bool,
    /// Whether the recorder reports that it could not read the queue consistently: its time was up, or the
    /// queue changed.
    pub disturbed: bool,
    /// Whether the thread was waiting in the queue: then it ran no message. `polling` since API 23; before,
    /// `idling` meant about the same. `None` without the last line.
    pub polling: Option<bool>,
    /// Whether the Looper was quitting; `None` without the last line.
    pub quitting: Option<bool>,
    /// How many removed messages were still in the queue.
    pub tombstones: u32,
    /// Lines without a known meaning, at most fifty.
    pub unread: Vec<String>,
    /// How many more unread lines there are.
    pub more_unread: u32,
}

/// An entry that waits: a message or a sync barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its place in the order of time, from 0.
    pub position: u32,
    /// When it is due, relative to the dump; negative when overdue.
    pub due_in_ns: i64,
    /// Whether it was put at the front of the queue: then it is next, and has no due time.
    pub front: bool,
    /// Its content.
    pub body: PendingBody,
    /// Whether a sync barrier lets it pass; `None` where the framework does not print it.
    pub asynchronous: Option<bool>,
    /// Its place in the heap; -1 for a message posted since the thread last read the queue. Only in
    /// newer frameworks.
    pub heap_index: Option<i32>,
}

/// What an entry of a queue is, a barrier or a message, and its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingBody {
    /// A sync barrier: messages after it wait until it is removed, unless they are asynchronous.
    Barrier {
        /// The token with which the barrier can be removed.
        token: i32,
    },
    /// A message.
    Message {
        /// Class name of the target; empty when the line was cut.
        target: String,
        /// Class name of the callback; empty when it has none.
        callback: String,
        /// `Message.what`; 0 for a message with a callback.
        what: i32,
        /// `arg1`.
        arg1: i32,
        /// `arg2`.
        arg2: i32,
        /// The part of the text of `obj` that was kept.
        object: Option<String>,
        /// The framework component that it belongs to.
        component: Option<Component>,
    },
}

impl Pending {
    /// How long it has been overdue; 0 when it is not due yet or was put at the front.
    pub fn overdue_ns(&self) -> u64 {
        if self.front { 0 } else { self.due_in_ns.min(0).unsigned_abs() }
    }
}

/// Reads the lines of `Looper.dump` in every form of API 21 to 36 and the one of Android 17.
///
/// Lines may have any prefix and any order: messages are sorted by time, whatever order the queue printed.
/// What is not understood is kept in [`Queue::unread`]. An entry may have several lines, because an `obj` can
/// print line breaks.
pub fn parse_queue(pending: &model::Pending) -> Queue {
    let mut queue = Queue::default();
    let mut rows = Vec::new();
    // The concurrent queue prints its synchronous and its asynchronous messages under headings.
    let mut section_async = None;
    let mut in_section = false;
    let mut lost = pending.dropped_lines > 0;
    for line in &pending.lines {
        let text = line.trim_ascii();
        if let Some(fields) = message(text) {
            if is_removed(&fields, pending.captured_ns) {
                queue.tombstones += 1;
            } else {
                rows.push((fields, section_async, in_section));
            }
        } else if let Some(heading) = text.strip_suffix("Messages:") {
            // Where lines are missing, a heading may be.
            in_section = true;
            section_async = (pending.dropped_lines == 0).then(|| heading.starts_with("Async"));
        } else if !header(text, &mut queue) {
            // A message that cannot be read.
            queue.disturbed |= text.starts_with(DISTURBED);
            lost |= text.starts_with("Message ");
            if queue.unread.len() < MAX_UNREAD {
                queue.unread.push(line.clone());
            } else {
                queue.more_unread = queue.more_unread.saturating_add(1);
            }
        }
    }
    // Messages of the same time come in the order in which they were posted. Where posting takes no lock, new
    // ones are on a stack, which is printed from its top; those under a heading have been taken from it and
    // are in order.
    if matches!(queue.implementation, Implementation::DeliQueue | Implementation::Concurrent) {
        let (mut sorted, stack): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|(.., in_section)| *in_section);
        sorted.extend(stack.into_iter().rev());
        rows = sorted;
    }
    rows.sort_by_key(|(fields, ..)| fields.relative_ms);
    let entries = rows.into_iter().zip(0..).map(|((fields, section_async, _), position)| {
        let body = if let Some(token) = fields.barrier {
            PendingBody::Barrier { token }
        } else {
            let target = fields.target.unwrap_or_default();
            let callback = fields.callback.unwrap_or_default();
            PendingBody::Message {
                target: target.to_owned(),
                callback: callback.to_owned(),
                what: fields.what.unwrap_or(0),
                arg1: fields.arg1,
                arg2: fields.arg2,
                object: fields.object.map(str::to_owned),
                component: component(target, callback),
            }
        };
        Pending {
            position,
            due_in_ns: due_in_ns(&fields),
            front: is_front(&fields, pending.captured_ns),
            body,
            asynchronous: fields.asynchronous.or(section_async),
            heap_index: fields.heap_index,
        }
    });
    queue.messages = entries.collect();
    queue.total = without_state(queue.total, pending);
    let read = (queue.messages.len() as u64).saturating_add(queue.tombstones.into());
    queue.whole = !lost && !queue.disturbed && queue.total.is_some_and(|total| read >= total.into());
    queue
}

/// The beginning of the recorder's own line, which explains why the queue may be incomplete.
const DISTURBED: &str = "Loopbox: ";

/// What the app itself needs to know of a queue that it has just read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueSummary {
    /// How long the most overdue message has been due; `None` when no message that was read is due. Barriers
    /// and messages put at the front have no such time.
    pub most_overdue_ns: Option<u64>,
    /// How many messages and barriers were read, without removed ones.
    pub read: u32,
    /// How many removed messages were read.
    pub removed: u32,
    /// How many entries the framework counted, barriers and removed messages included; `None` when the
    /// framework's last line is missing.
    pub total: Option<u32>,
    /// Whether the thread waited in the queue; `None` without the framework's last line.
    pub polling: Option<bool>,
}

/// Computes the summary of a queue quickly. It is for the app, which needs nothing else of the queue. Lines
/// may have any order.
pub fn summarize_queue(pending: &model::Pending) -> QueueSummary {
    let mut summary = QueueSummary::default();
    let mut last = Queue::default();
    for line in &pending.lines {
        let text = line.trim_ascii();
        match message(text) {
            Some(fields) if is_removed(&fields, pending.captured_ns) => summary.removed += 1,
            Some(fields) => {
                summary.read += 1;
                let overdue_ns = due_in_ns(&fields).min(0).unsigned_abs();
                let has_time = fields.barrier.is_none() && !is_front(&fields, pending.captured_ns);
                if has_time && overdue_ns > 0 {
                    summary.most_overdue_ns = summary.most_overdue_ns.max(Some(overdue_ns));
                }
            }
            None => total(text, &mut last),
        }
    }
    QueueSummary { total: without_state(last.total, pending), polling: last.polling, ..summary }
}

/// The framework's total without the bottom element of the concurrent queue's stack. That queue counts the
/// element as a message, but prints it with the prefix `State:`.
fn without_state(total: Option<u32>, pending: &model::Pending) -> Option<u32> {
    let has_state = pending.lines.iter().any(|line| line.trim_ascii_start().starts_with(STATE));
    total.map(|total| total.saturating_sub(has_state.into()))
}

/// The messages and barriers that were read, in the order of the lines, without removed ones.
pub(super) fn entries(pending: &model::Pending) -> impl Iterator<Item = Fields<'_>> {
    let read = pending.lines.iter().filter_map(|line| message(line.trim_ascii()));
    read.filter(|fields| !is_removed(fields, pending.captured_ns))
}

fn due_in_ns(fields: &Fields<'_>) -> i64 {
    fields.relative_ms.saturating_mul(1_000_000)
}

/// Whether a message was put at the front of the queue: its `when` is 0.
pub(super) fn is_front(fields: &Fields<'_>, captured_ns: Uptime) -> bool {
    let when_ns = i128::from(captured_ns.0) + i128::from(due_in_ns(fields));
    captured_ns > Uptime::ZERO && when_ns.abs() <= FRONT_NS
}

/// Whether a message was removed and is still in the queue: it is never due and blocks nothing.
///
/// Android 17 gives a removed message an empty callback (`Message.clearReferenceFields`). The concurrent
/// queue of API 36 clears a removed message. It then has no target, and prints as a barrier with the token 0
/// and a `when` of 0. The `when` of a real barrier is the time at which it was posted.
fn is_removed(fields: &Fields<'_>, captured_ns: Uptime) -> bool {
    fields.callback.is_some_and(|callback| callback.starts_with("android.os.Message$"))
        || fields.barrier == Some(0) && is_front(fields, captured_ns)
}

/// Reads a line of the form `Message 3: { … }`.
fn message(text: &str) -> Option<Fields<'_>> {
    let (number, text) = text::split_once(text.strip_prefix("Message ")?, ": ")?;
    text::number::<u32>(number)?;
    fields(text)
}

/// The beginning of the concurrent queue's line about the bottom of its stack.
const STATE: &str = "State: ";

/// The beginning of the line that the framework prints last.
const TOTAL: &str = "(Total messages: ";

/// Reads the last line: `(Total messages: 3, polling=true, quitting=false)`. What is missing in it stays
/// unknown.
fn total(text: &str, queue: &mut Queue) {
    let Some(rest) = text.strip_prefix(TOTAL) else { return };
    let mut parts = rest.trim_end_matches(')').split(',').map(str::trim_ascii);
    queue.total = parts.next().and_then(text::number);
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match name {
            "polling" | "idling" => queue.polling = value.parse().ok(),
            "quitting" => queue.quitting = value.parse().ok(),
            _ => {}
        }
    }
}

/// Reads a line before or after the messages. False when it is no such line.
fn header(text: &str, queue: &mut Queue) -> bool {
    if let Some(rest) = text.strip_prefix("Looper (") {
        // The thread's name is the app's: it ends at the last `, tid `.
        queue.thread = text::rsplit_once(rest, ", tid ").map(|(name, _)| name.to_owned());
        return queue.thread.is_some();
    }
    if let Some(rest) = text.strip_prefix("(MessageQueue is using ") {
        queue.implementation = match rest.strip_suffix(" implementation)").unwrap_or(rest) {
            "Legacy" => Implementation::Legacy,
            "Concurrent" => Implementation::Concurrent,
            "DeliQueue" => Implementation::DeliQueue,
            other => Implementation::Other(other.to_owned()),
        };
        return true;
    }
    if text.starts_with(TOTAL) {
        total(text, queue);
        return true;
    }
    // The concurrent queue's inner state says nothing about its messages.
    text.is_empty() || text.starts_with(STATE)
}

#[cfg(test)]
#[path = "queue_test.rs"]
mod tests;
