//! Reading report files. Every error is one line with file, offset and reason.

use crate::attachment::{self, Unpacked};
use crate::config::app_packages;
use crate::mapping::Mapper;
use crate::options::ReadOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Error, Result, anyhow, bail};
use loopbox_format::container::{ContainerError, Damage};
use loopbox_format::report::Decoded;
use loopbox_report::diagnose::{Diagnosis, diagnose};
use loopbox_report::{Analysis, AppPackages, TraceFile, text_of};
use loopbox_store::{LayoutError, RecoverError};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The size of the largest file that is read. A full report is under 1 MiB; the limit bounds the cost of a
/// wrong file.
pub(crate) const MAX_LEN: u64 = 64 << 20;
/// How many processes an error lists.
const MAX_NAMES: usize = 5;
/// The first bytes of a ring.
const RING: &[u8] = b"\x89LBR";
/// The name that means stdin, and for an output stdout.
pub(crate) const STDIO: &str = "-";

/// The last words of the error about a file of an unknown kind: which files can be read.
const ACCEPTED: &str = "nor an ANR trace. Read are .lbx and .lbr files, and ANR traces as text: files of /data/anr, traces.txt, the trace of \
                        an ApplicationExitInfo, the text of the Play Console and of Crashlytics; each of them also packed by gzip, in a zip \
                        archive (a bug report's, too), and reports as base64";

/// The unpacked bytes of a file that can be a report, a ring or a trace; of stdin when its name is `-`.
pub(crate) fn read(path: &Path) -> Result<Unpacked> {
    let name = || path.display().to_string();
    let file: &mut dyn Read = if path == Path::new(STDIO) {
        &mut io::stdin().lock()
    } else {
        let file = File::open(path).with_context(name)?;
        if file.metadata().with_context(name)?.is_dir() {
            bail!("{}: this is a directory, not a report", path.display());
        }
        &mut { file }
    };
    let mut bytes = Vec::new();
    file.take(MAX_LEN + 1).read_to_end(&mut bytes).with_context(name)?;
    let too_long = |bytes: &[u8]| bytes.len() as u64 > MAX_LEN;
    let mut unpacked = Unpacked { bytes, ..Unpacked::default() };
    if !too_long(&unpacked.bytes) {
        unpacked = attachment::unpack(unpacked.bytes, MAX_LEN).with_context(name)?;
    }
    if too_long(&unpacked.bytes) {
        bail!("{}: offset {MAX_LEN}: larger than a report can be ({} MiB)", path.display(), MAX_LEN >> 20);
    }
    Ok(unpacked)
}

/// A decoded file.
pub(crate) struct Input {
    pub(crate) decoded: Decoded,
    /// Which trace was chosen in a file that has several; `None` when there was no choice.
    pub(crate) chosen: Option<String>,
}

/// Reads and decodes a file. A ring file that was pulled from a device is first recovered to a report. An ANR
/// trace becomes a report that contains only the trace. That report is about the process with the name or
/// number `process`, and without `process` about the trace's first process.
pub(crate) fn decode(path: &Path, process: Option<&str>) -> Result<Input> {
    decode_unpacked(read(path)?, path, process)
}

/// [`decode`], but only for a report or a ring.
pub(crate) fn decode_report(path: &Path) -> Result<Decoded> {
    let unpacked = read(path)?;
    whole(&unpacked, path)?;
    recorded(&unpacked.bytes).with_context(|| path.display().to_string())
}

/// [`decode`] for a file that was read; `path` is its name in errors.
pub(crate) fn decode_unpacked(unpacked: Unpacked, path: &Path, process: Option<&str>) -> Result<Input> {
    let name = || path.display().to_string();
    match recorded(&unpacked.bytes) {
        Ok(decoded) => {
            whole(&unpacked, path)?;
            Ok(Input { decoded, chosen: None })
        }
        Err(error) if is_of_another_kind(&error) => match TraceFile::read(&unpacked.bytes) {
            Some(file) => trace(&file, unpacked, process).with_context(name),
            None => Err(anyhow!("{error}, {ACCEPTED}")).with_context(name),
        },
        Err(error) => Err(error).with_context(name),
    }
}

