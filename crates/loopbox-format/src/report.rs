//! A whole [`Report`] to a file's bytes and back.

use crate::codec::{self, CodecError};
use crate::container::{self, ContainerError, Damage, Section, Tag};
use crate::display_frames::{self, FrameRecord};
use crate::model::{Anr, AnrInfo, AnrWarning, CpuUse, Meta, PackedTrace, Report, StackTree};
use bincode::Decode;

/// The report in plain lines, not encoded. The section is only in files that an app wrote.
const DIGEST: Tag = Tag(*b"DIGE");
const META: Tag = Tag(*b"META");
const HISTORY: Tag = Tag(*b"HIST");
const MAIN: Tag = Tag(*b"MAIN");
/// The verdict and the evidence. The section is only in files that have a verdict.
const ANR: Tag = Tag(*b"ANR\0");
/// The system's warnings of an ANR. The section is only in files of a process whose main thread was late when
/// the system sent one.
const WARNINGS: Tag = Tag(*b"WARN");
/// What the system recorded of an ANR. The section is only in files of a process that an ANR ended, where the
/// system has details.
const ANR_INFO: Tag = Tag(*b"ANRI");
/// The section is only in files of an app that recorded breadcrumbs.
const BREADCRUMBS: Tag = Tag(*b"CRUM");
/// The section is only in files that a living process wrote, on a kernel that counts CPU time.
const CPU_USE: Tag = Tag(*b"CPU\0");
const PENDING: Tag = Tag(*b"PEND");
const SYMBOLS: Tag = Tag(*b"SYMB");
/// The section is only in files whose main thread waited for a lock.
const LOCKS: Tag = Tag(*b"LOCK");
/// The section is only in files whose writer asked the kernel about the main thread.
const MAIN_THREAD: Tag = Tag(*b"KTHR");
/// The other threads. The section is only in files of a process whose main thread did not respond.
const THREADS: Tag = Tag(*b"THRD");
const TREE: Tag = Tag(*b"TREE");
/// The screens of a smoothness session. This section and the next four, which have the rest of the session,
/// are only in files with records of their kind.
const FRAME_SCENES: Tag = Tag(*b"FRAM");
const FRAME_GESTURES: Tag = Tag(*b"GEST");
const FRAME_JANKS: Tag = Tag(*b"JANK");
const RECENT_FRAMES: Tag = Tag(*b"FREC");
const FRAME_STAGES: Tag = Tag(*b"FSTG");
const FEATURES: Tag = Tag(*b"FEAT");
const STATISTICS: Tag = Tag(*b"STAT");
/// The section is only in files that were recovered from a ring of which a part could not be used.
const LOST: Tag = Tag(*b"LOST");
/// ART's own trace: packed text, not encoded. The section is only in files of a process that an ANR ended.
/// The Java part of the app appends it (`SystemTrace.java`).
const TRACE: Tag = Tag(*b"TRAC");
/// An annotation that was added when its process was gone: name and value as text, with a newline in between.
/// The Java part of the app appends the section (`ReportSections.java`).
const NOTE: Tag = Tag(*b"NOTE");

/// Encodes a report. The sections that matter most come first, so that a cut file still has them.
pub fn encode(report: &Report) -> Result<Vec<u8>, CodecError> {
    let mut file = begin(report)?;
    records(&mut file, FRAME_SCENES, &report.frames.scenes);
    records(&mut file, FRAME_JANKS, &report.frames.janks);
    records(&mut file, FRAME_GESTURES, &report.frames.gestures);
    records(&mut file, RECENT_FRAMES, &report.frames.recent);
    records(&mut file, FRAME_STAGES, &report.frames.stages);
    if !report.system_trace.gzip.is_empty() {
        file.section(TRACE, &report.system_trace.gzip);
    }
    Ok(file.finish())
}

/// Begins a file with all sections except those of display frames and the trace.
fn begin(report: &Report) -> Result<container::Writer, CodecError> {
    let mut file = container::Writer::new();
    if !report.digest.is_empty() {
        file.section(DIGEST, report.digest.as_bytes());
    }
    put(&mut file, META, codec::encode(&report.meta))?;
    put(&mut file, MAIN, codec::encode(&report.main))?;
    put_known(&mut file, ANR, codec::encode(&report.anr))?;
    of_system(&mut file, &report.anr_warnings, report.anr_info.as_ref())?;
    if let Some(cpu_use) = &report.cpu_use {
        put(&mut file, CPU_USE, codec::encode(cpu_use))?;
    }
    put_known(&mut file, BREADCRUMBS, codec::encode(&report.breadcrumbs))?;
    put(&mut file, HISTORY, codec::encode(&report.history))?;
    put(&mut file, FEATURES, codec::encode(&report.features))?;
    put(&mut file, SYMBOLS, codec::encode(&report.symbols))?;
    for tree in &report.trees {
        put(&mut file, TREE, codec::encode(tree))?;
    }
    put_known(&mut file, LOCKS, codec::encode(&report.locks))?;
    put_known(&mut file, MAIN_THREAD, codec::encode(&report.main_thread))?;
    put(&mut file, PENDING, codec::encode(&report.pending))?;
    put(&mut file, STATISTICS, codec::encode(&report.statistics))?;
    put_known(&mut file, THREADS, codec::encode(&report.threads))?;
    put_known(&mut file, LOST, codec::encode(&report.lost))?;
    Ok(file)
}

