//! The dead-man's switch: the main thread must not stay stopped when the thread that stopped it does not come back.

use crate::session::Session;
use crate::sys::{clock, log};
use loopbox_art::{Art, Rescue};
use loopbox_format::model::Feature;

/// A stop takes microseconds; one that is seen twice, this far apart, will not end by itself.
const CHECK_EVERY_NS: u64 = 1_000_000_000;

const RESUMED: &str = "off: the sampler stopped the main thread and did not come back; the guard resumed it";
const BEING_READ: &str = "stuck: the sampler reads the stopped main thread's stack and does not come back";

/// The body of the thread: until sampling is over.
pub(crate) fn run(session: &Session, art: &Art) {
    let mut last = None;
    let mut reported = None;
    let mut stops = 0;
    while !session.shared.sampling_ended() {
        session.shared.deadman_sleep(clock::now_ns().plus(CHECK_EVERY_NS), &mut stops);
        let open = art.window_open_since();
        // Seen twice, not just old: a frozen process has old stops when it thaws.
        let stuck = open.is_some() && open == last;
        last = open;
        if !stuck {
            continue;
        }
        let (detail, done) = match art.rescue() {
            Rescue::Nothing => continue,
            Rescue::Resumed => (RESUMED, true),
            Rescue::BeingRead if reported == open => continue,
            Rescue::BeingRead => (BEING_READ, false),
        };
        reported = open;
        if done {
            session.shared.end_sampling();
        }
        session.features.set(Feature::Sampler, false, detail);
        session.wake_worker();
        log::warn(detail);
    }
}
