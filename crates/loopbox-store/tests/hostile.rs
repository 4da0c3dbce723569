//! Files that no process wrote in this form: truncated, changed, forged. Recovery returns an error or the
//! intact parts, and nothing that was not written.

mod common;
#[path = "common/memory.rs"]
mod memory;

use common::file::{PENDING, RECORDS, STATISTICS, TREE_PAGES, forge, region, regions};
use common::record;
use loopbox_format::codec::encode;
use loopbox_format::container::crc32;
use loopbox_format::model::Record;
use loopbox_store::{LayoutError, RecoverError, Recovered};
use memory::peak_of;
use proptest::prelude::*;

/// A small ring with something in every region; see `golden.rs`.
const IMAGE: &[u8] = include_bytes!("golden/ring-1.0.lbr");

/// The most memory that recovery may hold for a file as small as [`IMAGE`], however the file was changed.
const MEMORY: usize = 4 << 20;

/// Calls [`loopbox_store::recover`], and checks how much memory it holds at most.
fn recover(file: &[u8]) -> Result<Recovered, RecoverError> {
    let (peak, recovered) = peak_of(|| loopbox_store::recover(file));
    assert!(peak <= MEMORY, "{peak} bytes of heap for a file of {}", file.len());
    recovered
}

/// Checks that everything in `got` was written.
fn assert_nothing_invented(got: &Recovered, whole: &Recovered) {
    for record in &got.report.history {
        // Without its details when those are lost.
        let known = whole.report.history.iter().find(|known| known.seq == record.seq);
        let bare = known.map(|known| Record { details: vec![], ..known.clone() });
        assert!(Some(record) == known || Some(record) == bare.as_ref(), "{record:?}");
    }
    for tree in &got.report.trees {
        let known = whole.report.trees.iter().find(|known| known.token == tree.token).expect("known token");
        // The running message's tree has a state before the last one, of four samples.
        let before = common::tree(80, 4);
        assert!([known, &before].iter().any(|known| *tree == common::renumbered(tree, known)), "{tree:?}");
    }
    for method in &got.report.symbols.methods {
        assert!(whole.report.symbols.methods.contains(method), "{method:?}");
    }
}

