//! Finds the thread whose end the main thread waits for.
//!
//! `Thread.join` waits on an object that each `java.lang.Thread` keeps for itself, in a hidden field. No API
//! says which thread an object belongs to, but the threads' own memory does. In every thread that field has
//! an object of the same class, and in exactly one thread it has the object that main waits on.

use std::num::NonZeroUsize;

use super::Art;
use crate::discover;
use crate::jni::JniEnv;
use crate::locks::current_copy;
use crate::names::Namer;
use crate::sys::mem;

/// At most this many threads are searched.
const MOST: usize = 1024;
/// Bytes before the fields of every object: its class and its lock word.
const HEADER: usize = 8;
/// Bytes of a `java.lang.Thread` that are read; its fields take 100 to 160.
const FIELDS: usize = 192;
/// Bytes of a reference on the heap.
const REFERENCE: usize = 4;

/// The thread whose end main waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// The thread's index in the array that was searched.
    pub index: u32,
    /// The thread's id in the kernel; `None` when the thread has just ended.
    pub tid: Option<u32>,
}

impl Art {
    /// Finds the thread whose end the main thread waits for, among those of a `Thread[]`: the one whose
    /// hidden field has the object that main waits on. The array ends at the first null. In `Thread.sleep` a
    /// thread waits on the object in its own hidden field, so the result is then the main thread.
    ///
    /// `threads` is the array argument of the `@FastNative` method in which this is called: in such a method
    /// it points to the reference on the stack. `None` when the call is made elsewhere, and for any other
    /// pointer. No thread is stopped, and no read can fault.
    pub fn joined_by_main(&self, env: JniEnv, threads: usize) -> Option<Joined> {
        let waited = self.contended_by_main(env)?;
        let namer = self.namer.served(self.served);
        let array = mem::read::<u32>(threads).filter(|_| threads.is_multiple_of(REFERENCE))?;
        let (index, fields) = owner(&namer, array as usize, waited.address())?;
        Some(Joined { index: u32::try_from(index).ok()?, tid: self.tid_of(&fields) })
    }

    /// The kernel's id of the `java.lang.Thread` with these fields. It is read from the `art::Thread` to
    /// which one of the fields points.
    fn tid_of(&self, fields: &[u8; FIELDS]) -> Option<u32> {
        let at = self.main.thin_lock_id_at;
        let known = discover::listed(self.thread_list, at);
        let natives = fields.chunks_exact(REFERENCE).zip(fields.chunks_exact(REFERENCE).skip(1));
        let mut natives = natives.filter_map(|(low, high)| {
            let number = u64::from(word(low)?) | u64::from(word(high)?) << 32;
            usize::try_from(number).ok()
        });
        let thread = natives.find(|native| known.iter().any(|thread| mem::same(*thread, *native)))?;
        mem::read(thread.wrapping_add(at + 4))
    }
}

