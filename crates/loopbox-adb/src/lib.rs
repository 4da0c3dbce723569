#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod device;
mod end;
#[cfg(feature = "fake")]
pub mod fake;
mod output;
mod running;

pub use device::{Device, choose};
pub use output::ShellOutput;
pub use running::Running;

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};

/// The limit for an answer in bytes: larger than any list of devices or message from adb.
const MAX_ANSWER: u64 = 1 << 20;
/// How long one call of adb may take: long enough for a file of hundreds of megabytes over a slow connection.
const LIMIT: Duration = Duration::from_mins(10);

/// The `adb` program.
#[derive(Debug, Clone)]
pub struct Adb {
    program: OsString,
}

impl Adb {
    /// The adb on the path, else that of the SDK that `ANDROID_HOME` names.
    pub fn from_env() -> Self {
        let name = if cfg!(windows) { "adb.exe" } else { "adb" };
        let in_path = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()));
        let of_sdk =
            std::env::var_os("ANDROID_HOME").map(|sdk| PathBuf::from(sdk).join("platform-tools").join(name));
        let program = of_sdk.filter(|program| !in_path && program.is_file());
        Self { program: program.map_or_else(|| name.into(), Into::into) }
    }

    /// The adb at this path.
    pub fn at(program: impl Into<OsString>) -> Self {
        Self { program: program.into() }
    }

    /// The devices, usable or not.
    ///
    /// # Errors
    /// When there is no adb, or its server does not start.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let output = self.run(self.command(["devices", "-l"]), MAX_ANSWER, 0)?;
        if !output.status.success() {
            bail!("adb devices: {}", output.complaint());
        }
        Ok(Device::list(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Runs a command in the device's shell. At most `limit` bytes of its output are read.
    ///
    /// # Errors
    /// When the device cannot be used, or disconnects before the command ends. When the command prints more,
    /// or does not end in time.
    pub fn shell(&self, serial: &str, command: &str, limit: u64) -> Result<ShellOutput> {
        let run = || -> Result<ShellOutput> {
            ShellOutput::of(self.run(self.in_shell(serial, command), limit, end::MAX_LEN)?)
        };
        run().with_context(|| format!("{serial}: {command}"))
    }

    /// Starts a command in the device's shell. Its lines can be read as it writes them.
    ///
    /// # Errors
    /// When there is no adb.
    pub fn start(&self, serial: &str, command: &str) -> Result<Running> {
        let child = self.in_shell(serial, command).spawn();
        Running::new(child.map_err(|error| self.explained(error.into()))?)
    }

    /// Copies `file` to `path` on the device with these permissions (as in `0o644`), and replaces what was
    /// there.
    ///
    /// # Errors
    /// When the device cannot be used, or does not take the file; the error says why.
    pub fn push(&self, serial: &str, file: &Path, path: &str, mode: u32) -> Result<()> {
        let words = [OsStr::new("push"), file.as_os_str(), OsStr::new(path)];
        let pushed = self.run(self.on_device(serial, words), MAX_ANSWER, 0)?;
        if !pushed.status.success() {
            bail!("{serial}: {path}: {}", pushed.complaint());
        }
        let command = format!("chmod {mode:o} {}", quoted(path));
        successful(self.shell(serial, &command, MAX_ANSWER)?).map(drop)
    }

    fn in_shell(&self, serial: &str, command: &str) -> Command {
        self.on_device(serial, ["shell", "-T", "-n", &end::marked(&quoted(command))])
    }

    fn on_device<W: AsRef<OsStr>>(&self, serial: &str, words: impl IntoIterator<Item = W>) -> Command {
        let mut command = self.command(["-s", serial]);
        command.args(words);
        command
    }

    fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, command: Command, limit: u64, more: u64) -> Result<output::Output> {
        output::of(command, limit, more, LIMIT).map_err(|error| self.explained(error))
    }

    fn explained(&self, error: Error) -> Error {
        let missing =
            error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::NotFound);
        let program = Path::new(&self.program).display();
        if missing {
            let what = "not found: install the Android SDK's platform tools, and put adb into the PATH or set ANDROID_HOME";
            return Error::msg(format!("{program}: {what}"));
        }
        error.context(program.to_string())
    }
}

/// Quotes a word for the device's shell, whatever characters it has.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Fails with what the command printed unless it succeeded.
///
/// # Errors
/// When its exit code is not 0.
pub fn successful(output: ShellOutput) -> Result<ShellOutput> {
    if output.code != 0 {
        bail!("{}", output.complaint());
    }
    Ok(output)
}
