//! The ring file as `docs/file-format.md` describes it, implemented a second time, so that what these tests
//! forge and check does not go through the code under test.

/// The number of the region of closed records. These four constants number region kinds as the document does.
pub(crate) const RECORDS: u32 = 4;
pub(crate) const TREE_PAGES: u32 = 7;
pub(crate) const PENDING: u32 = 10;
pub(crate) const STATISTICS: u32 = 11;

/// An entry of the region table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region {
    pub(crate) kind: u32,
    pub(crate) slots: usize,
    pub(crate) slot_len: usize,
    pub(crate) offset: usize,
}

fn u32_at(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

/// The region table.
pub(crate) fn regions(file: &[u8]) -> Vec<Region> {
    (0..u32_at(file, 144) as usize)
        .map(|nth| {
            let field = |field: usize| u32_at(file, 176 + 16 * nth + 4 * field);
            Region {
                kind: field(0),
                slots: field(1) as usize,
                slot_len: field(2) as usize,
                offset: field(3) as usize,
            }
        })
        .collect()
}

pub(crate) fn region(file: &[u8], kind: u32) -> Region {
    regions(file).into_iter().find(|region| region.kind == kind).expect("the region")
}

/// Writes a whole slot with this payload.
pub(crate) fn forge(file: &mut [u8], region: Region, index: usize, seq: u64, payload: &[u8]) {
    let at = region.offset + index * region.slot_len;
    let slot = &mut file[at..at + region.slot_len];
    slot[..8].copy_from_slice(&seq.to_le_bytes());
    slot[16..24].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    slot[24..24 + payload.len()].copy_from_slice(payload);
    let padded = payload.len().next_multiple_of(8);
    slot[24 + payload.len()..24 + padded].fill(0);
    let sum = checksum(seq, payload.len() as u64, &slot[24..24 + padded]);
    slot[8..16].copy_from_slice(&sum.to_le_bytes());
}

fn checksum(seq: u64, len: u64, payload: &[u8]) -> u64 {
    let words = payload.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    let keys =
        (0_u64..).map(|n| 0x9E37_79B9_7F4A_7C15_u64.wrapping_add(n.wrapping_mul(0xA36A_9465_A325_DA06)));
    [seq, len]
        .into_iter()
        .chain(words)
        .zip(keys)
        .fold(0, |sum, (word, key)| sum.wrapping_add((word ^ word >> 32).wrapping_mul(key)))
}
