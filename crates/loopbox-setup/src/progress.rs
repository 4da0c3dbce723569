//! Progress of a long set-up on standard error: one line per step, with the seconds since the start.

use std::fmt::Display;
use std::sync::mpsc::Sender;
use std::time::Instant;

/// Prints `[art10  12.3 s] what`.
#[derive(Debug, Clone)]
pub struct Progress {
    subject: String,
    start: Instant,
    /// The receiver of the lines; `None` when they go to standard error.
    to: Option<Sender<String>>,
}

impl Progress {
    /// Reports the progress of `subject`; the seconds are counted from this call on.
    #[must_use]
    pub fn new(subject: &str) -> Self {
        Self { subject: subject.to_owned(), start: Instant::now(), to: None }
    }

    /// As [`Self::new`], but lines are sent to `to` instead of printed.
    #[must_use]
    pub fn to_channel(subject: &str, to: Sender<String>) -> Self {
        Self { to: Some(to), ..Self::new(subject) }
    }

    /// Prints one line.
    pub fn say(&self, what: impl Display) {
        let line = format!("[{} {:5.1} s] {what}", self.subject, self.start.elapsed().as_secs_f64());
        match &self.to {
            None => eprintln!("{line}"),
            // The other end may have heard enough.
            Some(to) => drop(to.send(line)),
        }
    }
}
