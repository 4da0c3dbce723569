//! The fields of each record in order. This order is the format: fields are only appended to it.

use super::FrameRecord;
use super::words::Words;
use crate::model::{
    FrameGesture, FrameScene, JankFrame, RateFrames, RecentFrame, ScrollSums, StageFrame, WorstWindow,
};
use crate::text::BoundedStr;

/// A name takes this many bytes; zeros fill what is left.
const NAME_BYTES: usize = 96;

fn name(words: &mut Words<'_>, name: &mut BoundedStr<NAME_BYTES>) {
    let mut bytes = [0; NAME_BYTES];
    bytes.iter_mut().zip(name.as_str().bytes()).for_each(|(to, from)| *to = from);
    words.fields(&mut bytes);
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES);
    let kept = bytes.get(..length).unwrap_or_default();
    // What is no UTF-8 was not written by this crate; its beginning may still say which screen it is.
    let valid = match core::str::from_utf8(kept) {
        Ok(text) => text,
        Err(error) => kept
            .get(..error.valid_up_to())
            .and_then(|valid| core::str::from_utf8(valid).ok())
            .unwrap_or_default(),
    };
    name.set(valid);
}

fn scroll(words: &mut Words<'_>, sums: &mut ScrollSums) {
    words.field(&mut sums.frames);
    words.field(&mut sums.frozen);
    words.field(&mut sums.sum_ns);
    words.field(&mut sums.hitch_ns);
}

fn rate(words: &mut Words<'_>, rate: &mut RateFrames) {
    words.field(&mut rate.interval_ns);
    words.field(&mut rate.frames);
    words.field(&mut rate.sum_ns);
}

fn window(words: &mut Words<'_>, window: &mut WorstWindow) {
    words.field(&mut window.first_frame);
    words.field(&mut window.frames);
    words.field(&mut window.duration_us);
}

impl FrameRecord for FrameScene {
    const BYTES: usize = 704;

    fn fields(&mut self, words: &mut Words<'_>) {
        name(words, &mut self.name);
        words.field(&mut self.kind);
        words.field(&mut self.observed_rate);
        words.field(&mut self.frames);
        words.field(&mut self.first_draw);
        words.field(&mut self.lost_reports);
        words.field(&mut self.gestures);
        words.field(&mut self.longest_us);
        words.field(&mut self.sum_ns);
        words.field(&mut self.ideal_ns);
        words.field(&mut self.hitch_ns);
        words.field(&mut self.hitch_exact_ns);
        words.field(&mut self.delay_ns);
        words.fields(&mut self.level_frames);
        words.field(&mut self.fps_values);
        words.fields(&mut self.level_dropped);
        words.fields(&mut self.histogram);
        words.field(&mut self.fps_sum_milli);
        words.fields(&mut self.fps_shares);
        scroll(words, &mut self.scroll);
        scroll(words, &mut self.finger);
        words.field(&mut self.windows);
        words.field(&mut self.windows_recorded);
        words.field(&mut self.windows_incomplete);
        words.field(&mut self.worst_window_fps_milli);
        words.fields(&mut self.causes);
        words.fields(&mut self.stage_ns);
        self.rates.iter_mut().for_each(|of| rate(words, of));
        words.field(&mut self.other_rates);
        words.field(&mut self.slow_cadence);
        words.field(&mut self.frozen_cadence);
        words.field(&mut self.slow_cost);
        words.field(&mut self.frozen_cost);
        words.field(&mut self.staged);
        words.field(&mut self.duplicates);
        words.field(&mut self.rejected);
        words.field(&mut self.below_20_fps);
        words.field(&mut self.below_30_fps);
        words.spare(16);
    }
}

impl FrameRecord for FrameGesture {
    const BYTES: usize = 96;

    fn fields(&mut self, words: &mut Words<'_>) {
        words.field(&mut self.begin_ns);
        words.field(&mut self.duration_ms);
        words.field(&mut self.finger_ms);
        words.field(&mut self.fling_ms);
        words.field(&mut self.frames);
        words.field(&mut self.sum_ns);
        words.field(&mut self.hitch_ns);
        words.field(&mut self.hitch_exact_ns);
        words.field(&mut self.longest_us);
        words.field(&mut self.frozen);
        words.field(&mut self.windows);
        self.worst.iter_mut().for_each(|of| window(words, of));
        words.field(&mut self.scene);
        words.field(&mut self.ordinal);
        words.field(&mut self.flags);
        words.spare(2);
        words.field(&mut self.number);
        words.field(&mut self.interval_sum_us);
    }
}

impl FrameRecord for JankFrame {
    const BYTES: usize = 112;

    fn fields(&mut self, words: &mut Words<'_>) {
        words.field(&mut self.frame_time_ns);
        words.field(&mut self.duration_ns);
        words.field(&mut self.interval_ns);
        words.field(&mut self.gesture);
        words.field(&mut self.own_token);
        words.field(&mut self.own_ns);
        words.field(&mut self.other_token);
        words.field(&mut self.other_ns);
        words.field(&mut self.tree_token);
        // Three times that no version wrote.
        (0..3).for_each(|_| words.unknown(8));
        words.field(&mut self.vsync_id);
        words.field(&mut self.jank_type);
        words.field(&mut self.scene);
        words.field(&mut self.cause);
        words.field(&mut self.place);
        words.spare(8);
    }
}

impl FrameRecord for RecentFrame {
    const BYTES: usize = 32;

    fn fields(&mut self, words: &mut Words<'_>) {
        words.field(&mut self.frame_time_ns);
        words.field(&mut self.duration_us);
        words.field(&mut self.main_us);
        words.field(&mut self.interval_us);
        words.field(&mut self.dropped);
        words.field(&mut self.flags);
        words.field(&mut self.scene);
        words.field(&mut self.token_low);
        words.field(&mut self.other_us);
    }
}

impl FrameRecord for StageFrame {
    const BYTES: usize = 64;

    fn fields(&mut self, words: &mut Words<'_>) {
        words.field(&mut self.vsync_ns);
        words.fields(&mut self.stages_us);
        words.field(&mut self.total_us);
        words.field(&mut self.gpu_us);
        words.field(&mut self.deadline_us);
        words.field(&mut self.vsync_id_low);
        words.field(&mut self.lost);
        words.field(&mut self.scene);
        words.field(&mut self.intended_before_us);
        words.field(&mut self.flags);
        words.field(&mut self.cause);
    }
}
