//! Undoing R8/ProGuard: a report with obfuscated names to one with the names of the source, before any view.
//!
//! Classes of messages and of the pending queue, and classes, methods, lines and files of stack frames are put
//! back. Where the compiler inlined methods, one frame becomes several and the stack trees are grown anew. Frames
//! of outlined code disappear and give their position to their caller, as in R8's own retrace. The format of the
//! mapping is R8's (<https://r8.googlesource.com/r8/+/refs/heads/main/doc/retrace.md>).

mod frames;
mod grow;

use crate::{bounds, names};
use frames::Retracer;
use loopbox_format::model::{MainState, Message, Report, Symbols};
use proguard::{ProguardCache, ProguardMapping, ProguardRecord};
use std::collections::HashSet;

/// From this `min_api` on R8 leaves line tables out and its mapping is keyed by the bytecode position that ART
/// reports instead (`Thread::CreateInternalStackTrace` of Android 8 and later).
const PC_AS_LINE_API: u32 = 26;
/// What R8 writes as the source file of every class, followed by the id of the build's mapping.
const MAP_ID_FILE: &str = "r8-map-id-";
/// Below this many retraced methods a share of failures says nothing.
const JUDGED_METHODS: usize = 5;

/// Why a file is not a mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// It has no bytes.
    #[error("the mapping is empty")]
    Empty,
    /// Not one line of it names a class.
    #[error("not a ProGuard or R8 mapping: no line says `original.Name -> obfuscated:`")]
    NotAMapping,
    /// It could not be indexed.
    #[error("the mapping cannot be indexed: {0}")]
    Unusable(String),
}

/// Why a mapping does not fit a report. The report is left as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// Both say which build they are of, and they differ.
    #[error("the mapping is of another build: its id is {mapping}, the report's code has {report}")]
    OtherBuild {
        /// The mapping's id.
        mapping: String,
        /// The id in the report's frames.
        report: String,
    },
    /// No app class of the report is in it.
    #[error(
        "none of the report's {classes} app classes is in the mapping: it is of another app or build, \
         or the report is not obfuscated"
    )]
    NoClass {
        /// How many were looked up.
        classes: usize,
    },
    /// Most methods are not where the mapping has them.
    #[error(
        "only {found} of {asked} obfuscated methods are in the mapping where their classes are: \
         it is of another build"
    )]
    FewMethods {
        /// Methods found.
        found: usize,
        /// Methods looked up.
        asked: usize,
    },
    /// The report names no app class, so there is nothing to do.
    #[error("the report names no class of the app; there is nothing to retrace")]
    NothingToDo,
}

/// A mapping, indexed.
pub struct Mapping {
    index: Vec<u8>,
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
    /// When it is something else.
    pub fn parse(bytes: &[u8]) -> Result<Self, MappingError> {
        if bytes.is_empty() {
            return Err(MappingError::Empty);
        }
        let mapping = ProguardMapping::new(bytes);
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
        let mut index = Vec::new();
        ProguardCache::write(&mapping, &mut index).map_err(|e| MappingError::Unusable(e.to_string()))?;
        let parsed = Self { index, ids, pc_as_line };
        parsed.cache()?;
        Ok(parsed)
    }

    fn cache(&self) -> Result<ProguardCache<'_>, MappingError> {
        ProguardCache::parse(&self.index).map_err(|e| MappingError::Unusable(e.to_string()))
    }

    /// Whether the report's code names this mapping as its own; `None` when one of the two does not say.
    pub fn is_of(&self, report: &Report) -> Option<bool> {
        let theirs = map_id(&report.symbols)?;
        // Ids are shortened hashes, of a length that changed over time.
        let same = |ours: &String| ours.starts_with(theirs) || theirs.starts_with(ours.as_str());
        (!self.ids.is_empty()).then(|| self.ids.iter().any(same))
    }

    /// Puts the names of the source into a report.
    ///
    /// A stack tree that contradicts itself (of a forged file) keeps its shape; only its names are put back.
    ///
    /// # Errors
    /// When the mapping does not fit; the report is then unchanged.
    pub fn retrace(&self, report: &mut Report) -> Result<(), Misfit> {
        let Ok(cache) = self.cache() else { return Err(Misfit::NothingToDo) };
        self.check_fit(report, &cache)?;
        let mut retracer = Retracer::new(&cache, self.pc_as_line);
        let trees = grow::trees(report, &mut retracer);
        let locks = grow::locks(report, &mut retracer);
        let threads = grow::threads(report, &mut retracer);
        let (asked, found) = retracer.methods();
        if asked >= JUDGED_METHODS && found * 2 < asked {
            return Err(Misfit::FewMethods { found, asked });
        }
        (report.trees, report.locks, report.threads) = (trees, locks, threads);
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
        for wait in report.locks.waits.iter_mut().take(bounds::LOCKS) {
            class(&mut wait.class);
            class(&mut wait.of_class);
        }
        for line in report.pending.lines.iter_mut().take(bounds::PENDING) {
            *line = pending_line(line, |name| cache.remap_class(name));
        }
        Ok(())
    }

    fn check_fit(&self, report: &Report, cache: &ProguardCache<'_>) -> Result<(), Misfit> {
        if self.is_of(report) == Some(false) {
            return Err(Misfit::OtherBuild {
                mapping: self.ids.first().cloned().unwrap_or_default(),
                report: map_id(&report.symbols).unwrap_or_default().to_string(),
            });
        }
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
        classes.retain(|class| !class.is_empty() && !names::is_platform(class));
        if classes.is_empty() {
            return Err(Misfit::NothingToDo);
        }
        if classes.iter().any(|class| cache.remap_class(class).is_some()) {
            Ok(())
        } else {
            Err(Misfit::NoClass { classes: classes.len() })
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

/// A printed message with its class names put back: those after `target=`, `callback=` and `obj=`. Other text may
/// hold an obfuscated name by chance only.
fn pending_line<'n>(line: &str, original: impl Fn(&str) -> Option<&'n str>) -> String {
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
#[path = "retrace_test.rs"]
mod tests;
