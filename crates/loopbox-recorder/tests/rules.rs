//! Qimao's rules at their boundaries, and what Loopbox adds to them.

mod common;

use common::{MS, Main, kinds};
use loopbox_format::model::{Component, End, NamedBy, RecordKind, Slowest, Token, Uptime};
use loopbox_recorder::{Config, Described, Keep, StackPointer, Wanted};

#[test]
fn rule_1_short_messages_only_count() {
    let mut main = Main::new(&Config::default());
    for _ in 0..9 {
        main.message(49 * MS);
    }
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 7, 343), (RecordKind::Group, 8, 2, 98)]);
    assert!(history.iter().all(|record| record.details.is_empty() && record.dropped_details == 0));
    assert_eq!(history[0].slowest, Some(Slowest { token: Token(1), wall_ns: 49 * MS }));
}

#[test]
fn rule_1_a_group_ends_when_its_work_reaches_the_threshold() {
    let mut main = Main::new(&Config::default());
    for work in [150 * MS, 150 * MS - 1, 1, 299 * MS, 7] {
        main.message(work);
    }
    let counts: Vec<_> = main.history().iter().map(|record| (record.count, record.work_ns)).collect();
    assert_eq!(counts, [(3, 300 * MS), (2, 299 * MS + 7)]);
}

#[test]
fn rule_2_longer_messages_are_named_inside_of_the_group() {
    let mut main = Main::new(&Config::default());
    for work in [50 * MS, 50 * MS - 1, 10 * MS, 299 * MS] {
        main.message(work);
    }
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 4, 408)]);
    let named: Vec<_> = history[0]
        .details
        .iter()
        .map(|detail| (detail.token.0, detail.wall_ns / MS, detail.message.as_ref().unwrap().target.as_str()))
        .collect();
    assert_eq!(named, [(1, 50, "com.example.H1"), (4, 299, "com.example.H4")]);
    assert_eq!(history[0].slowest, Some(Slowest { token: Token(4), wall_ns: 299 * MS }));
}

