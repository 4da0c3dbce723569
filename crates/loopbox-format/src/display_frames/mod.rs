//! Records of display frames as bytes. Each kind has a fixed size. So the app writes them into a slot of its
//! ring, and a list of them into a report, without an encoder.
//!
//! ```text
//! record = fields of 1, 2, 4 or 8 bytes, little-endian, in the order of `fields` in layout.rs;
//!          a field of all ones is unknown
//! list   = record_bytes:u32 count:u32 record*
//! ```
//!
//! A later version may append fields: a reader takes the fields that it knows of each record and skips the
//! rest. Existing fields never change or get shorter.

mod layout;
mod words;

use crate::codec::CodecError;
use crate::model::{FrameGesture, FrameScene, FrameSession, JankFrame, RecentFrame, StageFrame};
use words::Words;

/// Length of what comes before the records of a list.
const LIST_HEAD: usize = 8;

/// A record of fixed size. Only this crate can call its method, because only this crate can name the
/// parameter's type.
pub trait FrameRecord: Copy + Default {
    /// Its length in bytes.
    const BYTES: usize;

    /// Writes all fields to `words`, or reads all fields from `words`, always in the same order.
    #[doc(hidden)]
    fn fields(&mut self, words: &mut Words<'_>);
}

/// Writes a record to the start of `out`; returns its length.
///
/// # Errors
/// [`CodecError::Full`] when `out` has no room for the record.
pub fn write<R: FrameRecord>(record: &R, out: &mut [u8]) -> Result<usize, CodecError> {
    let mut copy = *record;
    copy.fields(&mut Words::Write(out.get_mut(..R::BYTES).ok_or(CodecError::Full)?));
    Ok(R::BYTES)
}

/// Reads the record at the start of `bytes`.
///
/// # Errors
/// [`CodecError::Ended`] when the bytes end before the record.
pub fn read<R: FrameRecord>(bytes: &[u8]) -> Result<R, CodecError> {
    let mut record = R::default();
    record.fields(&mut Words::Read(bytes.get(..R::BYTES).ok_or(CodecError::Ended)?));
    Ok(record)
}

/// A list of records as the payload of a section.
pub fn encode_list<R: FrameRecord>(records: &[R]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_list(records.iter(), &mut bytes);
    bytes
}

fn put_list<'a, R: FrameRecord + 'a>(records: impl ExactSizeIterator<Item = &'a R>, bytes: &mut Vec<u8>) {
    for number in [R::BYTES, records.len()] {
        let number = (number as u32).to_le_bytes();
        grow(bytes, number.len()).copy_from_slice(&number);
    }
    for record in records {
        record.clone().fields(&mut Words::Write(grow(bytes, R::BYTES)));
    }
}

/// Adds zeros, and returns them.
#[inline(never)]
fn grow(bytes: &mut Vec<u8>, len: usize) -> &mut [u8] {
    let begin = bytes.len();
    bytes.resize(begin + len, 0);
    bytes.get_mut(begin..).unwrap_or_default()
}

/// The records of a section. The memory that it takes is bounded by the length of `bytes`, whatever they
/// contain.
///
/// # Errors
/// When the records are shorter than those of this version, or their number does not fit the bytes.
pub fn decode_list<R: FrameRecord>(mut bytes: &[u8]) -> Result<Vec<R>, CodecError> {
    let records = take_list(&mut bytes)?;
    if bytes.is_empty() { Ok(records) } else { Err(CodecError::Trailing) }
}

/// All lists of a session, one after the other: this is what the ring of a process holds.
pub fn encode_session(session: &FrameSession) -> Vec<u8> {
    let FrameSession { scenes, gestures, janks, recent, stages } = session;
    let mut bytes = Vec::new();
    put_session(&mut bytes, scenes.iter(), gestures.iter(), janks.iter(), recent.iter(), stages.iter());
    bytes
}

/// Appends the bytes that [`encode_session`] gives, for records that are not in a [`FrameSession`]. Reserves
/// memory for exactly these bytes.
pub fn put_session<'a>(
    bytes: &mut Vec<u8>,
    scenes: impl ExactSizeIterator<Item = &'a FrameScene>,
    gestures: impl ExactSizeIterator<Item = &'a FrameGesture>,
    janks: impl ExactSizeIterator<Item = &'a JankFrame>,
    recent: impl ExactSizeIterator<Item = &'a RecentFrame>,
    stages: impl ExactSizeIterator<Item = &'a StageFrame>,
) {
    let lens = [
        scenes.len() * FrameScene::BYTES,
        gestures.len() * FrameGesture::BYTES,
        janks.len() * JankFrame::BYTES,
        recent.len() * RecentFrame::BYTES,
        stages.len() * StageFrame::BYTES,
    ];
    bytes.reserve_exact(lens.into_iter().map(|len| LIST_HEAD + len).sum());
    put_list(scenes, bytes);
    put_list(gestures, bytes);
    put_list(janks, bytes);
    put_list(recent, bytes);
    put_list(stages, bytes);
}

/// The session in the bytes of [`encode_session`].
///
/// # Errors
/// As [`decode_list`], for the first list that cannot be read.
pub fn decode_session(mut bytes: &[u8]) -> Result<FrameSession, CodecError> {
    let session = FrameSession {
        scenes: take_list(&mut bytes)?,
        gestures: take_list(&mut bytes)?,
        janks: take_list(&mut bytes)?,
        recent: take_list(&mut bytes)?,
        stages: take_list(&mut bytes)?,
    };
    if bytes.is_empty() { Ok(session) } else { Err(CodecError::Trailing) }
}

/// The list that the bytes begin with.
fn take_list<R: FrameRecord>(bytes: &mut &[u8]) -> Result<Vec<R>, CodecError> {
    let (record_bytes, body) = take_body(bytes, R::BYTES)?;
    let mut records = Vec::new();
    for bytes in body.chunks_exact(record_bytes) {
        let mut record = R::default();
        record.fields(&mut Words::Read(bytes));
        records.push(record);
    }
    Ok(records)
}

/// The record length of the list at the start of `bytes`, and its records. `known`: the length that this
/// version knows.
fn take_body<'a>(bytes: &mut &'a [u8], known: usize) -> Result<(usize, &'a [u8]), CodecError> {
    let head: &[u8; LIST_HEAD] = bytes.first_chunk().ok_or(CodecError::Ended)?;
    let head = u64::from_le_bytes(*head);
    let (record_bytes, count) = (head as u32 as usize, (head >> 32) as usize);
    if record_bytes < known {
        return Err(CodecError::Malformed);
    }
    let length = record_bytes.checked_mul(count).and_then(|body| body.checked_add(LIST_HEAD));
    let (list, rest) = length.and_then(|length| bytes.split_at_checked(length)).ok_or(CodecError::Ended)?;
    *bytes = rest;
    Ok((record_bytes, list.get(LIST_HEAD..).unwrap_or_default()))
}

#[cfg(test)]
mod tests;
