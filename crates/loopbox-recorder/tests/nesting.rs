//! Messages inside of messages, and messages that have lost their ends.

mod common;

use common::{MS, Main, State, kinds};
use loopbox_format::model::{Detail, End, RecordKind, Slowest, Token};
use loopbox_recorder::{Config, StackPointer, Wanted};

#[test]
fn an_inner_message_takes_its_time_from_the_outer_one() {
    let mut main = Main::new(&Config::default());
    let start = main.now();
    let outer = main.begin(1);
    main.compute(100 * MS);
    let first = main.begin(2);
    main.compute(60 * MS);
    let _ = main.end(2);
    main.pass(200 * MS);
    main.begin(2);
    main.compute(MS);
    let _ = main.end(2);
    main.compute(9 * MS);
    assert_eq!(main.end(1), Wanted::Description);
    main.describe("com.example.Modal", 1);
    let states = std::mem::take(&mut main.environment().states);
    let running = |token, at_ms, depth| State::Running { token, start_ns: start + at_ms * MS, depth };
    assert_eq!(
        states,
        [
            running(outer, 0, 1),
            running(first, 100, 2),
            State::Idle { since_ns: start + 160 * MS },
            running(3, 360, 2),
            State::Idle { since_ns: start + 361 * MS },
            State::Idle { since_ns: start + 370 * MS },
        ]
    );
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 3, 170)]);
    assert_eq!((history[0].wall_ns, history[0].idle_ns), (370 * MS, 200 * MS));
    let details: Vec<_> = history[0].details.iter().map(|d| (d.token.0, d.wall_ns / MS, d.end)).collect();
    assert_eq!(details, [(2, 60, End::Returned), (1, 370, End::Returned)]);
    assert_eq!(history[0].slowest, Some(Slowest { token: Token(1), wall_ns: 100 * MS }));
}

#[test]
fn an_inner_message_that_an_outer_end_finds_lost_can_be_described() {
    let mut main = Main::new(&Config::default());
    let outer = main.begin(1);
    main.compute(10 * MS);
    let lost = main.begin(2);
    main.compute(70 * MS);
    assert!(!main.aggregator.miss_inner(Main::pointer(2, true)), "its own end");
    assert!(main.aggregator.miss_inner(Main::pointer(1, true)));
    main.describe("com.example.Lost", 9);
    assert!(!main.aggregator.miss_inner(Main::pointer(1, true)), "no more of them");
    assert_eq!(main.end(1), Wanted::Description);
    main.describe("com.example.Modal", 1);
    let details = &main.history()[0].details;
    let summary = |d: &Detail| (d.token.0, d.wall_ns / MS, d.end, d.message.as_ref().unwrap().target.clone());
    assert_eq!(
        details.iter().map(summary).collect::<Vec<_>>(),
        [
            (lost, 70, End::Missed, "com.example.Lost".to_owned()),
            (outer, 80, End::Returned, "com.example.Modal".to_owned())
        ]
    );
}

#[test]
fn a_long_end_of_an_outer_message_stands_alone_without_counting_again() {
    let mut main = Main::new(&Config::default());
    main.begin(1);
    main.compute(400 * MS);
    main.begin(2);
    main.compute(MS);
    let _ = main.end(2);
    main.compute(500 * MS);
    let _ = main.end(1);
    let history = main.history();
    assert_eq!(
        kinds(&history),
        [(RecordKind::Single, 1, 1, 400), (RecordKind::Group, 2, 1, 1), (RecordKind::Single, 1, 0, 500)]
    );
    assert_eq!(history[2].details[0].wall_ns, 901 * MS);
}

/// An app that runs its own loop inside of a message, and catches all exceptions around it, is in that outer
/// message for the rest of its life.
#[test]
fn an_outer_message_is_not_charged_with_the_loop_inside_of_it() {
    let mut main = Main::new(&Config::default());
    main.begin(1);
    main.compute(2 * MS);
    main.aggregator.rests();
    assert_eq!(main.environment().around, 1);
    let start = main.now();
    main.pass(4_000 * MS);
    main.begin(2);
    main.compute(10 * MS);
    let _ = main.end(2);
    assert_eq!(main.environment().states.last(), Some(&State::Idle { since_ns: start + 4_010 * MS }));
    main.aggregator.rests();
    main.pass(9_000 * MS);
    main.begin(2);
    main.compute(1_500 * MS);
    let _ = main.end(2);
    assert_eq!((main.environment().next, main.environment().around), (4, 1));
    let history = main.history();
    assert_eq!(
        kinds(&history),
        [
            (RecordKind::Group, 1, 1, 2),
            (RecordKind::Idle, 2, 0, 0),
            (RecordKind::Group, 2, 1, 10),
            (RecordKind::Idle, 3, 0, 0),
            (RecordKind::Single, 3, 1, 1_500),
        ]
    );
    let details: Vec<_> = history.iter().flat_map(|r| &r.details).map(|d| (d.token.0, d.wall_ns)).collect();
    assert_eq!(details, [(3, 1_500 * MS)]);
}

#[test]
fn a_loop_that_is_left_after_it_has_waited_leaves_no_time_to_its_message() {
    let mut main = Main::new(&Config::default());
    let outer = main.begin(1);
    main.compute(60 * MS);
    main.aggregator.rests();
    main.pass(5_000 * MS);
    assert_eq!(main.end(1), Wanted::Description);
    assert_eq!(main.environment().around, 0);
    assert_eq!((main.aggregator.ended().token.0, main.aggregator.ended().ran_ns), (outer, 0));
    let history = main.history();
    assert_eq!(
        kinds(&history),
        [(RecordKind::Group, 1, 1, 60), (RecordKind::Idle, 2, 0, 0), (RecordKind::Group, 2, 0, 0)]
    );
    let detail = &history[2].details[0];
    assert_eq!((detail.token.0, detail.wall_ns), (outer, 5_060 * MS), "the whole dispatch");
}

