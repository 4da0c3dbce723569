#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
// Under loom only the slot protocol is there to be used; a mapping cannot hold loom's atomics.
#![cfg_attr(loom, allow(dead_code, unused_imports))]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]

mod identity;
mod layout;
mod marks;
mod message_words;
mod pair;
mod slot;
mod sync;
mod trees;

#[cfg(not(loom))]
mod adopt;
#[cfg(not(loom))]
mod blown_fuse;
#[cfg(not(loom))]
mod file_age;
#[cfg(not(loom))]
mod known_symbols;
#[cfg(not(loom))]
mod memory;
#[cfg(not(loom))]
mod recover;
#[cfg(not(loom))]
mod report_file;
#[cfg(not(loom))]
mod ring;
#[cfg(not(loom))]
mod ring_file;
mod sorted;
#[cfg(not(loom))]
mod source;

pub use identity::{BuildId, Identity, start_ticks};
pub use layout::{Geometry, LayoutError, MAX_RING_BYTES};
pub use marks::{CrashMark, FuseState};
pub use pair::Pair;
pub use trees::Fidelity;

#[cfg(not(loom))]
pub use self::{
    adopt::{OrphanedRing, RingPolicy, adopt},
    blown_fuse::{BlownFuse, FuseSubject, STARTS_OFF, STRIKE_STARTS, Suspicion, count_start, suspect},
    known_symbols::{keep_symbols, known_symbols},
    recover::{RecoverError, Recovered, recover},
    report_file::{Outlives, REQUESTED, ReportPolicy, enforce, replace_report, write_report},
    ring::{MainWriter, Mirror, Ring, RingFuse, RingOptions, RingReader, WorkerWriter},
    ring_file::Volatile,
};

/// Why something was not stored. Recording goes on in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It does not fit its slot; what the slot held before stands.
    #[error("{needed} bytes do not fit a slot of {capacity}")]
    TooLarge {
        /// Bytes that it has.
        needed: usize,
        /// Bytes that the slot holds.
        capacity: usize,
    },
    /// It could not be encoded.
    #[error(transparent)]
    Encode(#[from] loopbox_format::codec::CodecError),
    /// This process is a fork of the one that owns the ring, and must not write to it.
    #[error("this process was forked from the one that owns the ring")]
    Forked,
    /// There is no memory for the ring at all, or the slot does not exist in this geometry.
    #[error("the ring has no such slot")]
    NoSlot,
}
