//! Memory for the time when there is none: an allocation that fails would end the app (`handle_alloc_error`),
//! and apps hang when memory is short. So the library's allocator asks the system's allocator first. If that
//! has no memory, it takes the memory from a reserve that belongs to the library: pages that cost nothing
//! until they are touched.
//!
//! The reserve is there to finish what was begun. Before a thread begins something, it asks [`is_short`]. If
//! memory is short, the thread does without: without a sample, without a report beyond its first file, and
//! without a call into Java, where a failed allocation in the VM ends the app as well. When the reserve is
//! used up, too, the thread waits until there is memory again.

use crate::sys::clock;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The size of the reserve in bytes. A report's first file with a full history and many stacks takes some 900
/// KB at once.
const RESERVE: usize = 2 << 20;
/// Blocks begin at multiples of this; their lengths are multiples of it, too.
const GRANULE: usize = 64;
const GRANULES: usize = RESERVE / GRANULE;
const WORDS: usize = GRANULES / 64;
/// The largest allocation in bytes that a thread waits for. Nothing here needs more, and a caller that asks
/// for more can do without.
const MOST_WAITED_FOR: usize = 64 << 20;
/// How long a thread waits until it tries again.
const PAUSE: Duration = Duration::from_millis(10);
/// The amount of memory that must be free before something is begun.
const PROBE: usize = 256 << 10;
/// Memory counts as short for this long after the system last refused an allocation.
const SHORT_NS: u64 = 300_000_000;

#[repr(align(4096))]
struct Region(UnsafeCell<[u8; RESERVE]>);

// SAFETY: its bytes are only reached through blocks, each of which has one owner.
unsafe impl Sync for Region {}

// In a section that comes after all others: what is at a distance of less than a megabyte costs fewer
// instructions on arm64.
#[unsafe(link_section = ".reserve")]
static REGION: Region = Region(UnsafeCell::new([0; RESERVE]));

/// Which granules are in use, one bit each.
struct Map {
    /// Whether a thread holds the map. It is held for some hundred instructions, in which nothing waits.
    locked: AtomicBool,
    used: UnsafeCell<[u64; WORDS]>,
    /// How many granules are in use.
    count: AtomicUsize,
}

// SAFETY: `used` is only reached with `locked` held.
unsafe impl Sync for Map {}

static MAP: Map =
    Map { locked: AtomicBool::new(false), used: UnsafeCell::new([0; WORDS]), count: AtomicUsize::new(0) };

/// When the system last refused an allocation, uptime; 0 for never.
static REFUSED_NS: AtomicU64 = AtomicU64::new(0);
/// `TAKEN` is how often something was taken from the reserve, `WAITED` how often a thread had to wait.
static TAKEN: AtomicU32 = AtomicU32::new(0);
static WAITED: AtomicU32 = AtomicU32::new(0);

/// The allocator of the library that apps load.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory;

// SAFETY: blocks are the system allocator's, or granules of the reserve, which `Map` gives to one owner at a
// time; each is given back to where it came from, which its address says.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system allocator's.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { instead(layout) } else { block }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            return block;
        }
        let block = instead(layout);
        if !block.is_null() {
            // SAFETY: a block of this size, which nobody else knows of yet.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_reserved(block) {
            MAP.give_back(block, layout);
        } else {
            // SAFETY: the system allocator's, by the caller's promise with this layout.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_reserved(block) {
            // SAFETY: as above.
            let grown = unsafe { System.realloc(block, layout, size) };
            if !grown.is_null() {
                return grown;
            }
        }
        // SAFETY: the caller promises that the size is a valid one for this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not 0, by the caller's promise; two blocks that both are as long as what is
        // copied.
        unsafe {
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(block, moved, size.min(layout.size()));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

/// Allocates from the reserve, because the system has no memory. When the reserve has no room, or the block
/// is too large for it, waits for the system, because no caller here can handle a failure. Returns null only
/// for a block of more than [`MOST_WAITED_FOR`] bytes.
#[cold]
fn instead(layout: Layout) -> *mut u8 {
    REFUSED_NS.store(clock::now_ns().0.max(1), Ordering::Relaxed);
    let mut waits = false;
    loop {
        let block = MAP.take(layout);
        if !block.is_null() {
            TAKEN.fetch_add(1, Ordering::Relaxed);
            return block;
        }
        if layout.size() > MOST_WAITED_FOR {
            return block;
        }
        if !std::mem::replace(&mut waits, true) {
            WAITED.fetch_add(1, Ordering::Relaxed);
        }
        std::thread::sleep(PAUSE);
        // SAFETY: the layout of an allocation, whose size is not 0 by its caller's promise.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            return block;
        }
    }
}

