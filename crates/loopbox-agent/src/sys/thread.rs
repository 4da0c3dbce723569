//! Starting threads.

use std::io;

/// Starts a thread with a stack of this many bytes. Its body is boxed: otherwise the standard library's code
/// that starts a thread would be compiled once for each body.
pub(crate) fn start(name: &'static str, stack: usize, body: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(stack).spawn(body).map(drop)
}
