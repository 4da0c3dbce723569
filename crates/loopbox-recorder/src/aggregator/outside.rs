//! Work outside of messages. A hook of the queue's poll knows whether a thread has rested since its last
//! message. It has not if a poll called callbacks of descriptors (such as those of input) without waiting
//! first, or if idle handlers ran.

use super::Aggregator;
use crate::Environment;
use loopbox_format::model::{RecordKind, Uptime};

impl<H: Environment> Aggregator<H> {
    /// The thread is about to rest, and has worked since its last message until now.
    pub fn rest_after_work(&mut self) {
        let now = self.now();
        self.settle();
        if self.work_outside(now) {
            if !self.full {
                self.publish();
            }
            self.settle();
            self.environment.idle(self.next_token, now, 0);
        }
    }

    /// Counts the time from `cursor_ns` to `now` as work outside of messages, and returns true. All time
    /// before `cursor_ns` has been counted. Returns false, and counts nothing, in four cases:
    ///
    /// * No message has begun yet, so there is no `cursor_ns`.
    /// * A message is running. The work of a loop inside of a message belongs to that message.
    /// * The time is shorter than `detail_ns`. It then becomes idle time, as with every other hook.
    /// * The time is longer than `frozen_ns`, or messages may have run unseen.
    pub(super) fn work_outside(&mut self, now: Uptime) -> bool {
        if self.nesting.depth() > 0 {
            return false;
        }
        let Some(start) = self.cursor_ns else { return false };
        let work = now.since(start);
        let missed = self.environment.unseen_since(start) || work > self.frozen_ns;
        if missed || work < self.detail_ns {
            return false;
        }
        self.rests_on = false;
        // A group is of messages.
        if work >= self.group_ns || !self.is_open {
            self.settle();
            self.split(RecordKind::Outside, start, now);
        }
        self.add_work(work, now);
        self.cursor_ns = Some(now);
        self.rest_ns = now;
        true
    }
}
