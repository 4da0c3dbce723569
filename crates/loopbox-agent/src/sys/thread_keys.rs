//! One key of the C library for all thread-local variables of this library.
//!
//! A process has 128 keys on Android (`PTHREAD_KEYS_MAX`), for all that is loaded into it. Below Android 10
//! thread-local variables need such keys, and Rust's standard library takes one for each: ten for what is
//! used here. When none is left it aborts. So the Android libraries are linked with `--wrap` for the four
//! functions below. The standard library and the crates then get their keys here. Each of these keys is the
//! index of a value in a block that each thread has. The one real key is taken while the library is loaded.
//! When none is left at that time, loading fails, and nothing aborts.

use super::memory::Memory;
use libc::{c_int, c_void, pthread_key_t};
use std::alloc::{GlobalAlloc as _, Layout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of keys here: more than the standard library and the crates use.
const KEYS: usize = 32;
/// How often at most the destructors of a thread's values are called when it ends: a destructor can set
/// values again. The C library has the same limit (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: usize = 4;

type Destructor = unsafe extern "C" fn(*mut c_void);

/// The values of a thread, zeroed at first.
type Values = [*mut c_void; KEYS];

/// The key whose value is a thread's [`Values`].
static REAL: OnceLock<pthread_key_t> = OnceLock::new();
static TAKEN: AtomicUsize = AtomicUsize::new(0);
/// The address of each key's [`Destructor`]; 0 for none.
static DESTRUCTORS: [AtomicUsize; KEYS] = [const { AtomicUsize::new(0) }; KEYS];

#[cfg(target_os = "android")]
mod real {
    use super::{Destructor, c_int, c_void, pthread_key_t};

    unsafe extern "C" {
        #[link_name = "__real_pthread_key_create"]
        pub(super) fn create(key: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int;
        #[link_name = "__real_pthread_key_delete"]
        pub(super) fn delete(key: pthread_key_t) -> c_int;
        #[link_name = "__real_pthread_getspecific"]
        pub(super) fn get(key: pthread_key_t) -> *mut c_void;
        #[link_name = "__real_pthread_setspecific"]
        pub(super) fn set(key: pthread_key_t, value: *const c_void) -> c_int;
    }

    // Hidden, unlike exported functions of Rust: no business of any other library.
    std::arch::global_asm!(
        ".globl __wrap_pthread_key_create",
        ".hidden __wrap_pthread_key_create",
        ".set __wrap_pthread_key_create, {create}",
        ".globl __wrap_pthread_key_delete",
        ".hidden __wrap_pthread_key_delete",
        ".set __wrap_pthread_key_delete, {delete}",
        ".globl __wrap_pthread_getspecific",
        ".hidden __wrap_pthread_getspecific",
        ".set __wrap_pthread_getspecific, {get}",
        ".globl __wrap_pthread_setspecific",
        ".hidden __wrap_pthread_setspecific",
        ".set __wrap_pthread_setspecific, {set}",
        create = sym super::create,
        delete = sym super::delete,
        get = sym super::get,
        set = sym super::set,
    );
}

#[cfg(not(target_os = "android"))]
mod real {
    pub(super) use libc::{
        pthread_getspecific as get, pthread_key_create as create, pthread_key_delete as delete,
        pthread_setspecific as set,
    };
}

/// Takes the real key, unless that was done before. False when the process has none left.
pub(crate) fn reserve() -> bool {
    if REAL.get().is_some() {
        return true;
    }
    let mut key = 0;
    // SAFETY: the key goes to a local; the destructor gets what `set` has made the value of it.
    if unsafe { real::create(&raw mut key, Some(end_thread)) } != 0 {
        return false;
    }
    if REAL.set(key).is_err() {
        // SAFETY: made above, and no thread has a value of it.
        unsafe { real::delete(key) };
    }
    true
}

/// `pthread_key_create`.
///
/// # Safety
/// The caller meets the requirements of the C library's function.
unsafe extern "C" fn create(key: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int {
    let next = |taken: usize| (taken < KEYS).then_some(taken + 1);
    if !reserve() {
        return libc::EAGAIN;
    }
    let Ok(at) = TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) else { return libc::EAGAIN };
    if let Some(slot) = DESTRUCTORS.get(at) {
        slot.store(destructor.map_or(0, |destructor| destructor as usize), Ordering::Release);
    }
    // Not 0: the standard library takes that for no key.
    let number = pthread_key_t::try_from(at + 1).unwrap_or_default();
    // SAFETY: the caller's promise.
    unsafe { key.write(number) };
    0
}

/// `pthread_key_delete`. The number of the key is not reused. Deletion is rare: it happens when two threads
/// make a key for the same variable at once, and one of them gives its key up.
///
/// # Safety
/// The caller meets the requirements of the C library's function.
unsafe extern "C" fn delete(key: pthread_key_t) -> c_int {
    match index(key).and_then(|at| DESTRUCTORS.get(at)) {
        Some(slot) => {
            slot.store(0, Ordering::Release);
            0
        }
        None => libc::EINVAL,
    }
}

/// `pthread_getspecific`.
///
/// # Safety
/// The caller meets the requirements of the C library's function.
unsafe extern "C" fn get(key: pthread_key_t) -> *mut c_void {
    let Some(value) = index(key).and_then(value) else { return std::ptr::null_mut() };
    // SAFETY: by `value` a live value of this thread.
    unsafe { *value }
}

/// `pthread_setspecific`.
///
/// # Safety
/// The caller meets the requirements of the C library's function.
unsafe extern "C" fn set(key: pthread_key_t, new: *const c_void) -> c_int {
    let (Some(at), Some(&real)) = (index(key), REAL.get()) else { return libc::EINVAL };
    if let Some(value) = value(at) {
        // SAFETY: by `value` a live value of this thread.
        unsafe { *value = new.cast_mut() };
        return 0;
    }
    // Not of the system alone: the standard library ends the process when a value cannot be set.
    // SAFETY: a layout that is not empty; the result is checked.
    let block = unsafe { Memory.alloc_zeroed(Layout::new::<Values>()) }.cast::<c_void>();
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the key was made by `reserve`; the block is this thread's own until `end_thread` frees it.
    let error = unsafe { real::set(real, block) };
    if error == 0 {
        // SAFETY: the block holds zeroed pointers; `index` gives no number of more than there are.
        unsafe { *block.cast::<*mut c_void>().add(at) = new.cast_mut() };
    } else {
        // SAFETY: made above; no other thread knows of it.
        unsafe { Memory.dealloc(block.cast(), Layout::new::<Values>()) };
    }
    error
}

fn index(key: pthread_key_t) -> Option<usize> {
    usize::try_from(key).ok()?.checked_sub(1).filter(|&at| at < KEYS)
}

/// Where this thread has the value of a key; `None` while it has no values.
fn value(at: usize) -> Option<*mut *mut c_void> {
    // SAFETY: the key was made by `reserve`.
    let values = unsafe { real::get(*REAL.get()?) }.cast::<Values>();
    if values.is_null() || at >= KEYS {
        return None;
    }
    // SAFETY: a block that `set` has made on this thread; `at` lies within.
    Some(unsafe { values.cast::<*mut c_void>().add(at) })
}

/// Ends a thread: passes its values to the destructors of their keys, as the C library does.
unsafe extern "C" fn end_thread(block: *mut c_void) {
    let Some(&real) = REAL.get() else { return };
    // Destructors use other values, and may set some.
    // SAFETY: the key was made by `reserve`.
    unsafe { real::set(real, block) };
    for _ in 0..ROUNDS {
        let mut all_null = true;
        for (at, destructor) in DESTRUCTORS.iter().enumerate() {
            let destructor = destructor.load(Ordering::Acquire);
            // SAFETY: the block has a value for each key, and is this thread's own.
            let value = unsafe { block.cast::<*mut c_void>().add(at).replace(std::ptr::null_mut()) };
            if value.is_null() || destructor == 0 {
                continue;
            }
            all_null = false;
            // SAFETY: `create` has stored the address of a `Destructor`, which by its contract takes the
            // value.
            unsafe { std::mem::transmute::<usize, Destructor>(destructor)(value) };
        }
        if all_null {
            break;
        }
    }
    // SAFETY: no value of the key is left, so nothing finds the block any more.
    unsafe {
        real::set(real, std::ptr::null());
        Memory.dealloc(block.cast(), Layout::new::<Values>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    static CALLED: AtomicU32 = AtomicU32::new(0);
    static AGAIN: AtomicU32 = AtomicU32::new(0);
    static SECOND: OnceLock<pthread_key_t> = OnceLock::new();

    unsafe extern "C" fn count(value: *mut c_void) {
        CALLED.fetch_add(value as u32, Ordering::SeqCst);
    }

    /// A destructor that sets another key's value: that key's destructor must still be called.
    unsafe extern "C" fn set_another(value: *mut c_void) {
        AGAIN.fetch_add(1, Ordering::SeqCst);
        // SAFETY: a key of this test.
        assert_eq!(unsafe { set(*SECOND.get().unwrap(), value) }, 0);
    }

    /// How many keys the C library still has.
    fn left() -> usize {
        let mut keys = Vec::new();
        let mut key = 0;
        // SAFETY: keys without values, deleted again.
        unsafe {
            while libc::pthread_key_create(&raw mut key, None) == 0 {
                keys.push(key);
            }
            for key in &keys {
                libc::pthread_key_delete(*key);
            }
        }
        keys.len()
    }

    #[test]
    fn all_keys_take_one_of_the_c_library_and_keep_their_promises() {
        let before = left();
        let make = |destructor| {
            let mut key = 0;
            // SAFETY: the key goes to a local.
            let error = unsafe { create(&raw mut key, destructor) };
            if error == 0 { Ok(key) } else { Err(error) }
        };
        // The second one's destructor comes first in each round, so it takes another round.
        let second = make(Some(count)).unwrap();
        SECOND.set(second).unwrap();
        let first = make(Some(set_another)).unwrap();
        let plain = make(None).unwrap();
        let deleted = make(Some(count)).unwrap();
        let at = |number: usize| number as *mut c_void;
        // SAFETY: keys of this test, in which any number is a value.
        unsafe {
            assert_eq!(get(plain), at(0));
            assert_eq!(set(plain, at(5)), 0);
            std::thread::spawn(move || {
                assert_eq!((get(plain), get(first)), (at(0), at(0)), "each thread has its own");
                assert_eq!((set(first, at(70)), set(second, at(7)), set(plain, at(1))), (0, 0, 0));
                assert_eq!((set(deleted, at(1_000)), delete(deleted)), (0, 0));
                assert_eq!((get(first), get(second), get(plain)), (at(70), at(7), at(1)));
            })
            .join()
            .unwrap();
            assert_eq!(get(plain), at(5));
        }
        assert_eq!((CALLED.load(Ordering::SeqCst), AGAIN.load(Ordering::SeqCst)), (77, 1));
        assert_eq!(left(), before - 1, "one key for all");
        let mut made = 4;
        let error = loop {
            match make(None) {
                Ok(_) => made += 1,
                Err(error) => break error,
            }
        };
        assert_eq!((made, error), (KEYS, libc::EAGAIN));
        // SAFETY: numbers that were never given.
        unsafe { assert_eq!((set(0, at(1)), set(99, at(1)), get(99)), (libc::EINVAL, libc::EINVAL, at(0))) };
    }
}