fn word(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// The object of a reference: its present address, and its class.
fn object(namer: &Namer, reference: u32) -> Option<(NonZeroUsize, u32)> {
    let at = NonZeroUsize::new(reference as usize)?;
    // The class is in the old copy, too, of an object that has just been moved.
    let class = u32::from_ne_bytes(namer.object(at.get())?);
    Some((current_copy(at)?, class))
}

/// Finds the one thread of the array that has the object `waited` in its hidden field. Which field that is,
/// is not known. Only fields are searched that have an object of the class of `waited` in every thread.
/// Returns the thread's index in the array and the bytes of its fields. `None` when no field, or more than
/// one, has `waited`, when the array has only one thread, and when something cannot be read.
fn owner(namer: &Namer, array: usize, waited: usize) -> Option<(usize, [u8; FIELDS])> {
    let read = |at: usize| namer.object(at).map(u32::from_ne_bytes);
    let class = read(waited)?;
    let length = (read(array.checked_add(HEADER)?)? as usize).min(MOST);
    let mut threads = Vec::new();
    for index in 0..length {
        let element = read(array.checked_add(HEADER + REFERENCE + index * REFERENCE)?)?;
        if element == 0 {
            break;
        }
        threads.push(object(namer, element)?.0.get());
    }
    // What lies behind a thread may be another one, whose fields are not those of the first.
    let gaps = threads.iter().flat_map(|from| threads.iter().filter_map(move |to| to.checked_sub(*from)));
    let end = gaps.filter(|gap| *gap > 0).fold(FIELDS, usize::min);
    let mut places: Vec<usize> = (HEADER..end).step_by(REFERENCE).collect();
    let mut owners = Vec::new();
    for (index, thread) in threads.iter().enumerate() {
        let fields: [u8; FIELDS] = namer.object(*thread)?;
        places.retain(|&place| {
            let field =
                fields.get(place..place + REFERENCE).and_then(word).and_then(|field| object(namer, field));
            let Some((value, _)) = field.filter(|(_, its)| *its == class) else { return false };
            if value.get() == waited {
                owners.push((place, index, fields));
            }
            true
        });
    }
    owners.retain(|(place, ..)| places.contains(place));
    // One thread alone says nothing about what its fields are.
    match owners.as_slice() {
        [(_, index, fields)] if threads.len() > 1 => Some((*index, *fields)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::NAME_LAYOUTS;

    const PAGE: usize = 4096;
    const OBJECT: u32 = 0x7070_0010;
    const THREAD: u32 = 0x7070_0020;
    /// Bytes of a simulated thread object. The objects lie one after the other, as on a fresh heap.
    const SIZE: usize = 96;
    const LOCK: usize = 24;
    const OTHER: usize = 12;

    /// A page at an address that references of 32 bits can hold.
    struct Heap {
        page: usize,
        array: usize,
        /// The address of the object in each thread's hidden field, by the thread's index.
        locks: Vec<usize>,
    }

    impl Heap {
        fn new(threads: usize) -> Heap {
            let (protection, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // Which of these addresses are free is up to the machine.
            let page = (1..15).find_map(|sixteenth: usize| {
                let wanted = (sixteenth << 28) as *mut libc::c_void;
                // SAFETY: new anonymous pages, where nothing is.
                let got = unsafe {
                    let flags = flags | libc::MAP_FIXED_NOREPLACE;
                    libc::mmap(wanted, 2 * PAGE, protection, flags, -1, 0)
                };
                (got == wanted).then_some(got as usize)
            });
            let page = page.unwrap();
            let mut heap = Heap { page, array: page, locks: Vec::new() };
            let [of_threads, of_locks] = [page + 256, page + PAGE];
            heap.set(page + 8, threads as u32);
            for index in 0..threads {
                let [thread, lock] = [of_threads + index * SIZE, of_locks + index * 32];
                heap.set(page + 12 + index * 4, thread as u32);
                heap.set(thread, THREAD);
                heap.set(thread + LOCK, lock as u32);
                heap.set(thread + OTHER, (lock + 16) as u32);
                heap.set(lock, OBJECT);
                heap.set(lock + 16, OBJECT);
                heap.locks.push(lock);
            }
            heap
        }

        fn set(&self, at: usize, value: u32) {
            assert!((self.page..self.page + 2 * PAGE).contains(&at));
            // SAFETY: within the pages, which this value alone uses.
            unsafe { (at as *mut u32).write(value) };
        }

        fn owner_of(&self, object: usize) -> Option<usize> {
            owner(&Namer::new(NAME_LAYOUTS[0]), self.array, object).map(|(index, _)| index)
        }
    }

    impl Drop for Heap {
        fn drop(&mut self) {
            // SAFETY: mapped in `new`, and nothing points there any more.
            unsafe { libc::munmap(self.page as *mut libc::c_void, 2 * PAGE) };
        }
    }

    #[test]
    fn a_thread_is_found_by_the_object_that_it_keeps_for_itself() {
        let heap = Heap::new(5);
        for (index, lock) in heap.locks.iter().enumerate() {
            assert_eq!(heap.owner_of(*lock), Some(index));
        }
        assert_eq!(heap.owner_of(heap.locks[4] + 32), None, "no thread has it");
        heap.set(heap.array + 12 + 3 * 4, 0);
        assert_eq!(heap.owner_of(heap.locks[2]), Some(2));
        assert_eq!(
            heap.owner_of(heap.locks[3]),
            None,
            "the array ends before it, and its neighbour does not have it"
        );
    }

    #[test]
    fn a_field_that_not_all_threads_have_decides_nothing() {
        let heap = Heap::new(4);
        heap.set(heap.page + 256 + SIZE + LOCK, 0x10);
        assert_eq!(heap.owner_of(heap.locks[2]), None);
        let one = Heap::new(1);
        assert_eq!(one.owner_of(one.locks[0]), None);
    }

    #[test]
    fn an_object_that_was_moved_is_the_same_one() {
        let heap = Heap::new(3);
        let new = heap.locks[2] + 64;
        heap.set(new, OBJECT);
        heap.set(heap.locks[1] + 4, (new as u32 >> 3) | 3 << 30);
        assert_eq!(heap.owner_of(new), Some(1));
    }
}