#[test]
fn the_image_is_whole() {
    let whole = recover(IMAGE).unwrap();
    assert_eq!((whole.damage.len(), whole.torn), (0, 0), "{:?}", whole.damage);
    assert_eq!(whole.report.history.iter().map(|r| r.seq).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
    assert_eq!(whole.report.trees.len(), 9);
}

#[test]
fn a_file_cut_anywhere_gives_an_error_or_what_is_left() {
    let whole = recover(IMAGE).unwrap();
    let mut recovered = 0;
    for len in 0..IMAGE.len() {
        match recover(&IMAGE[..len]) {
            Ok(got) => {
                assert_nothing_invented(&got, &whole);
                assert!(!got.damage.is_empty(), "cut at {len}, and no damage is reported");
                recovered += 1;
            }
            Err(error) => assert!(len < 1024, "cut at {len}: {error}"),
        }
    }
    assert_eq!(recovered, IMAGE.len() - 1024);
}

#[test]
fn a_byte_changed_anywhere_gives_an_error_or_what_is_intact() {
    let whole = recover(IMAGE).unwrap();
    let mut bytes = IMAGE.to_vec();
    for at in 0..IMAGE.len() {
        let flip = 1_u8 << (at % 8);
        bytes[at] ^= flip;
        match recover(&bytes) {
            Ok(got) => assert_nothing_invented(&got, &whole),
            Err(error) => assert!(at < 1024, "changed at {at}: {error}"),
        }
        bytes[at] ^= flip;
    }
}

#[test]
fn a_byte_changed_in_a_whole_slot_costs_that_slot_and_is_reported() {
    let records = region(IMAGE, RECORDS);
    for index in 0..records.slots {
        let mut bytes = IMAGE.to_vec();
        bytes[records.offset + index * records.slot_len + 30] ^= 0x10;
        let got = recover(&bytes).unwrap();
        assert_eq!(got.report.history.len(), 4);
        assert_eq!(got.damage.len(), 1, "{:?}", got.damage);
        assert_eq!(got.damage[0].offset, records.offset + index * records.slot_len);
        assert_eq!(got.report.lost, [format!("ring {}", got.damage[0])]);
    }
}

#[test]
fn a_forged_slot_is_read_like_any_other() {
    // Proves that `forge` writes what the document says, so that the tests below test what they mean to.
    let mut bytes = IMAGE.to_vec();
    let records = region(&bytes, RECORDS);
    let payload = [&0_u64.to_le_bytes()[..], &encode(&record(1000)).unwrap()].concat();
    forge(&mut bytes, records, 0, 100, &payload);
    let got = recover(&bytes).unwrap();
    assert_eq!(got.damage, []);
    assert!(got.report.history.contains(&record(1000)));
}

#[test]
fn whole_slots_with_impossible_content_are_listed_as_damage() {
    for (kind, payload) in [
        (RECORDS, &b"\0\0\0\0\0\0\0\0\xFF\xFF\xFF"[..]),
        (RECORDS, b""),
        (TREE_PAGES, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\0\0\0\0\0\0\0junk"),
        (PENDING, b"\xFD\0\0\0\0\0\0\x10\0"),
        (STATISTICS, &[0xFC; 300]),
    ] {
        let mut bytes = IMAGE.to_vec();
        let at = region(&bytes, kind);
        forge(&mut bytes, at, 0, 1 << 40, payload);
        let got = recover(&bytes).unwrap();
        assert!(got.damage.iter().any(|damage| damage.offset == at.offset), "{kind}: {:?}", got.damage);
        assert_eq!(got.torn, 0);
    }
}

#[test]
fn a_region_of_a_newer_minor_version_is_stepped_over() {
    let mut bytes = IMAGE.to_vec();
    let statistics = regions(&bytes).iter().position(|region| region.kind == STATISTICS).unwrap();
    bytes[176 + 16 * statistics..][..4].copy_from_slice(&77_u32.to_le_bytes());
    bytes[10] = 1;
    let crc = crc32(&bytes[..1020]);
    bytes[1020..1024].copy_from_slice(&crc.to_le_bytes());
    let got = recover(&bytes).unwrap();
    assert_eq!((got.damage, got.report.statistics.len()), (vec![], 0));
    assert_eq!(got.report.history.len(), 5);
}

#[test]
fn what_is_not_a_ring_is_named() {
    let error = |bytes: &[u8]| recover(bytes).unwrap_err();
    assert!(matches!(error(b""), RecoverError::Layout(LayoutError::Empty)));
    assert!(matches!(error(b"\x89LBX\r\n\x1a\n a report"), RecoverError::Layout(LayoutError::Magic)));
    assert!(matches!(error(&vec![0; 3 << 20]), RecoverError::TooLarge { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Recovery must also survive complete slots with a valid checksum and arbitrary payloads.
    #[test]
    fn no_payload_makes_recovery_panic(
        kind in 1_u32..12,
        index in 0_usize..6,
        seq in prop_oneof![Just(2_u64), Just(u64::MAX - 1), any::<u64>()],
        payload in proptest::collection::vec(prop_oneof![Just(0_u8), Just(0xFC), Just(0xFD), any::<u8>()], 0..480),
    ) {
        let mut bytes = IMAGE.to_vec();
        let at = region(&bytes, kind);
        let payload = &payload[..payload.len().min(at.slot_len - 24)];
        forge(&mut bytes, at, index % at.slots, seq, payload);
        let _ = loopbox_store::recover(&bytes);
    }

    #[test]
    fn no_table_makes_recovery_panic(
        entries in proptest::collection::vec((1_u32..13, 0_u32..300, 0_u32..5000, 0_u32..40_000), 0..33),
        count in prop_oneof![0_u32..34, any::<u32>()],
        len in prop_oneof![Just(1_u64 << 20), any::<u64>()],
    ) {
        let mut bytes = IMAGE.to_vec();
        bytes[24..32].copy_from_slice(&len.to_le_bytes());
        bytes[144..148].copy_from_slice(&count.to_le_bytes());
        for (nth, (kind, slots, slot_len, offset)) in entries.into_iter().enumerate() {
            let at = 176 + 16 * nth;
            let fields = [kind, slots, slot_len * 8, offset * 8];
            fields.iter().enumerate().for_each(|(field, value)| {
                bytes[at + field * 4..][..4].copy_from_slice(&value.to_le_bytes());
            });
        }
        let crc = crc32(&bytes[..1020]);
        bytes[1020..1024].copy_from_slice(&crc.to_le_bytes());
        let _ = recover(&bytes);
    }
}