/// Adds a section.
#[inline(never)]
fn put(
    file: &mut container::Writer,
    tag: Tag,
    payload: Result<Vec<u8>, CodecError>,
) -> Result<(), CodecError> {
    file.section(tag, &payload?);
    Ok(())
}

/// Adds a section, unless the value is the default of its type, which means that nothing is known. For these
/// types, the codec writes only zeros for the default, and never for another value. This function checks for
/// these zeros: comparing the values would take some hundred bytes of code for each type.
fn put_known(
    file: &mut container::Writer,
    tag: Tag,
    payload: Result<Vec<u8>, CodecError>,
) -> Result<(), CodecError> {
    let is_known = payload.as_ref().map_or(true, |payload| payload.iter().any(|byte| *byte != 0));
    if is_known { put(file, tag, payload) } else { Ok(()) }
}

fn records<R: FrameRecord>(file: &mut container::Writer, tag: Tag, records: &[R]) {
    if !records.is_empty() {
        file.section(tag, &display_frames::encode_list(records));
    }
}

/// The parts that may be added to a file after it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// The verdict whether the main thread responded, and the evidence.
    pub anr: Anr,
    /// [`Report::anr_warnings`].
    pub warnings: Vec<AnrWarning>,
    /// [`Report::anr_info`].
    pub info: Option<AnrInfo>,
}

impl Evidence {
    /// Reads the evidence of a file. A part that cannot be read has its default.
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            anr: read_last(bytes, ANR).unwrap_or_default(),
            warnings: read_last(bytes, WARNINGS).unwrap_or_default(),
            info: read_last(bytes, ANR_INFO),
        }
    }
}

fn read_last<T: Decode<()>>(bytes: &[u8], tag: Tag) -> Option<T> {
    codec::decode(container::payload(bytes, tag)?).ok()
}

/// The file `bytes` with more evidence and another verdict. `summarise` makes the new summary from the
/// present one and the changed evidence; the rest is unchanged. `None` for an incomplete file.
///
/// # Errors
/// When the evidence cannot be encoded.
pub fn update_evidence(
    bytes: &[u8],
    change: impl FnOnce(&mut Evidence),
    summarise: impl FnOnce(&str, &Evidence) -> String,
) -> Result<Option<Vec<u8>>, CodecError> {
    let mut evidence = Evidence::of(bytes);
    change(&mut evidence);
    let summary = summary(bytes).map(|summary| summarise(summary, &evidence));
    with_evidence(bytes, &evidence, summary.as_deref())
}

/// The file `bytes` with this evidence and this summary.
fn with_evidence(
    bytes: &[u8],
    evidence: &Evidence,
    summary: Option<&str>,
) -> Result<Option<Vec<u8>>, CodecError> {
    let mut file = container::Writer::new();
    if let Some(summary) = summary {
        file.section(DIGEST, summary.as_bytes());
    }
    let Some(mut file) = file.append(bytes, &[DIGEST, ANR, WARNINGS, ANR_INFO]) else { return Ok(None) };
    put(&mut file, ANR, codec::encode(&evidence.anr))?;
    of_system(&mut file, &evidence.warnings, evidence.info.as_ref())?;
    Ok(Some(file.finish()))
}

/// Adds the sections of what only newer systems report about an ANR.
fn of_system(
    file: &mut container::Writer,
    warnings: &[AnrWarning],
    info: Option<&AnrInfo>,
) -> Result<(), CodecError> {
    put_known(file, WARNINGS, codec::encode(warnings))?;
    if let Some(info) = info {
        put(file, ANR_INFO, codec::encode(info))?;
    }
    Ok(())
}

fn summary(bytes: &[u8]) -> Option<&str> {
    core::str::from_utf8(container::payload(bytes, DIGEST)?).ok()
}

/// The index, from 0, of the line of [`Report::digest`] that is for services that take no files.
const DIGEST_LINE: usize = 4;

/// The line of at most 900 bytes that describes the file `bytes`, for services that take no files. `None` for
/// an incomplete file, or one without that line.
pub fn digest(bytes: &[u8]) -> Option<&str> {
    summary(bytes)?.split('\n').nth(DIGEST_LINE)
}

