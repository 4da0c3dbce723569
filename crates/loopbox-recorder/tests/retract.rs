//! Beginnings that are withdrawn because they were not messages.

mod common;

use common::{MS, Main, State, kinds};
use loopbox_format::model::{Record, RecordKind, Uptime};
use loopbox_recorder::Config;

/// A poll returned, and the thread ran nothing.
fn nothing(main: &mut Main, ns: u64) {
    let _ = main.begin(1);
    main.compute(ns);
    main.aggregator.retract();
}

#[test]
fn a_number_that_was_retracted_is_given_again() {
    let mut main = Main::new(&Config::default());
    assert_eq!(main.message(5 * MS), 1);
    let ended = main.now();
    main.pass(20 * MS);
    nothing(&mut main, MS);
    assert_eq!(main.environment().states.last(), Some(&State::Idle { since_ns: ended }));
    assert_eq!(main.environment().next, 2);
    main.pass(10 * MS);
    assert_eq!(main.message(7 * MS), 2);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 2, 12)]);
    assert_eq!((history[0].idle_ns, history[0].wall_ns), (31 * MS, 43 * MS));
}

#[test]
fn a_long_rest_is_one_record_however_often_nothing_begins_in_it() {
    let mut main = Main::with_cpu(&Config::default(), Some(0));
    let _ = main.message(5 * MS);
    let ended = main.now();
    for _ in 0..1_000 {
        main.pass(400 * MS);
        nothing(&mut main, MS);
    }
    main.pass(10 * MS);
    let _ = main.message(5 * MS);
    let mut history = main.history();
    // The record of the rest was handed over again and again.
    history.dedup_by(|later, earlier| {
        let same = later.seq == earlier.seq;
        if same {
            *earlier = later.clone();
        }
        same
    });
    assert_eq!(
        kinds(&history),
        [(RecordKind::Group, 1, 1, 5), (RecordKind::Idle, 2, 0, 0), (RecordKind::Group, 2, 1, 5)]
    );
    let rest = &history[1];
    assert_eq!((rest.start_ns, rest.wall_ns, rest.idle_ns), (ended, 401_010 * MS, 401_010 * MS));
    // The clock was read once for the first part and the group before it.
    assert_eq!(rest.cpu_ns, Some(1_005 * MS));
}

#[test]
fn a_process_that_was_frozen_between_two_rests_is_recognized() {
    let mut main = Main::new(&Config { frozen_ns: 10_000 * MS, ..Config::default() });
    let _ = main.message(5 * MS);
    main.pass(400 * MS);
    nothing(&mut main, MS);
    main.pass(20_000 * MS);
    let _ = main.message(5 * MS);
    assert_eq!(
        kinds(&main.history()),
        [
            (RecordKind::Group, 1, 1, 5),
            (RecordKind::Idle, 2, 0, 0),
            (RecordKind::Frozen, 2, 0, 0),
            (RecordKind::Group, 2, 1, 5)
        ]
    );
}

/// Waits for 100 ms sixty times, and each time nothing begins. Then a message of 5 ms runs.
fn many_short_waits(main: &mut Main) {
    for _ in 0..60 {
        main.pass(100 * MS);
        nothing(main, MS);
    }
    let _ = main.message(5 * MS);
}

/// Kind, start and end (ms after `begin`) of each record. A record that was handed over several times counts
/// as it was in the end.
fn times(history: &[Record], begin: Uptime) -> Vec<(RecordKind, u64, u64)> {
    let mut times: Vec<(u64, _)> = Vec::new();
    for record in history {
        let start = record.start_ns.since(begin) / MS;
        times.retain(|(seq, _)| *seq != record.seq);
        times.push((record.seq, (record.kind, start, start + record.wall_ns / MS)));
    }
    times.into_iter().map(|(_, time)| time).collect()
}

