//! Jars that depend on nothing but their content: sorted, uncompressed, without times.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::files::files_below;

/// Packs all files below a folder.
pub fn pack(folder: &Path, jar: &Path) -> Result<()> {
    let mut entries = Vec::new();
    for file in files_below(folder)? {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        entries.push((name, content));
    }
    write(jar, &entries)
}

/// Writes a jar of the given entries.
pub fn write(jar: &Path, entries: &[(String, Vec<u8>)]) -> Result<()> {
    // So that the runtime can map a dex file.
    write_aligned(jar, entries, 4)
}

/// Writes a jar of the given entries, with each entry's content aligned to `alignment` bytes: an APK has
/// libraries aligned to pages.
///
/// # Errors
/// When it cannot be written.
pub fn write_aligned(jar: &Path, entries: &[(String, Vec<u8>)], alignment: u16) -> Result<()> {
    let context = || format!("cannot write {}", jar.display());
    let mut writer = ZipWriter::new(File::create(jar).with_context(context)?);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .with_alignment(alignment)
        .last_modified_time(zip::DateTime::default());
    for (name, content) in entries {
        writer.start_file(name.as_str(), options).with_context(context)?;
        writer.write_all(content).with_context(context)?;
    }
    writer.finish().with_context(context)?;
    Ok(())
}

/// The names of all entries, in archive order.
///
/// # Errors
/// When it cannot be read.
pub fn names(jar: &Path) -> Result<Vec<String>> {
    let context = || format!("cannot read {}", jar.display());
    open(jar)?.file_names().map(|name| Ok(name.with_context(context)?.into_owned())).collect()
}

/// The entries called `names`, with their content.
///
/// # Errors
/// When the archive does not have all of them.
pub fn read_entries(jar: &Path, names: &[&String]) -> Result<Vec<(String, Vec<u8>)>> {
    let mut archive = open(jar)?;
    names.iter().map(|name| Ok(((*name).clone(), entry(&mut archive, jar, name)?))).collect()
}

/// The content of one entry.
pub fn read_entry(jar: &Path, name: &str) -> Result<Vec<u8>> {
    entry(&mut open(jar)?, jar, name)
}

fn open(jar: &Path) -> Result<ZipArchive<File>> {
    let context = || format!("cannot read {}", jar.display());
    ZipArchive::new(File::open(jar).with_context(context)?).with_context(context)
}

fn entry(archive: &mut ZipArchive<File>, jar: &Path, name: &str) -> Result<Vec<u8>> {
    let context = || format!("cannot read {name} of {}", jar.display());
    let mut content = Vec::new();
    archive.by_name(name).with_context(context)?.read_to_end(&mut content).with_context(context)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_can_begin_at_pages() {
        let folder = tempfile::tempdir().unwrap();
        let apk = folder.path().join("base.apk");
        let entries = ["lib/a.so", "lib/b.so"].map(|name| (name.to_owned(), name.into()));
        write_aligned(&apk, &entries, 16 << 10).unwrap();
        let mut archive = ZipArchive::new(File::open(&apk).unwrap()).unwrap();
        for index in 0..entries.len() {
            let entry = archive.by_index(index).unwrap();
            assert_eq!(entry.data_start().unwrap() % (16 << 10), 0, "{:?}", entry.name());
        }
    }

    #[test]
    fn the_same_files_make_the_same_jar() {
        let folder = tempfile::tempdir().unwrap();
        let classes = folder.path().join("classes");
        fs::create_dir_all(classes.join("a/b")).unwrap();
        fs::write(classes.join("a/b/C.class"), "c").unwrap();
        fs::write(classes.join("D.class"), "d").unwrap();
        let jar = |name: &str| {
            let jar = folder.path().join(name);
            pack(&classes, &jar).unwrap();
            jar
        };
        let first = jar("1.jar");
        fs::write(classes.join("D.class"), "d").unwrap();
        assert_eq!(fs::read(&first).unwrap(), fs::read(jar("2.jar")).unwrap());
        assert_eq!(names(&first).unwrap(), ["D.class", "a/b/C.class"]);
        assert_eq!(read_entry(&first, "a/b/C.class").unwrap(), b"c");
        let both = read_entries(&first, &[&"D.class".into(), &"a/b/C.class".into()]).unwrap();
        assert_eq!(both[1], ("a/b/C.class".to_owned(), b"c".to_vec()));
        assert!(format!("{:#}", read_entry(&first, "none").unwrap_err()).contains("none"));
    }
}
