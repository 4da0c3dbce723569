//! The one place that knows how payloads become bytes.
//!
//! The encoding is that of bincode 2's standard configuration: little-endian, variable-length integers. The crate reads
//! and writes the integers; how serde's types become integers is written out here, because the errors of the crate's
//! own serde support carry texts, with one copy of its generic code for each of them: 32 KB of the arm64 library for
//! words that no app shows. Tests hold every byte against that support.
//!
//! What decoding may ask of memory is bounded: without that a nine-byte file can ask for 16 TiB and abort the process.
//! The encoding is not self-describing: a payload's type never changes once released; new facts travel in new
//! container sections (see `docs/file-format.md`).

mod reader;
mod writer;

#[cfg(test)]
mod same_as_bincode;

use bincode::config::Configuration;
use reader::Reader;
use serde::{Serialize, de::DeserializeOwned};
use writer::{Room, Writer};

/// How integers become bytes.
const ENCODING: Configuration = bincode::config::standard();

/// The most that decoding one payload may ask of memory, in bytes.
///
/// A full report of a busy app is under 200 KiB; everything above this bound is damage or malice.
pub const DECODE_LIMIT: usize = 16 << 20;

/// Why a payload could not be encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The destination is too small.
    #[error("the value does not fit into the room for it")]
    Full,
    /// The value is of a kind that the encoding has no bytes for: a list of unknown length, a float.
    #[error("the value has no encoding")]
    Kind,
    /// The bytes end before the value does.
    #[error("the bytes end before the value")]
    Ended,
    /// The bytes are not a value of this type.
    #[error("the bytes are not a value of this type")]
    Malformed,
    /// The value would be larger than [`DECODE_LIMIT`].
    #[error("the value would take too much memory")]
    TooLarge,
    /// The value ended before the bytes did.
    #[error("there are bytes left over after the value")]
    Trailing,
}

/// What a derived implementation has to say about a value; the words are not kept.
impl serde::ser::Error for CodecError {
    fn custom<T: core::fmt::Display>(_: T) -> Self {
        Self::Kind
    }
}

impl serde::de::Error for CodecError {
    fn custom<T: core::fmt::Display>(_: T) -> Self {
        Self::Malformed
    }
}

/// Encodes `value` into a fresh buffer. Allocates; not for the main thread of an app.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    value.serialize(&mut Writer(&mut bytes))?;
    Ok(bytes)
}

/// Encodes `value` into `out` and returns the number of bytes used. Does not allocate.
pub fn encode_into<T: Serialize + ?Sized>(value: &T, out: &mut [u8]) -> Result<usize, CodecError> {
    let whole = out.len();
    let mut room = Room(out);
    value.serialize(&mut Writer(&mut room))?;
    Ok(whole - room.0.len())
}

/// Decodes one value that must fill `bytes` exactly.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    let mut reader = Reader::new(bytes, DECODE_LIMIT);
    let value = T::deserialize(&mut reader)?;
    if reader.is_at_end() { Ok(value) } else { Err(CodecError::Trailing) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_lies_is_an_error_and_not_an_allocation() {
        // A string that claims 2^44 bytes: 0xFD introduces a 64-bit length.
        let bytes = [0xFD, 0, 0, 0, 0, 0, 0x10, 0, 0];
        assert_eq!(decode::<String>(&bytes), Err(CodecError::Ended));
        let many = [0xFC, 0xFF, 0xFF, 0xFF, 0x7F];
        assert_eq!(decode::<Vec<u64>>(&many), Err(CodecError::Ended));
    }

    #[test]
    fn a_value_that_outgrows_the_limit_is_refused() {
        // The length counts as one more number.
        let most = vec![7_u64; DECODE_LIMIT / 8 - 1];
        assert_eq!(decode::<Vec<u64>>(&encode(&most).unwrap()).unwrap().len(), most.len());
        let more = vec![7_u64; DECODE_LIMIT / 8];
        assert_eq!(decode::<Vec<u64>>(&encode(&more).unwrap()), Err(CodecError::TooLarge));
        let text = "x".repeat(DECODE_LIMIT + 1);
        assert_eq!(decode::<String>(&encode(&text).unwrap()), Err(CodecError::TooLarge));
    }

    #[test]
    fn leftover_bytes_are_refused() {
        let mut bytes = encode(&7_u32).unwrap();
        bytes.push(0);
        assert_eq!(decode::<u32>(&bytes), Err(CodecError::Trailing));
    }

    #[test]
    fn encoding_into_a_small_buffer_is_an_error() {
        let mut out = [0_u8; 3];
        assert_eq!(encode_into("longer than that", &mut out), Err(CodecError::Full));
        assert_eq!(encode_into("ab", &mut out), Ok(3));
    }

    #[test]
    fn what_has_no_encoding_is_refused() {
        assert_eq!(encode(&1.5_f64), Err(CodecError::Kind));
        assert_eq!(decode::<f64>(&[0; 8]), Err(CodecError::Kind));
    }
}
