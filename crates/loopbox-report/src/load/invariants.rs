//! The invariants of a report, as `loopbox check` checks them.
//!
//! A file whose bytes are all intact can still be inconsistent, when the recorder that wrote it has a bug.
//! Each violated invariant is listed once, with the first place where it is violated.

use crate::model::{Analysis, token};
use loopbox_format::model::{Record, RecordKind, Token, Uptime};

/// Counts the violations of one invariant and keeps the place of the first.
struct Invariant {
    violation: &'static str,
    count: u64,
    first: String,
}

impl Invariant {
    fn new(violation: &'static str) -> Self {
        Self { violation, count: 0, first: String::new() }
    }

    fn require(&mut self, holds: bool, place: impl FnOnce() -> String) {
        if holds {
            return;
        }
        if self.count == 0 {
            self.first = place();
        }
        self.count += 1;
    }

    fn into_text(self) -> Option<String> {
        match self.count {
            0 => None,
            1 => Some(format!("{}: {}", self.first, self.violation)),
            n => Some(format!("{}: {} ({n} times)", self.first, self.violation)),
        }
    }
}

/// The invariants that a report violates, in words.
pub fn invariant_violations(a: &Analysis) -> Vec<String> {
    let mut sums = Invariant::new("wall time is not the sum of work and idle time");
    let mut order = Invariant::new("it does not come after the end of the record before it");
    let mut tokens =
        Invariant::new("the numbers of its messages do not continue those of the record before it");
    let mut details = Invariant::new("a message that it keeps by name is not one of its messages");
    let mut slowest = Invariant::new("its slowest message took longer than all its messages");
    let mut open = Invariant::new("it is not closed, though it is not the last record");
    let mut empty = Invariant::new(
        "its message count does not fit its kind (only groups and single messages have messages)",
    );
    for (i, record) in a.history.iter().enumerate() {
        let place = || format!("record {}", record.seq);
        sums.require(record.work_ns.checked_add(record.idle_ns) == Some(record.wall_ns), place);
        slowest.require(record.slowest.is_none_or(|slowest| slowest.wall_ns <= record.work_ns), place);
        open.require(record.closed || i + 1 == a.history.len(), place);
        let of_messages = matches!(record.kind, RecordKind::Group | RecordKind::Single);
        empty.require(of_messages == (record.count > 0), place);
        details.require(record.details.iter().all(|d| inside(record, d.token, d.start_ns)), place);
        if let Some(before) = i.checked_sub(1).and_then(|b| a.history.get(b)) {
            let end = before.start_ns.plus(before.wall_ns);
            order.require(record.seq > before.seq && record.start_ns >= end, place);
            let next = before.first_token.plus(before.count.into());
            // Records that the ring had overwritten are missing between the two.
            tokens.require(record.first_token == next || record.seq > before.seq.saturating_add(1), place);
        }
    }
    let mut future = Invariant::new("it ends after the dump");
    if let Some(last) = a.history.last() {
        let place = || format!("record {}", last.seq);
        future.require(last.start_ns.plus(last.wall_ns) <= a.dump_ns, place);
    }
    if let Some(running) = a.running() {
        let place = || format!("running message {}", running.token);
        future.require(running.start_ns <= running.as_of_ns && running.as_of_ns <= a.dump_ns, place);
    }
    if let Some(outside) = a.outside() {
        let start_ns = outside.start_ns.unwrap_or(outside.after_ns);
        let in_order = outside.after_ns <= start_ns && start_ns <= outside.as_of_ns;
        future.require(in_order && outside.as_of_ns <= a.dump_ns, || token::title(outside.token));
    }
    let mut intervals = Invariant::new("its sampling intervals do not start at the first sample");
    for tree in &a.trees {
        let first = tree.intervals.first().map(|interval| interval.first_sample);
        intervals.require(first == Some(0) || tree.samples() == 0, || {
            format!("stack tree of {}", token::title(tree.token))
        });
    }
    [sums, order, tokens, details, slowest, open, empty, future, intervals]
        .into_iter()
        .filter_map(Invariant::into_text)
        .collect()
}

fn inside(record: &Record, token: Token, start_ns: Uptime) -> bool {
    let end_ns = record.start_ns.plus(record.wall_ns);
    let end_token = record.first_token.plus(record.count.into());
    (record.first_token..end_token).contains(&token) && (record.start_ns..=end_ns).contains(&start_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{ReportBuilder, full};

    fn violations(report: ReportBuilder) -> Vec<String> {
        invariant_violations(&Analysis::new(&report.build()))
    }

    #[test]
    fn invariant_violations_is_empty_for_intact_reports() {
        assert_eq!(violations(full()), Vec::<String>::new());
        assert_eq!(violations(ReportBuilder::new()), Vec::<String>::new());
    }

    #[test]
    fn invariant_violations_names_each_invariant_once() {
        let report = full().with(|r| {
            r.history[3].work_ns += 1;
            r.history[9].work_ns += 1;
            r.history[20].closed = false;
            r.history[40].first_token.0 += 5;
            r.trees[2].phases[0].first_sample = 7;
        });
        let violations = violations(report);
        let found = |what: &str| violations.iter().filter(|v| v.contains(what)).count();
        assert!(
            violations
                .iter()
                .any(|v| v == "record 4: wall time is not the sum of work and idle time (2 times)"),
            "{violations:?}"
        );
        assert_eq!(
            (found("not closed"), found("do not continue"), found("intervals")),
            (1, 1, 1),
            "{violations:?}"
        );
    }
}
