//! Work outside of messages, for a thread that is known not to have rested.

mod common;

use common::{MS, Main, State, kinds};
use loopbox_format::model::{RecordKind, Uptime};
use loopbox_recorder::{Config, Wanted};

/// The thread computes for `work_ns` outside of messages, then runs a message that takes `ns`.
fn after_work(main: &mut Main, work_ns: u64, ns: u64) {
    main.compute(work_ns);
    let _ = main.aggregator.begin_after_work(Main::pointer(1, false));
    main.compute(ns);
    assert_eq!(main.end(1), Wanted::Nothing);
}

#[test]
fn work_between_two_messages_is_that_of_their_group() {
    let mut main = Main::new(&Config::default());
    let _ = main.message(10 * MS);
    after_work(&mut main, 120 * MS, 10 * MS);
    // Less than what is kept of a message is idle, as with hooks that cannot know.
    after_work(&mut main, 49 * MS, 10 * MS);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 3, 150)]);
    assert_eq!((history[0].idle_ns, history[0].wall_ns), (49 * MS, 199 * MS));
    assert_eq!(history[0].slowest.map(|slowest| slowest.wall_ns), Some(10 * MS), "that is of messages");
}

#[test]
fn long_work_is_a_separate_record() {
    let mut main = Main::with_cpu(&Config::default(), Some(0));
    let _ = main.message(10 * MS);
    let ended = main.now();
    after_work(&mut main, 400 * MS, 10 * MS);
    let history = main.history();
    let expected =
        [(RecordKind::Group, 1, 1, 10), (RecordKind::Outside, 2, 0, 400), (RecordKind::Group, 2, 1, 10)];
    assert_eq!(kinds(&history), expected);
    let outside = &history[1];
    assert_eq!((outside.start_ns, outside.wall_ns, outside.idle_ns), (ended, 400 * MS, 0));
    assert_eq!(outside.cpu_ns, Some(400 * MS));
}

/// Work outside of messages does not join the group after it, and the group before it is full.
#[test]
fn work_after_a_full_group_is_a_separate_record() {
    let mut main = Main::new(&Config::default());
    let _ = main.message(150 * MS);
    let _ = main.message(150 * MS);
    after_work(&mut main, 60 * MS, 10 * MS);
    let expected =
        [(RecordKind::Group, 1, 2, 300), (RecordKind::Outside, 3, 0, 60), (RecordKind::Group, 3, 1, 10)];
    assert_eq!(kinds(&main.history()), expected);
}

#[test]
fn a_thread_that_rests_after_work_is_idle_from_then_on() {
    let mut main = Main::new(&Config::default());
    let _ = main.message(10 * MS);
    main.compute(400 * MS);
    main.aggregator.rest_after_work();
    let rests = main.now();
    assert_eq!(main.environment().states.last(), Some(&State::Idle { since_ns: rests }));
    main.pass(500 * MS);
    // Woken for nothing.
    let _ = main.begin(1);
    main.aggregator.retract();
    assert_eq!(main.environment().states.last(), Some(&State::Idle { since_ns: rests }));
    main.pass(500 * MS);
    let _ = main.message(10 * MS);
    let mut history = main.history();
    history.dedup_by_key(|record| record.seq);
    let kinds: Vec<_> = kinds(&history).iter().map(|record| record.0).collect();
    assert_eq!(kinds, [RecordKind::Group, RecordKind::Outside, RecordKind::Idle, RecordKind::Group]);
}

/// Time in which the process was frozen, or in which messages may have run unseen, does not count as work.
#[test]
fn what_is_not_known_is_no_work() {
    let mut main = Main::new(&Config::default());
    let _ = main.message(10 * MS);
    after_work(&mut main, 61_000 * MS, 10 * MS);
    main.environment().unseen_ns = Uptime(u64::MAX);
    after_work(&mut main, 400 * MS, 10 * MS);
    let kinds: Vec<_> = kinds(&main.history()).iter().map(|record| record.0).collect();
    assert_eq!(kinds[1], RecordKind::Frozen);
    assert!(kinds.contains(&RecordKind::Unseen) && !kinds.contains(&RecordKind::Outside), "{kinds:?}");
}

/// The work of a loop inside of a message belongs to that message.
#[test]
fn in_a_loop_inside_of_a_message_there_is_no_work_outside() {
    let mut main = Main::new(&Config::default());
    let _ = main.begin(1);
    let _ = main.begin(2);
    main.compute(MS);
    assert_eq!(main.end(2), Wanted::Nothing);
    main.compute(400 * MS);
    main.aggregator.rest_after_work();
    let _ = main.aggregator.begin_after_work(Main::pointer(2, false));
    main.compute(MS);
    assert_eq!(main.end(2), Wanted::Nothing);
    let _ = main.end(1);
    assert!(main.history().iter().all(|record| record.kind != RecordKind::Outside));
}
