//! The dead-man's switch: the main thread must not stay stopped when the thread that stopped it does not come
//! back.

use crate::session::Session;
use crate::sys::{clock, log};
use loopbox_art::{Art, Rescue};
use loopbox_format::model::{Feature, FeatureState};

/// A stop takes microseconds; a stop seen at two checks, this far apart, will not end by itself.
const CHECK_EVERY_NS: u64 = 1_000_000_000;

/// How many checks of one stop may do nothing because ART has suspended the sampler. This happens when the
/// sampler has stopped a thread, and ART then suspends all threads, such as for a trace. The stopped thread
/// would have to wait for ART in any case, and ART resumes the sampler without our help. Together these
/// checks last as long as ART's longest time limit for a trace.
const MOST_SUSPENDED: u32 = 30;

const RESUMED: &str = "off: the sampler stopped the main thread and did not come back; the guard resumed it";
const BEING_READ: &str = "stuck: the sampler reads the stopped main thread's stack and does not come back";
const CAME_BACK: &str = "the sampler came back and let the main thread go: sampling goes on";

/// The body of the thread; it runs until sampling ends.
pub(crate) fn run(session: &Session, art: &Art) {
    let mut watch = Watch::default();
    // The stop that was reported as stuck, and what the sampler's state was before.
    let mut reported: Option<(u64, FeatureState)> = None;
    let mut stops = 0;
    while !session.shared.sampling_ended() {
        let until_ns = clock::now_ns().plus(CHECK_EVERY_NS);
        session.shared.stops.deadman_sleep(until_ns, &mut stops, || session.shared.sampling_ended());
        let open = art.window_open_since();
        // The disk has answered, and sampling goes on.
        if let Some((_, before)) = reported.take_if(|(stuck, _)| open != Some(*stuck))
            && session.features.put_back(before, BEING_READ)
        {
            session.wake_worker();
            log::warn(CAME_BACK);
        }
        if !watch.is_stuck(open, || art.is_holder_suspended()) {
            continue;
        }
        match art.rescue() {
            Rescue::Nothing => continue,
            Rescue::Resumed => {
                session.shared.sampler.forbid_stops();
                session.shared.end_sampling();
                session.features.set(Feature::Sampler, false, RESUMED);
                log::warn(RESUMED);
            }
            Rescue::BeingRead if reported.is_some() => continue,
            Rescue::BeingRead => {
                reported = open.zip(session.features.replace(Feature::Sampler, false, BEING_READ));
                log::warn(BEING_READ);
            }
        }
        session.wake_worker();
    }
}

/// What the checks of one stop have shown.
#[derive(Debug, Default)]
struct Watch {
    /// When the open stop began; `None` while no stop is open.
    open: Option<u64>,
    /// How many consecutive checks have found this stop open. A check that increments `suspended` sets this
    /// number to 0.
    seen: u32,
    /// At how many checks the sampler could not have ended the stop, because ART had suspended it, too.
    suspended: u32,
}

impl Watch {
    /// Makes one more check. Returns whether the open stop will not end by itself. The stop must be seen
    /// twice, not just be old: a frozen process has old stops when it thaws.
    fn is_stuck(&mut self, open: Option<u64>, is_suspended: impl FnOnce() -> bool) -> bool {
        if open.is_none() || open != self.open {
            *self = Self { open, seen: 1, suspended: 0 };
            return false;
        }
        if self.suspended < MOST_SUSPENDED && is_suspended() {
            self.suspended += 1;
            self.seen = 0;
            return false;
        }
        self.seen += 1;
        self.seen >= 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_stuck_at_its_second_check() {
        let mut watch = Watch::default();
        let mut check = |open| watch.is_stuck(open, || false);
        assert!(!check(None) && !check(None));
        assert!(!check(Some(1)) && !check(Some(2)), "another one");
        assert!(!check(None) && !check(Some(2)));
        assert!(check(Some(2)) && check(Some(2)));
    }

    #[test]
    fn a_stop_is_left_alone_while_art_has_suspended_the_sampler() {
        let mut watch = Watch::default();
        assert!(!watch.is_stuck(Some(1), || false));
        for _ in 0..MOST_SUSPENDED {
            assert!(!watch.is_stuck(Some(1), || true));
        }
        assert!(!watch.is_stuck(Some(1), || true), "no longer than that");
        assert!(watch.is_stuck(Some(1), || true));
        assert!(!watch.is_stuck(Some(2), || true), "another one");
        assert!(!watch.is_stuck(Some(2), || true));
        assert!(!watch.is_stuck(Some(2), || false), "it has its time again");
        assert!(watch.is_stuck(Some(2), || false));
    }
}
