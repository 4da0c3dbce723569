//! The worked examples of the articles, and examples that distinguish a right rule from a wrong one. Their
//! numbers come from a slow and exact reference in Python, which shares no code with this crate.

mod common;

use common::{MS, S60, article, frames, frames_60_hz, hz, round3, scene, windows};
use loopbox_format::model::{DropLevel, Uptime};
use loopbox_frames::matrix::{MatrixReport, MatrixSlice};
use loopbox_frames::{DisplayFrame, Live, MainPart, frames_delay_ns, rates};

#[test]
fn average_fps_of_the_articles_trace() {
    let scene = scene(&article());
    let sums = scene.sums();
    let fps = rates::fps(sums.frames.into(), sums.sum_ns).unwrap();
    assert_eq!((sums.frames, sums.sum_ns, round3(fps), fps as u32), (83, 1_535 * MS, "54.072".into(), 54));
    assert_eq!(rates::fps(0, 0), None, "an idle screen has no frame rate");
}

#[test]
fn jank_windows_of_the_articles_trace() {
    let found = windows(&article());
    let shown: Vec<_> = found
        .iter()
        .map(|w| {
            let ms = |ns| ns / MS;
            (
                w.first_frame + 1,
                w.frames,
                ms(w.duration_ns),
                ms(w.longest_ns),
                round3(w.fps()),
                w.fps() as u32,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (7, 3, 100, 69, "30.000".into(), 30),
            (17, 5, 114, 61, "43.860".into(), 43),
            (26, 3, 127, 98, "23.622".into(), 23)
        ]
    );
    assert!(found.iter().all(|w| w.is_recorded() && w.complete));
    let scene = scene(&article());
    let sums = scene.sums();
    assert_eq!((sums.windows, sums.windows_recorded, sums.windows_incomplete), (3, 3, 0));
    assert_eq!((sums.worst_window_fps_milli, sums.longest_us), (Some(23_622), 98_000));
}

#[test]
fn scroll_hitch_of_the_articles_trace() {
    let scene = scene(&article());
    let sums = scene.sums();
    let per_s = |hitch| round3(rates::hitch_ms_per_s(hitch, sums.sum_ns).unwrap());
    assert_eq!(
        (round3(sums.hitch_exact_ns as f64 / 1e6), per_s(sums.hitch_exact_ns)),
        ("194.333".into(), "126.602".into())
    );
    assert_eq!((sums.hitch_ns, per_s(sums.hitch_ns)), (11 * S60.ns(), "119.435".into()));
    assert_eq!((sums.scroll.frames, sums.scroll.hitch_ns), (83, sums.hitch_ns));
}

#[test]
fn jitter_is_no_hitch() {
    let jitter: Vec<u64> = [16_200_000, 17_100_000, 16_900_000, 16_400_000].repeat(100);
    let scene = scene(&frames_60_hz(&jitter));
    let sums = scene.sums();
    let per_s = |hitch| round3(rates::hitch_ms_per_s(hitch, sums.sum_ns).unwrap());
    assert_eq!(per_s(sums.hitch_exact_ns), "10.010", "Apple called this critical in 2020");
    assert_eq!((per_s(sums.hitch_ns), sums.slow_cadence), ("0.000".into(), 0));
}

#[test]
fn one_stall_that_an_average_hides() {
    let mut durations = vec![16_666_667; 59];
    durations.push(42_666_667);
    let scene = scene(&frames_60_hz(&durations));
    assert_eq!(round3(rates::fps(60, scene.sums().sum_ns).unwrap()), "58.480");
    let found = windows(&frames_60_hz(&durations));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].frames, round3(found[0].fps())), (1, "23.437".into()));
    assert!(!found[0].complete, "the session ends first");
    assert!(found[0].is_recorded());
}

#[test]
fn frozen_is_strictly_above_700_ms() {
    let mut durations: Vec<u64> = common::ARTICLE.iter().map(|ms| ms * MS).collect();
    durations.push(720 * MS);
    let frozen = |durations: &[u64]| {
        let scene = scene(&frames_60_hz(durations));
        (scene.sums().frozen_cadence, scene.sums().scroll.frozen)
    };
    assert_eq!(frozen(&durations), (1, 1));
    assert_eq!(round3(rates::ratio(1, 84).unwrap() * 1e3), "11.905");
    assert_eq!(frozen(&[700 * MS]), (0, 0));
    assert_eq!(frozen(&[700 * MS + 1]), (1, 1));
}

