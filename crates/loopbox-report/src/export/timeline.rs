//! The report on a time axis, for all formats that have one.

use super::frame_slices::FrameSlices;
use super::slice::{Slice, cut_overlaps, ms, nest};
use crate::model::message_name::message_name;
use crate::model::plural::plural;
use crate::model::time;
use crate::model::{Analysis, FrameId, PendingEntry, SampledTree};
use loopbox_format::model::{End, Record, RecordKind, Token, Uptime};

/// A value that changes over time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    /// The unit of the value.
    pub(crate) unit: &'static str,
    /// Pairs of uptime and value, in order of time.
    pub(crate) values: Vec<(Uptime, f64)>,
}

/// The report on a time axis. The slices of each list are in order of time. The slices of `messages` and of
/// `pending` may nest. In every other list, no two slices overlap.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// The records of the history: groups, single messages, idle and frozen times.
    pub(crate) records: Vec<Slice>,
    /// The messages that are kept by name, and the running one, or what ran outside of messages. The messages
    /// of a loop that a message runs are inside of it.
    pub(crate) messages: Vec<Slice>,
    /// The pending messages. An overdue message extends from its due time to the instant when the queue was
    /// read, any other message from that instant to its due time. So all overdue messages have the same end
    /// and all others the same start, and they nest.
    pub(crate) pending: Vec<Slice>,
    /// The newest display frames.
    pub(crate) frames: FrameSlices,
    /// The load of the main thread and of the system.
    pub(crate) counters: Vec<Counter>,
}

impl Timeline {
    pub(crate) fn new(a: &Analysis) -> Self {
        let mut records: Vec<Slice> = a.history.iter().map(record).collect();
        cut_overlaps(&mut records);
        Self {
            records,
            messages: nest(messages(a)),
            pending: pending(a),
            frames: FrameSlices::new(a),
            counters: counters(&a.history),
        }
    }

    /// The first instant of the report and of its trees.
    pub(crate) fn start_ns(&self, trees: &[SampledTree]) -> Uptime {
        let slices = self.records.iter().chain(&self.messages).chain(&self.frames.actual);
        let slices = slices.map(|slice| slice.start_ns);
        slices.chain(trees.iter().map(|tree| tree.start_ns)).min().unwrap_or_default()
    }
}

fn record(record: &Record) -> Slice {
    let name = match record.kind {
        RecordKind::Group => plural(record.count.into(), "message"),
        RecordKind::Single => format!("message #{}", record.first_token),
        RecordKind::Idle => "idle".into(),
        RecordKind::Frozen => "idle or frozen".into(),
        RecordKind::Unseen => "unseen".into(),
        RecordKind::Outside => "outside of messages".into(),
        _ => "unknown".into(),
    };
    let mut facts = vec![
        ("first_token", record.first_token.to_string()),
        ("count", record.count.to_string()),
        ("work_ms", ms(record.work_ns)),
        ("idle_ms", ms(record.idle_ns)),
    ];
    facts.extend(record.cpu_ns.map(|ns| ("cpu_ms", ms(ns))));
    facts.extend(record.checktime_late_ns.map(|ns| ("checktime_late_ms", ms(ns))));
    Slice { name, start_ns: record.start_ns, end_ns: record.start_ns.plus(record.wall_ns), facts }
}