/// Checks that the whole file could be unpacked.
///
/// # Errors
/// When the file could be unpacked only in part: a part of a report cannot be used.
fn whole(unpacked: &Unpacked, path: &Path) -> Result<()> {
    match &unpacked.cut {
        Some(cut) => bail!("{}: offset 0: a gzip file that cannot be unpacked: {cut}", path.display()),
        None => Ok(()),
    }
}

/// Whether the error means that the bytes are neither a report nor a ring.
fn is_of_another_kind(error: &Error) -> bool {
    error.downcast_ref::<ContainerError>().is_some_and(|error| matches!(error, ContainerError::Magic))
}

/// Whether the bytes are neither a report nor a ring, and can be read as text.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    recorded(bytes).is_err_and(|error| is_of_another_kind(&error)) && text_of(bytes).is_some()
}

fn recorded(bytes: &[u8]) -> Result<Decoded> {
    match loopbox_format::report::decode(bytes) {
        Ok(decoded) => Ok(decoded),
        // The file is neither a report nor a ring. The error is about reports, because a report was expected.
        // (`recover` measures a file before it reads its beginning.)
        Err(error @ ContainerError::Magic) if !bytes.starts_with(RING) => Err(error.into()),
        Err(error @ ContainerError::Magic) => match loopbox_store::recover(bytes) {
            // Its damage is that of the file itself.
            Ok(mut ring) => {
                ring.report.lost.clear();
                Ok(Decoded { report: ring.report, damage: ring.damage })
            }
            Err(RecoverError::Layout(LayoutError::Magic)) => Err(error.into()),
            Err(error) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// A report of one process of a trace file.
fn trace(file: &TraceFile, unpacked: Unpacked, process: Option<&str>) -> Result<Input> {
    let shown = match process {
        None => file.first(),
        Some(process) => file.of(process).ok_or_else(|| {
            let names: Vec<&str> = file.names().filter(|name| !name.is_empty()).take(MAX_NAMES).collect();
            anyhow!(
                "no process called {process} is in the trace; it has {} ({}, …)",
                file.processes(),
                names.join(", ")
            )
        })?,
    };
    let mut chosen: Vec<String> = unpacked.chosen.into_iter().collect();
    if process.is_none() && file.processes() > 1 {
        let pid = shown.pid().map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        let name = if shown.name().is_empty() { "the first process" } else { shown.name() };
        chosen.push(format!(
            "{name}{pid}, the first of {} processes: --process NAME takes another",
            file.processes()
        ));
    }
    let damage = unpacked.cut.map(|what| Damage { offset: unpacked.bytes.len(), what });
    let decoded = Decoded { report: shown.report(), damage: damage.into_iter().collect() };
    Ok(Input { decoded, chosen: (!chosen.is_empty()).then(|| chosen.join("; ")) })
}

/// A report ready to be printed.
#[derive(Debug)]
pub(crate) struct LoadedReport {
    pub(crate) analysis: Analysis,
    /// The decoded file, for commands that need more than the analysis.
    pub(crate) decoded: Decoded,
    /// Whether parts are missing, about which stderr has a warning.
    incomplete: bool,
}

/// Loads a report and deobfuscates it. Prints a warning to stderr for each damaged part, and for a mapping
/// that does not match.
pub(crate) fn load(path: &Path, options: &ReadOptions) -> Result<LoadedReport> {
    let mapper = Mapper::load(&options.mappings)?;
    let packages = app_packages(&options.packages)?;
    let Input { mut decoded, chosen } = decode(path, options.process.as_deref())?;
    if let Some(chosen) = chosen {
        output::print_error(format_args!("note: {}: shown is {chosen}", path.display()));
    }
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
