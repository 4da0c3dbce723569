//! Compares the aggregator with a plain version of its rules on random sequences of a main thread.

mod common;

use common::{MS, Main};
use loopbox_format::model::{
    Component, Detail, End, Message, NamedBy, Record, RecordKind, Slowest, Token, Uptime,
};
use loopbox_recorder::{AdoptedMessage, Config, Described, Wanted};
use proptest::prelude::*;

/// How a message ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ending {
    Returned,
    Threw,
    /// It threw an exception that was not reported.
    Lost,
}

/// A message, and what happens in it.
#[derive(Debug, Clone)]
struct Life {
    gap_ns: u64,
    head_ns: u64,
    inner: Vec<Life>,
    tail_ns: u64,
    ending: Ending,
    component: bool,
    /// Whether the hook can describe the message.
    named: bool,
    when: Option<Uptime>,
}

/// An event that the recorder sees, with the true nesting depth, which it cannot see.
#[derive(Debug, Clone, Copy)]
struct Event {
    at_ns: Uptime,
    depth: u64,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// Recording begins inside of a message that began this long before.
    Adopt {
        age_ns: u64,
        bind: bool,
    },
    /// The Looper has continued, but without a message.
    WentOn,
    Begin {
        component: bool,
        named: bool,
    },
    End {
        end: End,
        when: Option<Uptime>,
        component: bool,
        named: bool,
    },
}

fn events(lives: &[Life], depth: u64, now: &mut u64, out: &mut Vec<Event>) {
    for life in lives {
        *now += life.gap_ns;
        let Life { component, named, when, .. } = *life;
        out.push(Event { at_ns: Uptime(*now), depth, what: What::Begin { component, named } });
        *now += life.head_ns;
        events(&life.inner, depth + 1, now, out);
        *now += life.tail_ns;
        let end = match life.ending {
            Ending::Returned => End::Returned,
            Ending::Threw => End::Threw,
            Ending::Lost => continue,
        };
        out.push(Event { at_ns: Uptime(*now), depth, what: What::End { end, when, component, named } });
    }
}

/// A slice of main-thread time with one owner.
#[derive(Debug)]
enum Item {
    /// Work of a message. `ended` is set when the message ended with this work.
    Work { token: u64, start: Uptime, end: Uptime, ended: Option<Ended> },
    /// Two messages ended at the same time, one inside of the other. This is the end of the outer one. The
    /// time before it belongs to the inner one.
    Along { token: u64, at: Uptime, ended: Ended },
    /// A gap in which nothing ran; `next` is the number of the next message.
    Gap { start: Uptime, end: Uptime, next: u64 },
}

#[derive(Debug, Clone)]
struct Ended {
    start_ns: Uptime,
    end: End,
    when: Option<Uptime>,
    component: bool,
    named: bool,
    adopted: bool,
}

impl Ended {
    /// The expected message. An adopted message is named by the stack, any other one by the hook.
    fn message(&self, token: u64) -> Message {
        let message = message(token, self.component);
        if self.adopted { Message { what: Some(110), named_by: NamedBy::Stack, ..message } } else { message }
    }
}

struct Open {
    token: u64,
    depth: u64,
    start_ns: Uptime,
    component: bool,
    named: bool,
    nested: bool,
    adopted: bool,
}