fn messages(a: &Analysis) -> Vec<Slice> {
    let mut messages: Vec<Slice> = a
        .history
        .iter()
        .flat_map(|record| &record.details)
        .map(|detail| {
            let mut facts = vec![("token", detail.token.to_string())];
            facts.extend(detail.wait_ns.map(|ns| ("wait_ms", ms(ns))));
            match detail.end {
                End::Returned => {}
                End::Threw => facts.push(("end", "threw".into())),
                _ => facts.push(("end", "not seen: this is the latest that it can be".into())),
            }
            Slice {
                name: name(a, detail.token, detail.message.as_ref()),
                start_ns: detail.start_ns,
                end_ns: detail.start_ns.plus(detail.wall_ns),
                facts,
            }
        })
        .collect();
    if let Some(running) = a.running() {
        let mut facts = vec![("token", running.token.to_string()), ("end", "still running".into())];
        facts.extend(running.cpu_ns.map(|ns| ("cpu_ms", ms(ns))));
        messages.push(Slice {
            name: name(a, running.token, running.message.as_ref()),
            start_ns: running.start_ns,
            end_ns: running.as_of_ns.max(running.start_ns),
            facts,
        });
    }
    if let Some(outside) = a.outside() {
        let mut facts = vec![("token", outside.token.to_string()), ("end", "still running".into())];
        if outside.start_ns.is_none() {
            facts.push(("start", "not known: the end of the last message".into()));
        }
        facts.extend(outside.cpu_ns.map(|ns| ("cpu_ms", ms(ns))));
        let start_ns = outside.start_ns.unwrap_or(outside.after_ns);
        messages.push(Slice {
            name: match a.outside_words(outside.token) {
                Some(words) => format!("outside of messages, in {words}"),
                None => "outside of messages".into(),
            },
            start_ns,
            end_ns: outside.as_of_ns.max(start_ns),
            facts,
        });
    }
    messages
}

fn name(a: &Analysis, token: Token, message: Option<&loopbox_format::model::Message>) -> String {
    a.title_of(token, message).unwrap_or_else(|| format!("message #{token}"))
}

/// The queue around the instant when it was read. Overdue messages end at that instant, all others start at
/// it. A sync barrier that is overdue shows since when it blocks the queue.
fn pending(a: &Analysis) -> Vec<Slice> {
    let read_ns = a.queue.captured_ns;
    let slice = |entry: &PendingEntry| {
        let name = match (&entry.message, entry.barrier) {
            (Some(message), _) => message_name(message, a.api_level()),
            (None, Some(token)) => format!("sync barrier {token}"),
            (None, None) => "unknown".into(),
        };
        let due_ns =
            if entry.at_front { read_ns } else { Uptime(read_ns.0.saturating_add_signed(entry.due_in_ns)) };
        let mut facts = vec![("due_in_ms", format!("{:.0}", entry.due_in_ns as f64 / 1e6))];
        if entry.at_front {
            facts = vec![("due", "put at the front".into())];
        }
        Slice { name, start_ns: due_ns.min(read_ns), end_ns: due_ns.max(read_ns), facts }
    };
    let mut pending: Vec<Slice> = a.queue.entries.iter().map(slice).collect();
    pending.sort_by_key(|slice| (slice.start_ns, std::cmp::Reverse(slice.end_ns)));
    pending
}

fn counters(history: &[Record]) -> Vec<Counter> {
    let mut cpu = Counter { name: "main thread cpu", unit: "%", values: Vec::new() };
    let mut late = Counter { name: "sampler wake-up late", unit: "ms", values: Vec::new() };
    for record in history {
        if let (Some(cpu_ns), true) = (record.cpu_ns, record.wall_ns > 0) {
            cpu.values.push((record.start_ns, (100.0 * cpu_ns as f64 / record.wall_ns as f64).min(100.0)));
        }
        if let Some(late_ns) = record.checktime_late_ns {
            late.values.push((record.start_ns, time::ms(late_ns)));
        }
    }
    let mut counters = vec![cpu, late];
    counters.retain(|counter| !counter.values.is_empty());
    for counter in &mut counters {
        counter.values.sort_by_key(|&(at, _)| at);
    }
    counters
}

/// A step of a walk over a stack tree in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The frame with this index appears on top of the stack.
    Start(FrameId),
    /// The frame on top disappears.
    End,
}

