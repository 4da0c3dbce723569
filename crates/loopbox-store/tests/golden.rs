//! Ring files of every released version, kept for ever, because a newer app must read what an older one left.

mod common;

use common::file::{RECORDS, TREE_PAGES, regions};
use common::{details, file_of, group, message, record, renumbered, ring, symbols, tree};
use loopbox_format::model::{
    AnrWarning, Breadcrumb, ClockPair, DumpReason, Feature, FeatureState, MainState, Meta, Pending,
    PendingSource, Record, Running, Statistic, Token, Uptime,
};
use loopbox_store::{BuildId, CrashMark, FuseState, Geometry, Identity, RingOptions, recover};
use std::fs;
use std::path::Path;

const RING_1_0: &[u8] = include_bytes!("golden/ring-1.0.lbr");

fn identity() -> Identity {
    Identity {
        pid: 4711,
        start_ticks: 123_456,
        boot_id: *b"0123456789abcdef",
        clocks: ClockPair { uptime_ns: Uptime(5_000), unix_ms: 1_700_000_000_000 },
        libart: BuildId::new(&[0xAA; 20]),
        recorder: BuildId::new(&[0xBB; 8]),
    }
}

fn running() -> Running {
    Running {
        token: Token(80),
        start_ns: Uptime(7_900),
        as_of_ns: Uptime(8_000),
        cpu_ns: Some(70),
        depth: 1,
        message: Some(message(4)),
    }
}

fn features() -> [FeatureState; 1] {
    [FeatureState { feature: Feature::Sampler, on: true, detail: "art".into() }]
}

fn pending() -> Pending {
    let lines = vec!["Message 0: { when=-5s what=3 target=a.B }".into()];
    Pending { source: PendingSource::LooperDump, captured_ns: Uptime(8_100), lines, dropped_lines: 1 }
}

fn statistics() -> [Statistic; 1] {
    [Statistic { name: "threads".into(), value: "12".into() }]
}

fn warnings() -> [AnrWarning; 1] {
    [AnrWarning { at_ns: Uptime(8_050), id: 7, kind: 1, consumed_ms: 2_500, timeout_ms: 5_000 }]
}

fn breadcrumbs() -> [Breadcrumb; 2] {
    [("tap", 7_000), ("open \u{1f6d2}", 8_060)]
        .map(|(name, at)| Breadcrumb { at_ns: Uptime(at), name: name.into() })
}

/// The number of samples of a message's tree: alternately few, for a tree of one page, and more, for a tree
/// of two pages.
fn samples(token: u64) -> u32 {
    50 + 100 * (token as u32 % 2)
}

/// Writes something to every region, and more records and trees than fit.
fn write(dir: &Path) -> Vec<u8> {
    let geometry = Geometry {
        records: 4,
        record_len: 512,
        tree_pages: 12,
        tree_page_len: 256,
        running_tree_len: 512,
        pending_len: 128,
        frames_len: 0,
    };
    let mut ring = ring(&RingOptions { dir: dir.to_owned(), identity: identity(), geometry });
    for seq in 1..=6 {
        ring.main.close(&record(seq), &record(seq).details).unwrap();
    }
    ring.main.open_details(7, &details(70, 2)).unwrap();
    ring.main.open(&group(7)).unwrap();
    ring.main.idle(Uptime(7_800)).unwrap();
    ring.main.running(Token(80), Uptime(7_900), 1).unwrap();
    ring.worker.meta(&Meta { producer: "loopbox".into(), ..Meta::default() }).unwrap();
    ring.worker.features(&features()).unwrap();
    for token in 1..=9 {
        ring.worker.keep_tree(&symbols(), &tree(token, samples(token))).unwrap();
    }
    ring.worker.running(&running()).unwrap();
    ring.worker.running_tree(&symbols(), &tree(80, 4)).unwrap();
    ring.worker.running_tree(&symbols(), &tree(80, 5)).unwrap();
    ring.worker.pending(&pending()).unwrap();
    ring.worker.statistics(&statistics()).unwrap();
    ring.worker.warnings(&warnings()).unwrap();
    ring.worker.breadcrumbs(&breadcrumbs()).unwrap();
    ring.fuse.mark(3, Uptime(7_000_000));
    ring.reader.heartbeat(Uptime(2_000_005_000));
    ring.reader.mark_crash(11);
    file_of(&mut ring)
}