#[test]
fn drop_levels_of_the_articles_trace() {
    let scene = scene(&article());
    assert_eq!(scene.sums().level_frames, [80, 3, 0, 0, 0]);
    assert_eq!(scene.sums().level_dropped, [0, 11, 0, 0, 0]);
    let dropped: Vec<u32> = article().iter().map(DisplayFrame::dropped).filter(|d| *d > 0).collect();
    assert_eq!(dropped, [3, 3, 5]);
}

/// Matrix's reports of 703 frames: 668 dropped no refresh, 32 dropped one, and the other three dropped as
/// many as `last` says. Returns the report before the very last frame, and the one after it.
fn article_004(last: [u32; 3]) -> (MatrixReport, Option<MatrixReport>) {
    let drops = [vec![0; 668], vec![1; 32], last.to_vec()].concat();
    let mut slice = MatrixSlice::new();
    let (last, before) = drops.split_last().unwrap();
    assert!(before.iter().all(|dropped| slice.frame(*dropped).is_none()));
    let so_far = slice.so_far().unwrap();
    (so_far, slice.frame(*last))
}

#[test]
fn matrix_mode_gives_the_articles_json_to_the_last_bit() {
    let (before, report) = article_004([4, 4, 5]);
    assert_eq!((before.frames, before.cost_ms), (702, 11_910), "no report yet");
    let report = report.unwrap();
    assert_eq!((report.frames, report.cost_ms, report.task_frames), (703, 12_009, 0));
    assert_eq!(f64::from(report.fps).to_string(), "58.5394287109375");
    assert_eq!(report.level_frames[DropLevel::Best.index()], 700);
    assert_eq!(report.level_frames[DropLevel::Normal.index()], 3);
    assert_eq!((report.level_dropped[0], report.level_dropped[1]), (32, 13));
    // The sums leave open which three frames they were. These cost as much, and (3, 5, 5) does not.
    for triple in [[3, 3, 7], [3, 4, 6], [4, 4, 5]] {
        assert_eq!(article_004(triple).1.unwrap().cost_ms, report.cost_ms, "{triple:?}");
    }
    assert_ne!(article_004([3, 5, 5]).1.unwrap().cost_ms, report.cost_ms);
    assert_eq!(round3(rates::fps(703, 748 * 16_666_666).unwrap()), "56.390", "without truncation");
}

#[test]
fn matrix_mode_caps_what_its_truncation_adds() {
    let mut slice = MatrixSlice::new();
    assert!((0..749).all(|_| slice.frame(0).is_none()));
    assert_eq!((1_000.0 * 749.0 / slice.so_far().unwrap().cost_ms as f64).to_string(), "62.5");
    let report = slice.frame(0).unwrap();
    assert_eq!((report.cost_ms, report.fps.to_string()), (12_000, "60".into()));
    assert_eq!(slice.so_far(), None, "the next slice begins empty");
}

#[test]
fn matrix_mode_counts_messages_as_frames() {
    let mut slice = MatrixSlice::new();
    for (wall_ms, is_frame) in [(16, true), (17, false), (51, false)] {
        slice.message(wall_ms, is_frame);
    }
    let report = slice.so_far().unwrap();
    assert_eq!((report.frames, report.task_frames, report.cost_ms), (3, 2, 16 + 33 + 66));
    assert_eq!((report.level_frames, report.level_dropped), ([2, 1, 0, 0, 0], [1, 3, 0, 0, 0]));
}

#[test]
fn short_scrolls_share_a_value_of_fps() {
    let gesture = [vec![S60.ns(); 28], vec![3 * S60.ns()]].concat();
    let one = scene(&frames_60_hz(&gesture));
    assert_eq!(one.sums().fps_values, 0);
    assert_eq!(round3(rates::fps(29, one.sums().sum_ns).unwrap()), "56.129");
    let three = scene(&frames_60_hz(&gesture.repeat(3)));
    assert_eq!((three.sums().fps_values, three.sums().fps_sum_milli), (1, 56_129));
    assert_eq!(three.sums().fps_shares[14], 1, "0.935 of the rate");
    let left_ns = three.sums().sum_ns - 2 * one.sums().sum_ns;
    assert_eq!(left_ns, 516_666_677);
}

