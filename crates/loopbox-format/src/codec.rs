//! The one place that knows how payloads become bytes.
//!
//! The encoding is bincode 2's standard configuration (little-endian, variable-length integers) with a byte
//! limit on decoding. Without that limit a nine-byte file can ask for 16 TiB and abort the process, so no other
//! module may call bincode. The encoding is not self-describing: a payload's type never changes once released;
//! new facts travel in new container sections (see `docs/file-format.md`).

use serde::{Serialize, de::DeserializeOwned};

/// The most that decoding one payload may ask of memory, in bytes.
///
/// A full report of a busy app is under 200 KiB; everything above this bound is damage or malice.
pub const DECODE_LIMIT: usize = 16 << 20;

/// Why a payload could not be encoded or decoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The destination is too small, or the value cannot be represented.
    #[error("cannot encode: {0}")]
    Encode(#[from] bincode::error::EncodeError),
    /// The bytes are not a value of this type, or it would be larger than [`DECODE_LIMIT`].
    #[error("cannot decode: {0}")]
    Decode(#[from] bincode::error::DecodeError),
    /// The value ended before the bytes did.
    #[error("{extra} bytes left over after the value")]
    Trailing {
        /// How many bytes were not consumed.
        extra: usize,
    },
}

const fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<DECODE_LIMIT>()
}

/// Encodes `value` into a fresh buffer. Allocates; not for the main thread of an app.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
    Ok(bincode::serde::encode_to_vec(value, config())?)
}

/// Encodes `value` into `out` and returns the number of bytes used. Does not allocate.
pub fn encode_into<T: Serialize + ?Sized>(value: &T, out: &mut [u8]) -> Result<usize, CodecError> {
    Ok(bincode::serde::encode_into_slice(value, out, config())?)
}

/// Decodes one value that must fill `bytes` exactly.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    let (value, used) = bincode::serde::decode_from_slice(bytes, config())?;
    match bytes.len().saturating_sub(used) {
        0 => Ok(value),
        extra => Err(CodecError::Trailing { extra }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_lies_is_an_error_and_not_an_allocation() {
        // A string that claims 2^44 bytes: 0xFD introduces a 64-bit length in bincode's varint.
        let bytes = [0xFD, 0, 0, 0, 0, 0, 0x10, 0, 0];
        assert!(matches!(decode::<String>(&bytes), Err(CodecError::Decode(_))));
        let many = [0xFC, 0xFF, 0xFF, 0xFF, 0x7F];
        assert!(decode::<Vec<u64>>(&many).is_err());
    }

    #[test]
    fn leftover_bytes_are_refused() {
        let mut bytes = encode(&7_u32).unwrap();
        bytes.push(0);
        assert!(matches!(decode::<u32>(&bytes), Err(CodecError::Trailing { extra: 1 })));
    }

    #[test]
    fn encoding_into_a_small_buffer_is_an_error() {
        let mut out = [0_u8; 3];
        assert!(encode_into("longer than that", &mut out).is_err());
        assert_eq!(encode_into("ab", &mut out).unwrap(), 3);
    }
}
