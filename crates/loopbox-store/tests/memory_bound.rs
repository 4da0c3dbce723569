//! The memory that recovery allocates is at most a multiple of the file's size, whatever the file says.

mod common;
#[path = "common/memory.rs"]
mod memory;

use common::file::{PENDING, RECORDS, STATISTICS, TREE_PAGES, forge, regions};
use common::{file_of, options, ring};
use loopbox_format::codec::{DECODE_LIMIT, encode};
use loopbox_format::container::crc32;
use loopbox_format::model::{Detail, Statistic};
use loopbox_store::{MAX_RING_BYTES, Recovered, recover};
use memory::peak_of;

/// A ring of the largest size with a single region of one slot, which holds `payload`.
fn ring_of(kind: u32, payload: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let mut file = file_of(&mut ring(&options(dir.path())));
    file.resize(MAX_RING_BYTES, 0);
    file[24..32].copy_from_slice(&(MAX_RING_BYTES as u64).to_le_bytes());
    file[144..148].copy_from_slice(&1_u32.to_le_bytes());
    for (field, value) in [kind, 1, (MAX_RING_BYTES - 4096) as u32, 4096].into_iter().enumerate() {
        file[176 + field * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
    let crc = crc32(&file[..1020]);
    file[1020..1024].copy_from_slice(&crc.to_le_bytes());
    let only = regions(&file)[0];
    forge(&mut file, only, 0, 2, payload);
    file
}

/// A list of `T` in the form that the decoder reads: as many copies of `item` as fit, between `before` and
/// `after`.
fn list_of<T>(before: &[u8], item: &[u8], after: &[u8]) -> Vec<u8> {
    let room = MAX_RING_BYTES - 4096 - 24 - before.len() - after.len() - 5;
    // What stands before the list is claimed from the same limit.
    let count = (room / item.len()).min(DECODE_LIMIT / size_of::<T>() - 16);
    let mut payload = before.to_vec();
    payload.push(0xFC);
    payload.extend((count as u32).to_le_bytes());
    payload.extend(item.repeat(count));
    payload.extend(after);
    payload
}

fn honest_ring() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = ring(&options(dir.path()));
    for seq in 1..=100 {
        ring.main.close(&common::record(seq), &common::details(seq * 10, 8)).unwrap();
    }
    for token in 1..=12 {
        ring.worker.keep_tree(&common::symbols(), &common::tree(token, 2000)).unwrap();
    }
    file_of(&mut ring)
}

fn peak_of_recovery(file: &[u8]) -> (usize, Recovered) {
    peak_of(|| recover(file).unwrap())
}

#[test]
fn recovery_asks_for_a_multiple_of_the_file_at_most() {
    let honest = honest_ring();
    let (peak, _) = peak_of_recovery(&honest);
    assert!(peak < 2 * honest.len(), "{peak} for a ring of {}", honest.len());
    println!("honest: {} bytes, peak {peak}", honest.len());

    // The encoded record before and after its list of details, and the smallest detail.
    let record = encode(&common::group(1)).unwrap();
    let details_at = record.len() - 3;
    assert_eq!(record[details_at], 0, "an empty list, then no dropped details, then not closed");
    let record_start = [&[0; 8], &record[..details_at]].concat();
    let worst = [
        (RECORDS, list_of::<Detail>(&record_start, &[0; 6], &[0, 0])),
        (STATISTICS, list_of::<Statistic>(&[], &[0, 0], &[])),
        (PENDING, list_of::<String>(&[0, 0], &[0], &[0])),
        (TREE_PAGES, [&1_u64.to_le_bytes()[..], &1_u64.to_le_bytes(), &endless_names()].concat()),
    ];
    for (kind, payload) in worst {
        let file = ring_of(kind, &payload);
        let (peak, recovered) = peak_of_recovery(&file);
        let report = &recovered.report;
        println!("region {kind}: {} bytes, peak {peak}, {:?}", file.len(), recovered.damage);
        assert!(peak < 64 * MAX_RING_BYTES, "region {kind}: {peak}");
        // The lists were read, so this was a test.
        let items = report.history.first().map_or(0, |r| r.details.len())
            + report.statistics.len()
            + report.pending.lines.len();
        assert!(items > 100_000 || kind == TREE_PAGES, "region {kind}: {items} {:?}", recovered.damage);
    }
}

/// A packed tree with a very long string and very many methods, all of which have that string as their names.
fn endless_names() -> Vec<u8> {
    let tree =
        loopbox_format::model::StackTree { sample_deltas_ns: vec![], nodes: vec![], ..common::tree(1, 0) };
    let head = encode(&tree).unwrap();
    let mut packed = vec![1, head.len() as u8];
    packed.extend(head);
    let long = 400_000_u32;
    let leb = |value: u32| [value as u8 | 0x80, (value >> 7) as u8 | 0x80, (value >> 14) as u8];
    packed.extend([1, 0]);
    packed.extend(leb(long));
    packed.extend(vec![b'x'; long as usize]);
    packed.extend(leb(100_000));
    packed.extend(vec![0; 400_000]);
    packed
}
