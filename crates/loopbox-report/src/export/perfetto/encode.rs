//! The report's packets.

use super::packets::{CLOCK_MONOTONIC, CLOCK_REALTIME, Place, STATE_CLEARED, Trace, instant, packet};
use super::proto::Message;
use super::samples;
use crate::export::slice::Slice;
use crate::export::timeline::{Step, Timeline, walk};
use crate::model::Analysis;
use crate::model::message_name::tree_title;
use loopbox_format::model::Uptime;

/// `TrackEvent.Type`: the start of a slice.
const SLICE_BEGIN: u64 = 1;
/// `TrackEvent.Type`: the end of a slice.
const SLICE_END: u64 = 2;
/// `TrackEvent.Type`: an instant.
const INSTANT: u64 = 3;
/// `TrackEvent.Type`: a counter's value.
const COUNTER: u64 = 4;
/// `TrackDescriptor.ChildTracksOrdering.EXPLICIT`: child tracks are in the order of their ranks.
const EXPLICIT: u64 = 3;

/// The id of the process's track. Ids are unique inside the trace.
const PROCESS: u64 = 1;
const MAIN: u64 = 2;
const STACKS: u64 = 3;
const HISTORY: u64 = 4;
const PENDING: u64 = 5;
const EXPECTED: u64 = 6;
const ACTUAL: u64 = 7;
const FIRST_COUNTER: u64 = 8;

pub(crate) fn encode(a: &Analysis, place: Place) -> Vec<u8> {
    let timeline = Timeline::new(a);
    let mut trace = Trace { packets: Message::new(), sequence: place.sequence };
    trace.clocks(a, place.is_alone);
    trace.tracks(a, &timeline);
    trace.frame_names(a);
    let mut events = Vec::new();
    slices(&mut events, MAIN, &timeline.messages);
    slices(&mut events, HISTORY, &timeline.records);
    slices(&mut events, PENDING, &timeline.pending);
    slices(&mut events, EXPECTED, &timeline.frames.expected);
    slices(&mut events, ACTUAL, &timeline.frames.actual);
    stacks(&mut events, a);
    for (i, counter) in timeline.counters.iter().enumerate() {
        for &(at, value) in &counter.values {
            let event = Message::new().uint(9, COUNTER).uint(11, FIRST_COUNTER + i as u64).double(44, value);
            events.push((at, event));
        }
    }
    for breadcrumb in &a.breadcrumbs {
        events.push((breadcrumb.at_ns, named(INSTANT, MAIN, &breadcrumb.name)));
    }
    let statistics = a.statistics.iter().map(|statistic| (statistic.name.as_str(), statistic.value.as_str()));
    events.push((a.dump_ns, annotate(named(INSTANT, MAIN, "dump"), statistics)));
    events.sort_by_key(|&(at, _)| at);
    for (at, event) in events {
        trace.push(packet(place.sequence).uint(8, instant(at.0)).message(11, event));
    }
    samples::write(&mut trace, a);
    trace.packets.into_bytes()
}

fn named(kind: u64, track: u64, name: &str) -> Message {
    Message::new().uint(9, kind).uint(11, track).string(23, name)
}

/// Debug annotations: what the viewer lists under "Arguments".
fn annotate<'f>(event: Message, facts: impl Iterator<Item = (&'f str, &'f str)>) -> Message {
    facts.fold(event, |event, (name, value)| {
        event.message(4, Message::new().string(10, name).string(6, value))
    })
}

impl Trace {
    fn clocks(&mut self, a: &Analysis, is_alone: bool) {
        let pair = a.meta.dumped_at;
        let clock = |id, ns| Message::new().uint(1, id).uint(2, instant(ns));
        let snapshot = Message::new()
            .message(1, clock(CLOCK_MONOTONIC, pair.uptime_ns.0))
            .message(1, clock(CLOCK_REALTIME, pair.unix_ms.saturating_mul(1_000_000)));
        // The clock of the whole trace is that of its first writer.
        let snapshot = if is_alone { snapshot.uint(2, CLOCK_MONOTONIC) } else { snapshot };
        let defaults = Message::new().uint(58, CLOCK_MONOTONIC).message(100, samples::defaults());
        let first = Message::new().uint(10, self.sequence).uint(13, STATE_CLEARED);
        self.push(first.message(59, defaults));
        self.push(packet(self.sequence).message(6, snapshot));
    }

