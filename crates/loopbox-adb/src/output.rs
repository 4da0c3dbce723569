//! What a program prints, with a limit on its size.

use std::io::Read;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::end;

/// Why the end of a command is missing.
pub(crate) const GONE: &str = "the device has gone before the end of the command";

/// What adb has printed.
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

/// Runs adb to its end. At most `limit` bytes of the command's output are read, and `more` bytes of what adb
/// itself prints.
///
/// # Errors
/// When it does not start, prints more, or does not end within `time`; it is ended then.
pub(crate) fn of(mut command: Command, limit: u64, more: u64, time: Duration) -> Result<Output> {
    let all = limit.saturating_add(more);
    let mut child = command.spawn()?;
    let printed = printed(&mut child, all, time);
    if !matches!(printed, Ok(Some(_))) {
        // It may wait for a reader, or for anything else.
        let _ = child.kill();
    }
    let status = child.wait().context("its end is not known")?;
    match printed? {
        Some([stdout, stderr]) if (stdout.len() + stderr.len()) as u64 <= all => {
            Ok(Output { stdout, stderr, status })
        }
        _ => bail!("it prints more than {limit} bytes"),
    }
}

/// What adb prints on its standard output and on its standard error; `None` when one of them exceeds the
/// limit.
fn printed(child: &mut Child, limit: u64, time: Duration) -> Result<Option<[Vec<u8>; 2]>> {
    let end = Instant::now() + time;
    let (stdout, stderr) = child.stdout.take().zip(child.stderr.take()).context("no output of adb")?;
    // Whichever is too long comes first: adb may not end the other one before it is ended itself.
    let (send, ended) = channel();
    read(stdout, limit, 0, send.clone());
    read(stderr, limit, 1, send);
    let mut both = [Vec::new(), Vec::new()];
    for _ in 0..both.len() {
        let (of, bytes) = match ended.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok((of, bytes)) => (of, bytes?),
            Err(RecvTimeoutError::Timeout) => bail!("it does not end within {time:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("its output cannot be read"),
        };
        if bytes.len() as u64 > limit {
            return Ok(None);
        }
        both[of] = bytes;
    }
    Ok(Some(both))
}

/// Reads on a separate thread, and sends all bytes (or one more than the limit) together with `of`, the
/// number of the stream.
fn read(from: impl Read + Send + 'static, limit: u64, of: usize, send: Sender<(usize, Bytes)>) {
    std::thread::spawn(move || {
        let (mut from, mut bytes) = (from.take(limit.saturating_add(1)), Vec::new());
        let read = from.read_to_end(&mut bytes);
        let _ = send.send((of, read.map(|_| bytes)));
    });
}

type Bytes = std::io::Result<Vec<u8>>;

impl Output {
    /// Why adb failed, in its own words.
    pub(crate) fn complaint(&self) -> String {
        complaint(&self.stderr, &self.stdout).unwrap_or_else(|| self.status.to_string())
    }
}

/// The output of a command on a device.
#[derive(Debug, Default)]
pub struct ShellOutput {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// Its exit code.
    pub code: u8,
}

impl ShellOutput {
    /// The output of a command that has run to its end.
    ///
    /// # Errors
    /// When the end is missing: adb's own words, or that the device has gone.
    pub(crate) fn of(output: Output) -> Result<Self> {
        match end::of(&output.stderr) {
            Some((stderr, code)) => Ok(Self { stdout: output.stdout, stderr: stderr.to_vec(), code }),
            None => bail!(complaint(&output.stderr, &[]).unwrap_or_else(|| GONE.into())),
        }
    }

    /// Why a command failed, in its own words.
    pub fn complaint(&self) -> String {
        complaint(&self.stderr, &self.stdout).unwrap_or_else(|| format!("exit code {}", self.code))
    }
}

/// The first of the two texts that is not blank.
fn complaint(stderr: &[u8], stdout: &[u8]) -> Option<String> {
    let words = [stderr, stdout].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    words.into_iter().find(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn failure(program: &str, time: Duration) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", program]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        of(command, 1 << 20, 0, time).err().expect("it must fail").to_string()
    }

    #[test]
    fn a_program_that_prints_too_much_and_would_not_end_is_ended() {
        // Without a reader the one is ended by a signal, which the other ignores.
        for program in ["yes", "yes >&2", "trap '' PIPE; yes >&2; exec sleep 1000"] {
            assert_eq!(
                failure(program, Duration::from_mins(2)),
                "it prints more than 1048576 bytes",
                "{program}"
            );
        }
    }

    #[test]
    fn a_program_that_does_not_end_in_time_is_ended() {
        assert_eq!(failure("exec sleep 1000", Duration::from_millis(1)), "it does not end within 1ms");
    }
}
