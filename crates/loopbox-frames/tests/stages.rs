//! Reports of `FrameMetrics` as arrays for each API level, and the stages computed from them.

mod common;

use common::{MS, S60};
use loopbox_format::model::{FrameCause, FrameFlags, JankPlace, SceneKind, Stage, Uptime};
use loopbox_frames::{
    DisplayFrame, Duplicates, METRICS, MainThreadTime, Rejected, SceneStats, StageReport, main_cause, place,
};

/// Taobao's threshold.
const THIRTIETH: u64 = 33_300_000;
const NOT_KNOWN: i64 = -1;

/// The eight stages and the total in ms, with the timestamps that the API level has.
fn metrics(stages: [i64; 8], total: i64) -> [i64; METRICS] {
    let mut all = [NOT_KNOWN; METRICS];
    for (to, ms) in all.iter_mut().zip(stages.into_iter().chain([total])) {
        *to = ms * MS as i64;
    }
    all[9] = 0;
    all[10] = 1_000 * MS as i64;
    all[11] = 1_016 * MS as i64;
    all
}

fn report(api_level: u32, stages: [i64; 8], total: i64) -> StageReport {
    StageReport::from_frame_metrics(api_level, &metrics(stages, total)).unwrap()
}

#[test]
fn main_cause_of_the_six_worked_cases() {
    // Order: unknown delay, input, animation, layout and measure, draw, sync, command issue, swap buffers.
    for (name, stages, total, cause) in [
        ("layout", [1, 0, 2, 30, 4, 1, 3, 1], 42, Some(FrameCause::LayoutMeasure)),
        ("late main", [20, 0, 2, 5, 4, 1, 3, 1], 36, Some(FrameCause::UnknownDelay)),
        ("hidden wait", [1, 0, 1, 2, 1, 1, 2, 1], 37, Some(FrameCause::RenderWait)),
        ("spread", [4, 4, 5, 6, 6, 5, 5, 5], 40, Some(FrameCause::None)),
        ("two halves", [0, 0, 0, 20, 25, 1, 1, 1], 48, Some(FrameCause::Draw)),
        ("not slow", [0, 0, 0, 20, 2, 1, 1, 1], 25, None),
    ] {
        assert_eq!(main_cause(&report(29, stages, total), THIRTIETH), cause, "{name}");
    }
    let ties = report(29, [0, 0, 20, 20, 0, 0, 0, 0], 40);
    assert_eq!(main_cause(&ties, THIRTIETH), Some(FrameCause::Animation), "of equal ones the earlier");
    let all = [9; 8];
    assert_eq!(main_cause(&report(29, all, 72), 18 * MS), Some(FrameCause::None), "half of it is not above");
}

#[test]
fn the_total_is_not_the_sum_of_the_stages() {
    let slow_render_thread = report(29, [1, 0, 1, 2, 4, 1, 3, 2], 57);
    assert_eq!(slow_render_thread.stage(Stage::RenderWait), 43 * MS);
    assert_eq!(slow_render_thread.main_ns(), 52 * MS, "vsync until the render thread had it");
    assert_eq!(slow_render_thread.stage_ns.iter().sum::<u64>(), slow_render_thread.total_ns);
    let overlapping = report(29, [10; 8], 70);
    assert_eq!((overlapping.unattributed_ns(), overlapping.main_ns()), (0, 50 * MS));
}

