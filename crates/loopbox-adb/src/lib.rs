#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod connection;
mod device;
mod program;
#[cfg(feature = "stand-in")]
pub mod stand_in;

pub use device::{Device, choose};
pub use program::Program;

use std::io::ErrorKind;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use connection::{Connection, Packet};

/// Where the server listens when the environment says nothing else.
const ADDRESS: &str = "127.0.0.1";
const PORT: u16 = 5037;

/// The server, as adb itself finds it.
#[derive(Debug, Clone)]
pub struct Server {
    address: String,
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
    /// Why a command failed, in its own words.
    pub fn complaint(&self) -> String {
        let words = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        let words = String::from_utf8_lossy(words).trim().to_owned();
        if words.is_empty() { format!("exit code {}", self.code) } else { words }
    }
}

impl Server {
    /// By `ANDROID_ADB_SERVER_ADDRESS` and `ANDROID_ADB_SERVER_PORT`, as adb has them.
    pub fn from_env() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let address = set("ANDROID_ADB_SERVER_ADDRESS").unwrap_or_else(|| ADDRESS.into());
        let port = set("ANDROID_ADB_SERVER_PORT").unwrap_or_else(|| PORT.to_string());
        Self { address: format!("{address}:{port}") }
    }

    /// A server at a port of this machine.
    pub fn at(port: u16) -> Self {
        Self { address: format!("{ADDRESS}:{port}") }
    }

    /// The devices, usable or not.
    ///
    /// # Errors
    /// When no server answers.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let mut connection = self.ask("host:devices-l")?;
        Ok(Device::list(&connection.text()?))
    }

    /// Runs a command in the device's shell. Of its output at most `limit` bytes are taken.
    ///
    /// # Errors
    /// When the device cannot be used, has no shell for this, or says more.
    pub fn shell(&self, serial: &str, command: &str, limit: u64) -> Result<ShellOutput> {
        let mut connection = self.shell_of(serial, command)?;
        let mut all = || -> Result<ShellOutput> {
            let mut output = ShellOutput::default();
            loop {
                let taken = output.stdout.len() as u64 + output.stderr.len() as u64;
                match connection.packet(limit.saturating_sub(taken))? {
                    Packet::Stdout(mut bytes) => output.stdout.append(&mut bytes),
                    Packet::Stderr(mut bytes) => output.stderr.append(&mut bytes),
                    Packet::Exit(code) => {
                        output.code = code;
                        return Ok(output);
                    }
                }
            }
        };
        all().with_context(|| format!("{serial}: {command}"))
    }

    /// Starts a command in the device's shell, whose lines come as it writes them.
    ///
    /// # Errors
    /// When the device cannot be used, or has no shell for this.
    pub fn start(&self, serial: &str, command: &str) -> Result<Program> {
        Ok(Program::new(self.shell_of(serial, command)?))
    }

    /// Writes a file of the device, with these permissions (`0o644`); what was there is replaced.
    ///
    /// # Errors
    /// When the device cannot be used, or does not take it: why.
    pub fn push(&self, serial: &str, bytes: &[u8], path: &str, mode: u32) -> Result<()> {
        let mut connection = self.of_device(serial)?;
        connection.request("sync:").with_context(|| format!("{serial}: no files can be sent"))?;
        connection.send_file(bytes, path, mode).with_context(|| format!("{serial}: {path}"))
    }

    fn shell_of(&self, serial: &str, command: &str) -> Result<Connection> {
        let mut connection = self.of_device(serial)?;
        connection
            .request(&format!("shell,v2,raw:{command}"))
            .with_context(|| format!("{serial}: its shell cannot be used (Android 7 or newer is needed)"))?;
        Ok(connection)
    }

    fn of_device(&self, serial: &str) -> Result<Connection> {
        self.ask(&format!("host:transport:{serial}"))
    }

    /// A new connection with a first request that the server has granted.
    fn ask(&self, request: &str) -> Result<Connection> {
        let stream = match TcpStream::connect(&self.address) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused && start_server() => {
                TcpStream::connect(&self.address)
            }
            connected => connected,
        };
        let mut connection = Connection::new(stream.with_context(|| {
            format!("no adb server answers at {}: install adb, and run `adb start-server`", self.address)
        })?);
        connection.request(request).with_context(|| format!("adb server at {}", self.address))?;
        Ok(connection)
    }
}

/// Starts the server as adb does with any command; whether that worked.
fn start_server() -> bool {
    let mut adb = Command::new("adb");
    let adb = adb.arg("start-server").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    adb.status().is_ok_and(|status| status.success())
}

/// A word of a command of the device's shell, whatever is in it.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Fails, with what the command printed, unless it succeeded.
///
/// # Errors
/// When its exit code is not 0.
pub fn successful(output: ShellOutput) -> Result<ShellOutput> {
    if output.code != 0 {
        bail!("{}", output.complaint());
    }
    Ok(output)
}
