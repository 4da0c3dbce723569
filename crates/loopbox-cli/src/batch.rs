//! Many reports: finding them, reading them on all cores, and listing those that could not be used.
//!
//! Only the identity and path of a report are kept. Folders are searched while reports are read, and each
//! report is dropped when its visitor returns.

use crate::config::app_packages;
use crate::duplicates::Duplicates;
use crate::mapping::Mapper;
use crate::options::ReadOptions;
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use loopbox_report::{Analysis, AppPackages};
use rayon::iter::{ParallelBridge, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use walkdir::{DirEntry, WalkDir};

/// The extension of the files that a folder is searched for.
const EXTENSION: &str = "lbx";
/// The suffix of ring files. A ring contains a report only if its process was killed.
const RING: &str = "lbr";
/// The most threads that may be requested: more than any machine has cores.
const MAX_JOBS: i64 = 1_024;

/// Which reports to read, and how.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BatchOptions {
    /// Reports or ANR traces, and folders that are searched for files that end in .lbx.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) how: BatchReading,
}

/// How to read reports.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BatchReading {
    #[command(flatten)]
    pub(crate) reading: ReadOptions,
    /// Reads on this number of threads instead of one per core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    pub(crate) jobs: Option<u16>,
}

/// The result of reading a batch.
#[derive(Debug)]
pub(crate) struct Batch<S> {
    /// The states of the visitors.
    pub(crate) states: Vec<S>,
    /// The number of files that could not be used.
    pub(crate) skipped: u64,
    /// The number of files left out because another one has the same recording.
    pub(crate) duplicates: u64,
    pub(crate) outcome: Outcome,
}

impl BatchOptions {
    /// [`BatchReading::read`] of the given paths.
    pub(crate) fn read<S: Send>(
        &self,
        state: impl Fn() -> S + Sync + Send,
        visit: impl Fn(&mut S, &Analysis, &str) -> Result<()> + Sync + Send,
    ) -> Result<Batch<S>> {
        self.how.read(&self.paths, state, visit)
    }
}

fn find_all(paths: &[PathBuf]) -> impl Iterator<Item = walkdir::Result<Found>> {
    paths.iter().flat_map(|path| find(path))
}

/// The files of a batch, without rings in folders. What cannot be searched is left out.
pub(crate) fn files(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    find_all(paths).filter_map(Found::report)
}

impl BatchReading {
    /// Calls `visit` for each intact report, on several threads at the same time, but never with the same
    /// state. Files that cannot be used are printed to stderr and skipped. Of several files with the same
    /// recording, the one with the most information is visited.
    ///
    /// # Errors
    /// As [`Self::read_all`], and when no report could be used.
    pub(crate) fn read<S: Send>(
        &self,
        paths: &[PathBuf],
        state: impl Fn() -> S + Sync + Send,
        visit: impl Fn(&mut S, &Analysis, &str) -> Result<()> + Sync + Send,
    ) -> Result<Batch<S>> {
        let (batch, used) = self.read_all(paths, state, visit)?;
        match (used, batch.skipped) {
            (0, 0) => bail!("no report found: folders are searched for files that end in .{EXTENSION}"),
            (0, n) => bail!("none of {n} files could be used"),
            _ => Ok(batch),
        }
    }

    /// As [`Self::read`], but it is no error when the paths contain no report.
    pub(crate) fn read_if_any<S: Send>(
        &self,
        paths: &[PathBuf],
        state: impl Fn() -> S + Sync + Send,
        visit: impl Fn(&mut S, &Analysis, &str) -> Result<()> + Sync + Send,
    ) -> Result<Batch<S>> {
        let (batch, used) = self.read_all(paths, state, visit)?;
        match (used, batch.skipped) {
            (0, n @ 1..) => bail!("none of {n} files could be used"),
            _ => Ok(batch),
        }
    }

    /// The threads that read the files.
    ///
    /// # Errors
    /// When they cannot be started.
    pub(crate) fn pool(&self) -> Result<ThreadPool> {
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs.map_or(0, usize::from)).build();
        pool.context("the threads cannot be started")
    }

    /// As [`Self::read`], but also returns the number of reports that could be used. It is no error when that
    /// number is 0.
    ///
    /// # Errors
    /// When a mapping or `loopbox.toml` cannot be read, the threads cannot be started, or a visitor fails.
    pub(crate) fn read_all<S: Send>(
        &self,
        paths: &[PathBuf],
        state: impl Fn() -> S + Sync + Send,
        visit: impl Fn(&mut S, &Analysis, &str) -> Result<()> + Sync + Send,
    ) -> Result<(Batch<S>, u64)> {
        let mapper = Mapper::load(&self.reading.mappings)?;
        let packages = app_packages(&self.reading.packages)?;
        let counts = Counts::default();
        let pool = self.pool()?;
        let process = self.reading.process.as_deref();
        // Only with all files seen it is known which of several copies says most.
        let duplicates = pool.install(|| Duplicates::find(files(paths).par_bridge(), process));
        let reader = BatchReader {
            duplicates: &duplicates,
            process,
            mapper: &mapper,
            packages: &packages,
            progress: progress_bar(),
            counts,
        };
        if !reader.progress.is_hidden() {
            // Searching the folders takes much less time than reading the reports.
            reader.progress.set_length(files(paths).count() as u64);
        }
        let states: Result<Vec<S>> = pool.install(|| {
            let paths = find_all(paths).filter_map(|path| reader.found(path)).par_bridge();
            let visited = paths.try_fold(&state, |mut state, path| {
                if let Some(analysis) = reader.load(&path) {
                    visit(&mut state, &analysis, &path.to_string_lossy())?;
                }
                Ok(state)
            });
            visited.collect()
        });
        reader.progress.finish_and_clear();
        Ok(reader.counts.into_batch(states?))
    }
}

