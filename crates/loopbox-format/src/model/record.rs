//! The history of messages: records of one message or of a group, and their contents.

use super::{LifecycleSteps, Token, Uptime};
use bincode::{Decode, Encode};

/// What a [`Record`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum RecordKind {
    /// Several messages whose work adds up to the group threshold (300 ms by default).
    Group,
    /// One message that reached the group threshold by itself.
    Single,
    /// The main thread had nothing to do, or ran outside of any message, for at least the group threshold.
    Idle,
    /// A gap so long (over 60 s) that the process was frozen or the device asleep; not a hang.
    Frozen,
    /// Messages may have run, but the recorder did not see them: another library had taken its hook out, or
    /// the app had paused it.
    Unseen,
    /// The main thread worked outside of any message, for at least the group threshold: in callbacks of
    /// descriptors, such as those of input, or in idle handlers. Only the poll hook sees this; with other
    /// hooks it is `Idle`.
    Outside,
}

/// How the dispatch of a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum End {
    /// `dispatchMessage` returned.
    Returned,
    /// It threw an exception that Looper's observer reported.
    Threw,
    /// No end was seen: the next message began first, or the outer message ended. With the Printer hook any
    /// exception causes this, with the other hooks only an `Error`. The message's duration is an upper bound:
    /// the time until that later event.
    Missed,
}

/// Which source gave a message its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[non_exhaustive]
pub enum NamedBy {
    /// The `Message` object that Looper's observer passed at the end of the dispatch.
    Observer,
    /// The text that Looper printed at the start of the dispatch.
    Printer,
    /// The message's own sampled stack.
    Stack,
    /// The window's callback that was called: input that reached the main thread outside of messages.
    Window,
    /// A callback of the framework that ran in the message: that of a display frame.
    Callback,
    /// Callbacks of an activity's life cycle that have run in the message so far. The message's target is
    /// then the class of the activity: the class of the Handler is not known.
    Lifecycle(LifecycleSteps),
    /// The head of the queue just before the message was taken from it. If another thread posted or removed a
    /// message in that moment, the name is another message's: at worst one name in some hundreds.
    Peek,
}

/// A message of the Android framework for a component's life cycle; kept however short it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[non_exhaustive]
pub enum Component {
    /// A message of `android.app.ActivityThread$H`; its `what` is the kind.
    ActivityThread,
    /// A broadcast receiver registered at run time, posted as a Runnable of `LoadedApk$ReceiverDispatcher`.
    Receiver,
    /// A service connection, posted as a Runnable of `LoadedApk$ServiceDispatcher`.
    ServiceConnection,
    /// A message of `android.app.job.JobServiceEngine$JobHandler` (or its older name).
    Job,
    /// A frame of `android.view.Choreographer`.
    Frame,
    /// A touch, key or generic motion event that a window dispatched outside of messages.
    Input,
}

/// What identifies a message: never its `obj`, its data or an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Message<S = String> {
    /// Class name of the target Handler.
    pub target: S,
    /// Class name of the callback Runnable; empty when the message has none.
    pub callback: S,
    /// `Message.what`, 0 for a posted Runnable; `None` when the source of the name does not know it.
    pub what: Option<i32>,
    /// The framework component that the message belongs to, if any.
    pub component: Option<Component>,
    /// Where the names come from.
    pub named_by: NamedBy,
}

/// A message kept by name inside a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Detail<S = String> {
    /// The message's token.
    pub token: Token,
    /// When its dispatch began, uptime.
    pub start_ns: Uptime,
    /// How long its dispatch took; an upper bound when no end was seen.
    pub wall_ns: u64,
    /// How long it waited in the queue after its `when`; `None` when the hook does not know `when`.
    pub wait_ns: Option<u64>,
    /// How the dispatch ended.
    pub end: End,
    /// Its name; `None` when the hook had none.
    pub message: Option<Message<S>>,
}

/// The slowest message of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Slowest {
    /// Its token.
    pub token: Token,
    /// How long it took.
    pub wall_ns: u64,
}

