//! Writes the archive that a kernel unpacks as its first file system (`newc`, as described in the kernel's
//! buffer-format.rst).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const DEVICE: u32 = 0o020_600;
/// The device numbers of the console: major and minor.
const CONSOLE: (u32, u32) = (5, 1);

/// An archive under construction.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    /// Adds a folder; its parent folders must come first.
    pub(crate) fn folder(&mut self, name: &str) {
        self.entry(name, FOLDER, (0, 0), &[]);
    }

    /// Adds a file with execute permission.
    pub(crate) fn file(&mut self, name: &str, content: &[u8]) {
        self.entry(name, PROGRAM, (0, 0), content);
    }

    /// Adds a copy of a file of this machine.
    pub(crate) fn copy(&mut self, name: &str, of: &Path) -> Result<()> {
        let content = fs::read(of).with_context(|| format!("cannot read {}", of.display()))?;
        self.file(name, &content);
        Ok(())
    }

    /// Adds `/dev/console`, where the kernel sends what the first process prints.
    pub(crate) fn console(&mut self) {
        self.folder("dev");
        self.entry("dev/console", DEVICE, CONSOLE, &[]);
    }

    /// The whole archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.entries += 1;
        let (size, name_size) = (content.len() as u32, name.len() as u32 + 1);
        // Number, mode, owner, group, links, time, size, device (2), what it is a node of (2), length of the
        // name, checksum.
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name_size, 0];
        let mut header = String::from("070701");
        for field in fields {
            let _ = write!(header, "{field:08x}");
        }
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_headers_names_and_content_at_multiples_of_four() {
        let mut archive = Archive::default();
        archive.folder("a");
        archive.file("a/b", b"hello");
        let bytes = archive.finish();
        let text = String::from_utf8(bytes).unwrap();
        let folder = "07070100000001000041ed0000000000000000000000010000000000000000000000000000000000000000000000000000000200000000a\0";
        assert!(text.starts_with(folder), "{text:?}");
        let file = &text[folder.len()..];
        assert!(file.starts_with("07070100000002000081ed"), "{file:?}");
        assert_eq!(&file[110..124], "a/b\0\0\0hello\0\0\0");
        assert!(file[124..].starts_with("070701") && file.contains("TRAILER!!!\0"));
        assert_eq!(text.len() % 4, 0);
    }
}
