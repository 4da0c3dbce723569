//! Progress of a long set-up on standard error: one line per step, with the seconds since the start.

use std::fmt::Display;
use std::time::Instant;

/// Prints `[art10  12.3 s] what`.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    bed: String,
    start: Instant,
}

impl Progress {
    pub(crate) fn new(bed: &str) -> Self {
        Self { bed: bed.to_owned(), start: Instant::now() }
    }

    /// Prints one line.
    pub(crate) fn say(&self, what: impl Display) {
        eprintln!("[{} {:5.1} s] {what}", self.bed, self.seconds());
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}
