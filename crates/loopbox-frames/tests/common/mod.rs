//! Traces for the tests.
#![allow(dead_code, reason = "each test binary uses its part")]

use loopbox_format::model::{FrameFlags, SceneKind, Uptime};
use loopbox_frames::{DisplayFrame, JankWindow, JankWindows, RefreshInterval, SceneStats};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S60: RefreshInterval = RefreshInterval::HZ_60;

/// 83 durations of frames, in ms. Taobao's article shows a trace as a picture, and gives sums of the
/// durations in it. The durations here have all these sums.
pub(crate) const ARTICLE: [u64; 83] = [
    17, 17, 17, 17, 17, 17, 69, 16, 15, 16, 17, 17, 17, 17, 17, 17, 61, 12, 13, 13, 15, 16, 17, 17, 17, 98,
    10, 19, 16, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17,
    17, 17, 17, 17, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
    16, 16, 16, 16, 16,
];

pub(crate) fn hz(rate: f32) -> RefreshInterval {
    RefreshInterval::from_hz(rate).expect("a rate")
}

/// Frames of one session with these durations, each with its interval; all of them scroll.
pub(crate) fn frames(each: impl IntoIterator<Item = (u64, RefreshInterval)>) -> Vec<DisplayFrame> {
    let mut time_ns = 1_000_000 * MS;
    let frame = |(k, (duration_ns, interval)): (usize, (u64, RefreshInterval))| {
        let flags = FrameFlags::SCROLLED.with(FrameFlags::BEGINS.when(k == 0));
        let frame = DisplayFrame { time_ns: Uptime(time_ns), duration_ns, interval, flags };
        time_ns += duration_ns;
        frame
    };
    each.into_iter().enumerate().map(frame).collect()
}

pub(crate) fn frames_60_hz(durations_ns: &[u64]) -> Vec<DisplayFrame> {
    frames(durations_ns.iter().map(|&d| (d, S60)))
}

pub(crate) fn article() -> Vec<DisplayFrame> {
    frames_60_hz(&ARTICLE.map(|ms| ms * MS))
}

pub(crate) fn scene(frames: &[DisplayFrame]) -> SceneStats {
    let mut scene = SceneStats::new(SceneKind::Named, "Feed");
    frames.iter().for_each(|frame| scene.frame(frame));
    scene.end_session();
    scene
}

pub(crate) fn windows(frames: &[DisplayFrame]) -> Vec<JankWindow> {
    let mut windows = JankWindows::new();
    let mut found: Vec<_> = frames.iter().filter_map(|frame| windows.frame(frame)).collect();
    found.extend(windows.end());
    found
}

/// Three decimals, as in the worked examples.
pub(crate) fn round3(value: f64) -> String {
    format!("{value:.3}")
}
