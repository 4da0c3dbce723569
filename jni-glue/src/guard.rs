//! The guard thread: the main thread must not stay stopped when the thread that stopped it does not come back.

use crate::clock;
use crate::log;
use crate::session::Session;
use loopbox_art::{Art, Rescue};
use loopbox_format::model::Feature;

/// A window is open for microseconds; one that is seen twice, this far apart, will not close by itself.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

const RESUMED: &str = "off: the sampler stopped the main thread and did not come back; the guard let it go";
const BEING_READ: &str = "stuck: the sampler reads the stopped main thread's stack and does not come back";

/// The body of the thread: until sampling is over.
pub(crate) fn run(session: &Session, art: &Art) {
    let mut seen = None;
    let mut told = None;
    while !session.shared.sampling_ended() {
        session.shared.guard_sleep(clock::now_ns().saturating_add(LOOK_EVERY_NS));
        let open = art.window_open_since();
        // Seen twice, not just old: a frozen process has old windows when it thaws.
        let stuck = open.is_some() && open == seen;
        seen = open;
        if !stuck {
            continue;
        }
        let (detail, done) = match art.rescue() {
            Rescue::Nothing => continue,
            Rescue::Resumed => (RESUMED, true),
            Rescue::BeingRead if told == open => continue,
            Rescue::BeingRead => (BEING_READ, false),
        };
        told = open;
        if done {
            session.shared.end_sampling();
        }
        session.features.set(Feature::Sampler, false, detail);
        session.wake_worker();
        log::warn(detail);
    }
}