#[test]
fn the_gpu_has_its_own_time_as_far_as_the_level_reports_it() {
    let with_gpu = |level, gpu: i64| {
        let mut all = metrics([1, 0, 1, 2, 1, 1, 2, 6], 50);
        all[12] = gpu * MS as i64;
        StageReport::from_frame_metrics(level, &all).unwrap()
    };
    let stages = |report: StageReport| {
        let ms = |stage| report.stage(stage) / MS;
        (ms(Stage::RenderWait), ms(Stage::GpuTail), report.gpu_ns.is_some(), report.tail_is_exact)
    };
    assert_eq!(stages(with_gpu(30, 26)), (36, 0, false, true), "no GPU before 31");
    assert_eq!(
        stages(with_gpu(31, 26)),
        (16, 20, true, true),
        "the tail is what the GPU took beyond the swap"
    );
    assert_eq!(stages(with_gpu(32, 2)), (36, 0, true, true));
    assert_eq!(stages(with_gpu(33, 26)), (10, 26, true, false), "at most");
    assert_eq!(stages(with_gpu(36, 90)), (0, 36, true, false));
    let cause = |level, gpu| main_cause(&with_gpu(level, gpu), THIRTIETH);
    assert_eq!(cause(30, 26), Some(FrameCause::RenderWait));
    assert_eq!(cause(31, 36), Some(FrameCause::Gpu), "16 ms of wait, no cause, and a GPU of 36");
    assert_eq!(cause(33, 16), Some(FrameCause::RenderWait), "20 of 36 ms are the wait for certain");
    assert_eq!(cause(33, 26), Some(FrameCause::Gpu));
    assert_eq!(cause(33, 36), Some(FrameCause::Gpu));
    let mut unclear = metrics([4, 4, 5, 6, 6, 5, 5, 5], 76);
    unclear[12] = 20 * MS as i64;
    let unclear = StageReport::from_frame_metrics(34, &unclear).unwrap();
    assert_eq!(
        main_cause(&unclear, 41 * MS),
        Some(FrameCause::Unattributed),
        "36 ms: 16 of them wait for certain"
    );
}

#[test]
fn each_level_has_what_it_has() {
    let known = |level| {
        let mut all = metrics([1; 8], 30);
        (all[12], all[13], all[14]) = (3 * MS as i64, 20 * MS as i64, 77);
        let r = StageReport::from_frame_metrics(level, &all).unwrap();
        (r.vsync_ns.is_some(), r.gpu_ns.is_some(), r.overrun_ns(), r.vsync_id)
    };
    let overrun = Some(10 * MS as i64);
    assert_eq!(known(24), (false, false, None, None));
    assert_eq!(known(26), (true, false, None, None));
    assert_eq!(known(31), (true, true, overrun, None));
    assert_eq!(known(33), (true, true, overrun, None));
    assert_eq!(known(36), (true, true, overrun, Some(77)));
}

#[test]
fn impossible_times_are_rejected_or_not_known() {
    let with = |level, id: usize, value| {
        let mut all = metrics([1; 8], 30);
        all[id] = value;
        StageReport::from_frame_metrics(level, &all)
    };
    for id in 0..9 {
        assert_eq!(with(31, id, -5), Err(Rejected), "{id}");
        assert_eq!(with(31, id, 1 << 62), Err(Rejected), "{id}");
        assert_eq!(with(31, id, i64::MAX), Err(Rejected), "{id}");
    }
    for deadline in [0, -1, 1_000 * MS as i64, 9_200_000_000_000_000_000] {
        assert_eq!(with(31, 13, deadline).unwrap().overrun_ns(), None, "{deadline}");
    }
    assert_eq!(with(31, 13, 1).unwrap().overrun_ns(), Some(30 * MS as i64 - 1));
    assert_eq!(with(31, 12, -1).unwrap().gpu_ns, None);
}

#[test]
fn slow_by_cost_goes_by_the_deadline_or_by_mains_part() {
    let mut early = report(29, [1, 0, 1, 2, 1, 1, 20, 20], 46);
    assert!(!early.is_slow(S60), "what the render thread took is not main's");
    early.deadline_ns = Some(40 * MS);
    assert!(early.is_slow(S60));
    early.deadline_ns = Some(46 * MS);
    assert!(!early.is_slow(S60), "the deadline is met");
    assert!(report(29, [1, 0, 1, 12, 1, 2, 1, 1], 19).is_slow(S60));
}

