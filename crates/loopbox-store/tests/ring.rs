//! A ring in one process: what is written can be read back, live and from the file's bytes.

mod common;

use common::{details, file_of, group, message, options, record, symbols, tree};
use loopbox_format::display_frames::encode_session;
use loopbox_format::model::{
    Breadcrumb, Detail, DumpReason, Feature, FeatureState, FrameGesture, FrameScene, FrameSession, JankFrame,
    MainState, Message, Meta, Outside, Pending, PendingSource, RecentFrame, Record, Running, StageFrame,
    Token, Uptime,
};
use loopbox_store::{
    Fidelity, FuseState, Geometry, Identity, Recovered, Ring, RingOptions, StoreError, recover,
};
use proptest::prelude::*;
use std::fs;

fn from_file(ring: &mut Ring) -> Recovered {
    recover(&file_of(ring)).unwrap()
}

fn close(ring: &mut Ring, seq: u64) {
    ring.main.close(&record(seq), &record(seq).details).unwrap();
}

#[test]
fn a_new_ring_is_empty_and_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let options = options(dir.path());
    let mut ring = Ring::create(&options);
    assert_eq!((ring.reader.path(), fs::read_dir(dir.path()).unwrap().count()), (None, 0), "memory at first");
    ring.mirror.attach().unwrap();
    ring.mirror.attach().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(fs::metadata(ring.reader.path().unwrap()).unwrap().len(), ring.reader.size() as u64);
    for (in_file, seen) in [(false, ring.reader.snapshot(Uptime::ZERO)), (true, from_file(&mut ring))] {
        let Identity { start_ticks, boot_id, .. } = seen.identity;
        assert_eq!(seen.identity, Identity { start_ticks, boot_id, ..options.identity });
        assert_eq!((start_ticks != 0, boot_id != [0; 16]), (in_file, in_file), "they take files to read");
        assert_eq!(seen.report.main, MainState::Unknown);
        assert_eq!(seen.report.history, []);
        assert_eq!(seen.fuse, FuseState::Unused);
        assert_eq!((seen.damage, seen.torn, seen.crash), (vec![], 0, None));
    }
}

#[test]
fn everything_written_is_there_live_and_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    for seq in 1..=250 {
        close(&mut ring, seq);
    }
    ring.main.open_details(251, &details(2511, 3)).unwrap();
    ring.main.open(&group(251)).unwrap();
    ring.main.running(Token(2520), Uptime(251_500), 1).unwrap();
    let running = Running {
        token: Token(2520),
        start_ns: Uptime(251_500),
        as_of_ns: Uptime(300_000),
        cpu_ns: Some(7),
        depth: 1,
        message: Some(message(3)),
    };
    ring.worker.running(&running).unwrap();
    for token in 1..=12 {
        assert_eq!(ring.worker.keep_tree(&symbols(), &tree(token, 95)).unwrap(), Fidelity::Whole);
    }
    ring.worker.running_tree(&symbols(), &tree(2520, 5)).unwrap();
    let meta = Meta { producer: "test".into(), ..Meta::default() };
    ring.worker.meta(&meta).unwrap();
    let features = [FeatureState { feature: Feature::Ring, on: true, detail: "mapped".into() }];
    ring.worker.features(&features).unwrap();
    let pending = Pending {
        source: PendingSource::LooperDump,
        captured_ns: Uptime(5),
        lines: vec!["one".into()],
        dropped_lines: 0,
    };
    ring.worker.pending(&pending).unwrap();
    ring.fuse.arm(6, Uptime(1));
    ring.fuse.mark(1, Uptime(1));
    ring.fuse.mark(0, Uptime(2));
    ring.fuse.settle();
    ring.reader.heartbeat(Uptime(4_000_000));

    let dead = from_file(&mut ring);
    assert_eq!(dead.report.meta.reason, DumpReason::Recovered { crash_signal: None });
    assert_eq!(dead.report.meta.dumped_at.uptime_ns, Uptime(4_000_000));
    for seen in [ring.reader.snapshot(Uptime::ZERO), dead] {
        assert_eq!(seen.damage, []);
        let seqs: Vec<u64> = seen.report.history.iter().map(|r| r.seq).collect();
        assert_eq!(seqs, (151..=251).collect::<Vec<_>>());
        assert_eq!(seen.report.history[0], record(151));
        let open = seen.report.history.last().unwrap();
        assert_eq!(*open, Record { details: details(2511, 3), ..group(251) });
        assert_eq!(
            seen.report.main,
            MainState::Running(Running { as_of_ns: Uptime(4_000_000), ..running.clone() })
        );
        assert_eq!(seen.running_ns(), Some(4_000_000 - 251_500));
        let tokens: Vec<u64> = seen.report.trees.iter().map(|t| t.token.0).collect();
        assert_eq!(tokens, (1..=12).chain([2520]).collect::<Vec<u64>>());
        assert_eq!(seen.report.symbols.methods.len(), 3, "the names of all trees are joined");
        assert_eq!(seen.report.meta.producer, "test");
        assert_eq!((&seen.report.features[..], &seen.report.pending), (&features[..], &pending));
        assert_eq!(seen.fuse, FuseState::Closed);
    }
}