/// Divides the time into items. The true depths decide which message owns which time.
fn items(events: &[Event]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut cursor = None;
    let mut next = 1;
    for event in events {
        let now = event.at_ns;
        let start = cursor.unwrap_or(now);
        let mut owned = false;
        // Messages that cannot be running any more; the innermost owned the time until now.
        let left = |o: &Open| {
            let next = matches!(event.what, What::Begin { .. } | What::WentOn);
            o.depth > event.depth || (o.depth == event.depth && next)
        };
        let mut innermost = true;
        // Its own name closes the record, so that no other one can be named.
        let ends_adopted = open.first().is_some_and(|first| first.adopted && left(first));
        while let Some(o) = open.pop_if(|o| left(o)) {
            let Open { token, start_ns, component, named, adopted, .. } = o;
            let named =
                named && (adopted || innermost && !ends_adopted && matches!(event.what, What::Begin { .. }));
            let end = if adopted { End::Returned } else { End::Missed };
            let ended = Ended { start_ns, end, when: None, component, named, adopted };
            items.push(if owned {
                Item::Along { token, at: now, ended }
            } else {
                Item::Work { token, start, end: now, ended: Some(ended) }
            });
            owned = true;
            innermost = false;
        }
        let start = if owned { now } else { start };
        match event.what {
            What::Adopt { age_ns, bind } => {
                let start_ns = now - age_ns;
                let (component, named) = (bind, bind);
                open.push(Open {
                    token: 1,
                    depth: 1,
                    start_ns,
                    component,
                    named,
                    nested: false,
                    adopted: true,
                });
                next = 2;
                cursor = Some(start_ns);
                continue;
            }
            What::WentOn => {}
            What::Begin { component, named } => {
                match open.last_mut() {
                    Some(outer) if !outer.nested => {
                        items.push(Item::Work { token: outer.token, start, end: now, ended: None });
                        outer.nested = true;
                    }
                    _ if cursor.is_some() => items.push(Item::Gap { start, end: now, next }),
                    _ => {}
                }
                open.push(Open {
                    token: next,
                    depth: event.depth,
                    start_ns: now,
                    component,
                    named,
                    nested: false,
                    adopted: false,
                });
                next += 1;
            }
            What::End { end, when, component, named } => {
                let o = open.pop().expect("the model knows every start");
                let ended = Ended { start_ns: o.start_ns, end, when, component, named, adopted: o.adopted };
                items.push(if owned {
                    Item::Along { token: o.token, at: now, ended }
                } else {
                    Item::Work { token: o.token, start, end: now, ended: Some(ended) }
                });
            }
        }
        cursor = Some(now);
    }
    items
}

fn message(token: u64, component: bool) -> Message {
    Message {
        target: if component { "android.app.ActivityThread$H".into() } else { format!("T{token}") },
        callback: String::new(),
        what: Some(token as i32),
        component: component.then_some(Component::ActivityThread),
        named_by: NamedBy::Printer,
    }
}

/// The aggregator's rules, applied to a plain list.
struct Rules<'a> {
    config: &'a Config,
    group: Vec<(u64, Uptime, Uptime)>,
    details: Vec<Detail>,
    dropped: u32,
    counted: u64,
    records: Vec<Record>,
}

impl Rules<'_> {
    fn apply(config: &Config, items: &[Item]) -> Vec<Record> {
        let mut rules = Rules {
            config,
            group: Vec::new(),
            details: Vec::new(),
            dropped: 0,
            counted: 0,
            records: Vec::new(),
        };
        for item in items {
            match item {
                Item::Gap { start, end, next } if *end - *start >= config.group_ns => {
                    rules.flush(RecordKind::Group);
                    let kind =
                        if *end - *start > config.frozen_ns { RecordKind::Frozen } else { RecordKind::Idle };
                    rules.record(kind, *next, 0, *start, *end, 0);
                }
                Item::Gap { .. } => {}
                Item::Along { token, at, ended } => {
                    // In the record that the inner one ended in.
                    let full = rules.group.is_empty();
                    if full {
                        let record = rules.records.last_mut().unwrap();
                        rules.details = std::mem::take(&mut record.details);
                        rules.dropped = record.dropped_details;
                    }
                    rules.detail(*token, *at, ended, false);
                    if full {
                        let record = rules.records.last_mut().unwrap();
                        record.details = std::mem::take(&mut rules.details);
                        record.dropped_details = std::mem::take(&mut rules.dropped);
                    }
                }
                Item::Work { token, start, end, ended } => {
                    let alone = *end - *start >= config.group_ns;
                    if alone {
                        rules.flush(RecordKind::Group);
                    }
                    rules.group.push((*token, *start, *end));
                    if let Some(ended) = ended {
                        rules.detail(*token, *end, ended, alone);
                    }
                    let work: u64 = rules.group.iter().map(|(_, start, end)| *end - *start).sum();
                    if alone {
                        rules.flush(RecordKind::Single);
                    } else if work >= config.group_ns {
                        rules.flush(RecordKind::Group);
                    }
                }
            }
        }
        rules.flush(RecordKind::Group);
        rules.records
    }

    fn detail(&mut self, token: u64, now: Uptime, ended: &Ended, alone: bool) {
        let wall_ns = now - ended.start_ns;
        let deserves = alone || wall_ns >= self.config.detail_ns || ended.end != End::Returned;
        if !(deserves || ended.component && ended.named) {
            return;
        }
        if self.details.len() == self.config.details_per_record as usize {
            let short =
                |detail: &Detail| detail.wall_ns < self.config.detail_ns && detail.end == End::Returned;
            self.dropped += 1;
            let worth = |detail: &Detail| (!short(detail), detail.wall_ns);
            let at = (0..self.details.len()).min_by_key(|&at| worth(&self.details[at])).unwrap();
            if !deserves || worth(&self.details[at]) >= (true, wall_ns) {
                return;
            }
            self.details.remove(at);
        }
        self.details.push(Detail {
            token: Token(token),
            start_ns: ended.start_ns,
            wall_ns,
            wait_ns: ended.when.filter(|&when| when > Uptime::ZERO).map(|when| ended.start_ns.since(when)),
            end: ended.end,
            message: ended.named.then(|| ended.message(token)),
        });
    }

    fn flush(&mut self, kind: RecordKind) {
        let group = std::mem::take(&mut self.group);
        let (Some(&(first, start, _)), Some(&(_, _, end))) = (group.first(), group.last()) else { return };
        let new = group.iter().map(|(token, ..)| *token).filter(|&token| token > self.counted);
        let count = new.clone().collect::<std::collections::BTreeSet<_>>().len();
        let first = if kind == RecordKind::Single { first } else { self.counted + 1 };
        self.counted = new.max().unwrap_or(self.counted);
        let work = group.iter().map(|(_, start, end)| *end - *start).sum();
        self.record(kind, first, count as u32, start, end, work);
        let record = self.records.last_mut().unwrap();
        for &(token, start, end) in &group {
            if record.slowest.is_none_or(|slowest| end - start > slowest.wall_ns) {
                record.slowest = Some(Slowest { token: Token(token), wall_ns: end - start });
            }
        }
        record.details = std::mem::take(&mut self.details);
        record.dropped_details = std::mem::take(&mut self.dropped);
    }

    fn record(
        &mut self,
        kind: RecordKind,
        first_token: u64,
        count: u32,
        start: Uptime,
        end: Uptime,
        work: u64,
    ) {
        self.records.push(Record {
            kind,
            seq: self.records.len() as u64 + 1,
            first_token: Token(first_token),
            count,
            start_ns: start,
            wall_ns: end - start,
            work_ns: work,
            idle_ns: end - start - work,
            cpu_ns: None,
            checktime_late_ns: None,
            slowest: None,
            details: Vec::new(),
            dropped_details: 0,
            closed: true,
        });
    }
}