#[test]
fn a_scene_adds_stages_and_leaves_first_frames_out() {
    let mut scene = SceneStats::new(SceneKind::Named, "Feed");
    let slow = report(29, [1, 0, 2, 30, 4, 1, 3, 1], 42);
    assert_eq!(scene.stages(&slow, S60), Some(FrameCause::LayoutMeasure));
    assert_eq!(scene.stages(&report(29, [1; 8], 8), S60), None);
    let first = StageReport { first_draw: true, total_ns: 900 * MS, ..slow };
    assert_eq!(scene.stages(&first, S60), None);
    assert_eq!(
        scene.stages(&report(29, [600, 0, 0, 0, 150, 1, 1, 1], 753), S60),
        Some(FrameCause::UnknownDelay)
    );
    scene.lost_reports(11);
    scene.duplicate_report();
    scene.rejected_report();
    let sums = scene.sums();
    assert_eq!((sums.staged, sums.first_draw, sums.slow_cost, sums.frozen_cost), (3, 1, 2, 1));
    assert_eq!((sums.lost_reports, sums.duplicates, sums.rejected), (11, 1, 1));
    assert_eq!(sums.stage_ns[Stage::LayoutMeasure.index()], 31 * MS);
    assert_eq!(sums.causes[FrameCause::LayoutMeasure.index()], 1);
    assert_eq!(sums.causes.iter().sum::<u32>(), 2);
    assert_eq!((sums.frames, sums.slow_cadence), (0, 0), "cost is not cadence");
}

#[test]
fn a_record_keeps_what_the_platform_gave() {
    let mut all = metrics([1, 2, 3, 4, 5, 6, 7, 8], 50);
    (all[9], all[12], all[13], all[14]) = (1, 9 * MS as i64, 20 * MS as i64, (7 << 32) + 5);
    let kept = StageReport::from_frame_metrics(36, &all).unwrap().record(2, 70_000, Some(FrameCause::Gpu));
    assert_eq!(kept.stages_us, [1, 2, 3, 4, 5, 6, 7, 8].map(|ms| ms * 1_000));
    assert_eq!((kept.total_us, kept.gpu_us, kept.deadline_us), (50_000, Some(9_000), Some(20_000)));
    assert_eq!((kept.vsync_ns, kept.intended_before_us), (Some(Uptime(1_016 * MS)), Some(16_000)));
    assert_eq!((kept.vsync_id_low, kept.lost, kept.scene), (Some(5), u16::MAX, 2));
    assert_eq!((kept.flags, kept.cause), (FrameFlags::FIRST_DRAW.0 as u8, Some(FrameCause::Gpu)));
}

#[test]
fn the_same_vsync_of_a_window_is_a_duplicate_and_of_another_is_not() {
    let mut seen = Duplicates::default();
    assert!(!seen.is_one(1, Uptime(100)));
    assert!(!seen.is_one(2, Uptime(100)));
    assert!(seen.is_one(1, Uptime(100)));
    assert!(seen.is_one(2, Uptime(100)));
    assert!(!seen.is_one(1, Uptime(200)));
    assert!([3, 4, 5].iter().all(|window| !seen.is_one(*window, Uptime(200))));
    assert!(!seen.is_one(2, Uptime(100)), "forgotten for the fifth window");
    assert!(!seen.is_one(1, Uptime(200)), "forgotten when the second came back");
    assert!(seen.is_one(5, Uptime(200)));
}

#[test]
fn place_names_who_has_half_of_the_delay() {
    let frame = DisplayFrame {
        time_ns: Uptime::ZERO,
        duration_ns: 116 * MS,
        interval: S60,
        flags: FrameFlags::default(),
    };
    let of = |own: Option<u64>, other: Option<u64>, cause| {
        let main = MainThreadTime { own_ns: own.map(|ms| ms * MS), other_ns: other.map(|ms| ms * MS) };
        place(&frame, main, cause)
    };
    assert_eq!(of(Some(121), Some(1), None), Some(JankPlace::OwnMessage), "in the callback, or in layout");
    assert_eq!(of(Some(2), Some(120), None), Some(JankPlace::OtherMessage), "in a message between");
    assert_eq!(
        of(Some(2), Some(1), None),
        Some(JankPlace::OutsideOfMessages),
        "in a touch, inside of nativePollOnce"
    );
    assert_eq!(of(Some(95), Some(1), Some(FrameCause::RenderWait)), Some(JankPlace::AfterMain));
    assert_eq!(of(Some(2), Some(1), Some(FrameCause::Gpu)), Some(JankPlace::AfterMain));
    assert_eq!(of(Some(95), None, Some(FrameCause::LayoutMeasure)), Some(JankPlace::OwnMessage));
    assert_eq!(of(Some(2), Some(120), Some(FrameCause::RenderWait)), Some(JankPlace::OtherMessage));
    assert_eq!(of(None, None, None), None);
    assert_eq!(of(None, None, Some(FrameCause::SwapBuffers)), Some(JankPlace::AfterMain));
}
