//! Ring files.

#[allow(dead_code, reason = "the store's tests use the rest")]
#[path = "../../../crates/loopbox-store/tests/common/file.rs"]
mod file;

use file::{Region, forge, regions};
use loopbox_format::container::crc32;
use loopbox_format::report::{decode, encode};
use loopbox_store::{Recovered, recover};

const IMAGE: &[u8] = include_bytes!("../../../crates/loopbox-store/tests/golden/ring-1.0.lbr");
const HEADER_LEN: usize = 1024;
const REGIONS_AT: usize = 4096;
const MAX_REGIONS: u32 = 32;
const RUNNING_TREE: u32 = 6;

/// Recovers a ring from the input unchanged, and with all its checksums corrected.
pub(crate) fn ring(input: &[u8]) -> bool {
    let mut found = false;
    for bytes in [input.to_vec(), sealed(input)] {
        if let Ok(recovered) = recover(&bytes) {
            is_a_report(&recovered);
            found = true;
        }
    }
    found
}

fn is_a_report(recovered: &Recovered) {
    // Names that share their beginnings can be longer than a report's sections may be.
    let Ok(written) = encode(&recovered.report) else { return };
    let again = decode(&written).expect("what was encoded can be decoded");
    if again.damage.is_empty() {
        assert!(again.report == recovered.report, "another report after writing and reading");
    }
}

/// `input` with a valid header. Slots that are not torn are made valid, too.
fn sealed(input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    if bytes.len() < HEADER_LEN {
        return bytes;
    }
    bytes[..24].copy_from_slice(&IMAGE[..24]);
    let count = u32::from_le_bytes(bytes[144..148].try_into().expect("four bytes")) % (MAX_REGIONS + 1);
    bytes[144..148].copy_from_slice(&count.to_le_bytes());
    check_header(&mut bytes);
    for region in regions(&bytes) {
        for index in 0..region.slots.min(4096) {
            let Some(at) = region.slot_len.checked_mul(index).and_then(|at| at.checked_add(region.offset))
            else {
                break;
            };
            let Some(slot) = bytes.get(at..).and_then(|rest| rest.get(..region.slot_len)) else { break };
            let word =
                |at: usize| slot.get(at..at + 8).map(|w| u64::from_le_bytes(w.try_into().expect("a word")));
            let (Some(seq), Some(len)) = (word(0), word(16)) else { break };
            if seq != 0 && seq % 2 == 0 {
                let room = (region.slot_len - 24) & !7;
                let payload = slot[24..24 + room.min(len as usize)].to_vec();
                forge(&mut bytes, region, index, seq, &payload);
            }
        }
    }
    bytes
}

fn check_header(bytes: &mut [u8]) {
    let crc = crc32(&bytes[..HEADER_LEN - 4]);
    bytes[HEADER_LEN - 4..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
}

/// Recovers an otherwise empty ring that has the input as the running message's packed tree.
pub(crate) fn tree(input: &[u8]) -> bool {
    let slot_len = 24 + input.len().next_multiple_of(8).max(8);
    let mut bytes = IMAGE[..HEADER_LEN].to_vec();
    bytes.resize(REGIONS_AT + slot_len, 0);
    let len = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&len.to_le_bytes());
    bytes[144..148].copy_from_slice(&1_u32.to_le_bytes());
    let fields = [RUNNING_TREE, 1, slot_len as u32, REGIONS_AT as u32];
    for (field, at) in fields.into_iter().zip((176..).step_by(4)) {
        bytes[at..at + 4].copy_from_slice(&field.to_le_bytes());
    }
    check_header(&mut bytes);
    let region = Region { kind: RUNNING_TREE, slots: 1, slot_len, offset: REGIONS_AT };
    forge(&mut bytes, region, 0, 2, input);
    let recovered = recover(&bytes).expect("a ring");
    assert_eq!(recovered.report.trees.len() + recovered.damage.len(), usize::from(!input.is_empty()));
    is_a_report(&recovered);
    !recovered.report.trees.is_empty()
}
