//! The message during which recording begins. [`Aggregator::adopt`] takes it over, with a start that no hook
//! saw. When the caller sees that the Looper has moved on, it reports that by [`Aggregator::end_all`] or
//! [`Aggregator::begin_outermost`], and the message ends as an ordinary one does.

use super::{Aggregator, Described, Wanted};
use crate::{Environment, StackPointer};
use loopbox_format::model::{End, NamedBy, Uptime};

/// The message that recording begins in.
#[derive(Debug, Clone, Copy)]
pub struct AdoptedMessage {
    /// When its dispatch began.
    pub start_ns: Uptime,
    /// The thread's CPU time at that instant; `None` when not known.
    pub cpu_ns: Option<u64>,
    /// Whether it is the message that starts an app: [`BIND_APPLICATION`]. Any other one has no name.
    pub binds: bool,
}

/// The message that starts an app, as the stack of its `ActivityThread.handleBindApplication` names it
/// (`ActivityThread.H.BIND_APPLICATION`).
pub const BIND_APPLICATION: Described<'static> = Described {
    target: "android.app.ActivityThread$H",
    callback: "",
    what: Some(110),
    named_by: NamedBy::Stack,
};

impl<H: Environment> Aggregator<H> {
    /// Takes over the message that is running when recording begins. Does nothing after the first message.
    pub fn adopt(&mut self, adopted: &AdoptedMessage) {
        if self.cursor_ns.is_some() {
            return;
        }
        let start_ns = adopted.start_ns.min(self.environment.now_ns());
        let token = self.next_token;
        self.next_token = token.next();
        self.nesting.push(token, start_ns, StackPointer::BELOW_ALL);
        self.cursor_ns = Some(start_ns);
        self.cpu_base_ns = adopted.cpu_ns;
        self.began_in_bind = adopted.binds;
        self.environment.running(token, start_ns, 1);
    }

    /// Ends all running messages. The inner messages get [`End::Missed`]. The outermost message gets the end
    /// `end`, or [`End::Returned`] if recording began in this message. Its wait in the queue is not known.
    /// Returns whether the outermost message should be described.
    pub fn end_all(&mut self, end: End) -> Wanted {
        self.settle();
        let now = self.now();
        while self.nesting.depth() > 1 {
            let _ = self.leave(now, None, End::Missed);
        }
        if self.nesting.depth() == 0 {
            return Wanted::Nothing;
        }
        let wanted = if self.nesting.is_adopted() {
            self.leave_adopted(now);
            Wanted::Nothing
        } else {
            self.leave(now, None, end)
        };
        self.rests = false;
        self.environment.idle(self.next_token, now, 0);
        wanted
    }

    /// Ends the message that recording began in.
    pub(super) fn leave_adopted(&mut self, now: Uptime) {
        let _ = self.leave(now, None, End::Returned);
        if self.began_in_bind {
            self.describe(&BIND_APPLICATION);
        }
    }
}