/// Calls `step` for each start and end of a frame with its uptime, well nested and in order of time. Nothing
/// comes before `not_before_ns`, so that the trees of several messages can share a track.
pub(crate) fn walk(tree: &SampledTree, not_before_ns: Uptime, mut step: impl FnMut(Uptime, Step)) {
    let at =
        |sample: u32| tree.sample_ns.get(sample as usize).map_or(Uptime::ZERO, |at| (*at).max(not_before_ns));
    let mut open: Vec<u32> = Vec::new();
    for node in &tree.nodes {
        while open.len() > node.depth as usize {
            step(at(open.pop().unwrap_or_default()), Step::End);
        }
        step(at(node.start), Step::Start(node.frame));
        open.push(node.end);
    }
    while let Some(end) = open.pop() {
        step(at(end), Step::End);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;
    use std::fmt::Write as _;

    #[test]
    fn timeline_has_history_and_messages_in_order() {
        let report = ReportBuilder::new()
            .group(40, 310, 20)
            .single("com.example.Sync", 900, 300)
            .idle(400)
            .running(43, 5_000)
            .doing("com.example.Main", "com.example.Main$1", 4_900)
            .build();
        let t = Timeline::new(&Analysis::new(&report));
        let shown = |slices: &[Slice]| -> Vec<(String, u64)> {
            slices.iter().map(|s| (s.name.clone(), (s.end_ns - s.start_ns) / 1_000_000)).collect()
        };
        assert_eq!(
            shown(&t.records),
            [("40 messages".into(), 330), ("message #41".into(), 900), ("idle".into(), 400)]
        );
        assert_eq!(
            shown(&t.messages),
            [
                ("com.example.Sync what=1".into(), 900),
                ("com.example.Main$1 on com.example.Main".to_string(), 5_000)
            ]
        );
        assert_eq!(t.counters[0].values.len(), 2, "an idle record has no CPU time");
    }

    /// A message of 5 s with a loop whose messages run in its second and third second.
    #[test]
    fn messages_of_a_loop_inside_of_a_message_keep_their_time() {
        let report = ReportBuilder::new()
            .single("com.example.Dialog", 5_000, 900)
            .single("com.example.Sync", 1_000, 300)
            .single("com.example.Feed", 700, 300)
            .running(43, 200);
        let mut report = report.build();
        let outer = report.report.history[0].details[0].start_ns;
        for (nth, at_ms) in [(1, 1_000), (2, 2_100)] {
            report.report.history[nth].details[0].start_ns = outer.plus(at_ms * 1_000_000);
        }
        let t = Timeline::new(&Analysis::new(&report));
        let shown = t.messages.iter().map(|slice| {
            let ms = |at: Uptime| at.since(outer) / 1_000_000;
            (slice.name.split(' ').next().unwrap_or_default(), ms(slice.start_ns), ms(slice.end_ns))
        });
        assert_eq!(
            shown.take(3).collect::<Vec<_>>(),
            [
                ("com.example.Dialog", 0, 5_000),
                ("com.example.Sync", 1_000, 2_000),
                ("com.example.Feed", 2_100, 2_800)
            ]
        );
    }

    #[test]
    fn walk_is_well_nested_and_in_order_of_time() {
        let report = ReportBuilder::new()
            .running(1, 1_000)
            .tree(1, &[("a.A.a b.B.b", 3), ("a.A.a", 1), ("a.A.a c.C.c d.D.d", 2), ("e.E.e", 1)])
            .build();
        let a = Analysis::new(&report);
        let (mut depth, mut last, mut text) = (0, Uptime::ZERO, String::new());
        let start = a.trees[0].sample_ns[0];
        walk(&a.trees[0], Uptime::ZERO, |at, step| {
            assert!(at >= last);
            last = at;
            match step {
                Step::Start(frame) => {
                    depth += 1;
                    let name = a.frames[frame].short();
                    let _ = write!(text, "{name}@{} ", (at - start) / 1_000_000);
                }
                Step::End => {
                    depth -= 1;
                    let _ = write!(text, ".@{} ", (at - start) / 1_000_000);
                }
            }
        });
        assert_eq!(depth, 0);
        assert_eq!(text.trim_end(), "A.a@0 B.b@0 .@30 C.c@40 D.d@40 .@60 .@60 .@60 E.e@60 .@70");
    }
}