#[test]
fn a_lost_end_was_before_the_looper_waited() {
    let mut main = Main::new(&Config::default());
    main.begin(1);
    main.begin(2);
    main.compute(70 * MS);
    // What it threw was caught around the loop inside, which then waits.
    main.aggregator.rests();
    assert_eq!(main.environment().around, 2);
    main.pass(30_000 * MS);
    main.begin(2);
    main.compute(MS);
    let _ = main.end(2);
    let history = main.history();
    assert_eq!(history.iter().map(|record| record.work_ns / MS).sum::<u64>(), 71);
    let lost = history.iter().flat_map(|record| &record.details).find(|detail| detail.token == Token(2));
    assert_eq!(lost.map(|detail| (detail.wall_ns, detail.end)), Some((70 * MS, End::Missed)));
}

#[test]
fn a_looper_that_waits_outside_of_messages_changes_nothing() {
    let mut main = Main::new(&Config::default());
    main.message(MS);
    let states = main.environment().states.len();
    main.aggregator.rests();
    assert_eq!(main.environment().states.len(), states);
    main.message(MS);
    assert_eq!(kinds(&main.history()), [(RecordKind::Group, 1, 2, 2)]);
}

#[test]
fn an_exception_that_leaves_the_loop_ends_its_message_at_the_next_start() {
    let mut main = Main::new(&Config::default());
    main.message(MS);
    let lost = main.begin(1);
    main.compute(70 * MS);
    // Caught around Looper.loop(), which is entered again from the same place.
    let begun = main.aggregator.begin(Main::pointer(1, false));
    assert_eq!((begun.token.0, begun.wanted), (lost + 1, Wanted::Description));
    main.describe("com.example.Lost", 9);
    main.compute(MS);
    assert_eq!(main.end(1), Wanted::Nothing);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 3, 72)]);
    let detail = &history[0].details[0];
    assert_eq!((detail.token.0, detail.end, detail.wall_ns), (lost, End::Missed, 70 * MS));
    assert_eq!(detail.message.as_ref().unwrap().target, "com.example.Lost");
}

#[test]
fn an_exception_out_of_a_nested_loop_ends_its_message_at_the_outer_end() {
    let mut main = Main::new(&Config::default());
    main.message(MS); // Shows how far start and end are apart.
    let outer = main.begin(1);
    main.compute(10 * MS);
    let inner = main.begin(2);
    main.compute(20 * MS);
    // The outer message catches what the inner one threw, as modal dialogs by exception do.
    assert_eq!(main.end(1), Wanted::Nothing);
    assert_eq!(main.aggregator.depth(), 0);
    main.message(MS);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 4, 32)]);
    let details: Vec<_> = history[0].details.iter().map(|d| (d.token.0, d.end, d.wall_ns / MS)).collect();
    assert_eq!(details, [(inner, End::Missed, 20)], "the outer one {outer} was short");
}

#[test]
fn how_far_start_and_end_are_apart_is_learned() {
    let mut main = Main::new(&Config::default());
    // Nested loops 300 bytes apart, and an end hook with a frame of 250 bytes more than the begin hook's.
    let (outer, inner) = (StackPointer::at(10_000), StackPointer::at(9_700));
    let (outer_end, inner_end) = (StackPointer::at(9_750), StackPointer::at(9_450));
    let _ = main.aggregator.begin(outer);
    let _ = main.aggregator.end(outer_end, None, End::Returned);
    for (end, depth_after) in [(inner_end, 1), (outer_end, 0)] {
        let _ = main.aggregator.begin(outer);
        let _ = main.aggregator.begin(inner);
        let _ = main.aggregator.end(end, None, End::Returned);
        assert_eq!(main.aggregator.depth(), depth_after);
    }
}

#[test]
fn several_lost_ends_give_the_name_to_the_innermost() {
    let mut main = Main::new(&Config::default());
    main.begin(1);
    main.compute(MS);
    main.begin(2);
    main.compute(MS);
    let begun = main.aggregator.begin(Main::pointer(1, false));
    assert_eq!(begun.wanted, Wanted::Description);
    main.describe("com.example.Inner", 1);
    let history = main.history();
    let details: Vec<_> =
        history[0].details.iter().map(|d| (d.token.0, d.end, d.message.is_some())).collect();
    assert_eq!(details, [(2, End::Missed, true), (1, End::Missed, false)]);
}

#[test]
fn without_marks_a_start_in_a_message_is_a_lost_end() {
    let mut main = Main::new(&Config::default());
    for _ in 0..20 {
        let _ = main.aggregator.begin(StackPointer::UNKNOWN);
        main.compute(MS);
    }
    main.begin(1);
    let _ = main.aggregator.begin(StackPointer::UNKNOWN);
    assert_eq!(main.aggregator.depth(), 1);
    let _ = main.aggregator.end(StackPointer::UNKNOWN, None, End::Returned);
    assert_eq!(main.aggregator.depth(), 0);
    assert_eq!(main.history().iter().map(|record| record.count).sum::<u32>(), 22);
}

#[test]
fn nesting_without_end_is_bounded() {
    let mut main = Main::new(&Config::default());
    for depth in 1..100 {
        main.begin(depth);
        main.compute(MS);
        assert!(main.aggregator.depth() <= 8);
    }
    for depth in (1..100).rev() {
        let _ = main.end(depth);
    }
    assert_eq!(main.aggregator.depth(), 0);
    assert_eq!(main.history().iter().map(|record| record.count).sum::<u32>(), 99);
}
