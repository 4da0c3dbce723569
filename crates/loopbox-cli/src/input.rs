//! Reading report files. Every error is one line with file, offset and reason.

use crate::attachment;
use crate::config::app_packages;
use crate::mapping::Mapper;
use crate::options::ReadOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result, bail};
use loopbox_format::container::ContainerError;
use loopbox_format::report::Decoded;
use loopbox_report::diagnose::{Diagnosis, diagnose};
use loopbox_report::{Analysis, AppPackages};
use loopbox_store::{LayoutError, RecoverError};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The size of the largest file that is read. A full report is under 1 MiB; the limit bounds the cost of a wrong file.
pub(crate) const MAX_LEN: u64 = 64 << 20;
/// The name that stands for stdin, and of an output for stdout.
pub(crate) const STDIO: &str = "-";

/// The bytes of a file that can be a report or a ring, unpacked; of stdin when it is called `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let name = || format!("{}: offset 0", path.display());
    let file: &mut dyn Read = if path == Path::new(STDIO) {
        &mut io::stdin().lock()
    } else {
        let file = File::open(path).with_context(name)?;
        if file.metadata().with_context(name)?.is_dir() {
            bail!("{}: offset 0: this is a directory, not a report", path.display());
        }
        &mut { file }
    };
    let mut bytes = Vec::new();
    file.take(MAX_LEN + 1).read_to_end(&mut bytes).with_context(name)?;
    let too_long = |bytes: &[u8]| bytes.len() as u64 > MAX_LEN;
    if !too_long(&bytes) {
        bytes = attachment::unpack(bytes, MAX_LEN).with_context(|| path.display().to_string())?;
    }
    if too_long(&bytes) {
        bail!("{}: offset {MAX_LEN}: larger than a report can be ({} MiB)", path.display(), MAX_LEN >> 20);
    }
    Ok(bytes)
}

/// A decoded report. A ring file that was pulled from a device is recovered to a report first.
pub(crate) fn decode(path: &Path) -> Result<Decoded> {
    decode_bytes(&read(path)?, path)
}

/// [`decode`] of the bytes of a file that was read; `path` is what errors call it.
pub(crate) fn decode_bytes(bytes: &[u8], path: &Path) -> Result<Decoded> {
    let name = || path.display().to_string();
    match loopbox_format::report::decode(bytes) {
        Ok(decoded) => Ok(decoded),
        // The file is neither a report nor a ring. The error is about reports, because a report was expected.
        Err(error @ ContainerError::Magic) => match loopbox_store::recover(bytes) {
            // Its damage is that of the file itself.
            Ok(mut ring) => {
                ring.report.lost.clear();
                Ok(Decoded { report: ring.report, damage: ring.damage })
            }
            Err(RecoverError::Layout(LayoutError::Magic)) => Err(error).with_context(name),
            Err(error) => Err(error).with_context(name),
        },
        Err(error) => Err(error).with_context(name),
    }
}

/// A report ready to be printed.
#[derive(Debug)]
pub(crate) struct LoadedReport {
    pub(crate) analysis: Analysis,
    /// The decoded file, for commands that need more than the analysis.
    pub(crate) decoded: Decoded,
    /// Whether parts are missing, of which stderr has a warning.
    incomplete: bool,
}

/// Loads a report and deobfuscates it. Prints a warning to stderr for each damaged part and for a mapping that does not
/// match.
pub(crate) fn load(path: &Path, options: &ReadOptions) -> Result<LoadedReport> {
    let mapper = Mapper::load(&options.mappings)?;
    let packages = app_packages(&options.packages)?;
    let mut decoded = decode(path)?;
    let mismatch = mapper.apply(&mut decoded.report).err();
    if let Some(why) = &mismatch {
        output::print_error(format_args!("warning: {}: not deobfuscated: {why}", path.display()));
    }
    let mut loaded = LoadedReport::new(path, decoded, &packages);
    loaded.incomplete |= mismatch.is_some();
    Ok(loaded)
}

impl LoadedReport {
    /// Loads a decoded report. Prints a warning to stderr for each damaged part.
    pub(crate) fn new(path: &Path, decoded: Decoded, packages: &AppPackages) -> Self {
        let analysis = Analysis::with_packages(&decoded, packages);
        for issue in &analysis.issues {
            output::print_error(format_args!("warning: {}: {issue}", path.display()));
        }
        Self { incomplete: !analysis.issues.is_empty(), analysis, decoded }
    }

    pub(crate) fn diagnosis(&self) -> Diagnosis {
        diagnose(&self.analysis)
    }

    pub(crate) fn outcome(&self) -> Outcome {
        if self.incomplete { Outcome::Partial } else { Outcome::Complete }
    }
}
