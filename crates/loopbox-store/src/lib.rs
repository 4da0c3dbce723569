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

mod error;
#[cfg(not(loom))]
mod files;
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
mod memory;
#[cfg(not(loom))]
mod recover;
#[cfg(not(loom))]
mod ring;
#[cfg(not(loom))]
mod ring_file;
mod sorted;
#[cfg(not(loom))]
mod source;

pub use error::StoreError;
pub use identity::{BuildId, Identity, start_ticks};
pub use layout::{Geometry, LayoutError, MAX_RING_BYTES};
pub use marks::{CrashMark, FuseState, Interruption};
pub use pair::Pair;
pub use trees::Fidelity;

#[cfg(not(loom))]
pub use self::{
    adopt::{OrphanedRing, OrphanedRings, RingPolicy, adopt},
    files::blown_fuse::{BlownFuse, FuseSubject, STARTS_OFF, STRIKE_STARTS, Suspicion, count_start, suspect},
    files::directory::create_directory,
    files::known_symbols::{keep_symbols, known_symbols},
    files::report_file::{Outlives, REQUESTED, ReportPolicy, enforce, replace_report, write_report},
    recover::{RecoverError, Recovered, recover},
    ring::{MainWriter, Mirror, Ring, RingFuse, RingOptions, RingReader, WorkerWriter},
    ring_file::Volatile,
};