#[test]
fn rule_3_a_long_message_ends_the_group_and_stands_alone() {
    let mut main = Main::new(&Config::default());
    for work in [20, 300, 300, 20] {
        main.message(work * MS);
    }
    let history = main.history();
    assert_eq!(
        kinds(&history),
        [
            (RecordKind::Group, 1, 1, 20),
            (RecordKind::Single, 2, 1, 300),
            (RecordKind::Single, 3, 1, 300),
            (RecordKind::Group, 4, 1, 20),
        ]
    );
    assert_eq!(history.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let single = &history[1];
    assert_eq!((single.details.len(), single.details[0].token.0), (1, 2));
    assert_eq!(single.wall_ns, 300 * MS);
    assert!(history.iter().all(|record| record.closed));
}

#[test]
fn short_gaps_belong_to_the_group_that_they_lie_in() {
    let mut main = Main::new(&Config::default());
    let start = main.now();
    main.message(10 * MS);
    main.pass(299 * MS);
    main.message(20 * MS);
    main.pass(100 * MS);
    let single = main.message(400 * MS);
    let history = main.history();
    let group = &history[0];
    assert_eq!(
        (group.start_ns, group.wall_ns, group.work_ns, group.idle_ns),
        (start, 329 * MS, 30 * MS, 299 * MS)
    );
    // The gap before a message that stands alone is in neither record.
    assert_eq!(history[1].first_token, Token(single));
    assert_eq!(history[1].start_ns, group.start_ns + group.wall_ns + 100 * MS);
    assert_eq!((history[1].wall_ns, history[1].idle_ns), (400 * MS, 0));
}

#[test]
fn a_long_gap_is_a_record_and_a_very_long_one_a_frozen_process() {
    let mut main = Main::new(&Config::default());
    main.message(10 * MS);
    main.pass(300 * MS);
    main.message(10 * MS);
    main.pass(60_000 * MS);
    main.message(10 * MS);
    main.pass(60_000 * MS + 1);
    main.message(10 * MS);
    let history = main.history();
    let group = |token| (RecordKind::Group, token, 1, 10);
    assert_eq!(
        kinds(&history),
        [
            group(1),
            (RecordKind::Idle, 2, 0, 0),
            group(2),
            (RecordKind::Idle, 3, 0, 0),
            group(3),
            (RecordKind::Frozen, 4, 0, 0),
            group(4),
        ]
    );
    assert_eq!((history[1].wall_ns, history[1].idle_ns), (300 * MS, 300 * MS));
    assert!(history.windows(2).all(|pair| pair[0].start_ns + pair[0].wall_ns == pair[1].start_ns));
}

#[test]
fn time_before_the_first_message_is_not_idle() {
    let mut main = Main::new(&Config::default());
    main.pass(5_000 * MS);
    assert_eq!(main.end(1), Wanted::Nothing, "the hook was set inside of a message");
    main.pass(5_000 * MS);
    main.message(MS);
    assert_eq!(kinds(&main.history()), [(RecordKind::Group, 1, 1, 1)]);
}

#[test]
fn component_messages_are_named_however_short() {
    let mut main = Main::new(&Config::default());
    main.begin(1);
    main.compute(MS);
    assert_eq!(main.end(1), Wanted::Nothing);
    main.describe("android.app.ActivityThread$H", 159);
    main.describe("android.app.ActivityThread$H", 160);
    main.begin(1);
    main.compute(MS);
    assert_eq!(main.end(1), Wanted::Nothing);
    main.describe("com.example.H", 1);
    let history = main.history();
    assert_eq!(history[0].details.len(), 1, "described once, and only the component message");
    let message = history[0].details[0].message.clone().unwrap();
    assert_eq!((message.component, message.what), (Some(Component::ActivityThread), Some(159)));
    assert_eq!(history[0].details[0].token, Token(1));
}

#[test]
fn a_description_reaches_the_record_that_its_message_filled() {
    let mut main = Main::new(&Config::default());
    main.message(290 * MS);
    main.begin(1);
    main.compute(10 * MS);
    assert_eq!(main.end(1), Wanted::Nothing);
    assert_eq!(main.environment().closed.len(), 0, "full, but it waits for a name");
    main.describe("android.app.ActivityThread$H", 114);
    assert_eq!(main.environment().closed.len(), 1);
    assert_eq!(main.environment().closed[0].details[1].message.as_ref().unwrap().what, Some(114));

    main.begin(1);
    main.compute(500 * MS);
    assert_eq!(main.end(1), Wanted::Description);
    assert_eq!(main.environment().closed.len(), 1);
    assert_eq!(
        main.environment().open.as_ref().unwrap().kind,
        RecordKind::Single,
        "visible although not closed"
    );
    main.begin(1);
    assert_eq!(main.environment().closed.len(), 2, "no name came before the next message");
    assert_eq!(main.environment().closed[1].details[0].message, None);
    main.describe("com.example.Late", 1);
    assert_eq!(main.environment().closed.len(), 2);
}

#[test]
fn wait_is_known_when_when_is() {
    let mut main = Main::new(&Config::default());
    let mut waits = Vec::new();
    for when_ns in
        [None, Some(0), Some(1_000_000 * MS - 5), Some(u64::MAX)].map(|when_ns| when_ns.map(Uptime))
    {
        main.environment().now_ns = Uptime(1_000_000 * MS);
        let _ = main.aggregator.begin(StackPointer::UNKNOWN);
        main.compute(60 * MS);
        let _ = main.aggregator.end(StackPointer::UNKNOWN, when_ns, End::Returned);
        waits.push(main.environment().open.as_ref().unwrap().details.last().unwrap().wait_ns);
        main.aggregator.finish();
    }
    assert_eq!(waits, [None, None, Some(5), Some(0)]);
}

#[test]
fn details_are_bounded_and_the_rest_is_counted() {
    let mut main = Main::new(&Config { details_per_record: 3, ..Config::default() });
    for what in [100, 101, 102, 103] {
        main.begin(1);
        main.compute(if what == 101 { MS } else { 2 * MS });
        assert_eq!(main.end(1), Wanted::Nothing);
        main.describe("android.app.ActivityThread$H", what);
    }
    // A long message takes the place of the shortest component message.
    main.message(60 * MS);
    let history = main.history();
    let kept: Vec<_> =
        history[0].details.iter().map(|d| (d.token.0, d.message.as_ref().unwrap().what)).collect();
    assert_eq!(kept, [(1, Some(100)), (3, Some(102)), (5, Some(7))]);
    assert_eq!(history[0].dropped_details, 2);

    let mut main = Main::new(&Config { details_per_record: 1, ..Config::default() });
    main.message(70 * MS);
    main.begin(1);
    main.compute(50 * MS);
    assert_eq!(main.end(1), Wanted::Nothing, "no room for it, so no need to read its name");
    let history = main.history();
    assert_eq!((history[0].details.len(), history[0].dropped_details), (1, 1));
}

/// The record has room for eight names. The slowest message gets one of them, although eight messages that
/// threw an exception came before it.
#[test]
fn the_slowest_message_of_a_record_has_its_name() {
    let mut main = Main::new(&Config::default());
    for what in 0..8 {
        main.begin(1);
        main.compute(if what == 5 { MS } else { 20 * MS });
        assert_eq!(main.aggregator.end(Main::pointer(1, true), None, End::Threw), Wanted::Description);
        main.describe("com.example.Thrower", what);
    }
    main.begin(1);
    main.compute(60 * MS);
    assert_eq!(main.end(1), Wanted::Description);
    main.describe("com.example.Slow", 8);
    let history = main.history();
    let kept: Vec<_> = history[0].details.iter().filter_map(|d| d.message.as_ref().unwrap().what).collect();
    assert_eq!(kept, [0, 1, 2, 3, 4, 6, 7, 8]);
    assert_eq!((history[0].slowest.unwrap().token.0, history[0].dropped_details), (9, 1));
}

#[test]
fn frames_leave_room_for_what_is_rarer() {
    let mut main = Main::new(&Config { details_per_record: 2, ..Config::default() });
    let mut short = |target: &str, what| {
        main.begin(1);
        main.compute(8 * MS);
        assert_eq!(main.end(1), Wanted::Nothing);
        main.describe(target, what);
    };
    for frame in 0..10 {
        short("android.view.Choreographer$FrameHandler", frame);
    }
    short("android.app.ActivityThread$H", 159);
    short("android.view.Choreographer$FrameHandler", 11);
    let history = main.history();
    let kept: Vec<_> = history[0].details.iter().map(|d| d.message.as_ref().unwrap().what).collect();
    assert_eq!((kept, history[0].dropped_details, history[0].count), (vec![Some(1), Some(159)], 0, 12));
}

#[test]
fn only_names_that_may_be_kept_are_kept() {
    let mut main = Main::new(&Config { keep: Keep::ComponentsOnly, ..Config::default() });
    main.message(60 * MS);
    main.begin(1);
    main.compute(60 * MS);
    assert_eq!(main.end(1), Wanted::Description);
    let receiver = "android.app.LoadedApk$ReceiverDispatcher$Args";
    let described = Described {
        target: "android.os.Handler",
        callback: receiver,
        what: Some(0),
        named_by: NamedBy::Printer,
    };
    main.aggregator.describe(&described);
    let history = main.history();
    assert_eq!(history[0].details[0].message, None);
    assert_eq!(history[0].details[1].message.as_ref().unwrap().component, Some(Component::Receiver));
}

#[test]
fn a_gap_in_which_the_hook_was_out_is_unseen_and_no_idle_time_of_a_later_one() {
    let mut main = Main::new(&Config::default());
    main.message(MS);
    main.pass(5_000 * MS);
    main.environment().unseen_ns = main.now();
    main.pass(10 * MS);
    main.message(MS);
    main.pass(2_000 * MS);
    main.message(MS);
    let history = main.history();
    let gaps: Vec<_> = history.iter().filter(|r| r.count == 0).map(|r| (r.kind, r.wall_ns / MS)).collect();
    assert_eq!(gaps, [(RecordKind::Unseen, 5_010), (RecordKind::Idle, 2_000)]);
}

#[test]
fn details_are_written_only_when_they_change() {
    let mut main = Main::new(&Config::default());
    let mut writes = Vec::new();
    for work in [1, 1, 60, 1] {
        main.message(work * MS);
        writes.push(std::mem::take(&mut main.environment().detail_writes));
    }
    // A new record; nothing; a detail, then its name; nothing.
    assert_eq!(writes, [1, 0, 2, 0]);
}

#[test]
fn a_throwing_message_is_kept_with_its_end() {
    let mut main = Main::new(&Config::default());
    main.begin(1);
    main.compute(MS);
    assert_eq!(main.aggregator.end(Main::pointer(1, true), None, End::Threw), Wanted::Description);
    let history = main.history();
    assert_eq!((history[0].details[0].end, history[0].details[0].message.clone()), (End::Threw, None));
}

#[test]
fn cpu_time_is_read_at_record_ends_only() {
    let mut main = Main::with_cpu(&Config::default(), Some(7_000));
    let after_install = main.environment().cpu_reads.get();
    for _ in 0..29 {
        main.begin(1);
        main.compute(8 * MS);
        main.pass(2 * MS);
        let _ = main.end(1);
    }
    assert_eq!(main.environment().cpu_reads.get(), after_install);
    main.message(10 * MS);
    assert_eq!(main.environment().cpu_reads.get(), after_install + 1);
    let history = main.history();
    assert_eq!((history[0].work_ns, history[0].cpu_ns), (300 * MS, Some((29 * 8 + 10) * MS)));
}

#[test]
fn cpu_time_of_neighbours_read_together_is_recorded_only_where_it_is_known() {
    let cpu = |before_ms: u64, single_ms: u64| {
        let mut main = Main::with_cpu(&Config::default(), Some(0));
        main.message(before_ms * MS);
        main.message(single_ms * MS);
        main.history().iter().map(|record| record.cpu_ns.map(|cpu| cpu / MS)).collect::<Vec<_>>()
    };
    // The group is at most an eighth as long as what follows: its time makes no difference.
    assert_eq!(cpu(50, 400), [None, Some(400)]);
    assert_eq!(cpu(51, 400), [None, None]);

    let mut main = Main::with_cpu(&Config::default(), Some(0));
    main.message(300 * MS);
    main.pass(400 * MS);
    main.message(310 * MS);
    assert_eq!(
        main.history().iter().map(|record| record.cpu_ns).collect::<Vec<_>>(),
        [Some(300 * MS), Some(0), Some(310 * MS)]
    );
    let mut main = Main::new(&Config::default());
    main.message(300 * MS);
    assert_eq!(main.history()[0].cpu_ns, None, "unknown is not zero");
}

#[test]
fn the_samplers_lateness_is_counted_in_the_record_that_it_fell_into() {
    let mut main = Main::new(&Config::default());
    main.environment().late_ns = Some(450 * MS);
    main.message(300 * MS);
    main.message(300 * MS);
    let late: Vec<_> = main.history().iter().map(|record| record.checktime_late_ns).collect();
    assert_eq!(late, [Some(450 * MS), None]);
}

#[test]
fn a_clock_that_goes_back_is_taken_for_standing_still() {
    let mut main = Main::new(&Config::default());
    main.message(10 * MS);
    main.environment().now_ns -= 5_000 * MS;
    main.message(10 * MS);
    main.begin(1);
    main.environment().now_ns = Uptime::ZERO;
    let _ = main.end(1);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 3, 10)]);
    assert_eq!(history[0].wall_ns, history[0].work_ns + history[0].idle_ns);
}

