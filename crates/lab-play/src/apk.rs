//! The content of an APK, with positions.

use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The largest page size of devices.
const PAGE_BYTES: u64 = 16 << 10;

/// A file in an APK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Where its bytes begin.
    offset: u64,
    is_stored: bool,
    /// The compressed size of the file in bytes. Google Play compresses a download, including the files that
    /// are not compressed in the APK.
    compressed_bytes: u64,
}

impl Entry {
    /// Whether the loader can map it from the APK.
    pub(crate) fn is_mappable(&self) -> bool {
        self.is_stored && self.offset.is_multiple_of(PAGE_BYTES)
    }
}

/// The files of an APK.
pub(crate) fn entries(apk: &[u8]) -> Result<Vec<Entry>> {
    let mut archive = ZipArchive::new(Cursor::new(apk)).context("an APK")?;
    let mut found = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).context("an APK")?;
        let (name, offset) = (file.name()?.into_owned(), file.data_start().context("no data")?);
        let is_stored = file.compression() == CompressionMethod::Stored;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| name.clone())?;
        let compressed_bytes = compressed(&bytes)?;
        found.push(Entry { name, offset, is_stored, compressed_bytes });
    }
    Ok(found)
}

fn compressed(bytes: &[u8]) -> Result<u64> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("x", SimpleFileOptions::default().compression_method(CompressionMethod::Deflated))?;
    writer.write_all(bytes)?;
    let packed = writer.finish()?.into_inner();
    let mut archive = ZipArchive::new(Cursor::new(packed))?;
    let size = archive.by_index(0)?.compressed_size();
    Ok(size)
}

/// Whether a name has an ending, without its dot.
pub(crate) fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == ending)
}

/// The size of a download in bytes, compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Download {
    /// Native libraries.
    pub(crate) library: u64,
    /// Classes, and resources that belong to them.
    pub(crate) classes: u64,
}

impl Download {
    pub(crate) fn of(entries: &[Entry]) -> Result<Self> {
        let sum = |is_it: &dyn Fn(&str) -> bool| -> u64 {
            entries.iter().filter(|entry| is_it(&entry.name)).map(|entry| entry.compressed_bytes).sum()
        };
        let classes = sum(&|name| has_ending(name, "dex") || name.starts_with("META-INF/io.loopbox/"));
        anyhow::ensure!(classes > 0, "an APK without classes");
        Ok(Self { library: sum(&|name| name.starts_with("lib/")), classes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apk(alignment: u16, method: CompressionMethod) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file("classes.dex", options).unwrap();
        writer.write_all(&[7; 1_000]).unwrap();
        writer.start_file("lib/x86/libloopbox.so", options.with_alignment(alignment)).unwrap();
        writer.write_all(&[7; 5_000]).unwrap();
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn library_is_mappable_where_it_is_stored_at_a_page() {
        let of = |alignment, method| entries(&apk(alignment, method)).unwrap()[1].is_mappable();
        assert!(of(1 << 14, CompressionMethod::Stored));
        assert!(!of(1 << 12, CompressionMethod::Stored), "at 4 KiB");
        assert!(!of(1 << 14, CompressionMethod::Deflated));
    }

    #[test]
    fn download_counts_compressed_bytes_by_kind() {
        let stored = Download::of(&entries(&apk(4, CompressionMethod::Stored)).unwrap()).unwrap();
        let packed = Download::of(&entries(&apk(4, CompressionMethod::Deflated)).unwrap()).unwrap();
        assert_eq!(stored, packed);
        assert!(stored.library < 100 && stored.classes < 100, "{stored:?}");
        assert!(Download::of(&[]).is_err());
    }
}
