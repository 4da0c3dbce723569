//! Reported beginnings that were not messages. A hook of the queue's poll reports a beginning whenever the
//! poll returns, and only the next poll shows whether the thread ran a message in between.
//! [`Aggregator::retract`] withdraws the beginning, as if the thread had rested all the time.

use super::{Aggregator, Beginning};
use crate::Environment;
use loopbox_format::model::{RecordKind, Token, Uptime};

impl<H: Environment> Aggregator<H> {
    /// Notes that a message has begun with this number, after everything until `cursor_ns` was accounted for.
    #[inline]
    pub(super) fn note_beginning(&mut self, token: Token, cursor_ns: Option<Uptime>) {
        // A rest of that length has a separate record, and the group before it is closed.
        let closed_rest = cursor_ns.is_some()
            && !self.is_open
            && matches!(self.open.kind, RecordKind::Idle | RecordKind::Frozen | RecordKind::Unseen)
            && self.open.closed;
        self.beginning = Some(Beginning { token, cursor_ns, closed_rest });
    }

    /// Withdraws the last beginning: it was not a message, and nothing ran. Its number is given to the next
    /// message. Does nothing when something has ended since, or another message has begun inside of it.
    pub fn retract(&mut self) {
        let Some(beginning) = self.beginning.take() else { return };
        if self.nesting.top().is_none_or(|top| top.token != beginning.token) {
            return;
        }
        self.nesting.pop();
        self.next_token = beginning.token;
        if beginning.closed_rest {
            // The time since that record's end is in no record yet, however often nothing has begun since.
            self.cursor_ns = Some(self.open.start_ns.plus(self.open.wall_ns));
            // A rest that goes on belongs to that record: thousands of short waits are one.
            self.rests_on = self.open.kind == RecordKind::Idle;
        } else {
            self.cursor_ns = beginning.cursor_ns;
        }
        let depth = self.nesting.depth();
        // Around it a loop inside of a message waits.
        self.rests = depth > 0;
        self.environment.idle(self.next_token, self.rest_ns, depth);
    }

    /// Extends the *idle* record that was closed last until `now`, and hands it over again. Returns false,
    /// and leaves the record as it is, in three cases: the record is not *idle*; something has run since it
    /// was closed; between `since` and `now` the process was frozen, or messages may have run unseen.
    pub(super) fn rest_on(&mut self, since: Uptime, now: Uptime) -> bool {
        let rests_on = std::mem::take(&mut self.rests_on);
        if !rests_on || self.kind_of_rest(since, now) != RecordKind::Idle {
            return false;
        }
        let (cpu, late) = self.read_at_record_end();
        self.open.wall_ns = now.since(self.open.start_ns);
        self.open.idle_ns = self.open.wall_ns;
        self.open.cpu_ns = self.open.cpu_ns.zip(cpu).map(|(before, since)| before.saturating_add(since));
        self.open.checktime_late_ns = self.open.checktime_late_ns.max(late);
        self.close();
        true
    }
}
