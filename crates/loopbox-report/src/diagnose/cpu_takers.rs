//! Who took the CPU time that main did not get: the app's own threads, or others.
//!
//! While main waits for a CPU, all CPUs that it may run on are in use. The app's own part of this use is the
//! CPU time of the process without main's. The rest belongs to other processes and the kernel.

use crate::model::Analysis;
use crate::model::plural::plural;
use crate::model::time::{format_ns, percent, share};

/// From this share on, the app's own threads took most of the CPU time.
const MOST: f64 = 0.5;
/// Below this share, the CPU time of the app's own threads did not matter.
const HARDLY_ANY: f64 = 0.2;

/// The kinds of threads and processes that took the CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takers {
    /// Mostly the app's own threads.
    Own,
    /// Mostly others; the app's own threads took a share that matters.
    Both,
    /// Others; the share of the app's own threads was below [`HARDLY_ANY`], too small to matter.
    Others,
}

/// Who took the CPU time that main did not get: the share of the app's own threads, and a text.
pub(super) struct Taken {
    pub(super) by: Takers,
    /// The share of the app's own threads, 0 to 1.
    pub(super) own: f64,
    pub(super) evidence: String,
}

/// Who took the CPU time; `None` when it was not counted, as in a report about a process that has ended.
pub(super) fn taken(a: &Analysis) -> Option<Taken> {
    let used = a.cpu_use?;
    let (used_ns, all_ns) = used.of_other_threads()?;
    let own = share(used_ns, all_ns);
    let by = match own {
        own if own >= MOST => Takers::Own,
        own if own >= HARDLY_ANY => Takers::Both,
        _ => Takers::Others,
    };
    let evidence = format!(
        "of the CPU time of {} in the last {}, less main's, the app's other threads used {} ({})",
        plural(used.processors?.into(), "processor"),
        format_ns(used.over_ns),
        format_ns(used_ns),
        percent(own)
    );
    Some(Taken { by, own, evidence })
}
