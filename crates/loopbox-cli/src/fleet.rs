//! Many reports: finding them, reading them on all cores, and telling which could not be used.
//!
//! Memory does not depend on how many there are: paths go through a bounded queue, and each report is forgotten when
//! its visitor returns.

use crate::args::Mappings;
use crate::mapping::Mapper;
use crate::{Outcome, input, output};
use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use loopbox_report::Analysis;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// Paths that wait for a thread.
const QUEUE: usize = 1_024;
/// What a folder is searched for.
const EXTENSION: &str = "lbx";

/// Which reports, and how to read them.
#[derive(Debug, clap::Args)]
pub(crate) struct Fleet {
    /// Reports, and folders that are searched for files that end in .lbx.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) mapping: Mappings,
    /// Reads on so many threads; without it on as many as there are cores.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
}

/// How reading went.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Reports that were used.
    used: AtomicU64,
    /// Files that were not.
    skipped: AtomicU64,
    /// Reports whose names no mapping could put back.
    unmapped: AtomicU64,
}

impl Tally {
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped.load(Relaxed)
    }

    fn outcome(&self) -> Outcome {
        let whole = self.skipped.load(Relaxed) == 0 && self.unmapped.load(Relaxed) == 0;
        if whole { Outcome::Done } else { Outcome::Partial }
    }
}

impl Fleet {
    /// Calls `visit` for each intact report, on several threads that have a state each. Files that cannot be used are
    /// named on stderr and skipped.
    ///
    /// # Errors
    /// When not one report could be used, or a visitor fails.
    pub(crate) fn read<S: Send>(
        &self,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &Analysis, &str) -> Result<()> + Sync,
    ) -> Result<(Vec<S>, Tally, Outcome)> {
        let mapper = Mapper::load(&self.mapping)?;
        let jobs = self.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
        let bar = progress_bar();
        let tally = Tally::default();
        let reader = Reader { mapper: &mapper, bar: &bar, tally: &tally };
        let (send, receive) = sync_channel(QUEUE);
        let receive = Arc::new(Mutex::new(receive));
        let work = |paths: Arc<Mutex<Receiver<PathBuf>>>| -> Result<S> {
            let mut mine = state();
            while let Some(path) = next(&paths) {
                if let Some(analysis) = reader.open(&path) {
                    visit(&mut mine, &analysis, &path.to_string_lossy())?;
                }
            }
            Ok(mine)
        };
        let states: Result<Vec<S>> = thread::scope(|scope| {
            let start = |_| {
                let (work, paths) = (&work, Arc::clone(&receive));
                scope.spawn(move || work(paths))
            };
            let threads: Vec<_> = (0..jobs).map(start).collect();
            // The threads own the receiving end: when all of them have failed, the search ends too.
            drop(receive);
            reader.find(&self.paths, &send);
            drop(send);
            threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        bar.finish_and_clear();
        let states = states?;
        if tally.used.load(Relaxed) == 0 {
            match tally.skipped() {
                0 => bail!("no report found: folders are searched for files that end in .{EXTENSION}"),
                n => bail!("none of {n} files could be used"),
            }
        }
        let unmapped = tally.unmapped.load(Relaxed);
        if unmapped > 0 {
            output::complain(format_args!(
                "warning: {unmapped} reports keep obfuscated names: no mapping is of their build"
            ));
        }
        let outcome = tally.outcome();
        Ok((states, tally, outcome))
    }
}

fn next(receive: &Mutex<Receiver<PathBuf>>) -> Option<PathBuf> {
    // A lock whose owner panicked still guards a good queue; the panic itself goes on through `join`.
    receive.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv().ok()
}

fn progress_bar() -> ProgressBar {
    let style = "{spinner} {human_pos} of {human_len} reports  {per_sec}  {elapsed}  {wide_bar}";
    ProgressBar::new(0)
        .with_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

struct Reader<'a> {
    mapper: &'a Mapper,
    bar: &'a ProgressBar,
    tally: &'a Tally,
}

impl Reader<'_> {
    fn skip(&self, why: std::fmt::Arguments<'_>) {
        self.tally.skipped.fetch_add(1, Relaxed);
        self.bar.suspend(|| output::complain(format_args!("skipped: {why}")));
    }

    /// Sends the path of every report. Ends early when nobody reads any more.
    fn find(&self, paths: &[PathBuf], send: &SyncSender<PathBuf>) {
        for path in paths {
            if path.is_dir() {
                self.find_in(path.clone(), send);
            } else {
                self.send(path.clone(), send);
            }
        }
    }

    fn find_in(&self, folder: PathBuf, send: &SyncSender<PathBuf>) {
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.skip(format_args!("{}: {error}", folder.display()));
                    continue;
                }
            };
            for entry in entries.flatten() {
                // Links are followed to files only, so that no search goes in circles.
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let path = entry.path();
                if is_folder {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == EXTENSION) && !self.send(path, send) {
                    return;
                }
            }
        }
    }

    fn send(&self, path: PathBuf, send: &SyncSender<PathBuf>) -> bool {
        self.bar.inc_length(1);
        send.send(path).is_ok()
    }

    /// A report that is whole. What is left of a damaged one would be counted as something else.
    fn open(&self, path: &Path) -> Option<Analysis> {
        self.bar.inc(1);
        let mut decoded = match input::decode(path) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.skip(format_args!("{error:#}"));
                return None;
            }
        };
        if self.mapper.apply(&mut decoded.report).is_err() {
            self.tally.unmapped.fetch_add(1, Relaxed);
        }
        let analysis = Analysis::new(&decoded);
        if let Some(loss) = analysis.losses.first() {
            let offset = loss.offset.map(|o| format!("offset {o}: ")).unwrap_or_default();
            let more = match analysis.losses.len() {
                1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            self.skip(format_args!("{}: {offset}{}{more}", path.display(), loss.what));
            return None;
        }
        self.tally.used.fetch_add(1, Relaxed);
        Some(analysis)
    }
}
