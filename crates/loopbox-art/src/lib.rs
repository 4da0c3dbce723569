#![doc = include_str!("../README.md")]
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

mod art;
mod discover;
#[cfg(test)]
mod elf_tests;
mod fuse;
mod jni;
mod known;
mod loaded;
mod locks;
mod module;
mod names;
pub mod native;
pub mod native_entry;
mod off;
mod offsets;
mod stack;
mod symbols;
mod sys;
mod thread_state;
mod visitor;
mod window;

pub use art::{
    Armed, Art, DiscoverOptions, Joined, LayoutSource, ModuleInfo, Rescue, Stats, Suspended, ThreadId,
    Unstoppable,
};
pub use discover::{KnownMethod, Library, ThreadEnv, build_id, get_stack_trace_waits_long_enough};
pub use fuse::{Fuse, Phase};
pub use jni::{JavaVm, JniEnv};
pub use known::KnownSymbols;
pub use locks::{Lock, ObjectRef};
pub use names::{Fingerprint, LineTable, MethodName, Named, Names, names_of_dex};
pub use off::{Off, SuspendError};
pub use offsets::SuspendAbi;
pub use stack::{Frame, MAX_FRAMES, MethodRef, RawStack};
pub use visitor::DEFAULT_DEPTH_LIMIT;
