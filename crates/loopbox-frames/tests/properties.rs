//! Properties of every trace.

mod common;

use common::{MS, frames, hz, scene, windows};
use loopbox_format::model::{FrameFlags, Uptime};
use loopbox_frames::{DisplayFrame, MergedScene, RefreshInterval, Scenes};
use proptest::prelude::*;

/// A second implementation of refreshes and jank windows, to compare with. Unlike the crate, it has the
/// durations of all frames at once.
mod reference {
    pub(super) fn refreshes(duration: u64, interval: u64) -> u64 {
        ((2 * duration + interval) / (2 * interval)).max(1)
    }

    /// The jank windows. Each has the index of its first frame, its number of frames, its duration, its
    /// longest frame, and whether it is complete.
    pub(super) fn windows(durations: &[u64], interval: u64) -> Vec<(u64, u32, u64, u64, bool)> {
        let start = 33_300_000.max(2 * interval - interval / 500);
        let calm = interval + interval / 50;
        let mut found = Vec::new();
        let mut first = 0;
        while first < durations.len() {
            if durations[first] <= start {
                first += 1;
                continue;
            }
            let (mut end, mut sum) = (first, 0);
            while end < durations.len() {
                sum += durations[end];
                end += 1;
                if sum >= 99_600_000 && durations.get(end).is_none_or(|next| *next < calm) {
                    break;
                }
            }
            let longest = durations[first..end].iter().copied().max().unwrap();
            found.push((first as u64, (end - first) as u32, sum, longest, sum >= 99_600_000));
            first = end;
        }
        found
    }
}

fn interval() -> impl Strategy<Value = RefreshInterval> {
    prop_oneof![Just(60.0), Just(90.0), Just(120.0), Just(144.0)].prop_map(hz)
}

fn trace() -> impl Strategy<Value = (RefreshInterval, Vec<u64>)> {
    interval().prop_flat_map(|interval| {
        let one = prop_oneof![
            6 => Just(interval.ns()),
            2 => (1..8_u64).prop_map(move |n| n * interval.ns()),
            2 => 1..900 * MS,
        ];
        (Just(interval), proptest::collection::vec(one, 1..60))
    })
}

fn of(interval: RefreshInterval, durations: &[u64]) -> Vec<DisplayFrame> {
    frames(durations.iter().map(|&d| (d, interval)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn windows_are_those_of_the_definition((interval, durations) in trace()) {
        let found: Vec<_> = windows(&of(interval, &durations))
            .iter()
            .map(|w| (w.first_frame, w.frames, w.duration_ns, w.longest_ns, w.complete))
            .collect();
        prop_assert_eq!(&found, &reference::windows(&durations, interval.ns()));
        for pair in found.windows(2) {
            prop_assert!(pair[0].0 + u64::from(pair[0].1) <= pair[1].0, "windows do not overlap");
        }
        let start = 33_300_000.max(2 * interval.ns() - interval.ns() / 500);
        for (k, _) in durations.iter().enumerate().filter(|(_, d)| **d > start) {
            let inside = |w: &&(u64, u32, u64, u64, bool)| (w.0..w.0 + u64::from(w.1)).contains(&(k as u64));
            prop_assert!(found.iter().any(|w| inside(&w)), "a frame that was seen is in one");
        }
        for w in &found {
            prop_assert!(durations[w.0 as usize] > start, "each begins with such a frame");
            prop_assert!(w.4 || w.0 as usize + w.1 as usize == durations.len(), "only the end cuts one off");
        }
    }

    #[test]
    fn sums_agree_with_each_other((interval, durations) in trace()) {
        let scene = scene(&of(interval, &durations));
        let sums = scene.sums();
        let (i, n) = (interval.ns(), durations.len() as u64);
        let dropped: u64 = durations.iter().map(|d| reference::refreshes(*d, i) - 1).sum();
        prop_assert_eq!(sums.level_frames.iter().map(|n| u64::from(*n)).sum::<u64>(), n);
        prop_assert_eq!(sums.level_dropped.iter().sum::<u64>(), dropped);
        prop_assert_eq!(sums.histogram.iter().map(|n| u64::from(*n)).sum::<u64>(), n);
        prop_assert_eq!(sums.hitch_ns, dropped * i);
        prop_assert_eq!(sums.ideal_ns, (dropped + n) * i);
        prop_assert!(sums.hitch_ns.abs_diff(sums.hitch_exact_ns) <= n * i);
        prop_assert_eq!(sums.sum_ns, durations.iter().sum::<u64>());
        prop_assert!(sums.frozen_cadence <= sums.slow_cadence && sums.slow_cadence <= sums.frames);
        prop_assert!(sums.below_20_fps <= sums.below_30_fps);
        prop_assert_eq!(sums.rates[0].sum_ns, sums.sum_ns);
        prop_assert_eq!(u64::from(sums.fps_values), sums.fps_shares.iter().map(|n| u64::from(*n)).sum::<u64>());
    }

    #[test]
    fn sums_of_two_are_those_of_all_frames((interval, durations) in trace(), (other, more) in trace()) {
        let (first, second) = (of(interval, &durations), of(other, &more));
        let merged = |frames: &[_]| MergedScene::from(scene(frames).sums());
        let mut sum = merged(&first);
        sum.add(&merged(&second));
        // Each begins a session, so no window goes from one into the other; a value of FPS may.
        let all = merged(&[first, second].concat());
        sum.fps_values = all.fps_values;
        sum.fps_sum_milli = all.fps_sum_milli;
        sum.fps_shares = all.fps_shares;
        prop_assert_eq!(sum, all);
    }

    #[test]
    fn the_process_is_the_sum_of_its_screens(
        which in proptest::collection::vec((0..24_usize, 1..200 * MS), 1..80)
    ) {
        let mut scenes = Scenes::new(Scenes::DEFAULT_LIMIT);
        for (frame, (name, _)) in of(common::S60, &which.iter().map(|w| w.1).collect::<Vec<_>>()).iter().zip(&which) {
            let scene = scenes.scene(&format!("Screen{name}"));
            scenes.frame(scene, frame);
        }
        let records: Vec<_> = scenes.records().collect();
        prop_assert!(records.len() <= 18);
        let total = |of: fn(&loopbox_format::model::FrameScene) -> u64| records[1..].iter().map(|r| of(r)).sum::<u64>();
        prop_assert_eq!(total(|r| r.frames.into()), u64::from(records[0].frames));
        prop_assert_eq!(total(|r| r.sum_ns), records[0].sum_ns);
        prop_assert_eq!(total(|r| r.hitch_ns), records[0].hitch_ns);
        prop_assert_eq!(records[0].frames as usize, which.len());
    }

    #[test]
    fn no_numbers_are_too_large(durations in proptest::collection::vec(any::<u64>(), 1..20), interval in interval()) {
        // Frame times that lie do not stop the app: sums stay at their largest.
        let frames: Vec<_> = durations
            .iter()
            .map(|&duration_ns| DisplayFrame { time_ns: Uptime(duration_ns), duration_ns, interval, flags: FrameFlags::default() })
            .collect();
        let scene = scene(&frames);
        prop_assert_eq!(scene.sums().frames as usize, durations.len());
        let _ = windows(&frames);
    }
}
