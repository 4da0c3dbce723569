//! Opens and closes records, and shows them to the environment.

use super::Aggregator;
use super::cpu::share_of_cpu;
use crate::{Dirty, Environment};
use loopbox_format::model::{RecordKind, Uptime};

impl<H: Environment> Aggregator<H> {
    /// Ends the open group as it is, and opens a new record for `start..now`, which counts as full at once.
    ///
    /// The CPU clock is read here once for both records: it cannot have been read at the border between them.
    /// See [`share_of_cpu`].
    pub(super) fn split(&mut self, kind: RecordKind, start: Uptime, now: Uptime) {
        let own = now.since(start);
        let before = if self.is_open { self.open.wall_ns } else { 0 };
        let (cpu, late) = self.read_at_record_end();
        if self.is_open {
            self.open.cpu_ns = share_of_cpu(cpu, before, own);
            self.open.checktime_late_ns = late;
            self.close();
        }
        self.open_record(kind, start);
        self.open.cpu_ns = share_of_cpu(cpu, own, before);
        self.open.checktime_late_ns = late;
        self.full = true;
    }

    pub(super) fn open_record(&mut self, kind: RecordKind, start_ns: Uptime) {
        let open = &mut self.open;
        open.kind = kind;
        open.seq += 1;
        open.first_token = self.counted.next();
        open.count = 0;
        open.start_ns = start_ns;
        open.wall_ns = 0;
        open.work_ns = 0;
        open.idle_ns = 0;
        open.cpu_ns = None;
        open.checktime_late_ns = None;
        open.slowest = None;
        open.details.clear();
        open.dropped_details = 0;
        open.closed = false;
        self.is_open = true;
        self.details_changed = true;
    }

    pub(super) fn publish(&mut self) {
        let change = if self.details_changed { Dirty::Details } else { Dirty::Counters };
        self.details_changed = false;
        self.environment.opened(&self.open, change);
    }

    /// Stops waiting for the description of the last message: no message can be described until another one
    /// ends. Closes the open record if it is full.
    pub(super) fn settle(&mut self) {
        self.last = None;
        if self.full {
            self.close();
        }
    }

    pub(super) fn close(&mut self) {
        self.open.closed = true;
        self.environment.closed(&self.open);
        self.is_open = false;
        self.full = false;
    }

    /// CPU time since the last record end, and the sampler's worst lateness since then.
    pub(super) fn read_at_record_end(&mut self) -> (Option<u64>, Option<u64>) {
        let now = self.environment.thread_cpu_ns();
        let spent = now.zip(self.cpu_base_ns).map(|(now, base)| now.saturating_sub(base));
        self.cpu_base_ns = now;
        (spent, self.environment.take_late_ns())
    }
}