/// Passes the events to the aggregator as a hook would, which knows depths only by stack pointers.
fn play(config: &Config, events: &[Event]) -> Vec<Record> {
    let mut main = Main::new(config);
    let name = |main: &mut Main, token: u64, component: bool| {
        let message = message(token, component);
        main.aggregator.describe(&Described {
            target: &message.target,
            callback: "",
            what: message.what,
            named_by: NamedBy::Printer,
        });
    };
    // What the Printer hook has: the innermost running message's line.
    let mut lines: Vec<(u64, u64, bool, bool)> = Vec::new();
    let mut token = 0;
    let mut adopted = false;
    for event in events {
        main.environment().now_ns = event.at_ns;
        match event.what {
            What::Adopt { age_ns, bind } => {
                let start_ns = event.at_ns - age_ns;
                main.aggregator.adopt(&AdoptedMessage { start_ns, cpu_ns: None, binds: bind });
                token = 1;
                adopted = true;
                lines.push((1, 1, false, false));
            }
            What::WentOn => {
                let _ = main.aggregator.end_all(End::Returned);
                adopted = false;
                lines.clear();
            }
            What::Begin { component, named } => {
                // The hook counts the loops while the first message runs, whose place on the stack is
                // unknown.
                let first = adopted && event.depth == 1;
                adopted &= !first;
                let pointer = Main::pointer(event.depth, false);
                let begun = if first {
                    main.aggregator.begin_outermost(pointer)
                } else {
                    main.aggregator.begin(pointer)
                };
                token += 1;
                assert_eq!(begun.token, Token(token));
                let innermost = lines.last().copied();
                lines.retain(|(_, depth, ..)| *depth < event.depth);
                if begun.wanted == Wanted::Description
                    && let Some((lost, _, component, true)) = innermost
                {
                    name(&mut main, lost, component);
                }
                lines.push((token, event.depth, component, named));
            }
            What::End { end, when, component, named } => {
                lines.retain(|(_, depth, ..)| *depth <= event.depth);
                let (ended, ..) = lines.pop().unwrap();
                let wanted = main.aggregator.end(Main::pointer(event.depth, true), when, end);
                if named && (wanted == Wanted::Description || component) {
                    name(&mut main, ended, component);
                }
                assert_eq!(main.aggregator.depth() as usize, lines.len());
            }
        }
    }
    // A reader who sees no more closes has the same from the open record.
    let closed = main.environment().closed.len() as u64;
    let open = main.environment().open.clone().filter(|open| open.seq > closed);
    let history = main.history();
    assert_eq!(
        history.last().filter(|last| last.seq > closed).cloned(),
        open.map(|open| Record { closed: true, ..open })
    );
    history
}