fn is_reserved(block: *const u8) -> bool {
    let begin = REGION.0.get().addr();
    (begin..begin + RESERVE).contains(&block.addr())
}

impl Map {
    fn with<T>(&self, body: impl FnOnce(&mut [u64; WORDS]) -> T) -> T {
        let mut turns = 0_u32;
        while self.locked.swap(true, Ordering::Acquire) {
            turns += 1;
            // Who has it may be waiting for this processor.
            if turns.is_multiple_of(64) { std::thread::yield_now() } else { hint::spin_loop() }
        }
        // SAFETY: with the lock held there is no other reference.
        let result = body(unsafe { &mut *self.used.get() });
        self.locked.store(false, Ordering::Release);
        result
    }

    /// Takes a block out of the reserve; null when there is no room for it.
    fn take(&self, layout: Layout) -> *mut u8 {
        let wanted = layout.size().div_ceil(GRANULE).max(1);
        if layout.align() > GRANULE || wanted > GRANULES {
            return ptr::null_mut();
        }
        let found = self.with(|used| {
            let at = find(used, wanted)?;
            (at..at + wanted).for_each(|granule| set(used, granule, true));
            Some(at)
        });
        let Some(at) = found else { return ptr::null_mut() };
        self.count.fetch_add(wanted, Ordering::Relaxed);
        // SAFETY: this many granules lie in the region.
        unsafe { REGION.0.get().cast::<u8>().add(at * GRANULE) }
    }

    fn give_back(&self, block: *const u8, layout: Layout) {
        let at = (block.addr() - REGION.0.get().addr()) / GRANULE;
        let len = layout.size().div_ceil(GRANULE).max(1);
        self.with(|used| (at..at + len).for_each(|granule| set(used, granule, false)));
        self.count.fetch_sub(len, Ordering::Relaxed);
    }
}

/// Finds the first run of `wanted` free granules.
fn find(used: &[u64; WORDS], wanted: usize) -> Option<usize> {
    let (mut begin, mut free) = (0, 0);
    for (word, bits) in used.iter().enumerate() {
        if *bits == u64::MAX {
            free = 0;
            continue;
        }
        for bit in 0..64 {
            if bits >> bit & 1 == 1 {
                free = 0;
                continue;
            }
            if free == 0 {
                begin = word * 64 + bit;
            }
            free += 1;
            if free == wanted {
                return Some(begin);
            }
        }
    }
    None
}

fn set(used: &mut [u64; WORDS], granule: usize, value: bool) {
    if let Some(word) = used.get_mut(granule / 64) {
        let bit = 1 << (granule % 64);
        *word = if value { *word | bit } else { *word & !bit };
    }
}

/// Whether there is too little memory to begin something. Asks the system by allocating some and freeing it.
pub(crate) fn is_short() -> bool {
    if was_short() {
        return true;
    }
    let short = !malloc_works() || !mmap_works();
    if short {
        REFUSED_NS.store(clock::now_ns().0.max(1), Ordering::Relaxed);
    }
    short
}

