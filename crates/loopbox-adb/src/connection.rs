//! One connection to the server: requests and answers, packets of the shell, and files.

use std::io::{Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, bail};

/// More than any list of devices or message of the server has.
const MAX_ANSWER: usize = 1 << 20;
/// The most that a piece of a file may have, by the protocol.
const PIECE: usize = 64 << 10;

/// What a shell sends: kind, length (little-endian), bytes.
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const EXIT: u8 = 3;

/// A piece of what a command prints, or its end.
#[derive(Debug)]
pub(crate) enum Packet {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Exit(u8),
}

#[derive(Debug)]
pub(crate) struct Connection(TcpStream);

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self(stream)
    }

    /// Sends a request: four hex digits of length, and the text. The answer is `OKAY`, or `FAIL` with a reason.
    pub(crate) fn request(&mut self, text: &str) -> Result<()> {
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
    pub(crate) fn text(&mut self) -> Result<String> {
        let digits = self.bytes::<4>()?;
        let len =
            usize::from_str_radix(&String::from_utf8_lossy(&digits), 16).context("not adb's protocol")?;
        self.words(len)
    }

    fn words(&mut self, len: usize) -> Result<String> {
        let mut text = vec![0; len.min(MAX_ANSWER)];
        self.0.read_exact(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The next packet of a shell; one with more than `limit` bytes is an error.
    pub(crate) fn packet(&mut self, limit: u64) -> Result<Packet> {
        loop {
            let [kind, length @ ..] = self.bytes::<5>().context("the device has gone")?;
            let length = u64::from(u32::from_le_bytes(length));
            if length > if matches!(kind, STDOUT | STDERR) { limit } else { MAX_ANSWER as u64 } {
                bail!("it says more than is taken of it");
            }
            let mut bytes = Vec::new();
            (&mut self.0).take(length).read_to_end(&mut bytes)?;
            if bytes.len() as u64 != length {
                bail!("the device has gone");
            }
            match kind {
                STDOUT => return Ok(Packet::Stdout(bytes)),
                STDERR => return Ok(Packet::Stderr(bytes)),
                EXIT => return Ok(Packet::Exit(bytes.first().copied().unwrap_or(u8::MAX))),
                _ => {}
            }
        }
    }

    /// Sends a file in pieces, each a word of four letters, a length (little-endian) and bytes.
    pub(crate) fn send_file(&mut self, bytes: &[u8], path: &str, mode: u32) -> Result<()> {
        self.piece(*b"SEND", format!("{path},{}", mode | 0o100_000).as_bytes())?;
        for piece in bytes.chunks(PIECE) {
            self.piece(*b"DATA", piece)?;
        }
        // Where lengths stand otherwise, this one has the time of the file's last change.
        let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs() as u32);
        self.0.write_all(&[b"DONE".as_slice(), &now.to_le_bytes()].concat())?;
        let answer = self.bytes::<4>()?;
        let length = u32::from_le_bytes(self.bytes()?) as usize;
        match &answer {
            b"OKAY" => Ok(()),
            b"FAIL" => bail!("{}", self.words(length)?),
            other => bail!("not adb's protocol: {}", String::from_utf8_lossy(other)),
        }
    }

    fn piece(&mut self, kind: [u8; 4], bytes: &[u8]) -> Result<()> {
        self.0.write_all(&kind)?;
        self.0.write_all(&(bytes.len() as u32).to_le_bytes())?;
        Ok(self.0.write_all(bytes)?)
    }
}
