//! Deobfuscating reports by the mappings given with `--mapping`.

use crate::configuration;
use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use loopbox_format::model::Report;
use loopbox_report::retrace::{Mapping, MappingMismatch, RetracedText};
use std::io::Read;
use std::path::PathBuf;

/// The size of the largest mapping that is read: several times that of any app.
const MAX_LEN: u64 = 1 << 30;

/// Mappings of one or more builds. Each report is deobfuscated by the one that matches it.
#[derive(Debug)]
pub(crate) struct Mapper {
    mappings: Vec<Mapping>,
}

/// Why a report was not deobfuscated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoMapping {
    /// The only mapping does not match, or the one for the report's build does not.
    #[error("{0}")]
    Mismatch(MappingMismatch),
    /// None of several mappings matches.
    #[error("none of the {0} mappings is of its build")]
    NoneOf(usize),
}

impl Mapper {
    /// Reads the mapping files.
    pub(crate) fn load(files: &[PathBuf]) -> Result<Self> {
        let read = |path: &PathBuf| {
            let bytes =
                unpacked(configuration::read(path, MAX_LEN)?).with_context(|| path.display().to_string())?;
            Mapping::parse(bytes).with_context(|| path.display().to_string())
        };
        Ok(Self { mappings: files.iter().map(read).collect::<Result<_>>()? })
    }

    /// Deobfuscates a text with the mapping that changes most of its lines.
    ///
    /// # Errors
    /// When no mapping can be of the text's build.
    pub(crate) fn retrace_text(&self, text: &str) -> Result<RetracedText, MappingMismatch> {
        let mut best: Option<Result<RetracedText, MappingMismatch>> = None;
        for mapping in &self.mappings {
            let retraced = mapping.retrace_text(text);
            let renamed =
                |found: &Result<RetracedText, MappingMismatch>| found.as_ref().map_or(0, |text| text.renamed);
            let is_better = best
                .as_ref()
                .is_none_or(|best| renamed(&retraced) > renamed(best) || retraced.is_ok() && best.is_err());
            if is_better {
                best = Some(retraced);
            }
        }
        best.unwrap_or(Err(MappingMismatch::NothingToDo))
    }

    /// Deobfuscates a report. Without any mapping the report stays as it is.
    ///
    /// # Errors
    /// When no mapping matches the report. The report is then unchanged.
    pub(crate) fn apply(&self, report: &mut Report) -> Result<(), NoMapping> {
        if let Some(own) = self.mappings.iter().find(|mapping| mapping.is_of(report) == Some(true)) {
            return own.retrace(report).or_else(ignore_unnamed);
        }
        let mut mismatch = None;
        for mapping in &self.mappings {
            match mapping.retrace(report).or_else(ignore_unnamed) {
                Ok(()) => return Ok(()),
                Err(why) => mismatch = Some(why),
            }
        }
        match mismatch {
            None => Ok(()),
            Some(why) if self.mappings.len() == 1 => Err(why),
            Some(_) => Err(NoMapping::NoneOf(self.mappings.len())),
        }
    }
}

/// The bytes of a mapping that may be compressed with gzip.
fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    let read = MultiGzDecoder::new(bytes.as_slice()).take(MAX_LEN + 1).read_to_end(&mut out);
    read.context("a gzip file that cannot be unpacked")?;
    if out.len() as u64 > MAX_LEN {
        bail!("offset {MAX_LEN}: larger than a mapping can be ({} MiB)", MAX_LEN >> 20);
    }
    Ok(out)
}

/// Ignores the error that a report has nothing to deobfuscate, because it names no class of the app: that is
/// not the mapping's fault.
fn ignore_unnamed(mismatch: MappingMismatch) -> Result<(), NoMapping> {
    match mismatch {
        MappingMismatch::NothingToDo => Ok(()),
        mismatch => Err(NoMapping::Mismatch(mismatch)),
    }
}
