//! How much heap the recorder uses, for tests. It is part of builds with debug assertions only, and so not of
//! the shipped library. malloc's own figure also contains the runtime's blocks, and blocks kept for later
//! threads.

use loopbox_agent::Memory;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn added(block: *mut u8, len: usize) -> *mut u8 {
    if !block.is_null() {
        LIVE.fetch_add(len, Ordering::Relaxed);
    }
    block
}

// SAFETY: passes everything on to the system's allocator, which keeps the trait's promises.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        added(unsafe { Memory.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        added(unsafe { Memory.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { Memory.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let moved = added(unsafe { Memory.realloc(block, layout, len) }, len);
        if !moved.is_null() {
            LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        moved
    }
}

/// Bytes that this library has taken from the heap and not given back.
#[unsafe(no_mangle)]
extern "C" fn loopbox_live_heap() -> usize {
    LIVE.load(Ordering::Relaxed)
}