#[test]
fn short_waits_after_a_frozen_time_are_in_the_history() {
    let mut main = Main::new(&Config { frozen_ns: 10_000 * MS, ..Config::default() });
    let begin = main.now();
    let _ = main.message(5 * MS);
    main.pass(20_000 * MS);
    nothing(&mut main, MS);
    many_short_waits(&mut main);
    assert_eq!(
        times(&main.history(), begin),
        [
            (RecordKind::Group, 0, 5),
            (RecordKind::Frozen, 5, 20_005),
            (RecordKind::Idle, 20_005, 26_066),
            (RecordKind::Group, 26_066, 26_071)
        ]
    );
}

#[test]
fn short_waits_after_an_unseen_time_are_in_the_history() {
    let mut main = Main::new(&Config::default());
    let begin = main.now();
    let _ = main.message(5 * MS);
    main.pass(2_000 * MS);
    main.environment().unseen_ns = begin + 1_000 * MS;
    nothing(&mut main, MS);
    many_short_waits(&mut main);
    assert_eq!(
        times(&main.history(), begin),
        [
            (RecordKind::Group, 0, 5),
            (RecordKind::Unseen, 5, 2_005),
            (RecordKind::Idle, 2_005, 8_066),
            (RecordKind::Group, 8_066, 8_071)
        ]
    );
}

/// The hook is found removed after a rest that already has a record.
#[test]
fn short_waits_while_the_hook_was_out_are_unseen() {
    let mut main = Main::new(&Config::default());
    let begin = main.now();
    let _ = main.message(5 * MS);
    main.pass(500 * MS);
    nothing(&mut main, MS);
    main.environment().unseen_ns = begin + 700 * MS;
    many_short_waits(&mut main);
    assert_eq!(
        times(&main.history(), begin),
        [
            (RecordKind::Group, 0, 5),
            (RecordKind::Idle, 5, 505),
            (RecordKind::Unseen, 505, 808),
            (RecordKind::Idle, 808, 6_566),
            (RecordKind::Group, 6_566, 6_571)
        ]
    );
}

#[test]
fn the_loop_inside_of_a_message_waits_since_its_last_work() {
    let mut main = Main::new(&Config::default());
    let _ = main.begin(1);
    main.compute(3 * MS);
    main.aggregator.rests();
    let since_ns = main.now();
    for wait in [20 * MS, 400 * MS, 400 * MS, 20 * MS] {
        main.pass(wait);
        let _ = main.begin(2);
        main.aggregator.retract();
        assert_eq!(main.environment().states.last(), Some(&State::Idle { since_ns }));
    }
}

#[test]
fn a_message_whose_loop_has_waited_and_was_left_unseen_ended_before_it_waited() {
    let mut main = Main::new(&Config::default());
    let lost = main.begin(1);
    main.compute(60 * MS);
    for _ in 0..2 {
        let _ = main.begin(2);
        main.aggregator.retract();
        main.pass(400 * MS);
    }
    let _ = main.begin(1);
    let _ = main.end(1);
    let history = main.history();
    let details: Vec<_> = history.iter().flat_map(|r| &r.details).map(|d| (d.token.0, d.wall_ns)).collect();
    assert_eq!(details, [(lost, 60 * MS)]);
    assert_eq!(history.iter().map(|record| record.work_ns).sum::<u64>(), 60 * MS);
}

#[test]
fn the_loop_inside_of_a_message_waits_when_nothing_began_in_it() {
    let mut main = Main::new(&Config::default());
    let _ = main.begin(1);
    main.compute(3 * MS);
    let since_ns = main.now();
    let _ = main.begin(2);
    main.aggregator.retract();
    assert_eq!(main.environment().states.last(), Some(&State::Idle { since_ns }));
    assert_eq!(main.environment().next, 2);
    main.pass(4 * MS);
    let _ = main.end(1);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 1, 3)]);
    assert_eq!(history[0].details.len(), 0);
}

#[test]
fn only_what_began_last_is_retracted() {
    let mut main = Main::new(&Config::default());
    main.aggregator.retract();
    let _ = main.message(5 * MS);
    main.aggregator.retract();
    nothing(&mut main, MS);
    main.aggregator.retract();
    assert_eq!(main.message(5 * MS), 2);
    assert_eq!(kinds(&main.history()), [(RecordKind::Group, 1, 2, 10)]);
    assert!(main.now() > Uptime::ZERO);
}