    fn tracks(&mut self, a: &Analysis, timeline: &Timeline) {
        // Zero is the idle process of a kernel; a report that lost its meta section has it.
        let pid = u64::from(a.meta.process.pid.max(1));
        let process = Message::new().uint(1, pid).string(6, &a.meta.process.name);
        self.track(Message::new().uint(1, PROCESS).message(3, process));
        let thread = Message::new().uint(1, pid).uint(2, pid).string(5, "main");
        self.track(Message::new().uint(1, MAIN).uint(5, PROCESS).message(4, thread).uint(11, EXPLICIT));
        let child = |id: u64| Message::new().uint(1, id).uint(5, MAIN).uint(12, id);
        for (id, name) in [(STACKS, "Sampled stacks"), (HISTORY, "History"), (PENDING, "Pending")] {
            self.track(child(id).string(2, name));
        }
        if !timeline.frames.actual.is_empty() {
            for (id, name) in [(EXPECTED, "Expected frames"), (ACTUAL, "Actual frames")] {
                self.track(child(id).string(2, name));
            }
        }
        for (i, counter) in timeline.counters.iter().enumerate() {
            let unit = Message::new().string(6, counter.unit);
            self.track(child(FIRST_COUNTER + i as u64).string(2, counter.name).message(8, unit));
        }
    }

    fn track(&mut self, descriptor: Message) {
        self.push(packet(self.sequence).message(60, descriptor));
    }

    /// Writes the names of frames once (`InternedData.event_names`), because they recur. Events refer to them
    /// by number.
    fn frame_names(&mut self, a: &Analysis) {
        let names = a.frames.iter().enumerate().fold(Message::new(), |names, (i, frame)| {
            names.message(2, Message::new().uint(1, i as u64 + 1).string(2, &frame.qualified()))
        });
        self.push(packet(self.sequence).message(12, samples::intern_frames(a, names)));
    }
}

type Events = Vec<(Uptime, Message)>;

fn start(track: u64, slice: &Slice) -> Message {
    annotate(
        named(SLICE_BEGIN, track, &slice.name),
        slice.facts.iter().map(|(name, value)| (*name, value.as_str())),
    )
}

fn end(track: u64) -> Message {
    Message::new().uint(9, SLICE_END).uint(11, track)
}

/// Adds the slices of a track, which nest: in order of their start, and of those with the same start the
/// longest first.
fn slices(events: &mut Events, track: u64, slices: &[Slice]) {
    let mut open: Vec<Uptime> = Vec::new();
    for slice in slices {
        while let Some(at) = open.pop_if(|end_ns| *end_ns <= slice.start_ns) {
            events.push((at, end(track)));
        }
        events.push((slice.start_ns, start(track, slice)));
        open.push(slice.end_ns);
    }
    while let Some(at) = open.pop() {
        events.push((at, end(track)));
    }
}

fn stacks(events: &mut Events, a: &Analysis) {
    let mut not_before = Uptime::ZERO;
    for tree in &a.trees {
        let Some((&first, &last)) = tree.sample_ns.first().zip(tree.sample_ns.last()) else { continue };
        let (first, last) = (first.max(not_before), last.max(not_before));
        let of_message = named(SLICE_BEGIN, STACKS, &tree_title(a, tree.token));
        let facts = [
            ("samples", tree.samples().to_string()),
            ("missed_samples", tree.missed_samples.to_string()),
            ("longest_stop_us", (tree.longest_suspend_ns / 1_000).to_string()),
        ];
        events.push((first, annotate(of_message, facts.iter().map(|(name, value)| (*name, value.as_str())))));
        walk(tree, not_before, |at, step| {
            events.push(match step {
                Step::Start(frame) => {
                    let event = Message::new()
                        .uint(9, SLICE_BEGIN)
                        .uint(11, STACKS)
                        .uint(10, frame.index() as u64 + 1);
                    let place = a.frames[frame].place();
                    let place = (!place.is_empty()).then_some(("place", place.as_str()));
                    (at, annotate(event, place.into_iter()))
                }
                Step::End => (at, end(STACKS)),
            });
        });
        events.push((last, end(STACKS)));
        not_before = last;
    }
}
