//! Reading files: every way in which that fails is one line with file, offset and reason.

use crate::args::Mappings;
use crate::mapping::Mapper;
use anyhow::{Context, Result, bail};
use loopbox_format::container::ContainerError;
use loopbox_format::report::Decoded;
use loopbox_report::Analysis;
use loopbox_store::{LayoutError, RecoverError};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file that is read. A full report is under 1 MiB; this bounds what a wrong file can cost.
const MAX_LEN: u64 = 64 << 20;

/// The bytes of a file, if it can be one of ours.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let name = || format!("{}: offset 0", path.display());
    let file = File::open(path).with_context(name)?;
    let meta = file.metadata().with_context(name)?;
    if meta.is_dir() {
        bail!("{}: offset 0: this is a directory, not a report", path.display());
    }
    let mut bytes = Vec::new();
    file.take(MAX_LEN + 1).read_to_end(&mut bytes).with_context(name)?;
    if bytes.len() as u64 > MAX_LEN {
        bail!("{}: offset {MAX_LEN}: larger than a report can be ({} MiB)", path.display(), MAX_LEN >> 20);
    }
    Ok(bytes)
}

/// A decoded report. A ring that was pulled from a device is read as the report that it becomes.
pub(crate) fn decode(path: &Path) -> Result<Decoded> {
    let bytes = read(path)?;
    let name = || path.display().to_string();
    match loopbox_format::report::decode(&bytes) {
        Ok(decoded) => Ok(decoded),
        // Neither one nor the other: it is the report that was expected.
        Err(error @ ContainerError::Magic) => match loopbox_store::recover(&bytes) {
            Ok(ring) => Ok(Decoded { report: ring.report, damage: ring.damage }),
            Err(RecoverError::Layout(LayoutError::Magic)) => Err(error).with_context(name),
            Err(error) => Err(error).with_context(name),
        },
        Err(error) => Err(error).with_context(name),
    }
}

/// A report ready to be shown.
pub(crate) struct Opened {
    pub(crate) analysis: Analysis,
    /// The decoded file, for what needs it as it is.
    pub(crate) decoded: Decoded,
    /// Whether parts are missing; the reader has been told so.
    pub(crate) damaged: bool,
}

/// Reads a report with the names of the source put back, and warns on stderr about each part that is damaged and
/// about mappings that do not fit.
pub(crate) fn open(path: &Path, mappings: &Mappings) -> Result<Opened> {
    let mapper = Mapper::load(mappings)?;
    let mut decoded = decode(path)?;
    let misfit = mapper.apply(&mut decoded.report).err();
    if let Some(why) = &misfit {
        crate::output::complain(format_args!("warning: {}: names are not put back: {why}", path.display()));
    }
    let mut opened = Opened::new(path, decoded);
    opened.damaged |= misfit.is_some();
    Ok(opened)
}

impl Opened {
    /// Warns on stderr about each part that is damaged.
    pub(crate) fn new(path: &Path, decoded: Decoded) -> Self {
        let analysis = Analysis::new(&decoded);
        for loss in &analysis.losses {
            let offset = loss.offset.map(|o| format!("offset {o}: ")).unwrap_or_default();
            crate::output::complain(format_args!("warning: {}: {offset}{}", path.display(), loss.what));
        }
        Self { damaged: !analysis.losses.is_empty(), analysis, decoded }
    }

    pub(crate) fn outcome(&self) -> crate::Outcome {
        if self.damaged { crate::Outcome::Partial } else { crate::Outcome::Done }
    }
}
