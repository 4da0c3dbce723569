//! Deobfuscating reports of apps that were shrunk with R8 or ProGuard, before they are loaded.
//!
//! Deobfuscated are the classes of messages, locks and the pending queue, and the classes, methods, lines and files of
//! stack frames, those of ART's own trace among them. Where the compiler inlined methods, one frame becomes several and the stack trees are rebuilt. Frames
//! of outlined code are removed and give their position to their caller, as in R8's own retrace. The format of the
//! mapping is R8's (<https://r8.googlesource.com/r8/+/refs/heads/main/doc/retrace.md>).

mod frames;
mod names;
mod rebuild;
mod text;
mod trace;

use crate::load::limits;
use crate::model::class_names::is_platform;
use frames::Retracer;
use loopbox_format::model::{MainState, Message, Report, Symbols};
use names::Names;
use proguard::{ProguardCache, ProguardMapping, ProguardRecord};
use std::collections::HashSet;
use text::MappingText;

/// From this `min_api` on R8 leaves out line tables, and its mapping is keyed by the dex pc that ART reports instead (`Thread::CreateInternalStackTrace` of Android 8 and later).
const PC_AS_LINE_API: u32 = 26;
/// R8 writes this as the source file of every class, followed by the id of the build's mapping.
const MAP_ID_FILE: &str = "r8-map-id-";
/// With fewer looked-up methods than this, the share of those not found is not significant.
const MIN_LOOKED_UP: usize = 5;

/// Why a file is not a mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The file has no bytes.
    #[error("the mapping is empty")]
    Empty,
    /// No line of the file names a class.
    #[error("not a ProGuard or R8 mapping: it has no line like `original.Name -> obfuscated:`")]
    NotAMapping,
    /// The file is larger than can be addressed.
    #[error("larger than a mapping can be (4 GiB)")]
    TooLarge,
}

/// Why a mapping does not match a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingMismatch {
    /// Both name the build that they are of, and the builds differ.
    #[error("the mapping is of another build: its id is {mapping}, and that of the report is {report}")]
    OtherBuild {
        /// The mapping's id.
        mapping: String,
        /// The id in the report's frames.
        report: String,
    },
    /// No app class of the report is in the mapping.
    #[error(
        "none of the report's {classes} app classes is in the mapping: it is of another app or build, \
         or the report is not obfuscated"
    )]
    NoClass {
        /// The number of app classes in the report.
        classes: usize,
    },
    /// Most methods are not in the mapping, though their classes are.
    #[error(
        "only {found} of {looked_up} obfuscated methods are in the mapping, though their classes are: \
         it is of another build"
    )]
    FewMethods {
        /// The number of methods that were found.
        found: usize,
        /// The number of methods that were looked up.
        looked_up: usize,
    },
    /// More of the mapping concerns the report than of any real one.
    #[error("more than {max_mib} MiB of the mapping are about the report's methods: it is damaged")]
    TooMuch {
        /// How much may be.
        max_mib: usize,
    },
    /// What concerns the report cannot be read.
    #[error("the mapping cannot be indexed: {0}")]
    Unusable(String),
    /// The report names no class of the app.
    #[error("the report names no class of the app; there is nothing to retrace")]
    NothingToDo,
}

/// A mapping, held as its text with the places of its classes: less than one and a half times the file.
pub struct Mapping {
    text: MappingText,
    /// `pg_map_id` and `pg_map_hash`.
    ids: Vec<String>,
    pc_as_line: bool,
}

impl std::fmt::Debug for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mapping")
            .field("ids", &self.ids)
            .field("pc_as_line", &self.pc_as_line)
            .finish_non_exhaustive()
    }
}