#[test]
fn names_are_cut_to_what_a_record_can_hold() {
    let mut main = Main::new(&Config::default());
    for _ in 0..8 {
        main.begin(1);
        main.compute(MS);
        let _ = main.aggregator.end(Main::pointer(1, true), Some(Uptime(1)), End::Threw);
        main.describe(&"com.example.Überlang".repeat(5_000), i32::MIN);
    }
    // The environment checks that the record still fits its slot.
    let history = main.history();
    assert_eq!(history[0].details.len(), 8);
    assert!(history[0].details.iter().all(|detail| detail.message.as_ref().unwrap().target.ends_with('…')));
}

#[test]
fn finishing_closes_what_is_open_and_recording_goes_on() {
    let mut main = Main::new(&Config::default());
    main.message(MS);
    main.begin(1);
    main.compute(MS);
    main.aggregator.finish();
    assert_eq!((main.aggregator.depth(), main.environment().closed.len()), (0, 1));
    main.aggregator.finish();
    assert_eq!(main.environment().closed.len(), 1);
    main.pass(10_000 * MS);
    assert_eq!(main.message(MS), 3);
    let history = main.history();
    assert_eq!(kinds(&history), [(RecordKind::Group, 1, 1, 1), (RecordKind::Group, 3, 1, 1)]);
}

#[test]
fn input_outside_of_messages_takes_the_room_that_is_left() {
    for (keep, target) in [(Keep::Names, "com.example.Main"), (Keep::ComponentsOnly, "")] {
        let config = Config { details_per_record: 2, keep, ..Config::default() };
        let mut main = Main::new(&config);
        let touch =
            Described { target: "com.example.Main", callback: "", what: None, named_by: NamedBy::Window };
        for ms in [1, 2, 3] {
            main.begin(1);
            main.compute(ms * MS);
            assert_eq!(main.aggregator.end_all(End::Returned), Wanted::Nothing);
            main.aggregator.describe(&touch);
        }
        main.begin(1);
        main.compute(70 * MS);
        assert_eq!(main.aggregator.end_all(End::Returned), Wanted::Description);
        main.aggregator.describe(&touch);
        let history = main.history();
        let details = &history[0].details;
        assert_eq!(details.iter().map(|d| d.token.0).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(history[0].dropped_details, 0);
        let message = details[1].message.as_ref().unwrap();
        assert_eq!((&*message.target, message.component), (target, Some(Component::Input)));
        assert_eq!((message.what, message.named_by), (None, NamedBy::Window));
    }
}