#[test]
fn a_message_that_was_counted_is_not_shown_as_running() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let runs = |ring: &mut Ring| matches!(from_file(ring).report.main, MainState::Running(_));
    // Killed after the group has counted message 19 and before the cell says so.
    ring.main.running(Token(19), Uptime(1_500), 1).unwrap();
    ring.main.open(&group(1)).unwrap();
    assert!(!runs(&mut ring));
    // A message so long that it closes the group before: that group does not count it.
    ring.main.running(Token(20), Uptime(2_500), 1).unwrap();
    assert!(runs(&mut ring));
    close(&mut ring, 1);
    assert!(runs(&mut ring));
    ring.main.open(&group(2)).unwrap();
    assert!(!runs(&mut ring));
    // Killed after the record that counts it has closed.
    ring.main.running(Token(29), Uptime(2_500), 1).unwrap();
    close(&mut ring, 2);
    assert!(!runs(&mut ring));
    assert_eq!(from_file(&mut ring).report.history, [record(1), record(2)], "the group is not shown twice");
}

#[test]
fn a_message_that_ended_stays_ended_whatever_is_written_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let idle = |ring: &mut Ring, since_ns| {
        for seen in [from_file(ring), ring.reader.snapshot(Uptime::ZERO)] {
            assert_eq!(seen.report.main, MainState::Idle { since_ns });
        }
    };
    // The group has counted it: nothing more is to be written, and the group's end is the message's.
    ring.main.running(Token(19), Uptime(1_500), 1).unwrap();
    ring.main.open(&group(1)).unwrap();
    ring.main.idle(Uptime(2_000)).unwrap();
    idle(&mut ring, Uptime(2_000));
    // Its name comes, the group closes, another one opens: none of these brings it back.
    ring.main.open(&group(1)).unwrap();
    idle(&mut ring, Uptime(2_000));
    close(&mut ring, 1);
    idle(&mut ring, Uptime(2_000));
    ring.main.open(&Record { count: 0, ..group(2) }).unwrap();
    idle(&mut ring, Uptime(3_000));
    close(&mut ring, 2);
    idle(&mut ring, Uptime(3_000));
    // One that no record counts yet ends by a separate word.
    ring.main.running(Token(40), Uptime(3_500), 1).unwrap();
    ring.main.idle(Uptime(3_700)).unwrap();
    idle(&mut ring, Uptime(3_700));
}

#[test]
fn a_number_that_was_taken_back_is_of_a_message_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    ring.main.running(Token(39), Uptime(1_000), 1).unwrap();
    ring.main.next_is(Token(40));
    ring.main.idle(Uptime(1_100)).unwrap();
    // A poll has returned for nothing; the rest after it has a separate record.
    ring.main.running(Token(40), Uptime(1_200), 1).unwrap();
    ring.main.next_is(Token(40));
    ring.main.idle(Uptime(1_100)).unwrap();
    close(&mut ring, 1);
    ring.main.running(Token(40), Uptime(5_000), 1).unwrap();
    for seen in [from_file(&mut ring), ring.reader.snapshot(Uptime(5_100))] {
        let MainState::Running(running) = seen.report.main else { panic!("{:?}", seen.report.main) };
        assert_eq!((running.token, running.start_ns), (Token(40), Uptime(5_000)));
    }
}

