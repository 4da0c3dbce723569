//! Starting threads.
//!
//! The C library starts them: the standard library's threads can be joined, have scopes and pass on panics,
//! which is some 1 KB of code that nothing here uses.

use std::ffi::{CStr, c_void};
use std::io;
use std::mem::MaybeUninit;

struct Start {
    name: &'static CStr,
    body: Box<dyn FnOnce() + Send>,
}

/// Starts a thread with a stack of `stack` bytes, a multiple of a page. Nothing waits for its end.
///
/// # Errors
/// The system's error when it cannot create a thread.
pub(crate) fn start(name: &'static CStr, stack: usize, body: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    let start = Box::into_raw(Box::new(Start { name, body }));
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the attributes are initialised first and destroyed last, the thread is there when the call has
    // succeeded. `run` is given what it must be.
    let error = unsafe {
        let attributes = attributes.as_mut_ptr();
        libc::pthread_attr_init(attributes);
        libc::pthread_attr_setstacksize(attributes, stack);
        let error = libc::pthread_create(thread.as_mut_ptr(), attributes, run, start.cast());
        libc::pthread_attr_destroy(attributes);
        if error == 0 {
            libc::pthread_detach(thread.assume_init());
        }
        error
    };
    if error == 0 {
        return Ok(());
    }
    // SAFETY: there is no thread that took it.
    drop(unsafe { Box::from_raw(start) });
    Err(io::Error::from_raw_os_error(error))
}

/// Called by a new thread.
extern "C" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: `start` made it for this thread alone.
    let Start { name, body } = *unsafe { Box::from_raw(start.cast::<Start>()) };
    // SAFETY: the text ends with a null byte. The kernel copies the first 15 bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    body();
    std::ptr::null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn runs_body_on_a_thread_with_its_name_and_stack() {
        let (sender, receiver) = mpsc::channel();
        let body = move || {
            let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            let mut attributes = MaybeUninit::uninit();
            let mut stack = 0;
            // SAFETY: the attributes of this thread, which the first call initialises.
            unsafe {
                libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr());
                libc::pthread_attr_getstacksize(attributes.as_ptr(), &raw mut stack);
                libc::pthread_attr_destroy(attributes.as_mut_ptr());
            }
            sender.send((name, stack)).unwrap();
        };
        start(c"loopbox-test", 256 << 10, Box::new(body)).unwrap();
        let (name, stack) = receiver.recv().unwrap();
        assert_eq!(name, "loopbox-test\n");
        assert!((128 << 10..=256 << 10).contains(&stack), "{stack} bytes");
    }

    #[test]
    fn drops_the_body_when_there_is_no_thread() {
        let (sender, receiver) = mpsc::channel::<()>();
        let failed = start(c"loopbox-test", usize::MAX >> 17 << 16, Box::new(move || drop(sender)));
        assert!(failed.is_err());
        assert!(receiver.recv().is_err(), "the sender is dropped");
    }
}
