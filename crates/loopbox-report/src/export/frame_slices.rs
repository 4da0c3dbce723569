//! The newest display frames on the time axis: when each was expected to be replaced, and when it was
//! replaced.

use super::slice::{Slice, cut_overlaps, ms};
use crate::model::{Analysis, format_ms};
use crate::smoothness::{JankView, scene_name};
use loopbox_format::model::{FrameFlags, RecentFrame};

/// The two tracks of display frames; both are empty when the report has no display frames.
#[derive(Debug, Default)]
pub(crate) struct FrameSlices {
    /// For each frame, when it was expected to be shown: for one refresh from its frame time on.
    pub(crate) expected: Vec<Slice>,
    /// For each frame, when it was shown.
    pub(crate) actual: Vec<Slice>,
}

impl FrameSlices {
    pub(super) fn new(a: &Analysis) -> Self {
        let recent = a.display_frames.recent.iter();
        let recent = recent.filter(|frame| frame.duration_us > 0 && frame.interval_us > 0);
        let (mut expected, mut actual): (Vec<Slice>, Vec<Slice>) =
            recent.map(|frame| (expected(frame), actual(a, frame))).unzip();
        cut_overlaps(&mut expected);
        cut_overlaps(&mut actual);
        Self { expected, actual }
    }
}

fn slice(frame: &RecentFrame, us: u64, facts: Vec<(&'static str, String)>) -> Slice {
    let end_ns = frame.frame_time_ns.plus(us * 1_000);
    Slice { name: format_ms(us as f64 / 1e3), start_ns: frame.frame_time_ns, end_ns, facts }
}

fn expected(frame: &RecentFrame) -> Slice {
    slice(frame, frame.interval_us.into(), Vec::new())
}

fn actual(a: &Analysis, frame: &RecentFrame) -> Slice {
    let mut facts = vec![("dropped", frame.dropped.to_string())];
    facts.extend(
        a.display_frames.scenes.get(usize::from(frame.scene)).map(|scene| ("screen", scene_name(scene))),
    );
    let time = |us: u32| ms(u64::from(us) * 1_000);
    facts.extend(frame.main_us.map(|us| ("main_ms", time(us))));
    facts.extend(frame.other_us.map(|us| ("slowest_other_message_ms", time(us))));
    for (flag, word) in
        [(FrameFlags::SCROLLED, "scrolled"), (FrameFlags::FINGER, "finger"), (FrameFlags::FLING, "fling")]
    {
        facts.extend(frame.flags.has(flag).then(|| (word, "yes".to_owned())));
    }
    let jank = a.display_frames.janks.iter().find(|jank| jank.frame_time_ns == frame.frame_time_ns);
    facts.extend(jank.map(|jank| ("jank", JankView::new(a, jank, String::new(), "").in_words())));
    slice(frame, frame.duration_us.into(), facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::SessionBuilder;
    use crate::test_support::ReportBuilder;
    use loopbox_format::model::Uptime;

    #[test]
    fn a_frame_is_expected_for_one_refresh_and_stands_for_as_many_as_it_does() {
        let session = SessionBuilder::new().scroll("Feed", &[16, 17, 83, 17]).build();
        let report = ReportBuilder::new().with(|report| report.frames = session).build();
        let tracks = FrameSlices::new(&Analysis::new(&report));
        let shown = |slices: &[Slice]| -> Vec<(String, u64, u64)> {
            let us = |at: Uptime| at.0 / 1_000 - 90_000_000;
            slices.iter().map(|slice| (slice.name.clone(), us(slice.start_ns), us(slice.end_ns))).collect()
        };
        let at = |name: &str, from: u64, to: u64| (name.to_owned(), from, to);
        // The first was early: the next one begins where it was to end.
        assert_eq!(
            shown(&tracks.expected),
            [
                at("17 ms", 0, 16_666),
                at("17 ms", 16_666, 32_666),
                at("17 ms", 33_000, 49_666),
                at("17 ms", 116_000, 132_666)
            ]
        );
        assert_eq!(
            shown(&tracks.actual),
            [
                at("16 ms", 0, 16_000),
                at("17 ms", 16_000, 33_000),
                at("83 ms", 33_000, 116_000),
                at("17 ms", 116_000, 133_000)
            ]
        );
        let long = &tracks.actual[2].facts;
        assert_eq!(long[..2], [("dropped", "4".to_owned()), ("screen", "Feed".to_owned())]);
        assert!(long.contains(&("finger", "yes".to_owned())));
        assert!(long.last().unwrap().1.starts_with("main outside of messages"), "{long:?}");
        assert!(FrameSlices::new(&Analysis::new(&ReportBuilder::new().build())).actual.is_empty());
    }
}
