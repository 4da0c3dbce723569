//! A client of the adb server: the part of its protocol that running a command on a device takes.
//!
//! The protocol is that of `docs/user/adb.1.md`, `OVERVIEW.TXT` and `SERVICES.TXT` in AOSP's `packages/modules/adb`. Crates for it
//! bring USB, RSA and an async runtime; this needs a socket of this machine.

use anyhow::{Context, Result, bail};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// Where the server listens when the environment says nothing else.
const ADDRESS: &str = "127.0.0.1";
const PORT: u16 = 5037;
/// More than any list of devices or message of the server has.
const MAX_ANSWER: usize = 1 << 20;

/// The server, as adb itself finds it.
#[derive(Debug)]
pub(crate) struct Server {
    address: String,
}

/// A device that the server knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) serial: String,
    /// `device` when it can be used; else `unauthorized`, `offline`, …
    pub(crate) state: String,
    /// What else is known: `model:Pixel_8`.
    pub(crate) about: String,
}

/// What a command on a device has left.
#[derive(Debug, Default)]
pub(crate) struct ShellOutput {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) code: u8,
}

impl ShellOutput {
    /// Why a command failed, in its own words.
    pub(crate) fn complaint(&self) -> String {
        let words = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        let words = String::from_utf8_lossy(words).trim().to_owned();
        if words.is_empty() { format!("exit code {}", self.code) } else { words }
    }
}

impl Server {
    /// By `ANDROID_ADB_SERVER_ADDRESS` and `ANDROID_ADB_SERVER_PORT`, as adb has them.
    pub(crate) fn from_env() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let address = set("ANDROID_ADB_SERVER_ADDRESS").unwrap_or_else(|| ADDRESS.into());
        let port = set("ANDROID_ADB_SERVER_PORT").unwrap_or_else(|| PORT.to_string());
        Self { address: format!("{address}:{port}") }
    }

    /// The devices, usable or not.
    pub(crate) fn devices(&self) -> Result<Vec<Device>> {
        let mut connection = self.ask("host:devices-l")?;
        let list = connection.text()?;
        let device = |line: &str| {
            let mut words = line.split_whitespace();
            let (serial, state) = (words.next()?.to_owned(), words.next()?.to_owned());
            Some(Device { serial, state, about: words.collect::<Vec<_>>().join(" ") })
        };
        Ok(list.lines().filter_map(device).collect())
    }

    /// Runs a command in the device's shell. Of its output at most `limit` bytes are taken.
    pub(crate) fn shell(&self, serial: &str, command: &str, limit: u64) -> Result<ShellOutput> {
        let mut connection = self.ask(&format!("host:transport:{serial}"))?;
        connection
            .request(&format!("shell,v2,raw:{command}"))
            .with_context(|| format!("{serial}: its shell cannot be used (Android 7 or newer is needed)"))?;
        connection.shell_output(limit).with_context(|| format!("{serial}: {command}"))
    }

    /// A new connection with a first request that the server has granted.
    fn ask(&self, request: &str) -> Result<Connection> {
        let stream = match TcpStream::connect(&self.address) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused && start_server() => {
                TcpStream::connect(&self.address)
            }
            connected => connected,
        };
        let mut connection = Connection(stream.with_context(|| {
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

struct Connection(TcpStream);

impl Connection {
    /// Sends a request: four hex digits of length, and the text. The answer is `OKAY`, or `FAIL` with a reason.
    fn request(&mut self, text: &str) -> Result<()> {
        self.0.write_all(format!("{:04x}{text}", text.len()).as_bytes())?;
        match &self.bytes::<4>()? {
            b"OKAY" => Ok(()),
            b"FAIL" => bail!("{}", self.text()?),
            other => bail!("not adb's protocol: {}", String::from_utf8_lossy(other)),
        }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A text with its length before it, in four hex digits.
    fn text(&mut self) -> Result<String> {
        let digits = self.bytes::<4>()?;
        let len =
            usize::from_str_radix(&String::from_utf8_lossy(&digits), 16).context("not adb's protocol")?;
        let mut text = vec![0; len.min(MAX_ANSWER)];
        self.0.read_exact(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads the packets of the shell protocol up to the one with the exit code: kind, length (little-endian), bytes.
    fn shell_output(&mut self, limit: u64) -> Result<ShellOutput> {
        const STDOUT: u8 = 1;
        const STDERR: u8 = 2;
        const EXIT: u8 = 3;
        let mut output = ShellOutput::default();
        loop {
            let [kind, length @ ..] = self.bytes::<5>().context("the device has gone")?;
            let length = u64::from(u32::from_le_bytes(length));
            let taken = output.stdout.len() as u64 + output.stderr.len() as u64;
            if taken.saturating_add(length) > limit {
                bail!("more than {} MiB", limit >> 20);
            }
            let mut bytes = Vec::new();
            (&mut self.0).take(length).read_to_end(&mut bytes)?;
            if bytes.len() as u64 != length {
                bail!("the device has gone");
            }
            match kind {
                STDOUT => output.stdout.append(&mut bytes),
                STDERR => output.stderr.append(&mut bytes),
                EXIT => {
                    output.code = bytes.first().copied().unwrap_or(u8::MAX);
                    return Ok(output);
                }
                _ => {}
            }
        }
    }
}