#[test]
fn what_was_known_of_a_number_that_was_taken_back_is_not_its_next_messages() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    ring.main.running(Token(40), Uptime(1_000), 1).unwrap();
    let (token, start_ns, as_of_ns) = (Token(40), Uptime(1_000), Uptime(3_000));
    let described =
        Running { token, start_ns, as_of_ns, cpu_ns: Some(7), depth: 1, message: Some(message(3)) };
    ring.worker.running(&described).unwrap();
    assert_eq!(from_file(&mut ring).report.main, MainState::Running(described));
    ring.main.next_is(Token(40));
    ring.main.idle(Uptime(900)).unwrap();
    ring.main.running(Token(40), Uptime(5_000), 1).unwrap();
    let (start_ns, as_of_ns) = (Uptime(5_000), Uptime(5_000));
    let running = Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None };
    assert_eq!(from_file(&mut ring).report.main, MainState::Running(running));
}

#[test]
fn a_message_around_a_loop_does_not_run_while_none_in_that_loop_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let runs = |ring: &mut Ring| match from_file(ring).report.main {
        MainState::Running(running) => running.token,
        _ => Token(0),
    };
    ring.main.running(Token(12), Uptime(1_200), 1).unwrap();
    assert_eq!(runs(&mut ring), Token(12));
    // Its first part is counted when the loop inside of it waits or has a message.
    ring.main.open(&Record { count: 3, ..group(1) }).unwrap();
    ring.main.idle(Uptime(1_250)).unwrap();
    assert_eq!(runs(&mut ring), Token(0), "killed here, it was no hang");
    for inner in 13..20 {
        ring.main.running(Token(inner), Uptime(1_300), 2).unwrap();
        assert_eq!(runs(&mut ring), Token(inner));
        ring.main.open(&Record { count: inner as u32 - 9, ..group(1) }).unwrap();
        ring.main.idle(Uptime(1_400)).unwrap();
        assert_eq!(runs(&mut ring), Token(0));
    }
    // It goes on when that loop was left, which the stall monitor has found.
    let outside = Outside {
        token: Token::outside_before(Token(20)),
        after_ns: Uptime(1_400),
        start_ns: None,
        as_of_ns: Uptime(4_000),
        cpu_ns: None,
    };
    ring.worker.outside(Some(&outside)).unwrap();
    assert_eq!(from_file(&mut ring).report.main, MainState::Outside(outside));
    close(&mut ring, 1);
    ring.main.idle(Uptime(2_100)).unwrap();
    ring.main.running(Token(20), Uptime(2_200), 1).unwrap();
    ring.main.open(&Record { count: 1, ..group(2) }).unwrap();
    assert_eq!(runs(&mut ring), Token(0), "the group counts an ordinary one when it has ended");
}

#[test]
fn what_runs_outside_of_messages_is_published_until_it_is_over_or_a_message_begins() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let both = |ring: &mut Ring| [from_file(ring), ring.reader.snapshot(Uptime::ZERO)];
    let outside = |next, after_ns, as_of_ns| Outside {
        token: Token::outside_before(next),
        after_ns,
        start_ns: Some(after_ns + 1),
        as_of_ns,
        cpu_ns: None,
    };
    // Before the first message.
    ring.worker.outside(Some(&outside(Token(1), Uptime(100), Uptime(5_000)))).unwrap();
    for seen in both(&mut ring) {
        assert_eq!(seen.report.main, MainState::Outside(outside(Token(1), Uptime(100), Uptime(5_000))));
        assert_eq!((seen.last_alive_ns, seen.running_ns()), (Uptime(5_000), Some(4_899)));
    }
    ring.main.running(Token(1), Uptime(5_100), 1).unwrap();
    assert!(both(&mut ring).iter().all(|seen| matches!(seen.report.main, MainState::Running(_))));
    close(&mut ring, 1);
    ring.main.idle(Uptime(5_200)).unwrap();
    assert!(
        both(&mut ring).iter().all(|seen| matches!(seen.report.main, MainState::Idle { .. })),
        "of another gap"
    );

    let next = record(1).first_token.plus(record(1).count.into());
    ring.worker.outside(Some(&outside(next, Uptime(5_200), Uptime(6_000)))).unwrap();
    ring.reader.heartbeat(Uptime(2_000_000));
    for seen in both(&mut ring) {
        assert_eq!(seen.report.main, MainState::Outside(outside(next, Uptime(5_200), Uptime(2_000_000))));
    }
    ring.worker.outside(None).unwrap();
    assert!(both(&mut ring).iter().all(|seen| matches!(seen.report.main, MainState::Idle { .. })));
}