#[test]
fn a_ring_of_version_1_0_is_read() {
    let ring = recover(RING_1_0).unwrap();
    assert_eq!((ring.damage, ring.torn), (vec![], 0));
    assert_eq!(ring.identity, identity());
    assert_eq!(ring.fuse, FuseState::Open { phase: 3, since_ns: Uptime(7_000_000) });
    assert_eq!(ring.crash, Some(CrashMark { signal: 11 }));
    assert_eq!(ring.last_alive_ns, Uptime(2_000_005_000));
    let report = ring.report;
    assert_eq!(report.meta.producer, "loopbox");
    assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: Some(11) });
    assert_eq!(
        report.meta.dumped_at,
        ClockPair { uptime_ns: Uptime(2_000_005_000), unix_ms: 1_700_000_002_000 }
    );
    let open = Record { details: details(70, 2), ..group(7) };
    assert_eq!(report.history, [record(3), record(4), record(5), record(6), open]);
    assert_eq!(report.main, MainState::Running(Running { as_of_ns: Uptime(2_000_005_000), ..running() }));
    assert_eq!(
        report.trees.iter().map(|tree| tree.token.0).collect::<Vec<_>>(),
        [2, 3, 4, 5, 6, 7, 8, 9, 80]
    );
    for got in &report.trees {
        let samples = if got.token == Token(80) { 5 } else { samples(got.token.0) };
        assert_eq!(*got, renumbered(got, &tree(got.token.0, samples)));
    }
    assert_eq!(report.symbols.methods, symbols().methods[1..]);
    assert_eq!(
        (report.features, report.pending, report.statistics, report.anr_warnings),
        (features().into(), pending(), statistics().into(), warnings().into())
    );
    assert_eq!(report.breadcrumbs, breadcrumbs());
}

/// A slot that readers use: its region's kind, its place there, its bytes.
type SlotSeen<'a> = (u32, usize, &'a [u8]);

/// The parts that readers use: header and marks, and the slots, each up to the end of its payload. A state
/// that changes in place has several slots, of which only the newest counts, wherever it is.
fn used(file: &[u8]) -> (&[u8], Vec<SlotSeen<'_>>) {
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let mut slots = Vec::new();
    for region in regions(file) {
        let slot = |index: usize| {
            let at = region.offset + index * region.slot_len;
            (index, &file[at..at + 24 + (word(at + 16) as usize).next_multiple_of(8)])
        };
        let mut found: Vec<_> = (0..region.slots).map(slot).collect();
        if ![RECORDS, TREE_PAGES].contains(&region.kind) {
            let newest = (0..region.slots).max_by_key(|index| word(region.offset + index * region.slot_len));
            found = vec![(0, found[newest.unwrap()].1)];
        }
        slots.extend(found.into_iter().map(|(index, slot)| (region.kind, index, slot)));
    }
    (&file[..4096], slots)
}

/// A change here changes the format, which needs a new version and a new file.
#[test]
fn this_version_writes_version_1_0_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let written = write(dir.path());
    let file = std::env::current_dir().unwrap().join("tests/golden/ring-1.0.lbr");
    if std::env::var_os("LOOPBOX_BLESS").is_some() {
        fs::write(&file, &written).unwrap();
    }
    let known = fs::read(&file).unwrap();
    assert_eq!(written.len(), known.len());
    assert!(
        used(&written) == used(&known),
        "the bytes differ from {}; LOOPBOX_BLESS=1 takes them over",
        file.display()
    );
}
