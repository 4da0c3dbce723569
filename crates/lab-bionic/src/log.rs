//! The receiving end of a device's log: the socket that its liblog writes to.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use anyhow::{Context, Result};

/// The size in bytes of the fields before priority, tag and text: the log's id, the thread's id, and the time
/// as seconds and nanoseconds.
const HEADER: usize = 1 + 2 + 4 + 4;

/// A line of the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// `android_LogPriority`: 4 is information, 5 a warning.
    pub(crate) priority: u8,
    pub(crate) tag: String,
    pub(crate) text: String,
}

/// The log of a device's root: the socket that its liblog writes to.
#[derive(Debug)]
pub(crate) struct Log(UnixDatagram);

impl Log {
    /// Creates the socket in a device's root, and listens there.
    pub(crate) fn listen(root: &Path) -> Result<Self> {
        let folder = root.join("dev/socket");
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        // A socket's path has 107 bytes at most, and that of a root may be longer.
        let open = File::open(&folder).with_context(|| format!("cannot open {}", folder.display()))?;
        let short = format!("/proc/self/fd/{}/logdw", open.as_raw_fd());
        let socket = UnixDatagram::bind(short).context("cannot listen as a device's log")?;
        socket.set_nonblocking(true).context("cannot set the log up")?;
        Ok(Self(socket))
    }

    /// What has arrived since the last call. All lines of a process have arrived when it has ended.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut bytes = [0; 8 << 10];
        let mut lines = Vec::new();
        while let Ok(length) = self.0.recv(&mut bytes) {
            lines.extend(bytes.get(..length).and_then(parse));
        }
        lines
    }
}

fn parse(bytes: &[u8]) -> Option<Line> {
    let (priority, rest) = bytes.get(HEADER..)?.split_first()?;
    let mut words = rest.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    Some(Line { priority: *priority, tag: words.next()?, text: words.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_over_the_socket_of_a_root_however_long_its_path_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a".repeat(120));
        let log = Log::listen(&root).unwrap();
        assert_eq!(log.lines(), []);
        let open = File::open(root.join("dev/socket")).unwrap();
        let writer = UnixDatagram::unbound().unwrap();
        let to = format!("/proc/self/fd/{}/logdw", open.as_raw_fd());
        writer.send_to(b"\0\x01\0aaaabbbb\x05loopbox\0sampling is off\0", &to).unwrap();
        writer.send_to(b"cut", to).unwrap();
        let line = Line { priority: 5, tag: "loopbox".into(), text: "sampling is off".into() };
        assert_eq!(log.lines(), [line]);
    }
}