#[test]
fn details_of_the_group_before_are_not_taken_for_those_of_the_open_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    ring.main.open_details(1, &details(1, 2)).unwrap();
    close(&mut ring, 1);
    ring.main.open(&group(2)).unwrap();
    let history = from_file(&mut ring).report.history;
    assert_eq!((history[1].seq, history[1].details.len()), (2, 0));
}

#[test]
fn details_that_do_not_fit_are_left_out_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let long = |token| {
        let name = format!("com.example.{}", "x".repeat(230));
        Detail { message: Some(Message { target: name, ..message(1) }), ..details(token, 1).remove(0) }
    };
    let details: Vec<Detail> = (1..=8).map(long).collect();
    ring.main.close(&Record { dropped_details: 2, ..record(1) }, &details).unwrap();
    ring.main.open_details(2, &details).unwrap();
    ring.main.open(&group(2)).unwrap();
    let seen = from_file(&mut ring);
    assert_eq!(seen.damage, []);
    let [closed, open] = &seen.report.history[..] else { panic!("{:?}", seen.report.history) };
    assert_eq!(closed.details, details[..5]);
    assert_eq!(closed.dropped_details, 2 + 3);
    assert_eq!(open.details, details[..5]);
}

#[test]
fn lists_that_do_not_fit_keep_their_beginning_and_a_queue_both_its_ends() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let line = |n: usize| format!("Message {n}: {}", "x".repeat(100));
    let lines: Vec<String> = (0..500).map(line).collect();
    let pending = Pending {
        source: PendingSource::LooperDump,
        captured_ns: Uptime(5),
        lines: lines.clone(),
        dropped_lines: 3,
    };
    ring.worker.pending(&pending).unwrap();
    let annotations: Vec<_> = lines.iter().map(|line| ("note".to_owned(), line.clone())).collect();
    ring.worker.meta(&Meta { annotations: annotations.clone(), ..Meta::default() }).unwrap();
    let report = from_file(&mut ring).report;
    let kept = report.pending.lines.len();
    assert!((65..80).contains(&kept), "{kept}");
    let first = kept.div_ceil(2);
    assert_eq!(report.pending.lines, [&lines[..first], &lines[500 - (kept - first)..]].concat());
    assert_eq!(report.pending.dropped_lines as usize, 3 + 500 - kept);
    let kept = report.meta.annotations.len();
    assert!((14..18).contains(&kept), "{kept}");
    assert_eq!(report.meta.annotations, annotations[..kept]);
}

/// 64 breadcrumbs of 40 letters fit. Of longer breadcrumbs only the newest fit.
#[test]
fn breadcrumbs_that_do_not_fit_keep_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let trail = |letter: &str| -> Vec<Breadcrumb> {
        let name = |nth: u64| format!("{nth:04}{}", letter.repeat(36));
        (0..64).map(|nth| Breadcrumb { at_ns: Uptime((1 << 50) + nth), name: name(nth) }).collect()
    };
    ring.worker.breadcrumbs(&trail("x")).unwrap();
    assert_eq!(from_file(&mut ring).report.breadcrumbs, trail("x"));
    let wide = trail("\u{4e2d}");
    ring.worker.breadcrumbs(&wide).unwrap();
    let kept = from_file(&mut ring).report.breadcrumbs;
    assert!((25..40).contains(&kept.len()), "{}", kept.len());
    assert_eq!(kept, wide[64 - kept.len()..]);
}

#[test]
fn a_tree_that_does_not_fit_is_refused_and_the_one_before_stands() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    ring.worker.running_tree(&symbols(), &tree(1, 5)).unwrap();
    let mut endless = symbols();
    endless.methods[3].name = "x".repeat(30_000);
    let refused = ring.worker.running_tree(&endless, &tree(2, 5)).unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused}");
    assert_eq!(from_file(&mut ring).report.trees[0].token, Token(1));
}

