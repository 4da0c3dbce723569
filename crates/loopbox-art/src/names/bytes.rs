//! Numbers out of bytes that were read from the process's own memory.

use crate::sys::mem;

/// Reads `N` bytes. Those that are not mapped stay zero; `None` when the first one is not mapped.
pub(super) fn read_up_to<const N: usize>(at: usize) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    (mem::read_into(at, &mut bytes) > 0).then_some(bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(super) fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from_ne_bytes(bytes.get(at..at.checked_add(mem::WORD)?)?.try_into().ok()?))
}
