//! What a program prints, bounded.

use std::io::Read;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, bail};

use crate::end;

/// Why a command has no end.
pub(crate) const GONE: &str = "the device has gone before the end of the command";

/// What adb has printed.
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

/// Runs adb to its end. Of its output at most `limit` bytes are taken, and `more` of what is not the command's.
///
/// # Errors
/// When it does not start, or prints more.
pub(crate) fn of(mut command: Command, limit: u64, more: u64) -> Result<Output> {
    let all = limit.saturating_add(more);
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = std::thread::spawn(move || read(stderr, all));
    let stdout = read(stdout, all);
    if stdout.is_none() {
        // It would wait for a reader.
        let _ = child.kill();
    }
    let stderr = errors.join().ok().flatten();
    let status = child.wait().context("its end is not known")?;
    match (stdout, stderr) {
        (Some(stdout), Some(stderr)) if (stdout.len() + stderr.len()) as u64 <= all => {
            Ok(Output { stdout, stderr, status })
        }
        _ => bail!("it prints more than {limit} bytes"),
    }
}

/// All bytes; `None` when there are more, or they cannot be read.
fn read(from: Option<impl Read>, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    from?.take(limit.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

impl Output {
    /// Why adb failed, in its own words.
    pub(crate) fn complaint(&self) -> String {
        complaint(&self.stderr, &self.stdout).unwrap_or_else(|| self.status.to_string())
    }
}

/// What a command on a device has left.
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
    /// The output of a command to its end.
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

/// The first text that has words.
fn complaint(stderr: &[u8], stdout: &[u8]) -> Option<String> {
    let words = [stderr, stdout].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    words.into_iter().find(|words| !words.is_empty())
}
