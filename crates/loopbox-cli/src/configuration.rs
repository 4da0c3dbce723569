//! Files that a project provides in addition to reports: mappings, and settings for all commands.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The bytes of a file that a project provides, at most `max`.
pub(crate) fn read(path: &Path, max: u64) -> Result<Vec<u8>> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let len = file.metadata().with_context(name)?.len();
    // No more than it has: the vector would grow to twice that.
    let mut bytes = Vec::with_capacity(len.min(max + 1) as usize);
    file.take(max + 1).read_to_end(&mut bytes).with_context(name)?;
    if bytes.len() as u64 > max {
        bail!("{}: offset {max}: larger than such a file can be ({} MiB)", path.display(), max >> 20);
    }
    Ok(bytes)
}