#[test]
fn a_switch_of_the_rate_is_no_jank() {
    let switch = frames([vec![(S60.ns(), S60); 30], vec![(8_333_333, hz(120.0)); 60]].concat());
    let scene = scene(&switch);
    let sums = scene.sums();
    assert_eq!(round3(rates::fps(90, sums.sum_ns).unwrap()), "90.000");
    assert_eq!((sums.hitch_ns, sums.slow_cadence, sums.windows), (0, 0, 0));
    assert_eq!(rates::relative_fps(sums.ideal_ns - sums.hitch_ns, sums.sum_ns), Some(1.0));
    let rates: Vec<_> = sums.rates.iter().map(|r| (r.interval_ns, r.frames)).collect();
    assert_eq!(rates, [(16_666_667, 30), (8_333_333, 60), (0, 0), (0, 0)]);
}

#[test]
fn a_slow_session_by_the_rule_of_play() {
    let below_20 = |late: usize| {
        let durations = [vec![16_700_000; 100 - late], vec![60 * MS; late]].concat();
        let scene = scene(&frames_60_hz(&durations));
        rates::is_slow_session(scene.sums().below_20_fps.into(), 100)
    };
    assert_eq!((below_20(26), below_20(25)), (true, false));
    assert_eq!(scene(&frames_60_hz(&[50 * MS, 33_333_333])).sums().below_20_fps, 0);
    assert_eq!(scene(&frames_60_hz(&[50 * MS, 33_333_333])).sums().below_30_fps, 1);
}

#[test]
fn frames_delay_is_that_of_sentry() {
    let mut begin_ns = 0;
    let parts: Vec<MainPart> = [69, 16, 15]
        .map(|ms| {
            let part = MainPart { begin_ns: Uptime(begin_ns), main_ns: ms * MS, interval: S60 };
            begin_ns += ms * MS;
            part
        })
        .to_vec();
    let delay = |from, to| frames_delay_ns(parts.iter().copied(), from, to);
    assert_eq!(round3(delay(Uptime::ZERO, Uptime::MAX) as f64 / 1e6), "52.333");
    assert_eq!(delay(Uptime(60 * MS), Uptime::MAX), 9 * MS, "the first frame is cut");
    assert_eq!(
        delay(Uptime::ZERO, Uptime(20 * MS)),
        20 * MS - S60.ns(),
        "a frame that has not ended counts until now"
    );
    assert_eq!(delay(Uptime(69 * MS), Uptime::MAX), 0);
    assert_eq!(delay(Uptime(50 * MS), Uptime(40 * MS)), 0);
}

#[test]
fn the_live_value_of_twelve_frames_is_60() {
    let mut live = Live::new();
    assert!(live.is_idle(Uptime::ZERO));
    let all = frames_60_hz(&[S60.ns(); 24]);
    let values: Vec<_> = all.iter().map(|frame| live.frame(frame)).collect();
    let given: Vec<_> =
        values.iter().enumerate().filter(|(_, value)| value.is_some()).map(|(k, _)| k).collect();
    assert_eq!(given, [11, 23], "one each 200 ms at 60 Hz, where Matrix gives none");
    let value = values[11].unwrap();
    assert_eq!((round3(value.fps), value.frames, value.level), ("60.000".into(), 12, DropLevel::Best));
    let end = all[23].end_ns();
    assert!(!live.is_idle(end + 249 * MS));
    assert!(live.is_idle(end + 250 * MS));
    let stall = live.frame(&all[23]);
    assert_eq!(stall, None);
    let long = frames_60_hz(&[233_333_338])[0];
    let value = Live::new().frame(&long).unwrap();
    assert_eq!((value.longest_ns, value.level), (233_333_338, DropLevel::Middle));
}

#[test]
fn drawing_for_a_third_of_a_second_at_full_rate_is_60_fps() {
    // What came before Matrix's way, draws in the second after a touch, gave 18 here.
    let scene = scene(&frames_60_hz(&[S60.ns(); 18]));
    assert_eq!(round3(rates::fps(18, scene.sums().sum_ns).unwrap()), "60.000");
}
