//! The only code that converts payloads to bytes and back.
//!
//! The encoding is that of bincode 2's standard configuration: little-endian, variable-length integers.
//! bincode's own traits are used instead of serde's, because the errors of bincode's traits carry no texts
//! (`docs/size.md` compares the sizes).
//!
//! Decoding has a memory limit: without it a nine-byte file can request 16 TiB and abort the process. The
//! encoding is not self-describing: a payload's type never changes once released; new facts are stored in new
//! container sections (see `docs/file-format.md`).

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::enc::write::Writer;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

const ENCODING: Configuration<LittleEndian, Varint, Limit<DECODE_LIMIT>> =
    bincode::config::standard().with_limit::<DECODE_LIMIT>();

/// The most memory that decoding one payload may request, in bytes.
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

/// Takes encoded bytes. This one type writes to a buffer that grows and to a slice: each of bincode's own
/// writers would add another copy of the code for every payload's type.
enum Output<'a> {
    Growing(Vec<u8>),
    Fixed { room: &'a mut [u8], used: usize },
}

impl Output<'_> {
    /// False when there is no room.
    #[inline(never)]
    fn take(&mut self, bytes: &[u8]) -> bool {
        match self {
            Self::Growing(out) => out.extend_from_slice(bytes),
            Self::Fixed { room, used } => {
                let left = room.get_mut(*used..).and_then(|left| left.get_mut(..bytes.len()));
                let Some(left) = left else { return false };
                left.copy_from_slice(bytes);
                *used += bytes.len();
            }
        }
        true
    }

    /// The written bytes. Code that is the same for all types is in functions like this one, because generic
    /// functions are compiled once for each type.
    #[inline(never)]
    fn finish(self, written: Result<(), CodecError>) -> Result<Vec<u8>, CodecError> {
        match (self, written) {
            (Self::Growing(bytes), Ok(())) => Ok(bytes),
            (_, Err(error)) => Err(error),
            (Self::Fixed { .. }, Ok(())) => Err(CodecError::Full),
        }
    }
}

impl Writer for &mut Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        if self.take(bytes) { Ok(()) } else { Err(EncodeError::UnexpectedEnd) }
    }
}

/// Encodes `value` into a fresh buffer. Allocates; not for the main thread of an app.
#[inline(never)]
pub fn encode<T: Encode + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
    let mut out = Output::Growing(Vec::new());
    let written = write(value, &mut out);
    out.finish(written)
}

/// Encodes `value` into `out` and returns the number of bytes used. Does not allocate.
pub fn encode_into<T: Encode + ?Sized>(value: &T, out: &mut [u8]) -> Result<usize, CodecError> {
    let mut out = Output::Fixed { room: out, used: 0 };
    write(value, &mut out)?;
    match out {
        Output::Fixed { used, .. } => Ok(used),
        Output::Growing(_) => Err(CodecError::Full),
    }
}

fn write<T: Encode + ?Sized>(value: &T, out: &mut Output<'_>) -> Result<(), CodecError> {
    bincode::encode_into_writer(value, out, ENCODING).map_err(unencodable)
}

#[inline(never)]
fn unencodable(_: EncodeError) -> CodecError {
    // What else can go wrong is about types that no payload has.
    CodecError::Full
}

/// Decodes one value that must fill `bytes` exactly.
#[inline(never)]
pub fn decode<T: Decode<()>>(bytes: &[u8]) -> Result<T, CodecError> {
    let (value, used) = bincode::decode_from_slice(bytes, ENCODING).map_err(undecodable)?;
    if used == bytes.len() { Ok(value) } else { Err(CodecError::Trailing) }
}

#[inline(never)]
fn undecodable(error: DecodeError) -> CodecError {
    match error {
        DecodeError::UnexpectedEnd { .. } => CodecError::Ended,
        DecodeError::LimitExceeded => CodecError::TooLarge,
        _ => CodecError::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_lies_is_an_error_and_not_an_allocation() {
        // A string that claims 2^44 bytes: 0xFD introduces a 64-bit length.
        let bytes = [0xFD, 0, 0, 0, 0, 0, 0x10, 0, 0];
        assert_eq!(decode::<String>(&bytes), Err(CodecError::TooLarge));
        let many = [0xFC, 0xFF, 0xFF, 0xFF, 0x7F];
        assert_eq!(decode::<Vec<u64>>(&many), Err(CodecError::TooLarge));
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
}
