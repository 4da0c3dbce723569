//! Whether a report keeps the promises of its format: `loopbox check`.
//!
//! A file can be whole byte for byte and still say what cannot be, when the program that wrote it has a fault. These
//! are the promises that the views rely on; each broken one is named once, with the first place where it is.

use crate::analysis::Analysis;
use loopbox_format::model::{Record, RecordKind};

/// Counts how often a promise is broken and keeps the first place.
struct Promise {
    what: &'static str,
    broken: u64,
    first: String,
}

impl Promise {
    fn of(what: &'static str) -> Self {
        Self { what, broken: 0, first: String::new() }
    }

    fn require(&mut self, kept: bool, place: impl FnOnce() -> String) {
        if kept {
            return;
        }
        if self.broken == 0 {
            self.first = place();
        }
        self.broken += 1;
    }

    fn told(self) -> Option<String> {
        match self.broken {
            0 => None,
            1 => Some(format!("{}: {}", self.first, self.what)),
            n => Some(format!("{}: {} ({n} times)", self.first, self.what)),
        }
    }
}

/// The promises that a report breaks, in words.
pub fn broken_promises(a: &Analysis) -> Vec<String> {
    let mut sums = Promise::of("wall time is not the sum of work and idle time");
    let mut order = Promise::of("it does not follow the record before it");
    let mut tokens = Promise::of("its messages do not follow those of the record before it");
    let mut details = Promise::of("a message kept by name lies outside of it");
    let mut slowest = Promise::of("its slowest message took longer than all its messages");
    let mut open = Promise::of("it is open, but not the last");
    let mut empty = Promise::of("it is of messages and has none, or of none and has some");
    for (i, record) in a.history.iter().enumerate() {
        let place = || format!("record {}", record.seq);
        sums.require(record.work_ns.checked_add(record.idle_ns) == Some(record.wall_ns), place);
        slowest.require(record.slowest.wall_ns <= record.work_ns, place);
        open.require(record.closed || i + 1 == a.history.len(), place);
        let of_messages = matches!(record.kind, RecordKind::Group | RecordKind::Single);
        empty.require(of_messages == (record.count > 0), place);
        details.require(record.details.iter().all(|d| inside(record, d.token, d.start_ns)), place);
        if let Some(before) = i.checked_sub(1).and_then(|b| a.history.get(b)) {
            let end = before.start_ns.saturating_add(before.wall_ns);
            order.require(record.seq > before.seq && record.start_ns >= end, place);
            let next = before.first_token.saturating_add(u64::from(before.count));
            // Records that the ring had overwritten are missing between the two.
            tokens.require(record.first_token == next || record.seq > before.seq.saturating_add(1), place);
        }
    }
    let mut future = Promise::of("it is after the dump");
    if let Some(last) = a.history.last() {
        let place = || format!("record {}", last.seq);
        future.require(last.start_ns.saturating_add(last.wall_ns) <= a.zero_ns, place);
    }
    if let Some(running) = a.running() {
        let place = || format!("running message {}", running.token);
        future.require(running.start_ns <= running.as_of_ns && running.as_of_ns <= a.zero_ns, place);
    }
    let mut phases = Promise::of("its intervals do not begin with its first sample");
    for tree in &a.trees {
        let first = tree.phases.first().map(|phase| phase.first_sample);
        phases.require(first == Some(0) || tree.samples() == 0, || {
            format!("stack tree of message {}", tree.token)
        });
    }
    [sums, order, tokens, details, slowest, open, empty, future, phases]
        .into_iter()
        .filter_map(Promise::told)
        .collect()
}

fn inside(record: &Record, token: u64, start_ns: u64) -> bool {
    let end_ns = record.start_ns.saturating_add(record.wall_ns);
    let end_token = record.first_token.saturating_add(u64::from(record.count));
    (record.first_token..end_token).contains(&token) && (record.start_ns..=end_ns).contains(&start_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{ReportBuilder, full};

    fn broken(report: ReportBuilder) -> Vec<String> {
        broken_promises(&Analysis::new(&report.build()))
    }

    #[test]
    fn sound_reports_keep_every_promise() {
        assert_eq!(broken(full()), Vec::<String>::new());
        assert_eq!(broken(ReportBuilder::new()), Vec::<String>::new());
    }

    #[test]
    fn each_broken_promise_is_named_once() {
        let report = full().with(|r| {
            r.history[3].work_ns += 1;
            r.history[9].work_ns += 1;
            r.history[20].closed = false;
            r.history[40].first_token += 5;
            r.trees[2].phases[0].first_sample = 7;
        });
        let broken = broken(report);
        let found = |what: &str| broken.iter().filter(|b| b.contains(what)).count();
        assert!(
            broken.iter().any(|b| b == "record 4: wall time is not the sum of work and idle time (2 times)"),
            "{broken:?}"
        );
        assert_eq!(
            (found("open"), found("do not follow those"), found("intervals")),
            (1, 1, 1),
            "{broken:?}"
        );
    }
}