#[test]
fn a_tree_is_not_shown_twice_and_can_be_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    ring.worker.running_tree(&symbols(), &tree(7, 95)).unwrap();
    ring.worker.keep_tree(&symbols(), &tree(7, 95)).unwrap();
    let tokens = |ring: &mut Ring| from_file(ring).report.trees.iter().map(|t| t.token.0).collect::<Vec<_>>();
    assert_eq!(tokens(&mut ring), [7]);
    ring.worker.running_tree(&symbols(), &tree(8, 5)).unwrap();
    assert_eq!(tokens(&mut ring), [7, 8]);
    ring.worker.clear_running_tree().unwrap();
    assert_eq!(tokens(&mut ring), [7]);
}

#[test]
fn what_did_not_fit_of_a_tree_is_no_reason_to_shorten_the_next_one_of_that_number() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    let mut long = symbols();
    long.methods[3].signature = "x".repeat(30_000);
    assert_eq!(ring.worker.running_tree(&long, &tree(7, 5)).unwrap(), Fidelity::NamesOnly);
    assert_eq!(ring.worker.running_tree(&symbols(), &tree(7, 6)).unwrap(), Fidelity::NamesOnly);
    ring.worker.clear_running_tree().unwrap();
    assert_eq!(ring.worker.running_tree(&symbols(), &tree(7, 5)).unwrap(), Fidelity::Whole);
}

#[test]
fn new_trees_take_the_place_of_the_oldest() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    for token in 1..=120 {
        // Of one to five pages.
        let kept = ring.worker.keep_tree(&symbols(), &tree(token, 95 + token as u32 % 5 * 2000)).unwrap();
        assert_eq!(kept, Fidelity::Whole);
        let trees = from_file(&mut ring).report.trees;
        let tokens: Vec<u64> = trees.iter().map(|tree| tree.token.0).collect();
        let oldest = token.saturating_sub(tokens.len() as u64 - 1);
        assert_eq!(tokens, (oldest..=token).collect::<Vec<_>>(), "the latest, without a gap");
        assert!(token < 10 || tokens.len() >= 7, "{tokens:?}");
        assert_eq!(trees.last().unwrap().nodes.len(), 3);
    }
}

#[test]
fn a_crash_mark_travels_with_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = common::ring(&options(dir.path()));
    ring.reader.mark_crash(11);
    assert_eq!(from_file(&mut ring).report.meta.reason, DumpReason::Recovered { crash_signal: Some(11) });
}

