//! Why something could not be stored.

/// Why something was not stored. Recording continues in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The content does not fit its slot; the slot keeps its previous content.
    #[error("{needed} bytes do not fit a slot of {capacity}")]
    TooLarge {
        /// The size of the content in bytes.
        needed: usize,
        /// Bytes that the slot holds.
        capacity: usize,
    },
    /// The content could not be encoded.
    #[error(transparent)]
    Encode(#[from] loopbox_format::codec::CodecError),
    /// This process is a fork of the one that owns the ring, and must not write to it.
    #[error("this process was forked from the one that owns the ring")]
    Forked,
    /// There is no memory for the ring, or the slot does not exist in this geometry.
    #[error("the ring has no such slot")]
    NoSlot,
}
