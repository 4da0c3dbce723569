//! Files of an app's performance monitor: finds and reads them, and gives their stalls as reports of one
//! message each.

use crate::batch::{Batch, BatchReading, walk_error};
use crate::config::app_packages;
use crate::input::STDIO;
use crate::mapping::Mapper;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use loopbox_format::report::Decoded;
use loopbox_monitor::{Base, Stall, as_report, each_stall};
use loopbox_report::Analysis;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use walkdir::WalkDir;

/// The name endings of the files that a folder is searched for.
const ENDS: [&str; 2] = [".jsonl", ".jsonl.gz"];
/// The most bytes of a file, unpacked: many times what an app keeps.
const MAX_LEN: u64 = 256 << 20;

/// Whether a file has the name of a performance monitor's file.
pub(crate) fn is_named_so(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDS.iter().any(|end| name.ends_with(end))
}

/// The files of a performance monitor among the given paths.
#[derive(Debug, Default)]
pub(crate) struct MonitorFiles {
    pub(crate) files: Vec<PathBuf>,
    /// Folders that could not be read.
    pub(crate) unread: Vec<walkdir::Error>,
}

impl MonitorFiles {
    /// The given files in their order. A folder is replaced by its files of the monitor, sorted by name.
    /// Symbolic links are followed to files only.
    pub(crate) fn find(paths: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for path in paths {
            if !path.is_dir() {
                found.files.push(path.clone());
                continue;
            }
            for entry in WalkDir::new(path).sort_by_file_name() {
                match entry {
                    Ok(entry) if is_named_so(entry.path()) && entry.path().is_file() => {
                        found.files.push(entry.into_path());
                    }
                    Ok(_) => {}
                    Err(error) => found.unread.push(error),
                }
            }
        }
        found
    }
}

/// The bytes of a file, unpacked; of a truncated file, what is left.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let name = || path.display().to_string();
    let mut bytes = Vec::new();
    let file: Box<dyn Read> = if path == Path::new(STDIO) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(name)?)
    };
    file.take(MAX_LEN + 1).read_to_end(&mut bytes).with_context(name)?;
    if bytes.starts_with(b"\x89LB") {
        bail!(
            "{}: this is a report, and not a file of the performance monitor: `loopbox show` reads it",
            path.display()
        );
    }
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let mut unpacked = Vec::new();
        let read = MultiGzDecoder::new(&bytes[..]).take(MAX_LEN + 1).read_to_end(&mut unpacked);
        if unpacked.is_empty() {
            read.context("a gzip file that cannot be unpacked").with_context(name)?;
        }
        bytes = unpacked;
    }
    if bytes.len() as u64 > MAX_LEN {
        bail!("{}: larger than a file of the monitor can be ({} MiB)", path.display(), MAX_LEN >> 20);
    }
    Ok(bytes)
}

/// A stall from a file, the facts about the process that stalled, and the analysis of a report. The report is
/// made of the stall and these facts.
#[derive(Debug)]
pub(crate) struct ReadStall<'a> {
    pub(crate) stall: &'a Stall,
    pub(crate) base: &'a Base,
    pub(crate) analysis: &'a Analysis,
    /// The file.
    pub(crate) path: &'a str,
}

#[derive(Debug, Default)]
struct Counts {
    used: AtomicU64,
    skipped: AtomicU64,
    cut_lines: AtomicU64,
    unmapped: AtomicU64,
}

impl BatchReading {
    /// Calls `visit` for each stall of these files, with names that the mappings deobfuscated. The calls are
    /// made on several threads, each with a state. Files that cannot be used, and folders that could not be
    /// read, are printed to stderr and skipped. Returns the number of files that were used.
    ///
    /// # Errors
    /// When a mapping cannot be read, or a visitor fails.
    pub(crate) fn read_stalls<S: Send>(
        &self,
        MonitorFiles { files, unread }: &MonitorFiles,
        state: impl Fn() -> S + Sync + Send,
        visit: impl Fn(&mut S, &ReadStall<'_>) -> Result<()> + Sync + Send,
    ) -> Result<(Batch<S>, u64)> {
        let mapper = Mapper::load(&self.reading.mappings)?;
        let packages = app_packages(&self.reading.packages)?;
        let counts = Counts::default();
        unread.iter().for_each(|error| counts.skip(walk_error(error)));
        let read_file = |mut state: S, path: &PathBuf| -> Result<S> {
            let bytes = match read(path) {
                Ok(bytes) => bytes,
                Err(error) => {
                    counts.skip(format_args!("{error:#}"));
                    return Ok(state);
                }
            };
            let name = path.to_string_lossy();
            let found = each_stall(&bytes, |stall, base| {
                let mut report = as_report(stall, base);
                if mapper.apply(&mut report).is_err() {
                    counts.unmapped.fetch_add(1, Relaxed);
                }
                let decoded = Decoded { report, damage: Vec::new() };
                let analysis = &Analysis::with_packages(&decoded, &packages);
                visit(&mut state, &ReadStall { stall, base, analysis, path: &name })
            })?;
            if found.is_of_monitor {
                counts.used.fetch_add(1, Relaxed);
                counts.cut_lines.fetch_add(found.cut_lines, Relaxed);
            } else {
                counts.skip(format_args!("{}: not a file of the performance monitor", path.display()));
            }
            Ok(state)
        };
        let states: Result<Vec<S>> =
            self.pool()?.install(|| files.par_iter().try_fold(&state, read_file).collect());
        Ok(counts.into_batch(states?))
    }
}

impl Counts {
    fn skip(&self, why: impl Display) {
        self.skipped.fetch_add(1, Relaxed);
        output::print_error(format_args!("skipped: {why}"));
    }

    fn into_batch<S>(self, states: Vec<S>) -> (Batch<S>, u64) {
        let (cut_lines, unmapped) = (self.cut_lines.into_inner(), self.unmapped.into_inner());
        if cut_lines > 0 {
            output::print_error(format_args!("warning: {cut_lines} lines are cut off or damaged"));
        }
        if unmapped > 0 {
            output::print_error(format_args!(
                "warning: {unmapped} stalls keep obfuscated names: no mapping is of their build"
            ));
        }
        let skipped = self.skipped.into_inner();
        let complete = skipped == 0 && cut_lines == 0 && unmapped == 0;
        let outcome = if complete { Outcome::Complete } else { Outcome::Partial };
        (Batch { states, skipped, duplicates: 0, outcome }, self.used.into_inner())
    }
}
