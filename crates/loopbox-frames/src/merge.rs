//! Merges the sums of several processes.

use loopbox_format::model::{FrameScene, RateFrames, ScrollSums};

/// Adds the sums of `other`. The result is the same as if all frames had been counted together, except for
/// refresh intervals beyond the fourth: only the number of their frames is kept.
pub fn add(to: &mut FrameScene, other: &FrameScene) {
    let from = other;
    for (to, from) in [
        (&mut to.frames, from.frames),
        (&mut to.first_draw, from.first_draw),
        (&mut to.lost_reports, from.lost_reports),
        (&mut to.gestures, from.gestures),
        (&mut to.fps_values, from.fps_values),
        (&mut to.windows, from.windows),
        (&mut to.windows_recorded, from.windows_recorded),
        (&mut to.windows_incomplete, from.windows_incomplete),
        (&mut to.other_rates, from.other_rates),
        (&mut to.slow_cadence, from.slow_cadence),
        (&mut to.frozen_cadence, from.frozen_cadence),
        (&mut to.slow_cost, from.slow_cost),
        (&mut to.frozen_cost, from.frozen_cost),
        (&mut to.staged, from.staged),
        (&mut to.duplicates, from.duplicates),
        (&mut to.rejected, from.rejected),
        (&mut to.below_20_fps, from.below_20_fps),
        (&mut to.below_30_fps, from.below_30_fps),
    ] {
        *to = to.saturating_add(from);
    }
    for (to, from) in [
        (&mut to.sum_ns, from.sum_ns),
        (&mut to.ideal_ns, from.ideal_ns),
        (&mut to.hitch_ns, from.hitch_ns),
        (&mut to.hitch_exact_ns, from.hitch_exact_ns),
        (&mut to.delay_ns, from.delay_ns),
        (&mut to.fps_sum_milli, from.fps_sum_milli),
    ] {
        *to = to.saturating_add(from);
    }
    each(&mut to.level_frames, &from.level_frames, u32::saturating_add);
    each(&mut to.level_dropped, &from.level_dropped, u64::saturating_add);
    each(&mut to.histogram, &from.histogram, u32::saturating_add);
    each(&mut to.fps_shares, &from.fps_shares, u16::saturating_add);
    each(&mut to.causes, &from.causes, u32::saturating_add);
    each(&mut to.stage_ns, &from.stage_ns, u64::saturating_add);
    scroll(&mut to.scroll, &from.scroll);
    scroll(&mut to.finger, &from.finger);
    to.observed_rate |= from.observed_rate;
    to.longest_us = to.longest_us.max(from.longest_us);
    let worst = [to.worst_window_fps_milli, from.worst_window_fps_milli];
    to.worst_window_fps_milli = worst.into_iter().flatten().min();
    for rate in from.rates.iter().filter(|rate| rate.frames > 0) {
        add_rate(to, rate);
    }
}

fn each<T: Copy>(to: &mut [T], from: &[T], add: impl Fn(T, T) -> T) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = add(*to, *from));
}

fn scroll(to: &mut ScrollSums, from: &ScrollSums) {
    to.frames = to.frames.saturating_add(from.frames);
    to.frozen = to.frozen.saturating_add(from.frozen);
    to.sum_ns = to.sum_ns.saturating_add(from.sum_ns);
    to.hitch_ns = to.hitch_ns.saturating_add(from.hitch_ns);
}

/// Adds frames of a refresh interval to its entry, or to the entry of all intervals that have none.
pub(crate) fn add_rate(to: &mut FrameScene, rate: &RateFrames) {
    let known = to.rates.iter_mut().find(|kept| kept.frames == 0 || kept.interval_ns == rate.interval_ns);
    match known {
        Some(kept) => {
            kept.interval_ns = rate.interval_ns;
            kept.frames = kept.frames.saturating_add(rate.frames);
            kept.sum_ns = kept.sum_ns.saturating_add(rate.sum_ns);
        }
        None => to.other_rates = to.other_rates.saturating_add(rate.frames),
    }
}