/// A file to read, or a ring in a folder, which is not read.
enum Found {
    Report(PathBuf),
    Ring,
}

impl Found {
    fn report(found: walkdir::Result<Self>) -> Option<PathBuf> {
        match found {
            Ok(Self::Report(path)) => Some(path),
            _ => None,
        }
    }
}

/// The path itself, or the reports below a folder. Symbolic links are followed to files only, so that no
/// search is endless. In folders only regular files are opened, because reading a pipe could block.
fn find(path: &Path) -> impl Iterator<Item = walkdir::Result<Found>> {
    let (file, folder) = if path.is_dir() { (None, Some(path)) } else { (Some(path), None) };
    let below = folder.into_iter().flat_map(WalkDir::new).filter_map(|entry| entry.map(found_in).transpose());
    file.map(|file| Ok(Found::Report(file.to_path_buf()))).into_iter().chain(below)
}

/// Which folder could not be read, and why.
pub(crate) fn walk_error(error: &walkdir::Error) -> String {
    match (error.path(), error.io_error()) {
        (Some(path), Some(why)) => format!("{}: {why}", path.display()),
        _ => error.to_string(),
    }
}

fn found_in(entry: DirEntry) -> Option<Found> {
    let has =
        |wanted| entry.path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted));
    let (is_report, is_ring) = (has(EXTENSION), has(RING));
    if !(is_report || is_ring) || !entry.path().is_file() {
        return None;
    }
    Some(if is_ring { Found::Ring } else { Found::Report(entry.into_path()) })
}

fn progress_bar() -> ProgressBar {
    let style = "{spinner} {human_pos} of {human_len} reports  {per_sec}  {elapsed}, {eta} left  {wide_bar}";
    ProgressBar::new(0)
        .with_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[derive(Debug, Default)]
struct Counts {
    used: AtomicU64,
    skipped: AtomicU64,
    duplicates: AtomicU64,
    /// Reports that no mapping matched.
    unmapped: AtomicU64,
    /// Ring files in folders.
    rings: AtomicU64,
}

impl Counts {
    fn into_batch<S>(self, states: Vec<S>) -> (Batch<S>, u64) {
        let (used, skipped) = (self.used.into_inner(), self.skipped.into_inner());
        let duplicates = self.duplicates.into_inner();
        if duplicates > 0 {
            output::print_error(format_args!(
                "note: {duplicates} duplicates are left out: their recording is in another file, too"
            ));
        }
        let (unmapped, rings) = (self.unmapped.into_inner(), self.rings.into_inner());
        if rings > 0 {
            output::print_error(format_args!(
                "note: ring files (.{RING}) in folders are not read, {rings} found: a ring is a report only of a process \
                 that was killed; name the file to read it"
            ));
        }
        if unmapped > 0 {
            output::print_error(format_args!(
                "warning: {unmapped} reports keep obfuscated names: no mapping is of their build"
            ));
        }
        let complete = skipped == 0 && unmapped == 0;
        let outcome = if complete { Outcome::Complete } else { Outcome::Partial };
        (Batch { states, skipped, duplicates, outcome }, used)
    }
}

struct BatchReader<'a> {
    /// The process to read from a trace that has several.
    process: Option<&'a str>,
    duplicates: &'a Duplicates,
    mapper: &'a Mapper,
    packages: &'a AppPackages,
    progress: ProgressBar,
    counts: Counts,
}

impl BatchReader<'_> {
    /// The path of a report. `None` for a ring, which is counted, and for a folder that could not be read,
    /// which is reported as skipped.
    fn found(&self, found: walkdir::Result<Found>) -> Option<PathBuf> {
        let error = match found {
            Ok(Found::Report(path)) => return Some(path),
            Ok(Found::Ring) => {
                self.counts.rings.fetch_add(1, Relaxed);
                return None;
            }
            Err(error) => error,
        };
        self.skip(format_args!("{}", walk_error(&error)));
        None
    }

    fn skip(&self, why: std::fmt::Arguments<'_>) {
        self.counts.skipped.fetch_add(1, Relaxed);
        self.progress.suspend(|| output::print_error(format_args!("skipped: {why}")));
    }

    /// Loads an intact report. A damaged report is skipped: without its lost parts it might be counted as
    /// another kind of hang.
    fn load(&self, path: &Path) -> Option<Analysis> {
        self.progress.inc(1);
        if self.duplicates.is_left_out(path) {
            self.counts.duplicates.fetch_add(1, Relaxed);
            return None;
        }
        let mut decoded = match input::decode(path, self.process) {
            Ok(input) => input.decoded,
            Err(error) => {
                self.skip(format_args!("{error:#}"));
                return None;
            }
        };
        if decoded.damage.is_empty() && !self.duplicates.take(&decoded.report) {
            self.counts.duplicates.fetch_add(1, Relaxed);
            return None;
        }
        if self.mapper.apply(&mut decoded.report).is_err() {
            self.counts.unmapped.fetch_add(1, Relaxed);
        }
        let analysis = Analysis::with_packages(&decoded, self.packages);
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