fn any_span() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..5 * MS,
        4 => 5 * MS..60 * MS,
        2 => prop_oneof![Just(49 * MS), Just(50 * MS), Just(50 * MS - 1), Just(300 * MS), Just(300 * MS - 1)],
        2 => 60 * MS..400 * MS,
        1 => 400 * MS..70_000 * MS,
    ]
}

fn any_life() -> impl Strategy<Value = Life> {
    let leaf = (
        any_span(),
        any_span(),
        any_span(),
        prop_oneof![8 => Just(Ending::Returned), 1 => Just(Ending::Threw), 1 => Just(Ending::Lost)],
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.9),
        prop::option::of(prop_oneof![Just(0), any::<u64>()]),
    )
        .prop_map(|(gap_ns, head_ns, tail_ns, ending, component, named, when)| Life {
            gap_ns,
            head_ns,
            inner: Vec::new(),
            tail_ns: tail_ns / 8,
            ending,
            component,
            named,
            when: when.map(Uptime),
        });
    leaf.prop_recursive(3, 24, 4, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..4)).prop_map(|(outer, inner)| Life { inner, ..outer })
    })
}

fn any_config() -> impl Strategy<Value = Config> {
    prop_oneof![Just(8_u32), 1_u32..8]
        .prop_map(|details_per_record| Config { details_per_record, ..Config::default() })
}

/// A random sequence of events of a thread. It begins either inside of a message, or with a plain message.
/// From a plain message the aggregator learns how much the stack pointers at a message's start and end
/// differ.
fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let first =
        prop::option::of((any_span(), any::<bool>(), prop::collection::vec(any_life(), 0..3), any::<bool>()));
    (first, prop::collection::vec(any_life(), 0..40)).prop_map(|(first, lives)| {
        let mut now = 1_000_000 * MS;
        let mut out = Vec::new();
        if let Some((age_ns, bind, inner, went_on)) = first {
            out.push(Event { at_ns: Uptime(now), depth: 1, what: What::Adopt { age_ns, bind } });
            events(&inner, 2, &mut now, &mut out);
            if went_on {
                out.push(Event { at_ns: Uptime(now), depth: 1, what: What::WentOn });
            }
        } else {
            let what = What::Begin { component: false, named: false };
            out.push(Event { at_ns: Uptime(now), depth: 1, what });
            now += MS;
            let what = What::End { end: End::Returned, when: None, component: false, named: false };
            out.push(Event { at_ns: Uptime(now), depth: 1, what });
        }
        events(&lives, 1, &mut now, &mut out);
        out
    })
}

/// Checks what every history must satisfy, whatever the rules.
fn check_totals(events: &[Event], items: &[Item], history: &[Record]) {
    let seen_work: u64 = items
        .iter()
        .map(|item| match item {
            Item::Work { start, end, .. } => *end - *start,
            Item::Gap { .. } | Item::Along { .. } => 0,
        })
        .sum();
    assert_eq!(history.iter().map(|record| record.work_ns).sum::<u64>(), seen_work, "every slice once");
    let mut next_token = 1;
    for (record, seq) in history.iter().zip(1..) {
        assert_eq!(record.seq, seq, "no gap in the numbers");
        assert_eq!(record.wall_ns, record.work_ns + record.idle_ns);
        if record.count > 0 {
            assert_eq!(record.first_token, Token(next_token), "every message in one record");
        }
        next_token += u64::from(record.count);
        assert!(record.slowest.is_none_or(|slowest| slowest.wall_ns <= record.work_ns));
    }
    for pair in history.windows(2) {
        let end = pair[0].start_ns + pair[0].wall_ns;
        assert!(pair[1].start_ns >= end, "in order of time");
        assert!(pair[1].start_ns - end < Config::default().group_ns, "no long time is in no record");
    }
    let begins = |event: &&Event| matches!(event.what, What::Begin { .. } | What::Adopt { .. });
    let begins = events.iter().filter(begins).count() as u64;
    assert!(next_token - 1 <= begins);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_life_is_recorded_by_the_rules(events in any_events(), config in any_config()) {
        let items = items(&events);
        let history = play(&config, &events);
        check_totals(&events, &items, &history);
        let expected = Rules::apply(&config, &items);
        for (got, expected) in history.iter().zip(&expected) {
            prop_assert_eq!(got, expected);
        }
        prop_assert_eq!(history.len(), expected.len());
    }
}