impl Mapping {
    /// Reads a `mapping.txt`.
    ///
    /// # Errors
    /// When the bytes are not a mapping.
    pub fn parse(bytes: impl Into<Vec<u8>>) -> Result<Self, MappingError> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(MappingError::Empty);
        }
        let mapping = ProguardMapping::new(&bytes);
        let (mut ids, mut pc_as_line, mut is_mapping) = (Vec::new(), false, false);
        for record in mapping.iter().filter_map(Result::ok) {
            match record {
                ProguardRecord::Header { key: "pg_map_id", value: Some(id) } => ids.push(id.to_string()),
                ProguardRecord::Header { key: "pg_map_hash", value: Some(hash) } => {
                    ids.push(hash.trim_start_matches("SHA-256 ").to_string());
                }
                ProguardRecord::Header { key: "min_api", value: Some(api) } => {
                    pc_as_line = api.parse().is_ok_and(|api: u32| api >= PC_AS_LINE_API);
                }
                ProguardRecord::Class { .. } => {
                    is_mapping = true;
                    // R8 writes the header before the first class.
                    break;
                }
                _ => {}
            }
        }
        if !is_mapping {
            return Err(MappingError::NotAMapping);
        }
        Ok(Self { text: MappingText::new(bytes)?, ids, pc_as_line })
    }

    /// Whether the report names this mapping as that of its build; `None` when one of the two does not name its build.
    pub fn is_of(&self, report: &Report) -> Option<bool> {
        let theirs = map_id(&report.symbols)?;
        // Ids are shortened hashes, of a length that changed over time.
        let same = |ours: &String| ours.starts_with(theirs) || theirs.starts_with(ours.as_str());
        (!self.ids.is_empty()).then(|| self.ids.iter().any(same))
    }

    /// Deobfuscates a report.
    ///
    /// An invalid stack tree (of a forged file) keeps its shape; only its frames are renamed.
    ///
    /// # Errors
    /// When the mapping does not match the report. The report is then unchanged.
    pub fn retrace(&self, report: &mut Report) -> Result<(), MappingMismatch> {
        self.check_build(report)?;
        let about = self.text.about(&Names::of(report))?;
        self.retrace_by(&about, report)
    }

    /// By what of the mapping is about the report.
    fn retrace_by(&self, mapping: &[u8], report: &mut Report) -> Result<(), MappingMismatch> {
        let mut index = Vec::new();
        ProguardCache::write(&ProguardMapping::new(mapping), &mut index)
            .map_err(|error| MappingMismatch::Unusable(error.to_string()))?;
        let cache =
            ProguardCache::parse(&index).map_err(|error| MappingMismatch::Unusable(error.to_string()))?;
        Self::check_match(report, &cache)?;
        let mut retracer = Retracer::new(&cache, self.pc_as_line);
        let trees = rebuild::trees(report, &mut retracer);
        let locks = rebuild::locks(report, &mut retracer);
        let threads = rebuild::threads(report, &mut retracer);
        let system_trace = trace::retraced(&report.system_trace, &retracer);
        let (looked_up, found) = retracer.method_counts();
        if looked_up >= MIN_LOOKED_UP && found * 2 < looked_up {
            return Err(MappingMismatch::FewMethods { found, looked_up });
        }
        (report.trees, report.locks, report.threads) = (trees, locks, threads);
        report.system_trace = system_trace;
        report.symbols = retracer.into_symbols();
        let class = |name: &mut String| {
            if let Some(original) = cache.remap_class(name) {
                *name = original.to_string();
            }
        };
        messages(report, |message| {
            class(&mut message.target);
            class(&mut message.callback);
        });
        for wait in report.locks.waits.iter_mut().take(limits::LOCK_WAITS) {
            class(&mut wait.class);
            class(&mut wait.of_class);
        }
        for line in report.pending.lines.iter_mut().take(limits::PENDING_LINES) {
            *line = pending_line(line, |name| cache.remap_class(name));
        }
        Ok(())
    }

    fn check_build(&self, report: &Report) -> Result<(), MappingMismatch> {
        if self.is_of(report) == Some(false) {
            return Err(MappingMismatch::OtherBuild {
                mapping: self.ids.first().cloned().unwrap_or_default(),
                report: map_id(&report.symbols).unwrap_or_default().to_string(),
            });
        }
        Ok(())
    }

    fn check_match(report: &Report, cache: &ProguardCache<'_>) -> Result<(), MappingMismatch> {
        let mut classes: HashSet<&str> = report.symbols.methods.iter().map(|m| m.class.as_str()).collect();
        for record in &report.history {
            for message in record.details.iter().filter_map(|d| d.message.as_ref()) {
                classes.extend([message.target.as_str(), message.callback.as_str()]);
            }
        }
        if let MainState::Running(running) = &report.main
            && let Some(message) = &running.message
        {
            classes.extend([message.target.as_str(), message.callback.as_str()]);
        }
        classes.retain(|class| !class.is_empty() && !is_platform(class));
        if classes.is_empty() {
            return Err(MappingMismatch::NothingToDo);
        }
        if classes.iter().any(|class| cache.remap_class(class).is_some()) {
            Ok(())
        } else {
            Err(MappingMismatch::NoClass { classes: classes.len() })
        }
    }
}

fn map_id(symbols: &Symbols) -> Option<&str> {
    symbols.methods.iter().find_map(|method| method.source_file.strip_prefix(MAP_ID_FILE))
}

fn messages(report: &mut Report, mut each: impl FnMut(&mut Message)) {
    for detail in report.history.iter_mut().flat_map(|record| &mut record.details) {
        detail.message.iter_mut().for_each(&mut each);
    }
    if let MainState::Running(running) = &mut report.main {
        running.message.iter_mut().for_each(&mut each);
    }
}

/// A printed message with the class names after `target=`, `callback=` and `obj=` deobfuscated. In other text an
/// obfuscated name would be a coincidence.
fn pending_line<'n>(line: &str, mut original: impl FnMut(&str) -> Option<&'n str>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((key, at)) = ["target=", "callback=", "obj="]
        .into_iter()
        .filter_map(|key| Some((key, rest.find(key)?)))
        .min_by_key(|k| k.1)
    {
        let (before, from) = rest.split_at(at + key.len());
        out.push_str(before);
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '$' | '_' | '-');
        let end = from.find(|c| !is_name(c)).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        out.push_str(original(name).unwrap_or(name));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
