//! Passes the system's warnings of an ANR to the worker, from the thread of Binder that receives them.

use loopbox_format::model::AnrWarning;
use std::sync::{Mutex, PoisonError};

/// How many warnings are remembered, so that one that comes a second time is recognised. At most this number
/// waits for the worker.
const MAX_KNOWN: usize = 8;

/// The warnings of this session. Any thread may add one.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Lists>);

#[derive(Debug, Default)]
struct Lists {
    /// Type and id of the newest warnings, oldest first: those that the worker has taken and those that wait
    /// for it.
    known: Vec<(i32, i32)>,
    waiting: Vec<AnrWarning>,
}

impl Warnings {
    fn lists<T>(&self, body: impl FnOnce(&mut Lists) -> T) -> T {
        body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a warning. Returns false when it is known already: each process of the app gets each warning once
    /// for each of its listeners.
    pub(crate) fn add(&self, warning: AnrWarning) -> bool {
        let of = (warning.kind, warning.id);
        self.lists(|lists| {
            if lists.known.contains(&of) {
                return false;
            }
            if lists.known.len() == MAX_KNOWN {
                lists.known.remove(0);
            }
            lists.known.push(of);
            if lists.waiting.len() == MAX_KNOWN {
                lists.waiting.remove(0);
            }
            lists.waiting.push(warning);
            true
        })
    }

    /// The warnings since the previous call, oldest first.
    pub(crate) fn take(&self) -> Vec<AnrWarning> {
        self.lists(|lists| std::mem::take(&mut lists.waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::Uptime;

    fn warning(kind: i32, id: i32) -> AnrWarning {
        AnrWarning { at_ns: Uptime(1), id, kind, consumed_ms: 2_500, timeout_ms: 5_000 }
    }

    #[test]
    fn a_warning_that_comes_twice_counts_once() {
        let warnings = Warnings::default();
        assert!(warnings.add(warning(5, 7)) && !warnings.add(warning(5, 7)));
        assert!(warnings.add(warning(4, 7)), "numbers are of their type");
        assert_eq!(warnings.take(), [warning(5, 7), warning(4, 7)]);
        assert!(!warnings.add(warning(5, 7)), "it was taken");
        assert_eq!(warnings.take(), []);
    }

    #[test]
    fn a_flood_of_warnings_keeps_the_newest() {
        let warnings = Warnings::default();
        assert!((0..100).all(|id| warnings.add(warning(1, id))));
        let ids: Vec<i32> = warnings.take().iter().map(|warning| warning.id).collect();
        assert_eq!(ids, (92..100).collect::<Vec<_>>());
    }
}
