//! Many reports: finding them, reading them on all cores, and reporting which could not be used.
//!
//! Memory does not depend on the number of reports: folders are searched while reports are read, and each report is
//! dropped when its visitor returns.

use crate::mapping::Mapper;
use crate::options::MappingOptions;
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use loopbox_report::Analysis;
use rayon::ThreadPoolBuilder;
use rayon::iter::{ParallelBridge, ParallelIterator};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use walkdir::{DirEntry, WalkDir};

/// The extension of the files that a folder is searched for.
const EXTENSION: &str = "lbx";

/// Which reports to read, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct BatchOptions {
    /// Reports, and folders that are searched for files that end in .lbx.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) mapping: MappingOptions,
    /// Reads on this number of threads instead of one per core.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
}

/// The result of reading a batch.
#[derive(Debug)]
pub(crate) struct Batch<S> {
    /// The states of the visitors.
    pub(crate) states: Vec<S>,
    /// The number of files that could not be used.
    pub(crate) skipped: u64,
    pub(crate) outcome: Outcome,
}

impl BatchOptions {
    fn find(&self) -> impl Iterator<Item = walkdir::Result<PathBuf>> {
        self.paths.iter().flat_map(|path| find(path))
    }

    /// Calls `visit` for each intact report, on several threads with a state each. Files that cannot be used are
    /// printed to stderr and skipped.
    ///
    /// # Errors
    /// When no report could be used, or a visitor fails.
    pub(crate) fn read<S: Send>(
        &self,
        state: impl Fn() -> S + Sync + Send,
        visit: impl Fn(&mut S, &Analysis, &str) -> Result<()> + Sync + Send,
    ) -> Result<Batch<S>> {
        let mapper = Mapper::load(&self.mapping)?;
        let reader = BatchReader { mapper: &mapper, progress: progress_bar(), counts: Counts::default() };
        if !reader.progress.is_hidden() {
            // Searching the folders takes much less time than reading the reports, so they are searched twice.
            reader.progress.set_length(self.find().flatten().count() as u64);
        }
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs.map_or(0, NonZero::get)).build();
        let pool = pool.context("the threads cannot be started")?;
        let states: Result<Vec<S>> = pool.install(|| {
            let paths = self.find().filter_map(|path| reader.found(path)).par_bridge();
            let visited = paths.try_fold(&state, |mut state, path| {
                if let Some(analysis) = reader.load(&path) {
                    visit(&mut state, &analysis, &path.to_string_lossy())?;
                }
                Ok(state)
            });
            visited.collect()
        });
        reader.progress.finish_and_clear();
        reader.counts.into_batch(states?)
    }
}

/// The path itself, or the reports below a folder. Symbolic links are followed to files only, so that no search is
/// endless.
fn find(path: &Path) -> impl Iterator<Item = walkdir::Result<PathBuf>> {
    let (file, folder) = if path.is_dir() { (None, Some(path)) } else { (Some(path), None) };
    let is_report = |entry: &DirEntry| {
        !entry.file_type().is_dir() && entry.path().extension().is_some_and(|e| e == EXTENSION)
    };
    let below = folder.into_iter().flat_map(WalkDir::new);
    let below = below.filter(move |entry| entry.as_ref().map_or(true, is_report));
    let below = below.map(|entry| entry.map(DirEntry::into_path));
    file.map(|file| Ok(file.to_path_buf())).into_iter().chain(below)
}

fn progress_bar() -> ProgressBar {
    let style = "{spinner} {human_pos} of {human_len} reports  {per_sec}  {elapsed}  {wide_bar}";
    ProgressBar::new(0)
        .with_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[derive(Debug, Default)]
struct Counts {
    used: AtomicU64,
    skipped: AtomicU64,
    /// Reports that no mapping matched.
    unmapped: AtomicU64,
}

impl Counts {
    fn into_batch<S>(self, states: Vec<S>) -> Result<Batch<S>> {
        let (used, skipped) = (self.used.into_inner(), self.skipped.into_inner());
        let unmapped = self.unmapped.into_inner();
        match (used, skipped) {
            (0, 0) => bail!("no report found: folders are searched for files that end in .{EXTENSION}"),
            (0, n) => bail!("none of {n} files could be used"),
            _ => {}
        }
        if unmapped > 0 {
            output::print_error(format_args!(
                "warning: {unmapped} reports keep obfuscated names: no mapping is of their build"
            ));
        }
        let complete = skipped == 0 && unmapped == 0;
        let outcome = if complete { Outcome::Complete } else { Outcome::Partial };
        Ok(Batch { states, skipped, outcome })
    }
}

struct BatchReader<'a> {
    mapper: &'a Mapper,
    progress: ProgressBar,
    counts: Counts,
}

impl BatchReader<'_> {
    /// The path, unless there is none because a folder could not be read.
    fn found(&self, path: walkdir::Result<PathBuf>) -> Option<PathBuf> {
        let error = match path {
            Ok(path) => return Some(path),
            Err(error) => error,
        };
        match (error.path(), error.io_error()) {
            (Some(path), Some(why)) => self.skip(format_args!("{}: {why}", path.display())),
            _ => self.skip(format_args!("{error}")),
        }
        None
    }

    fn skip(&self, why: std::fmt::Arguments<'_>) {
        self.counts.skipped.fetch_add(1, Relaxed);
        self.progress.suspend(|| output::print_error(format_args!("skipped: {why}")));
    }

    /// Loads an intact report. A damaged one is skipped, because what is left of it would be counted as something else.
    fn load(&self, path: &Path) -> Option<Analysis> {
        self.progress.inc(1);
        let mut decoded = match input::decode(path) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.skip(format_args!("{error:#}"));
                return None;
            }
        };
        if self.mapper.apply(&mut decoded.report).is_err() {
            self.counts.unmapped.fetch_add(1, Relaxed);
        }
        let analysis = Analysis::new(&decoded);
        if let Some(issue) = analysis.issues.first() {
            let more = match analysis.issues.len() {
                1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            self.skip(format_args!("{}: {issue}{more}", path.display()));
            return None;
        }
        self.counts.used.fetch_add(1, Relaxed);
        Some(analysis)
    }
}
