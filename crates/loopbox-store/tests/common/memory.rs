//! Counts what the calling thread has allocated on the heap, in every program that includes this module.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: every call is handed to the system's allocator as it is; counting touches only thread-local numbers
// that need neither allocation nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the block comes from `System`, by `alloc` or `realloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // The old block may be there while the new one is filled.
        count(new_size as isize);
        count(-(layout.size() as isize));
        // SAFETY: the block comes from `System`, by `alloc` or `realloc`.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

/// Runs `work`. Returns the peak of the heap memory that `work` held, in bytes, and its result. Only the
/// calling thread's memory counts.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.get();
    PEAK.set(before);
    let done = work();
    (usize::try_from(PEAK.get() - before).unwrap_or_default(), done)
}