/// A ring with room for display frames has them in its file. A ring without room refuses them, and its size
/// does not change.
#[test]
fn display_frames_are_in_the_file_where_there_is_room_for_them() {
    let frames = FrameSession {
        scenes: vec![FrameScene { frames: 83, ..FrameScene::default() }; 18],
        gestures: vec![FrameGesture { number: 7, ..FrameGesture::default() }; 16],
        janks: vec![JankFrame { duration_ns: 98_000_000, ..JankFrame::default() }; 32],
        recent: vec![RecentFrame { duration_us: 17_000, ..RecentFrame::default() }; 128],
        stages: vec![StageFrame { total_us: 9, ..StageFrame::default() }; 32],
    };
    for (frames_len, expected) in [(Geometry::FRAMES_LEN, frames.clone()), (0, FrameSession::default())] {
        let dir = tempfile::tempdir().unwrap();
        let geometry = Geometry { frames_len, ..Geometry::default() };
        let mut ring = common::ring(&RingOptions { geometry, ..options(dir.path()) });
        for session in [&FrameSession::default(), &frames] {
            let saved = ring.worker.frames(|slot| slot.extend(encode_session(session)));
            assert_eq!(saved.is_ok(), frames_len > 0);
        }
        let too_long = ring.worker.frames(|slot| slot.resize(Geometry::FRAMES_LEN as usize + 1, 1));
        assert!(too_long.is_err(), "what was saved before stands");
        let seen = from_file(&mut ring);
        assert_eq!(seen.report.frames, expected);
        assert_eq!((seen.damage, seen.torn), (vec![], 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The ring keeps 100 closed records by default, and at most 500 by the recorder's configuration. It
    /// keeps the open record in addition. It can make a file for every number that can be configured, also
    /// where there are display frames.
    #[test]
    fn the_ring_keeps_the_newest_records(
        slots in prop_oneof![Just(Geometry::default().records), Just(500), 10_u32..=500],
        frames_len in prop_oneof![Just(0), Just(Geometry::FRAMES_LEN)],
        closed in 0_u64..=600,
        open in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let geometry = Geometry { records: slots, frames_len, ..Geometry::default() };
        let mut ring = common::ring(&RingOptions { geometry, ..options(dir.path()) });
        for seq in 1..=closed {
            close(&mut ring, seq);
        }
        if open {
            ring.main.open(&group(closed + 1)).unwrap();
        }
        let oldest = closed.saturating_sub(slots.into()) + 1;
        let mut expected: Vec<_> = (oldest..=closed).map(record).collect();
        expected.extend(open.then(|| group(closed + 1)));
        for seen in [ring.reader.snapshot(Uptime::ZERO), from_file(&mut ring)] {
            prop_assert_eq!(&seen.report.history, &expected);
            prop_assert_eq!((&seen.damage[..], seen.torn), (&[][..], 0));
        }
    }
}

/// What the next process would read from the fuse if this one ended now.
fn fuse_in_file(ring: &Ring) -> FuseState {
    recover(&fs::read(ring.reader.path().unwrap()).unwrap()).unwrap().fuse
}

fn open_fuse(phase: u8, since_ms: u64) -> FuseState {
    FuseState::Open { phase, since_ns: Uptime(since_ms * 1_000_000) }
}

const MS: u64 = 1_000_000;

#[test]
fn the_fuse_is_in_the_file_before_and_after_and_in_memory_in_between() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = Ring::create(&options(dir.path()));
    // Before there is a file.
    ring.fuse.arm(6, Uptime(MS));
    ring.fuse.settle();
    ring.mirror.attach().unwrap();
    assert_eq!(fuse_in_file(&ring), FuseState::Unused);
    ring.fuse.arm(6, Uptime(5 * MS));
    assert_eq!(fuse_in_file(&ring), open_fuse(6, 5));
    for (phase, ms) in [(2, 6), (3, 7), (0, 8)] {
        ring.fuse.mark(phase, Uptime(ms * MS));
        assert_eq!(fuse_in_file(&ring), open_fuse(6, 5), "no system call while a thread is stopped");
    }
    assert_eq!(ring.reader.snapshot(Uptime::ZERO).fuse, FuseState::Closed);
    ring.mirror.copy().unwrap();
    assert_eq!(fuse_in_file(&ring), open_fuse(6, 5));
    ring.fuse.settle();
    assert_eq!(fuse_in_file(&ring), FuseState::Closed);
    // One that stays open, because a guard has let the thread go.
    ring.fuse.arm(6, Uptime(9 * MS));
    ring.fuse.mark(3, Uptime(10 * MS));
    ring.fuse.settle();
    assert_eq!(fuse_in_file(&ring), open_fuse(3, 10));
}

#[test]
fn of_a_stop_that_lasts_the_file_says_in_the_middle_of_what() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = Ring::create(&options(dir.path()));
    ring.mirror.attach().unwrap();
    ring.fuse.arm(6, Uptime(5_000 * MS));
    ring.fuse.mark(3, Uptime(5_000 * MS));
    ring.reader.heartbeat(Uptime(5_100 * MS));
    ring.mirror.copy().unwrap();
    assert_eq!(fuse_in_file(&ring), open_fuse(6, 5_000), "it may be over before that is written");
    ring.reader.heartbeat(Uptime(5_600 * MS));
    ring.mirror.copy().unwrap();
    assert_eq!(fuse_in_file(&ring), open_fuse(3, 5_000));
    let alive = recover(&fs::read(ring.reader.path().unwrap()).unwrap()).unwrap().last_alive_ns;
    assert_eq!(alive, Uptime(5_600 * MS));
    ring.fuse.mark(0, Uptime(5_700 * MS));
    ring.fuse.settle();
    ring.reader.heartbeat(Uptime(6_600 * MS));
    ring.mirror.copy().unwrap();
    assert_eq!(fuse_in_file(&ring), FuseState::Closed);
}

#[test]
fn a_crash_handler_says_in_the_middle_of_what() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = Ring::create(&options(dir.path()));
    ring.mirror.attach().unwrap();
    ring.fuse.arm(6, Uptime(5 * MS));
    ring.fuse.mark(3, Uptime(6 * MS));
    ring.reader.mark_crash(11);
    assert_eq!(fuse_in_file(&ring), open_fuse(3, 6));
}
