//! A command that runs on a device while its output is read here.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::connection::{Connection, Packet};

/// How much of what a command prints on its standard error is kept: the end of it.
const KEPT_ERRORS: usize = 256 << 10;
/// No line is longer.
const MAX_PACKET: u64 = 16 << 20;

/// A running command. Dropping it leaves the command alone.
#[derive(Debug)]
pub struct Program {
    lines: Receiver<String>,
    seen: Vec<String>,
    reader: Option<JoinHandle<Ended>>,
}

/// How a command ended: its exit code, if the device has not gone before, and its standard error.
#[derive(Debug, Default)]
struct Ended {
    code: Option<u8>,
    errors: Vec<u8>,
}

impl Program {
    pub(crate) fn new(mut connection: Connection) -> Self {
        let (send, lines) = channel();
        let reader = std::thread::spawn(move || {
            let (mut ended, mut begun) = (Ended::default(), Vec::new());
            while let Ok(packet) = connection.packet(MAX_PACKET) {
                match packet {
                    Packet::Stdout(bytes) => {
                        for byte in bytes {
                            if byte == b'\n' {
                                let _ = send.send(String::from_utf8_lossy(&begun).into_owned());
                                begun.clear();
                            } else {
                                begun.push(byte);
                            }
                        }
                    }
                    Packet::Stderr(bytes) => {
                        ended.errors.extend(bytes);
                        let over = ended.errors.len().saturating_sub(KEPT_ERRORS);
                        ended.errors.drain(..over);
                    }
                    Packet::Exit(code) => {
                        ended.code = Some(code);
                        break;
                    }
                }
            }
            if !begun.is_empty() {
                let _ = send.send(String::from_utf8_lossy(&begun).into_owned());
            }
            ended
        });
        Self { lines, seen: Vec::new(), reader: Some(reader) }
    }

    /// Lines of its standard output that were read so far.
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
                    let (code, errors) = self.ended();
                    let how = code.map_or_else(|| "the device has gone".to_owned(), |code| code.to_string());
                    bail!(
                        "`{text}` did not come before the end ({how}); it printed:\n{}\n{errors}",
                        self.seen.join("\n")
                    )
                }
            }
        }
    }

    /// Waits for its end: its exit code and its standard error. What it printed is in [`Program::seen`].
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
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match self.ended() {
            (Some(code), errors) => Ok((code, errors)),
            (None, errors) => bail!("the device has gone; it printed:\n{}\n{errors}", self.seen.join("\n")),
        }
    }

    /// What is known when no more lines come.
    fn ended(&mut self) -> (Option<u8>, String) {
        let ended = self.reader.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        (ended.code, String::from_utf8_lossy(&ended.errors).into_owned())
    }
}
