//! Figures computed from sums: FPS, shares of the refresh rate, hitch rate, ratios. They take sums and not
//! frames, so that the sums of several screens, processes or users can be added first.

/// Frames per second: `frames` divided by `sum_ns`, the total time for which these frames were shown. `None`
/// without a frame, because an idle screen has no frame rate.
///
/// Only frames that something requested are counted, so that an idle screen does not lower the rate. (The
/// article on skipped frames says "below 60 a user feels it", which holds only at 60 Hz and while something
/// moves.)
pub fn fps(frames: u64, sum_ns: u64) -> Option<f64> {
    (frames > 0 && sum_ns > 0).then(|| frames as f64 * 1e9 / sum_ns as f64)
}

/// FPS as a share of the refresh rate that was in effect: the sum of the refresh intervals divided by the
/// time for which the frames were shown. It is 1 when no frame was late, whatever the refresh rate was.
pub fn relative_fps(interval_sum_ns: u64, sum_ns: u64) -> Option<f64> {
    (sum_ns > 0).then(|| interval_sum_ns as f64 / sum_ns as f64)
}

/// Hitch time for each second of scrolling, in milliseconds: Apple's "hitch time ratio", `scrollHitchRate` of
/// Taobao.
///
/// With [`DisplayFrame::hitch_ns`](crate::DisplayFrame::hitch_ns) it counts whole refreshes. Taobao's exact
/// definition counts all time beyond one interval: a display that jitters by 0.4 ms has 10 ms/s in that
/// definition, without one late frame.
pub fn hitch_ms_per_s(hitch_ns: u64, sum_ns: u64) -> Option<f64> {
    (sum_ns > 0).then(|| hitch_ns as f64 * 1e3 / sum_ns as f64)
}

/// A share of the frames; for frozen frames it is Taobao's 冻帧占比.
pub fn ratio(part: u64, frames: u64) -> Option<f64> {
    (frames > 0).then(|| part as f64 / frames as f64)
}

/// Whether more than a quarter of the frames were shown for longer than the target allows: the "slow session"
/// of Play's vitals for games (20 or 30 FPS). Play measures from present to present; here it is from frame
/// time to frame time.
pub const fn is_slow_session(late: u64, frames: u64) -> bool {
    late.saturating_mul(4) > frames
}
