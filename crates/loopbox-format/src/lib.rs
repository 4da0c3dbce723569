//! The record model and the file container of Loopbox.
//!
//! Everything that crosses a boundary in time or space (the mapped ring that outlives its process, the report
//! file that travels to a developer's desk) is defined here and nowhere else. The crate does no I/O and has no
//! `unsafe`: the app side encodes, the desk side decodes, both against the same types.
//!
//! * [`model`] holds the types: what a record, a message, a stack tree, a pending queue is.
//! * [`codec`] is the payload encoding, that of bincode 2, always with a limit on decoding.
//! * [`container`] frames payloads into a file with sections, checksums and salvage.
//! * [`report`] maps a whole [`model::Report`] to a container and back.
//! * [`looper`] reads what the framework's Looper prints.
//! * [`seed`] reads and writes the article's text form of a tree.
//! * [`stacks`] merges sampled stacks into a tree and gives them back.
//! * [`text`] has the bounded strings that records are made of in the app.
//!
//! All instants are *uptime*: nanoseconds of `CLOCK_MONOTONIC`, the clock under
//! `android.os.SystemClock.uptimeMillis()` and `Message.when`.
#![forbid(unsafe_code)]
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

pub mod codec;
pub mod container;
pub mod looper;
pub mod model;
pub mod report;
pub mod seed;
pub mod stacks;
pub mod text;