/// One entry of the history. `wall_ns == work_ns + idle_ns` always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Record<D = Vec<Detail>> {
    /// What the record stands for.
    pub kind: RecordKind,
    /// Position in the history since the recorder was installed, from 1 without gaps.
    pub seq: u64,
    /// The token of the first message. For an idle record, which has no message, it is the token of the
    /// message that follows.
    pub first_token: Token,
    /// How many messages it covers: tokens `first_token..first_token + count`.
    pub count: u32,
    /// When it began, uptime.
    pub start_ns: Uptime,
    /// From `start_ns` to its end.
    pub wall_ns: u64,
    /// The part of `wall_ns` spent in messages.
    pub work_ns: u64,
    /// The part of `wall_ns` spent between messages; of an unseen record, all of it.
    pub idle_ns: u64,
    /// CPU time of the main thread during the record; `None` when it could not be read.
    pub cpu_ns: Option<u64>,
    /// How late the sampler thread woke at worst during the record: large values show a starved machine.
    /// `None` when the sampler did not sleep in that time.
    pub checktime_late_ns: Option<u64>,
    /// The slowest message; `None` when there is none.
    pub slowest: Option<Slowest>,
    /// Messages kept by name, in order of dispatch.
    pub details: D,
    /// How many messages should have been kept by name, but found no room.
    pub dropped_details: u32,
    /// False for the group that was still open when the dump was made.
    pub closed: bool,
}

impl Record {
    fn end_ns(&self) -> Uptime {
        self.start_ns.plus(self.wall_ns)
    }

    /// Whether the record may contain time of this message.
    fn has_time_of(&self, detail: &Detail) -> bool {
        let first = self.first_token;
        let counts = first <= detail.token && detail.token < first.plus(self.count.into());
        let alone = self.kind == RecordKind::Single && first == detail.token;
        counts || alone || self.details.iter().any(|kept| kept.token == detail.token)
    }
}

/// An upper bound of the time that a message took itself: its dispatch, without the time of a nested loop
/// where `history` shows that time separately. For a message without a nested loop it is the whole dispatch.
pub fn own_ns(history: &[Record], detail: &Detail) -> u64 {
    let end_ns = detail.start_ns.plus(detail.wall_ns);
    let inside = history.iter().filter(|r| r.start_ns >= detail.start_ns && r.end_ns() <= end_ns);
    let apart = inside.map(|r| if r.has_time_of(detail) { r.idle_ns } else { r.wall_ns });
    detail.wall_ns.saturating_sub(apart.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn record(kind: RecordKind, first: u64, count: u32, [start, wall, work]: [u64; 3]) -> Record {
        Record {
            kind,
            seq: 1,
            first_token: Token(first),
            count,
            start_ns: Uptime(start * MS),
            wall_ns: wall * MS,
            work_ns: work * MS,
            idle_ns: (wall - work) * MS,
            cpu_ns: None,
            checktime_late_ns: None,
            slowest: None,
            details: Vec::new(),
            dropped_details: 0,
            closed: true,
        }
    }

    #[test]
    fn what_a_loop_inside_of_a_message_took_is_not_its_own() {
        let detail = |token, start: u64, wall: u64| Detail {
            token: Token(token),
            start_ns: Uptime(start * MS),
            wall_ns: wall * MS,
            wait_ns: None,
            end: End::Returned,
            message: None,
        };
        let outer = detail(7, 1_000, 46_000);
        let mut history = [
            record(RecordKind::Group, 5, 2, [900, 100, 20]),
            record(RecordKind::Group, 7, 2, [1_000, 200, 100]),
            record(RecordKind::Idle, 9, 0, [1_200, 4_800, 0]),
            record(RecordKind::Single, 9, 1, [6_000, 10_000, 10_000]),
            record(RecordKind::Group, 10, 20, [16_000, 30_000, 280]),
            record(RecordKind::Group, 30, 2, [46_000, 1_500, 150]),
        ];
        // The last one goes on after the end, so that it is not known whose its time was.
        history[5].details.push(outer.clone());
        assert_eq!(own_ns(&history, &outer), 1_100 * MS);
        assert_eq!(own_ns(&history, &detail(9, 6_000, 10_000)), 10_000 * MS, "alone");
        assert_eq!(own_ns(&history, &detail(8, 1_100, 60)), 60 * MS, "among others");
        let tail = [history[1].clone(), record(RecordKind::Single, 7, 0, [1_200, 5_000, 5_000])];
        assert_eq!(own_ns(&tail, &detail(7, 1_000, 5_200)), 5_100 * MS, "its own end");
    }
}
