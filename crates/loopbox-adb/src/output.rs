//! What a program prints, bounded.

use std::io::Read;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, bail};

/// What a command's shell writes last, with the exit code: output without it was cut.
pub(crate) const END: &str = "loopbox: end of command, exit code ";

/// What adb has printed.
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

/// Runs adb to its end. Of its output at most `limit` bytes are taken.
///
/// # Errors
/// When it does not start, or prints more.
pub(crate) fn of(mut command: Command, limit: u64) -> Result<Output> {
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = std::thread::spawn(move || read(stderr, limit));
    let stdout = read(stdout, limit);
    if stdout.is_none() {
        // It would wait for a reader.
        let _ = child.kill();
    }
    let stderr = errors.join().ok().flatten();
    let status = child.wait().context("its end is not known")?;
    match (stdout, stderr) {
        (Some(stdout), Some(stderr)) if (stdout.len() + stderr.len()) as u64 <= limit => {
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
    /// The output of a command whose shell has written [`END`] last.
    ///
    /// # Errors
    /// When it has not: adb's own words, or that the device has gone.
    pub(crate) fn of(output: Output) -> Result<Self> {
        let text = String::from_utf8_lossy(&output.stderr);
        let end = text.rsplit_once(END).and_then(|(_, code)| code.trim_end().parse::<u8>().ok());
        let Some(code) = end else {
            let words = complaint(&output.stderr, &[]);
            bail!(words.unwrap_or_else(|| "the device has gone before the end of the command".into()));
        };
        let mut stderr = output.stderr;
        let at =
            stderr.windows(END.len()).rposition(|window| window == END.as_bytes()).unwrap_or(stderr.len());
        stderr.truncate(at);
        Ok(Self { stdout: output.stdout, stderr, code })
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
