//! Reserved file descriptors, for use when the process has no other descriptors left. An app that leaks
//! descriptors hangs or crashes because of the leak, and a report about that needs a file. Some descriptors
//! are reserved at the installation; no file is behind them. A thread that gets no descriptor closes a
//! reserved one, and so can open its file.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// How many descriptors are reserved: for the worker, the sampler, the stall monitor, and any other thread
/// that opens something at the same time.
const SPARE: usize = 4;
/// How many reserved descriptors are closed at most for one [`open`]. More than one may be needed, because
/// another thread of the app may get the closed one first.
const TRIES: u32 = 3;
/// The value of an element of `KEPT` that holds no descriptor.
const NONE: i32 = -1;

static KEPT: [AtomicI32; SPARE] = [const { AtomicI32::new(NONE) }; SPARE];

/// Whether descriptors are kept in reserve.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// Keeps some descriptors in reserve from now on.
pub(crate) fn reserve() {
    KEEPS.store(true, Ordering::Relaxed);
    fill();
}

/// Fills the reserve again, as far as the system has descriptors.
fn fill() {
    for place in &KEPT {
        if place.load(Ordering::Relaxed) == NONE {
            // SAFETY: no pointers; the result is checked.
            let new = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
            if new < 0 {
                return;
            }
            if place.compare_exchange(NONE, new, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                close(new);
            }
        }
    }
}

/// Runs `open`, which must close its descriptor before it returns. When `open` fails because no descriptor is
/// left, closes a reserved one and runs `open` again. Async-signal-safe if `open` is.
///
/// # Errors
/// Those of `open`.
pub(crate) fn open<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut given_up = 0;
    loop {
        match open() {
            Err(error) if gives_room(&error, &mut given_up) => {}
            opened => {
                refill(given_up);
                return opened;
            }
        }
    }
}

/// Whether `open` is to be tried again after this error. If so, has closed a reserved descriptor to make
/// room, and increments `given_up`.
fn gives_room(error: &io::Error, given_up: &mut u32) -> bool {
    let gives = *given_up < TRIES && is_used_up(error) && give_up_one();
    *given_up += u32::from(gives);
    gives
}

/// Reserves descriptors anew, if some were given up.
fn refill(given_up: u32) {
    if given_up > 0 && KEEPS.load(Ordering::Relaxed) {
        fill();
    }
}

/// Closes the reserved descriptors, and reserves none from now on, so that the app can open files instead.
pub(crate) fn release() {
    KEEPS.store(false, Ordering::Relaxed);
    while give_up_one() {}
}

fn is_used_up(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn give_up_one() -> bool {
    let found = KEPT.iter().map(|place| place.swap(NONE, Ordering::Relaxed)).find(|&fd| fd != NONE);
    found.inspect(|&fd| close(fd)).is_some()
}

/// Closes a descriptor that is not in the reserve.
fn close(fd: i32) {
    // SAFETY: made by `reserve`, and taken out of its place by the caller, so that nobody else closes it.
    unsafe { libc::close(fd) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    /// One test, because descriptors belong to the process. Other tests may open files at the same time and
    /// take the freed place: [`open`] then tries again.
    #[test]
    fn a_file_is_read_when_no_descriptor_is_left() {
        reserve();
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the limit of this process, into a local and back.
        unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
        let mut held = Vec::new();
        let highest = File::open("/dev/null").map(|file| std::os::fd::AsRawFd::as_raw_fd(&file)).unwrap();
        let few = libc::rlimit { rlim_cur: highest as libc::rlim_t + 20, ..limit };
        // SAFETY: as above.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const few) }, 0);
        while let Ok(file) = File::open("/dev/null") {
            held.push(file);
        }
        let without = std::fs::read("/proc/self/stat");
        let with: Vec<_> = (0..20).map(|_| open(|| std::fs::read("/proc/self/stat"))).collect();
        // SAFETY: as above.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
        drop(held);
        assert!(is_used_up(&without.unwrap_err()));
        for read in with {
            assert!(!read.unwrap().is_empty());
        }
        release();
        assert!(!give_up_one());
    }
}
