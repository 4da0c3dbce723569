//! The app's breadcrumbs. The newest ones are in each report and in the ring.

use loopbox_format::model::{Breadcrumb, Uptime};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many breadcrumbs are kept; the oldest are dropped first.
const KEPT: usize = 64;
/// How many characters of a name are kept.
const NAME_CHARS: usize = 40;

/// The newest breadcrumbs. Any thread may leave one.
#[derive(Debug, Default)]
pub(crate) struct Breadcrumbs {
    /// Breadcrumbs that the worker has not taken yet. The main thread takes this lock. A thread in the
    /// background may get no processor for long, so any other holder only exchanges two pointers under the
    /// lock.
    fresh: Mutex<Trail>,
    /// Breadcrumbs that were taken out of `fresh`. Only the worker takes this lock.
    kept: Mutex<Vec<Breadcrumb>>,
    /// Whether the worker was woken for breadcrumbs that are not in the ring yet.
    unsaved: AtomicBool,
}

#[derive(Debug, Default)]
struct Trail {
    newest: Vec<Breadcrumb>,
    /// The index of the oldest, once there are [`KEPT`].
    oldest: usize,
}

impl Breadcrumbs {
    /// Keeps a breadcrumb; of more than [`KEPT`] the oldest is dropped. Returns whether to wake the worker:
    /// only for the first breadcrumb since the worker has [saved](Self::to_save) them.
    pub(crate) fn leave(&self, at_ns: Uptime, name: &str) -> bool {
        let name =
            name.char_indices().nth(NAME_CHARS).map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
        let name = name.to_owned();
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let Trail { newest, oldest } = &mut *fresh;
        if newest.len() < KEPT {
            newest.push(Breadcrumb { at_ns, name });
        } else if let Some(breadcrumb) = newest.get_mut(*oldest) {
            *breadcrumb = Breadcrumb { at_ns, name };
            *oldest = (*oldest + 1) % KEPT;
        }
        drop(fresh);
        !self.unsaved.swap(true, Ordering::SeqCst)
    }

    /// The breadcrumbs in the order in which they were left, the oldest first.
    pub(crate) fn list(&self) -> Vec<Breadcrumb> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Trail { mut newest, oldest } =
            mem::take(&mut *self.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        let oldest = oldest.min(newest.len());
        newest.rotate_left(oldest);
        kept.append(&mut newest);
        let too_many = kept.len().saturating_sub(KEPT);
        kept.drain(..too_many);
        kept.clone()
    }

    /// Whether there are breadcrumbs that are not in the ring yet.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.unsaved.load(Ordering::SeqCst)
    }

    /// The breadcrumbs to save in the ring now. From here on they count as saved.
    pub(crate) fn to_save(&self) -> Vec<Breadcrumb> {
        self.unsaved.store(false, Ordering::SeqCst);
        self.list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(breadcrumbs: &Breadcrumbs) -> Vec<String> {
        breadcrumbs.list().into_iter().map(|breadcrumb| breadcrumb.name).collect()
    }

    #[test]
    fn of_many_breadcrumbs_the_newest_64_are_kept_in_their_order() {
        let breadcrumbs = Breadcrumbs::default();
        assert_eq!(names(&breadcrumbs), [""; 0]);
        for count in [1, 63, 64, 65, 127, 128, 10_000] {
            let breadcrumbs = Breadcrumbs::default();
            for number in 0..count {
                breadcrumbs.leave(Uptime(number), &number.to_string());
            }
            let wanted: Vec<_> = (count.saturating_sub(64)..count).map(|number| number.to_string()).collect();
            assert_eq!(names(&breadcrumbs), wanted);
            assert!(breadcrumbs.list().iter().all(|found| found.at_ns.0.to_string() == found.name));
        }
    }

    #[test]
    fn name_is_cut_after_40_characters() {
        let breadcrumbs = Breadcrumbs::default();
        breadcrumbs.leave(Uptime(1), &"\u{fc}".repeat(60));
        assert_eq!(names(&breadcrumbs), ["\u{fc}".repeat(40)]);
    }

    #[test]
    fn those_that_were_listed_before_count_among_the_64() {
        let breadcrumbs = Breadcrumbs::default();
        let mut left = 0_u64;
        for more in [10, 0, 50, 3, 1, 64, 65, 200, 7] {
            for number in left..left + more {
                breadcrumbs.leave(Uptime(number), &number.to_string());
            }
            left += more;
            let wanted: Vec<_> = (left.saturating_sub(64)..left).map(|number| number.to_string()).collect();
            assert_eq!(names(&breadcrumbs), wanted);
        }
        assert_eq!(breadcrumbs.kept.lock().unwrap().len(), 64);
    }

    #[test]
    fn worker_is_woken_once_until_it_saves() {
        let breadcrumbs = Breadcrumbs::default();
        assert!(!breadcrumbs.is_unsaved());
        let woken = |of: u64| (0..of).filter(|&at| breadcrumbs.leave(Uptime(at), "tap")).count();
        assert_eq!((woken(100), breadcrumbs.is_unsaved()), (1, true));
        assert_eq!((breadcrumbs.to_save().len(), breadcrumbs.is_unsaved()), (64, false));
        assert_eq!(woken(100), 1);
    }
}