/// Who wrote the file `bytes`, and when, without reading the rest of it. `None` for an incomplete file.
pub fn meta(bytes: &[u8]) -> Option<Meta> {
    codec::decode(container::payload(bytes, META)?).ok()
}

/// A report as far as its file could be read.
#[derive(Debug)]
pub struct Decoded {
    /// The report; parts whose section is damaged or missing have their default.
    pub report: Report,
    /// What could not be read; empty for an intact file.
    pub damage: Vec<Damage>,
}

/// Decodes a report, salvaging intact sections of a damaged file.
///
/// # Errors
/// Only when nothing can be had: the file is empty, of another kind, of a newer major version, or without a
/// single intact section.
pub fn decode(bytes: &[u8]) -> Result<Decoded, ContainerError> {
    // A damaged section is reported as such, and not as missing, too.
    let container::Contents { sections, mut damage, damaged: mut seen } = container::read(bytes)?;
    let mut report = Report::default();
    let mut notes = Vec::new();
    for section in &sections {
        seen.push(section.tag);
        match section.tag {
            DIGEST => report.digest = String::from_utf8_lossy(section.payload).into_owned(),
            META => fill(&mut report.meta, section, &mut damage),
            MAIN => fill(&mut report.main, section, &mut damage),
            ANR => fill(&mut report.anr, section, &mut damage),
            WARNINGS => fill(&mut report.anr_warnings, section, &mut damage),
            ANR_INFO => match codec::decode(section.payload) {
                Ok(info) => report.anr_info = Some(info),
                Err(error) => damage.push(undecodable(section, error)),
            },
            CPU_USE => {
                let mut read = CpuUse::default();
                fill(&mut read, section, &mut damage);
                report.cpu_use = Some(read).filter(|read| read.over_ns > 0);
            }
            BREADCRUMBS => fill(&mut report.breadcrumbs, section, &mut damage),
            HISTORY => fill(&mut report.history, section, &mut damage),
            FEATURES => fill(&mut report.features, section, &mut damage),
            SYMBOLS => fill(&mut report.symbols, section, &mut damage),
            LOCKS => fill(&mut report.locks, section, &mut damage),
            MAIN_THREAD => fill(&mut report.main_thread, section, &mut damage),
            THREADS => fill(&mut report.threads, section, &mut damage),
            PENDING => fill(&mut report.pending, section, &mut damage),
            STATISTICS => fill(&mut report.statistics, section, &mut damage),
            LOST => fill(&mut report.lost, section, &mut damage),
            FRAME_SCENES => take(&mut report.frames.scenes, section, &mut damage),
            FRAME_GESTURES => take(&mut report.frames.gestures, section, &mut damage),
            FRAME_JANKS => take(&mut report.frames.janks, section, &mut damage),
            RECENT_FRAMES => take(&mut report.frames.recent, section, &mut damage),
            FRAME_STAGES => take(&mut report.frames.stages, section, &mut damage),
            TRACE => {
                report.system_trace = PackedTrace { gzip: section.payload.to_vec(), offset: section.offset };
            }
            NOTE => notes.extend(note(section.payload)),
            TREE => match codec::decode::<StackTree>(section.payload) {
                Ok(tree) => report.trees.push(tree),
                Err(error) => damage.push(undecodable(section, error)),
            },
            _ => {} // from a newer minor version
        }
    }
    report.meta.annotations.append(&mut notes);
    for tag in [META, MAIN, HISTORY, FEATURES, SYMBOLS, PENDING, STATISTICS] {
        if !seen.contains(&tag) {
            damage.push(Damage { offset: bytes.len(), what: format!("section {tag} is missing") });
        }
    }
    Ok(Decoded { report, damage })
}

fn note(payload: &[u8]) -> Option<(String, String)> {
    let (name, value) = core::str::from_utf8(payload).ok()?.split_once('\n')?;
    Some((name.to_owned(), value.to_owned()))
}

fn fill<T: Decode<()>>(part: &mut T, section: &Section<'_>, damage: &mut Vec<Damage>) {
    match codec::decode(section.payload) {
        Ok(value) => *part = value,
        Err(error) => damage.push(undecodable(section, error)),
    }
}

fn take<R: FrameRecord>(part: &mut Vec<R>, section: &Section<'_>, damage: &mut Vec<Damage>) {
    match display_frames::decode_list(section.payload) {
        Ok(records) => *part = records,
        Err(error) => damage.push(undecodable(section, error)),
    }
}

fn undecodable(section: &Section<'_>, error: CodecError) -> Damage {
    Damage { offset: section.offset, what: format!("section {}: {error}", section.tag) }
}
