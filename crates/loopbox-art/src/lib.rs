//! Finds ART in the running process and takes Java stacks of the main thread.
//!
//! Used by one sampler thread of our own, attached to the VM:
//!
//! 1. once, [`Library::load`] (any thread) and [`Art::with_library`], or [`Art::discover`] for both: finds
//!    the module, its functions, its structures, and checks all of it before first use;
//! 2. per sample, in native state, [`Art::suspend_main`]; then, best inside of a fast native Java method,
//!    [`Art::walk`], [`Suspended::resume`] and the names of methods not seen before ([`Art::describe`]).
//!
//! Nothing between suspend and resume allocates, locks, logs or panics. Whatever is not as expected is an
//! [`Off`] with its reason: the app goes on without a sampler. `docs/sampler.md` tells the whole story.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable
    )
)]

mod art;
mod discover;
pub mod elf;
mod fuse;
mod hold;
mod locks;
mod module;
mod names;
pub mod native;
mod off;
mod offsets;
mod stack;
mod symbols;
mod sys;
mod visitor;

pub use art::{
    Art, DEFAULT_DEPTH_LIMIT, DiscoverOptions, LayoutSource, ModuleInfo, Rescue, Stats, Suspended,
};
pub use discover::{KnownMethod, Library, ThreadEnv, build_id, get_stack_trace_is_patient};
pub use fuse::{Fuse, Phase};
pub use locks::{Lock, ObjectRef, ThreadId};
pub use names::{Fingerprint, LineTable, MethodName, Named, names_of_dex};
pub use off::{Off, SuspendError};
pub use offsets::SuspendAbi;
pub use stack::{Frame, MAX_FRAMES, MethodRef, RawStack};
