//! Files that have the same recording: copies, and the same report before and after it was retraced or
//! completed.

use crate::input;
use loopbox_format::model::Report;
use loopbox_report::{ReportId, is_retraced};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files of a batch that are left out as duplicates.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    left_out: HashSet<PathBuf>,
    /// The recordings that were read already.
    taken: Mutex<HashSet<ReportId>>,
}

/// How much information a file has about its recording. Of two files with the same amount, the first by name
/// is used.
type Rank = (Said, Reverse<PathBuf>);

/// What a file has that another one with the same recording may lack.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    system_trace: bool,
    exit: bool,
    anr_info: bool,
    threads: bool,
    annotations: usize,
    retraced: bool,
    statistics: usize,
}

/// Which process a report is of, and when the report was written. Copies of a report have the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Instant {
    pid: u32,
    uptime_ns: u64,
    unix_ms: u64,
}

impl Instant {
    /// The identity of a report, found without reading all of it; `None` for a file of another kind, and for
    /// a damaged one.
    fn read(path: &Path) -> Option<Self> {
        let meta = loopbox_format::report::meta(&input::read(path).ok()?.bytes)?;
        let at = meta.dumped_at;
        Some(Self { pid: meta.process.pid, uptime_ns: at.uptime_ns.0, unix_ms: at.unix_ms })
    }
}

impl Said {
    fn of(report: &Report) -> Self {
        Self {
            system_trace: !report.system_trace.gzip.is_empty(),
            exit: report.anr.exit.is_some(),
            anr_info: report.anr_info.is_some(),
            threads: !report.threads.threads.is_empty(),
            annotations: report.meta.annotations.len(),
            retraced: is_retraced(report),
            statistics: report.statistics.len(),
        }
    }
}

/// The best file of each recording, and the other files.
#[derive(Default)]
struct Known {
    best: HashMap<ReportId, Rank>,
    left_out: HashSet<PathBuf>,
}

impl Known {
    fn add(&mut self, id: ReportId, rank: Rank) {
        let Some(best) = self.best.get_mut(&id) else {
            self.best.insert(id, rank);
            return;
        };
        // One file under one name twice is left out when it is read again.
        if best.1 == rank.1 {
            return;
        }
        let worse = if rank > *best { std::mem::replace(best, rank) } else { rank };
        self.left_out.insert(worse.1.0);
    }

    fn merge(mut self, other: Self) -> Self {
        self.left_out.extend(other.left_out);
        other.best.into_iter().for_each(|(id, rank)| self.add(id, rank));
        self
    }
}

impl Duplicates {
    /// The duplicates among these files. Nothing is known about input that is not a file, such as stdin,
    /// because it can be read only once. A damaged file is not a duplicate; whoever reads it reports the
    /// damage.
    ///
    /// Two copies name the same process and instant. So only process and instant are read from each report
    /// first. The rest is read only from the few reports that have them in common, and from rings and traces.
    pub(crate) fn find(paths: impl ParallelIterator<Item = PathBuf>, process: Option<&str>) -> Self {
        let of_files: Vec<(Option<Instant>, PathBuf)> =
            paths.filter(|path| path.is_file()).map(|path| (Instant::read(&path), path)).collect();
        let mut files: HashMap<Instant, u32> = HashMap::new();
        for instant in of_files.iter().filter_map(|(instant, _)| *instant) {
            *files.entry(instant).or_default() += 1;
        }
        // A ring, or a trace of the system's, names them where it is read as a whole.
        let may_be_one = |instant: &Option<Instant>| {
            instant.is_none_or(|instant| files.get(&instant).is_some_and(|files| *files > 1))
        };
        let candidates = of_files.into_par_iter().filter(|(instant, _)| may_be_one(instant));
        let add = |mut known: Known, (_, path): (Option<Instant>, PathBuf)| {
            if let Ok(input) = input::decode(&path, process)
                && input.decoded.damage.is_empty()
            {
                let report = &input.decoded.report;
                known.add(ReportId::of(report), (Said::of(report), Reverse(path)));
            }
            known
        };
        let known = candidates.fold(Known::default, add).reduce(Known::default, Known::merge);
        Self { left_out: known.left_out, taken: Mutex::default() }
    }

    /// Whether this file is left out as a duplicate: another file has the same recording, and that file is
    /// used.
    pub(crate) fn is_left_out(&self, path: &Path) -> bool {
        self.left_out.contains(path)
    }

    /// Whether this is the first report with its recording. The answer is remembered.
    pub(crate) fn take(&self, report: &Report) -> bool {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(ReportId::of(report))
    }
}
