//! Checks whether the files that go with an archive are for this archive: Gradle's metadata, the list of
//! components, the symbols.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_elf::Image;
use loopbox_setup::files::{hex, sha256_file};
use serde_json::Value;
use zip::ZipArchive;

use crate::maven::Archive;

/// Checks that the files that accompany an archive were made for it.
pub(crate) fn verify(archive: &Archive) -> Result<()> {
    let library = archive.file(".aar");
    verify_module(archive)?;
    verify_components(&archive.file("-cyclonedx.json"), &library)?;
    let ids = build_ids(&library, "jni/")?;
    if !ids.is_empty() {
        let symbols = archive.file("-native-debug-symbols.zip");
        let of_symbols = build_ids(&symbols, "")?;
        ensure!(ids == of_symbols, "{} has not the symbols of the libraries that ship", symbols.display());
    }
    Ok(())
}

/// Checks that a list of components is for this archive.
pub(crate) fn verify_components(list: &Path, archive: &Path) -> Result<()> {
    let components = json(list)?;
    let hash = components.pointer("/metadata/component/hashes/0/content").and_then(Value::as_str);
    ensure!(hash == Some(&*sha256_file(archive)?), "{} is the list of another archive", list.display());
    Ok(())
}

/// Checks the files that the module metadata names: Gradle takes these and refuses others.
fn verify_module(archive: &Archive) -> Result<()> {
    let place = archive.file(".module");
    let module = json(&place)?;
    let variants = module.get("variants").and_then(Value::as_array).cloned().unwrap_or_default();
    let files = variants.iter().filter_map(|variant| variant.get("files")?.as_array()).flatten();
    let mut seen = 0;
    for file in files {
        let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
        let own = archive.folder.join(text("url"));
        ensure!(text("sha256") == sha256_file(&own)?, "{} has another {}", place.display(), own.display());
        seen += 1;
    }
    ensure!(seen > 0, "{} names no file", place.display());
    Ok(())
}

fn json(file: &Path) -> Result<Value> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&bytes).with_context(|| file.display().to_string())
}

/// The maximum size of a library with its symbols: many times the size of Loopbox's library.
const LIBRARY_LIMIT_BYTES: u64 = 64 << 20;

/// The build ids of the libraries in an archive, by their path below `folder`.
fn build_ids(archive: &Path, folder: &str) -> Result<BTreeMap<String, String>> {
    let file = File::open(archive).with_context(|| format!("cannot read {}", archive.display()))?;
    let mut zip = ZipArchive::new(file).with_context(|| archive.display().to_string())?;
    let mut ids = BTreeMap::new();
    for index in 0..zip.len() {
        let entry = zip.by_index(index).with_context(|| archive.display().to_string())?;
        let name = entry.name()?.into_owned();
        let is_library = Path::new(&name).extension().is_some_and(|extension| extension == "so");
        let Some(library) = name.strip_prefix(folder).filter(|_| is_library) else { continue };
        let mut bytes = Vec::new();
        entry.take(LIBRARY_LIMIT_BYTES).read_to_end(&mut bytes).context("a library cannot be unpacked")?;
        let id = Image::parse(&bytes).and_then(|image| image.build_id().map(hex));
        let id = id.with_context(|| format!("{name} in {} has no build id", archive.display()))?;
        ids.insert(library.to_owned(), id);
    }
    Ok(ids)
}
