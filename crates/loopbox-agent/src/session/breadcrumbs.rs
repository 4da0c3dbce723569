//! What the app marks on its way: the newest marks, in each report and in the ring.

use loopbox_format::model::{Breadcrumb, Uptime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are kept; the oldest go.
const KEPT: usize = 64;
/// How many characters of a name are kept.
const NAME_CHARS: usize = 40;

/// Any thread may leave one.
#[derive(Debug, Default)]
pub(crate) struct Breadcrumbs {
    trail: Mutex<Trail>,
    /// The worker was woken for some that are not in the ring yet.
    unsaved: AtomicBool,
}

#[derive(Debug, Default)]
struct Trail {
    kept: Vec<Breadcrumb>,
    /// Where the oldest is, as soon as there are [`KEPT`].
    oldest: usize,
}

impl Breadcrumbs {
    /// Keeps one, in the memory of the oldest. Returns whether the worker is to be woken: it is once, until
    /// it [saves](Self::to_save) them, however many there are.
    pub(crate) fn leave(&self, at_ns: Uptime, name: &str) -> bool {
        let name =
            name.char_indices().nth(NAME_CHARS).map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
        let mut trail = self.trail();
        let Trail { kept, oldest } = &mut *trail;
        if kept.len() < KEPT {
            kept.push(Breadcrumb { at_ns, name: name.to_owned() });
        } else if let Some(breadcrumb) = kept.get_mut(*oldest) {
            breadcrumb.at_ns = at_ns;
            name.clone_into(&mut breadcrumb.name);
            *oldest = (*oldest + 1) % KEPT;
        }
        drop(trail);
        !self.unsaved.swap(true, Ordering::SeqCst)
    }

    /// In the order in which they were left, the oldest first.
    pub(crate) fn list(&self) -> Vec<Breadcrumb> {
        let trail = self.trail();
        let (newer, older) = trail.kept.split_at_checked(trail.oldest).unwrap_or_default();
        [older, newer].concat()
    }

    /// Whether there are some that are not in the ring yet.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.unsaved.load(Ordering::SeqCst)
    }

    /// What is to be in the ring now.
    pub(crate) fn to_save(&self) -> Vec<Breadcrumb> {
        self.unsaved.store(false, Ordering::SeqCst);
        self.list()
    }

    fn trail(&self) -> MutexGuard<'_, Trail> {
        self.trail.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn full_trail_takes_no_more_memory() {
        let breadcrumbs = Breadcrumbs::default();
        let longest = "n".repeat(NAME_CHARS);
        for _ in 0..KEPT {
            breadcrumbs.leave(Uptime(1), &longest);
        }
        let places = || -> Vec<_> {
            let trail = breadcrumbs.trail();
            trail.kept.iter().map(|kept| (kept.name.as_ptr() as usize, kept.name.capacity())).collect()
        };
        let before = places();
        for number in 0..1_000 {
            breadcrumbs.leave(Uptime(number), &number.to_string());
        }
        assert_eq!(places(), before);
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
