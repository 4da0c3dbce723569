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

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "arm")]
mod arm;
// Of a machine that no Android runs on there is nothing to call.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "x86", target_arch = "arm")),
    path = "no_code.rs"
)]
mod code;
mod slots;
#[cfg(target_arch = "x86")]
mod x86;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::sync::atomic::Ordering;

use slots::{RECORDER, SLOTS, TRAMPOLINES};

pub use code::SUPPORTED;
pub use slots::Recorder;

/// A function with the signature of `nativePollOnce`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trampoline(usize);

impl Trampoline {
    /// The trampoline that calls `original`: an existing one, else an unused one. `None` when all are in use,
    /// when `original` is 0 or a trampoline, and on machines without trampolines. Main thread only.
    pub fn claim(original: usize, recorder: &'static Recorder) -> Option<Self> {
        if !SUPPORTED || original == 0 || Self::at(original).is_some() {
            return None;
        }
        RECORDER.store(std::ptr::from_ref(recorder).cast_mut(), Ordering::Release);
        let calls = |wanted| SLOTS.iter().position(|slot| slot.original.load(Ordering::Relaxed) == wanted);
        let index = calls(original).or_else(|| calls(0))?;
        SLOTS.get(index)?.original.store(original, Ordering::Release);
        Some(Self(index))
    }

    /// The trampoline whose code begins at this address.
    pub fn at(address: usize) -> Option<Self> {
        Self::all().find(|trampoline| address != 0 && trampoline.address() == address)
    }

    /// All trampolines, claimed or not.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TRAMPOLINES).map(Self)
    }

    /// The function that this trampoline calls; `None` if no one has claimed the trampoline.
    pub fn original(self) -> Option<usize> {
        Some(SLOTS.get(self.0)?.original.load(Ordering::Acquire)).filter(|&original| original != 0)
    }

    /// Whether it calls the recorder.
    pub fn is_watching(self) -> bool {
        SLOTS.get(self.0).is_some_and(|slot| slot.queue.load(Ordering::Acquire) != 0)
    }

    /// Where its code begins; 0 on machines without trampolines.
    pub fn address(self) -> usize {
        code::address_of(self.0)
    }

    /// From the next poll on, calls the recorder for polls of the queue with this `MessageQueue.mPtr`.
    pub fn watch(self, queue: i64) {
        if let Some(slot) = SLOTS.get(self.0) {
            slot.queue.store(queue, Ordering::Release);
        }
    }

    /// From now on only passes calls on. A poll that is in progress still calls the recorder when it returns.
    /// Any thread.
    pub fn rest(self) {
        self.watch(0);
    }
}
