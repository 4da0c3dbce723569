//! Deobfuscating reports of apps that were shrunk with R8 or ProGuard, before they are loaded.
//!
//! Class names are restored in messages, in locks and in the pending queue. In stack frames, classes,
//! methods, lines and files are restored, also in ART's own trace. Where the compiler inlined methods, one
//! frame becomes several and the stack trees are rebuilt. Frames of outlined code are removed and give their
//! position to their caller, as in R8's own retrace. The format of the mapping is R8's
//! (<https://r8.googlesource.com/r8/+/refs/heads/main/doc/retrace.md>).

mod error;
mod line;
mod members;
mod names;
mod plain;
mod positions;
mod rebuild;
mod stack_frames;
mod text;
mod trace;
mod words;

use crate::load::identity::{MAPPING_ID, named_mapping};
use crate::load::limits;
pub use error::{MappingError, MappingMismatch};
use loopbox_format::code::is_platform;
use loopbox_format::model::{MainState, Report, Statistic};
use members::Members;
use names::Names;
pub use plain::RetracedText;
use positions::Positions;
use proguard::{ProguardMapping, ProguardRecord};
use stack_frames::Retracer;
use std::collections::HashSet;
use text::MappingText;
use words::{messages, pending_line};

/// When fewer methods than this were looked up, the share of those that were not found is not significant.
const MIN_LOOKED_UP: usize = 5;

/// A mapping. It keeps the mapping's text and an index of the places of its classes. Both together take less
/// than one and a half times the size of the file.
pub struct Mapping {
    text: MappingText,
    /// The mapping's `pg_map_id` and `pg_map_hash`, where it has them.
    ids: Vec<String>,
    positions: Positions,
}

impl std::fmt::Debug for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mapping")
            .field("ids", &self.ids)
            .field("positions", &self.positions)
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
        let (mut ids, mut positions, mut is_mapping) = (Vec::new(), Positions::default(), false);
        for record in mapping.iter().filter_map(Result::ok) {
            match record {
                ProguardRecord::Header { key: "pg_map_id", value: Some(id) } => ids.push(id.to_string()),
                ProguardRecord::Header { key: "pg_map_hash", value: Some(hash) } => {
                    ids.push(hash.trim_start_matches("SHA-256 ").to_string());
                }
                ProguardRecord::Header { key, value: Some(value) } => positions.header(key, value),
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
        Ok(Self { text: MappingText::new(bytes)?, ids, positions })
    }

    /// Whether the report is of the build that this mapping is of; `None` when one of the two does not name
    /// its build.
    pub fn is_of(&self, report: &Report) -> Option<bool> {
        let theirs = named_mapping(report)?;
        (!self.ids.is_empty()).then(|| self.ids.iter().any(|ours| same_build(ours, theirs)))
    }

    /// Deobfuscates a report.
    ///
    /// An invalid stack tree (of a forged file) keeps its shape; only its frames are renamed.
    ///
    /// # Errors
    /// When the mapping does not match the report. The report is then unchanged.
    pub fn retrace(&self, report: &mut Report) -> Result<(), MappingMismatch> {
        self.check_build(report)?;
        let names = Names::of(report);
        let about = self.text.about(&names)?;
        self.retrace_by(&about, &names, report)
    }

    /// Deobfuscates by the part of the mapping that concerns the report.
    fn retrace_by(&self, mapping: &[u8], names: &Names, report: &mut Report) -> Result<(), MappingMismatch> {
        let members = Members::read(mapping);
        Self::check_match(report, names, &members)?;
        let mut retracer = Retracer::new(&members, &self.positions);
        let trees = rebuild::trees(report, &mut retracer);
        let locks = rebuild::locks(report, &mut retracer);
        let threads = rebuild::threads(report, &mut retracer);
        let system_trace = trace::retraced(&report.system_trace, &retracer);
        let (looked_up, found) = retracer.method_counts();
        if looked_up >= MIN_LOOKED_UP && found * 2 < looked_up {
            return Err(MappingMismatch::FewMethods { found, looked_up });
        }
        let id = named_mapping(report).map(str::to_owned).or_else(|| self.ids.first().cloned());
        (report.trees, report.locks, report.threads) = (trees, locks, threads);
        report.system_trace = system_trace;
        report.symbols = retracer.into_symbols();
        if let Some(value) = id {
            report.statistics.retain(|statistic| statistic.name != MAPPING_ID);
            report.statistics.push(Statistic { name: MAPPING_ID.to_owned(), value });
        }
        let class = |name: &mut String| {
            if let Some(original) = members.class(name) {
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
            *line = pending_line(line, |name| members.class(name));
        }
        Ok(())
    }

    fn check_build(&self, report: &Report) -> Result<(), MappingMismatch> {
        if self.is_of(report) == Some(false) {
            return Err(MappingMismatch::OtherBuild {
                mapping: self.ids.first().cloned().unwrap_or_default(),
                report: named_mapping(report).unwrap_or_default().to_string(),
            });
        }
        Ok(())
    }

    fn check_match(report: &Report, names: &Names, members: &Members<'_>) -> Result<(), MappingMismatch> {
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
            // Of the system's trace alone.
            classes.extend(names.classes().filter(|class| !is_platform(class)));
        }
        if classes.is_empty() {
            return Err(MappingMismatch::NothingToDo);
        }
        if classes.iter().any(|class| members.class(class).is_some()) {
            Ok(())
        } else {
            Err(MappingMismatch::NoClass { classes: classes.len() })
        }
    }
}

/// Whether two ids are of one mapping. They are shortened hashes, and the length has changed over time.
fn same_build(ours: &str, theirs: &str) -> bool {
    ours.starts_with(theirs) || theirs.starts_with(ours)
}

#[cfg(test)]
mod frame_tests;
#[cfg(test)]
mod tests;
