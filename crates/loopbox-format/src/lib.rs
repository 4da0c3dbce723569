#![doc = include_str!("../README.md")]
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

pub mod code;
pub mod codec;
pub mod container;
pub mod display_frames;
pub mod hash;
pub mod looper;
pub mod model;
pub mod problem;
pub mod report;
pub mod stacks;
pub mod text;
pub mod tree_text;
