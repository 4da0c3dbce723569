//! A line in the system's log.

use std::fmt::Display;

/// Logs something that a developer should know. The code that the main thread runs for each message
/// never calls this.
pub(crate) fn warn(text: &str) {
    write(text);
}

/// Logs what could not be done, with the error. `object` is a path or a name that the text ends with; it may
/// be empty.
#[cold]
#[inline(never)]
pub(crate) fn failed(what: &str, object: &[u8], error: &dyn Display) {
    write(&[what, &String::from_utf8_lossy(object), ": ", &error.to_string()].concat());
}

#[cfg(target_os = "android")]
fn write(text: &str) {
    use std::ffi::{CString, c_char, c_int};

    #[link(name = "log")]
    unsafe extern "C" {
        fn __android_log_write(priority: c_int, tag: *const c_char, text: *const c_char) -> c_int;
    }
    const WARN: c_int = 5;
    let Ok(text) = CString::new(text) else { return };
    // SAFETY: both are C strings that live across the call.
    unsafe { __android_log_write(WARN, c"loopbox".as_ptr(), text.as_ptr()) };
}

#[cfg(not(target_os = "android"))]
fn write(text: &str) {
    use std::io::Write;
    // A closed standard error changes nothing.
    let _ = writeln!(std::io::stderr(), "W/loopbox: {text}");
}
