//! Records of display frames as bytes: of one size each, so that the app writes them into a slot of its ring, and a list
//! of them into a report, without an encoder.
//!
//! ```text
//! record = fields of 1, 2, 4 or 8 bytes, little-endian, in the order of `fields` in layout.rs; all ones mean unknown
//! list   = record_bytes:u32 count:u32 record*
//! ```
//!
//! A later version may append fields: a reader takes what it knows of each record and steps over the rest. It never
//! changes or shortens what is there.

mod layout;
mod words;

use crate::codec::CodecError;
use words::Words;

/// Length of what comes before the records of a list.
const LIST_HEAD: usize = 8;

/// A record of fixed size. Only this crate can name what the method takes, and so knows the bytes.
pub trait FrameRecord: Copy + Default {
    /// Its length.
    const BYTES: usize;

    /// Passes over all fields in order, to write them or to read them.
    #[doc(hidden)]
    fn fields(&mut self, words: &mut Words<'_>);
}

/// Writes a record to the start of `out`; returns its length.
///
/// # Errors
/// [`CodecError::Full`] when it has no room.
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
    let mut bytes = vec![0; LIST_HEAD + records.len() * R::BYTES];
    let (head, body) = bytes.split_at_mut(LIST_HEAD);
    let numbers = (R::BYTES as u32).to_le_bytes().into_iter().chain((records.len() as u32).to_le_bytes());
    head.iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
    for (record, room) in records.iter().zip(body.chunks_exact_mut(R::BYTES)) {
        record.clone().fields(&mut Words::Write(room));
    }
    bytes
}

/// The records of a section. What it takes of memory is bounded by the length of `bytes`, whatever they say.
///
/// # Errors
/// When the records are shorter than this version knows them, or their number does not fit the bytes.
pub fn decode_list<R: FrameRecord>(bytes: &[u8]) -> Result<Vec<R>, CodecError> {
    let (head, body) = bytes.split_at_checked(LIST_HEAD).ok_or(CodecError::Ended)?;
    let number = |at: usize| {
        let four = head.get(at..).and_then(|rest| rest.first_chunk().copied());
        four.map(|four| u32::from_le_bytes(four) as usize).ok_or(CodecError::Ended)
    };
    let (record_bytes, count) = (number(0)?, number(4)?);
    if record_bytes < R::BYTES {
        return Err(CodecError::Malformed);
    }
    match record_bytes.checked_mul(count) {
        Some(length) if length < body.len() => Err(CodecError::Trailing),
        Some(length) if length == body.len() => body.chunks_exact(record_bytes).map(read).collect(),
        _ => Err(CodecError::Ended),
    }
}

#[cfg(test)]
mod tests;