/// Whether there is too little memory for a sample, which allocates next to nothing. This check is ten
/// thousand times cheaper than the sample.
pub(crate) fn is_short_for_a_sample() -> bool {
    was_short() || !malloc_works()
}

/// Whether the reserve has room for a report.
pub(crate) fn has_room() -> bool {
    !is_short() || MAP.count.load(Ordering::Relaxed) < GRANULES / 8
}

/// Whether memory was short a moment ago.
fn was_short() -> bool {
    let refused_ns = REFUSED_NS.load(Ordering::Relaxed);
    refused_ns != 0 && clock::now_ns().0.saturating_sub(refused_ns) < SHORT_NS
}

fn malloc_works() -> bool {
    // SAFETY: a block that is not used and given back; null is allowed.
    unsafe {
        // The compiler may leave out what nobody uses, but not what it cannot see through.
        let block = hint::black_box(libc::malloc(hint::black_box(4_096)));
        let small = !block.is_null();
        libc::free(block);
        small
    }
}

fn mmap_works() -> bool {
    // SAFETY: new pages, which are not used and given back.
    unsafe {
        let pages = libc::mmap(
            ptr::null_mut(),
            PROBE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        let works = pages != libc::MAP_FAILED;
        if works {
            libc::munmap(pages, PROBE);
        }
        works
    }
}

/// How much of the reserve is in use, how often something was taken from it, and how often a thread had to
/// wait.
pub(crate) fn figures() -> [u64; 3] {
    let used = MAP.count.load(Ordering::Relaxed) * GRANULE;
    [used as u64, TAKEN.load(Ordering::Relaxed).into(), WAITED.load(Ordering::Relaxed).into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because the process has one reserve.
    #[test]
    fn the_reserve_gives_each_byte_to_one_owner_and_takes_all_back() {
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let [before, ..] = figures();
        assert!(MAP.take(layout(8, 4_096)).is_null(), "no such alignment");
        assert!(MAP.take(layout(RESERVE + 1, 8)).is_null(), "no such size");
        let threads: Vec<_> = (0..4_u8)
            .map(|thread| {
                std::thread::spawn(move || {
                    let mut held: Vec<(*mut u8, Layout)> = Vec::new();
                    let mut seed = u32::from(thread) + 1;
                    for _ in 0..20_000 {
                        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let size = (seed >> 8) as usize % 3_000;
                        if held.len() > 60 || seed.is_multiple_of(3) && !held.is_empty() {
                            let (block, of) = held.swap_remove(size % held.len());
                            for at in 0..of.size() {
                                // SAFETY: a block of this thread's own.
                                assert_eq!(unsafe { block.add(at).read() }, thread);
                            }
                            MAP.give_back(block, of);
                        } else {
                            let of = layout(size, 8);
                            let block = MAP.take(of);
                            assert!(!block.is_null());
                            // SAFETY: as above.
                            unsafe { block.write_bytes(thread, size) };
                            held.push((block, of));
                        }
                    }
                    held.into_iter().for_each(|(block, of)| MAP.give_back(block, of));
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(figures()[0], before);
        // All of it is one free block again.
        let all = layout(RESERVE - before as usize, 64);
        let block = MAP.take(all);
        assert!(!block.is_null() && MAP.take(layout(1, 1)).is_null());
        MAP.give_back(block, all);
    }

    #[test]
    fn a_block_that_grows_out_of_the_reserve_keeps_its_bytes() {
        let small = Layout::from_size_align(100, 8).unwrap();
        let block = MAP.take(small);
        // SAFETY: blocks of these layouts, each given back once.
        unsafe {
            block.write_bytes(7, 100);
            let grown = Memory.realloc(block, small, 10_000);
            assert!(!is_reserved(grown));
            assert!((0..100).all(|at| grown.add(at).read() == 7));
            Memory.dealloc(grown, Layout::from_size_align(10_000, 8).unwrap());
        }
    }
}
