//! A command that runs on a device while its output is read here.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::end;
use crate::output::GONE;

/// How many bytes of a command's standard error are kept, from its end.
const KEPT_ERRORS: usize = 256 << 10;
/// The maximum length of a line in bytes. A longer line comes in pieces.
const MAX_LINE: u64 = 16 << 20;

/// A running command. Dropping it does not end the command on the device.
#[derive(Debug)]
pub struct Running {
    lines: Receiver<String>,
    seen: Vec<String>,
    child: Child,
    errors: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    pub(crate) fn new(mut child: Child) -> Result<Self> {
        let (stdout, stderr) = child.stdout.take().zip(child.stderr.take()).context("no output of adb")?;
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while (&mut stdout).take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line)).into_owned();
                if send.send(text).is_err() {
                    break;
                }
                line.clear();
            }
        });
        Ok(Self { lines, seen: Vec::new(), child, errors: Some(std::thread::spawn(|| last_of(stderr))) })
    }

    /// The lines of its standard output read so far.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }

    /// Waits for a line of its standard output that contains `text`.
    ///
    /// # Errors
    /// When it ends first, or the line does not come within `limit`.
    pub fn wait_for(&mut self, text: &str, limit: Duration) -> Result<String> {
        let end = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return Ok(line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!("`{text}` did not come within {limit:?}; it printed:\n{}", self.seen.join("\n"))
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let (code, errors) = self.ended()?;
                    let printed = self.seen.join("\n");
                    bail!("`{text}` did not come before the end ({code}); it printed:\n{printed}\n{errors}")
                }
            }
        }
    }

    /// Waits for the end of the command; returns its exit code and its standard error. What it printed is in
    /// [`Running::seen`].
    ///
    /// # Errors
    /// When it does not end within `limit`, or the device has gone.
    pub fn finish(&mut self, limit: Duration) -> Result<(u8, String)> {
        let end = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("it did not end within {limit:?}; it printed:\n{}", self.seen.join("\n"))
                }
                Err(RecvTimeoutError::Disconnected) => return self.ended(),
            }
        }
    }

    /// The result when no more lines come.
    fn ended(&mut self) -> Result<(u8, String)> {
        self.child.wait().context("adb's end is not known")?;
        let errors = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let printed =
            || format!("{GONE}; it printed:\n{}\n{}", self.seen.join("\n"), String::from_utf8_lossy(&errors));
        let (errors, code) = end::of(&errors).with_context(printed)?;
        Ok((code, String::from_utf8_lossy(errors).into_owned()))
    }
}

/// Reads to the end, and keeps the last part.
fn last_of(mut from: impl Read) -> Vec<u8> {
    let (mut kept, mut piece) = (Vec::new(), [0; 4_096]);
    while let Ok(length @ 1..) = from.read(&mut piece) {
        kept.extend_from_slice(piece.get(..length).unwrap_or_default());
        let over = kept.len().saturating_sub(KEPT_ERRORS);
        kept.drain(..over);
    }
    kept
}
