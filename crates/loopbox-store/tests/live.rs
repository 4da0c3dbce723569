//! Reading a ring while its writers run.

mod common;

use common::{details, group, options, record, symbols, tree};
use loopbox_format::model::{MainState, Record, Uptime};
use loopbox_store::Ring;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Stops the writers when the reader's part ends, even by a panic.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The writers here never rest, unlike those of any app: a hundred thousand records instead of a few a
/// second.
#[test]
fn a_snapshot_is_consistent_while_everything_changes() {
    let dir = tempfile::tempdir().unwrap();
    let Ring { mut main, mut worker, fuse, reader, .. } = Ring::create(&options(dir.path()));
    main.idle(Uptime(1)).unwrap();
    let stop = AtomicBool::new(false);
    let closed = AtomicU64::new(0);
    let (mut snapshots, mut with_open) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for seq in 1.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let whole = group(seq);
                for count in 1..=10 {
                    let token = whole.first_token.plus(count.into()).previous();
                    main.running(token, Uptime(token.0 * 100), 1).unwrap();
                    if count == 3 {
                        main.open_details(seq, &details(whole.first_token.0, 3)).unwrap();
                    }
                    main.open(&Record { count, ..whole.clone() }).unwrap();
                    if count == 10 {
                        main.close(&record(seq), &record(seq).details).unwrap();
                        closed.store(seq, Ordering::Release);
                    }
                    main.idle(Uptime(token.0 * 100 + 99)).unwrap();
                }
            }
        });
        scope.spawn(|| {
            for token in 1.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                worker.running_tree(&symbols(), &tree(token, 10)).unwrap();
                worker.keep_tree(&symbols(), &tree(token, 95)).unwrap();
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fuse.mark(1, Uptime(1));
                fuse.mark(0, Uptime(2));
            }
        });
        let _stop = StopAtEnd(&stop);
        while snapshots < 50 || with_open == 0 {
            let at_least = closed.load(Ordering::Acquire);
            let seen = reader.snapshot(Uptime::ZERO);
            snapshots += 1;
            let history = &seen.report.history;
            assert!(history.windows(2).all(|pair| pair[0].seq < pair[1].seq));
            let newest = history.iter().rfind(|r| r.closed).map_or(0, |r| r.seq);
            for record in history.iter().filter(|r| r.closed) {
                assert_eq!(*record, common::record(record.seq));
            }
            // What was closed before the snapshot began is in it, unless its slot was being written just now.
            assert!(newest + 1 >= at_least, "{newest} {at_least}");
            if let Some(open) = history.last().filter(|r| !r.closed) {
                with_open += 1;
                assert!(open.seq > newest);
                assert!(open.details.is_empty() || open.details == details(open.first_token.0, 3));
            }
            assert_ne!(seen.report.main, MainState::Unknown);
            for tree in &seen.report.trees {
                let same =
                    common::renumbered(tree, &common::tree(tree.token.0, tree.sample_deltas_ns.len() as u32));
                assert_eq!(*tree, same);
            }
        }
    });
    println!(
        "{snapshots} snapshots, {with_open} with an open group, {} records",
        closed.load(Ordering::Relaxed)
    );
}

/// Messages end while the snapshot is taken. The running message in a snapshot must be the one after the last
/// message of its history: no message is missing, and none is there twice.
#[test]
fn a_snapshot_has_every_message_once() {
    let dir = tempfile::tempdir().unwrap();
    let Ring { mut main, reader, .. } = Ring::create(&options(dir.path()));
    main.idle(Uptime(1)).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for seq in (1..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                let whole = group(seq);
                for count in 1..=10 {
                    let token = whole.first_token.plus(count.into()).previous();
                    // A beginning that is taken back, and messages of a loop inside of a message.
                    main.running(token, Uptime(token.0 * 100), 1).unwrap();
                    main.next_is(token);
                    main.idle(Uptime(token.0 * 100)).unwrap();
                    main.running(token, Uptime(token.0 * 100), 1 + count % 2).unwrap();
                    // Some work, so that slots are mostly whole when they are read.
                    (0..2_000).for_each(|_| std::hint::spin_loop());
                    if count == 10 {
                        main.close(&record(seq), &record(seq).details).unwrap();
                    } else {
                        main.open(&Record { count, ..whole.clone() }).unwrap();
                    }
                    main.idle(Uptime(token.0 * 100 + 99)).unwrap();
                }
            }
        });
        let _stop = StopAtEnd(&stop);
        let (mut running, mut between) = (0, 0);
        while running < 50 || between < 50 {
            let seen = reader.snapshot(Uptime::ZERO);
            if !seen.damage.is_empty() {
                continue;
            }
            let before_all = group(1).first_token.previous();
            let last_of = |record: &Record| record.first_token.plus(record.count.into()).previous();
            let last = seen.report.history.last().map_or(before_all, last_of);
            match seen.report.main {
                MainState::Running(message) => {
                    assert_eq!(message.token, last.next());
                    running += 1;
                }
                _ => between += 1,
            }
        }
    });
}
