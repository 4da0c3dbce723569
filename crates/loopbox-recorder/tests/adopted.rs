//! The message that recording begins in.

mod common;

use common::{MS, Main, State, kinds};
use loopbox_format::model::{Component, End, RecordKind, Token};
use loopbox_recorder::{AdoptedMessage, Config, Wanted};

#[test]
fn the_message_that_recording_begins_in_is_one_like_others() {
    let mut main = Main::with_cpu(&Config::default(), Some(80 * MS));
    let start_ns = main.now() - 100 * MS;
    main.aggregator.adopt(&AdoptedMessage { start_ns, cpu_ns: Some(0), binds: true });
    assert_eq!(main.environment().states, [State::Running { token: 1, start_ns, depth: 1 }]);
    main.compute(250 * MS);
    // A loop inside of it, and a message whose end is not reported.
    assert_eq!(main.begin(2), 2);
    main.compute(20 * MS);
    assert_eq!(main.end(2), Wanted::Nothing);
    assert_eq!(main.begin(2), 3);
    main.compute(10 * MS);
    // The Looper takes the next message.
    assert_eq!(main.aggregator.begin_outermost(Main::pointer(1, false)).token, Token(4));
    main.compute(MS);
    assert_eq!(main.end(1), Wanted::Nothing);
    assert_eq!(main.environment().next, 5);

    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Single, 1, 1, 350), (RecordKind::Group, 2, 3, 31)]);
    assert_eq!(history[0].cpu_ns, Some(330 * MS));
    let details = &history[1].details;
    assert_eq!(
        details.iter().map(|d| (d.token.0, d.end)).collect::<Vec<_>>(),
        [(3, End::Missed), (1, End::Returned)]
    );
    let bind = &details[1];
    assert_eq!((bind.start_ns, bind.wall_ns, bind.wait_ns), (start_ns, 380 * MS, None));
    let message = bind.message.as_ref().unwrap();
    assert_eq!((message.what, message.component), (Some(110), Some(Component::ActivityThread)));
}

#[test]
fn the_first_message_ends_when_the_queue_is_empty() {
    let mut main = Main::new(&Config::default());
    let start_ns = main.now();
    main.aggregator.adopt(&AdoptedMessage { start_ns, cpu_ns: None, binds: false });
    main.pass(60 * MS);
    assert_eq!(main.aggregator.end_all(End::Returned), Wanted::Nothing);
    assert_eq!(main.environment().states.last(), Some(&State::Idle { since_ns: start_ns + 60 * MS }));
    assert_eq!(main.aggregator.end_all(End::Returned), Wanted::Nothing, "once");
    // Too late, and not before that either.
    main.aggregator.adopt(&AdoptedMessage { start_ns, cpu_ns: None, binds: true });
    assert_eq!(main.aggregator.depth(), 0);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 1, 60)]);
    assert_eq!((history[0].details[0].token.0, &history[0].details[0].message), (1, &None));
}
