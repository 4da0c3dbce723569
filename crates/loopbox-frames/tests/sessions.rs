//! Which frames belong to a scroll, and which scrolls belong to a finger.

mod common;

use common::{MS, S60, hz};
use loopbox_format::model::{FrameFlags, FrameGesture, Uptime};
use loopbox_frames::{Cadence, DisplayFrame, Gestures, RefreshInterval};

/// A display with its refreshes, an app that scrolls in some frames, and the callbacks that were requested.
struct Screen {
    cadence: Cadence,
    interval: RefreshInterval,
    vsync_ns: Uptime,
    callback: bool,
    asked: u32,
    counted: Vec<DisplayFrame>,
}

impl Screen {
    fn new(interval: RefreshInterval) -> Self {
        let cadence = Cadence::new();
        Self {
            cadence,
            interval,
            vsync_ns: Uptime(2_390_145_763_393),
            callback: false,
            asked: 0,
            counted: Vec::new(),
        }
    }

    /// One frame, after this many refreshes: first the callback if one was requested, then the views.
    fn frame(&mut self, refreshes: u64, scrolls: bool) {
        self.vsync_ns += refreshes * self.interval.ns();
        if std::mem::take(&mut self.callback) {
            let tick = self.cadence.frame(self.vsync_ns, self.interval);
            self.counted.extend(tick.finished);
            self.ask(tick.ask_again);
        }
        if scrolls {
            // A second view that scrolls in the same frame changes nothing.
            let asks = self.cadence.scrolled(self.vsync_ns.0 / MS);
            assert!(!self.cadence.scrolled(self.vsync_ns.0 / MS));
            self.ask(asks);
        }
    }

    fn ask(&mut self, asks: bool) {
        assert!(!(asks && self.callback), "one callback at a time");
        self.asked += u32::from(asks);
        self.callback |= asks;
    }

    fn durations(&self) -> Vec<u64> {
        self.counted.iter().map(|frame| frame.duration_ns / self.interval.ns()).collect()
    }
}

#[test]
fn the_first_frame_of_a_scroll_is_not_lost_and_the_clock_stops_with_it() {
    for rate in [60.0, 90.0, 120.0, 144.0] {
        let mut screen = Screen::new(hz(rate));
        screen.frame(1, false);
        let first_ns = screen.vsync_ns + screen.interval.ns();
        [1, 1, 1, 4, 1].into_iter().for_each(|refreshes| screen.frame(refreshes, true));
        (0..20).for_each(|_| screen.frame(1, false));
        assert_eq!(screen.durations(), [1, 1, 4, 1, 1], "{rate} Hz");
        assert_eq!(screen.counted[0].time_ns, first_ns, "to the nanosecond, from a clock in ms");
        assert_eq!(screen.asked, 5, "one vsync for each frame that scrolled, none afterwards");
        let flags: Vec<_> = screen.counted.iter().map(|frame| frame.flags).collect();
        assert_eq!(flags[0], FrameFlags::SCROLLED.with(FrameFlags::BEGINS));
        assert!(flags[1..].iter().all(|flags| *flags == FrameFlags::SCROLLED));
    }
}

#[test]
fn frames_that_do_not_scroll_are_not_counted_and_end_the_session() {
    let mut screen = Screen::new(S60);
    for scrolls in [true, false, true, true, false, false, true, false] {
        screen.frame(1, scrolls);
    }
    let begins: Vec<_> = screen.counted.iter().map(|f| f.flags.has(FrameFlags::BEGINS)).collect();
    assert_eq!((screen.durations(), begins), (vec![1; 4], vec![true, true, false, true]));
}

#[test]
fn a_stall_right_after_the_first_frame_counts_though_no_callback_ran_before() {
    let mut screen = Screen::new(S60);
    screen.frame(1, true);
    screen.frame(44, true);
    screen.frame(1, false);
    assert_eq!(screen.durations(), [44, 1]);
    assert_eq!(screen.counted[0].dropped(), 43);
}

#[test]
fn a_scroll_that_is_noticed_outside_of_a_frame_begins_at_a_refresh() {
    let mut cadence = Cadence::new();
    let vsync = 5_000 * MS;
    assert!(cadence.scrolled(vsync / MS + 9));
    let tick = cadence.frame(Uptime(vsync + S60.ns()), S60);
    let frame = tick.finished.unwrap();
    assert_eq!((frame.time_ns, frame.duration_ns), (Uptime(vsync), S60.ns()));
    assert!(frame.flags.has(FrameFlags::ASKED_LATE.with(FrameFlags::BEGINS)));
}

#[test]
fn old_displays_that_jitter_keep_their_exact_times() {
    let mut cadence = Cadence::new();
    let mut time_ns = 1_000 * MS + 300;
    let mut durations = Vec::new();
    for duration in [16_200_000, 17_100_000, 69_000_000, 15_000_000] {
        cadence.scrolled(time_ns / MS);
        time_ns += duration;
        durations.extend(cadence.frame(Uptime(time_ns), S60).finished.map(|frame| frame.duration_ns));
    }
    // The first is put onto the grid, since its own time is known to a millisecond.
    assert_eq!(durations, [16_666_667, 17_100_000, 69_000_000, 15_000_000]);
}

#[test]
fn a_clock_that_stands_or_goes_back_makes_no_frame() {
    let mut cadence = Cadence::new();
    cadence.scrolled(1_000);
    assert!(cadence.frame(Uptime(1_016 * MS), S60).finished.is_some());
    cadence.scrolled(1_016);
    assert_eq!(cadence.frame(Uptime(1_016 * MS), S60).finished, None);
    cadence.scrolled(1_016);
    assert_eq!(cadence.frame(Uptime(900 * MS), S60).finished.map(|f| f.duration_ns), None);
    cadence.scrolled(u64::MAX);
    assert!(cadence.frame(Uptime(2_000 * MS), S60).finished.is_some());
}

#[test]
fn an_animation_counts_each_frame_until_it_ends_and_at_most_ten_seconds() {
    let mut screen = Screen::new(S60);
    let asks = screen.cadence.begin_animation();
    screen.ask(asks);
    assert!(!screen.cadence.begin_animation());
    [1, 1, 3, 1].into_iter().for_each(|refreshes| screen.frame(refreshes, false));
    assert_eq!(screen.durations(), [1, 3, 1]);
    assert_eq!(screen.counted[0].flags, FrameFlags::ANIMATION.with(FrameFlags::BEGINS));
    assert_eq!(screen.counted[1].flags, FrameFlags::ANIMATION);
    screen.cadence.end_animation();
    screen.frame(1, false);
    screen.frame(1, false);
    assert_eq!(screen.counted.len(), 3);
    assert!(!screen.callback, "no vsync is asked for when it has ended");

    let mut forgotten = Screen::new(S60);
    let asks = forgotten.cadence.begin_animation();
    forgotten.ask(asks);
    (0..1_000).for_each(|_| forgotten.frame(1, false));
    assert_eq!(forgotten.counted.len(), 600);
    assert!(!forgotten.callback);
}

/// Frames of 60 Hz that scroll, from `from_ms` on.
fn scroll(gestures: &mut Gestures, from_ms: u64, frames: u64) -> Vec<FrameGesture> {
    let frame = |k| DisplayFrame {
        time_ns: Uptime(from_ms * MS + k * S60.ns()),
        duration_ns: S60.ns(),
        interval: S60,
        flags: FrameFlags::SCROLLED,
    };
    (0..frames).filter_map(|k| gestures.frame(&frame(k), 3)).collect()
}

#[test]
fn a_gesture_lasts_from_the_touch_until_the_fling_ends() {
    let mut gestures = Gestures::new();
    assert_eq!(gestures.down(Uptime(1_000 * MS)), None);
    gestures.moved(Uptime(1_016 * MS), 4.0);
    assert_eq!(gestures.flags(), FrameFlags::default());
    gestures.moved(Uptime(1_024 * MS), 12.0);
    assert_eq!(gestures.flags(), FrameFlags::FINGER);
    scroll(&mut gestures, 1_030, 12);
    gestures.up(Uptime(1_230 * MS));
    assert_eq!(gestures.flags(), FrameFlags::FINGER.with(FrameFlags::FLING));
    scroll(&mut gestures, 1_230, 12);
    assert_eq!(gestures.idle(Uptime(1_530 * MS)), None, "less than 100 ms of quiet");
    let gesture = gestures.idle(Uptime(1_531 * MS)).unwrap();
    assert_eq!((gesture.begin_ns, gesture.duration_ms), (Uptime(1_000 * MS), 430));
    assert_eq!((gesture.finger_ms, gesture.fling_ms, gesture.frames), (230, 200, 24));
    assert_eq!((gesture.scene, gesture.number, gesture.hitch_ns), (3, 1, 0));
    assert_eq!(gesture.flags, FrameFlags::FINGER.with(FrameFlags::FLING));
    assert_eq!(gesture.interval_sum_us, 24 * 16_666);
    assert_eq!(gestures.idle(Uptime(9_000 * MS)), None);
}

#[test]
fn a_slow_finger_is_one_by_its_time_and_holds_the_gesture_open() {
    let mut gestures = Gestures::new();
    gestures.down(Uptime(1_000 * MS));
    gestures.moved(Uptime(1_100 * MS), 7.9);
    assert_eq!(gestures.flags(), FrameFlags::default(), "not yet: both limits are strict");
    gestures.moved(Uptime(1_101 * MS), 7.9);
    scroll(&mut gestures, 1_101, 6);
    assert_eq!(gestures.idle(Uptime(5_000 * MS)), None, "held still, the frame clock is off");
    scroll(&mut gestures, 5_000, 6);
    gestures.up(Uptime(5_200 * MS));
    let gesture = gestures.idle(Uptime(5_400 * MS)).unwrap();
    assert_eq!((gesture.frames, gesture.duration_ms, gesture.fling_ms), (12, 4_200, 0));
    assert_eq!((gesture.sum_ns, gesture.flags), (12 * S60.ns(), FrameFlags::FINGER));
}

#[test]
fn a_tap_is_no_gesture_and_a_scroll_by_the_program_no_fingers() {
    let mut gestures = Gestures::new();
    gestures.down(Uptime(1_000 * MS));
    gestures.up(Uptime(1_050 * MS));
    assert_eq!(gestures.idle(Uptime(2_000 * MS)), None);
    scroll(&mut gestures, 2_000, 6);
    let gesture = gestures.idle(Uptime(3_000 * MS)).unwrap();
    assert_eq!((gesture.flags, gesture.frames, gesture.number), (FrameFlags::default(), 6, 1));
    assert_eq!((gesture.begin_ns, gesture.duration_ms, gesture.finger_ms), (Uptime(2_000 * MS), 100, 0));
}

#[test]
fn a_touch_stops_the_fling_before_it_and_begins_another_gesture() {
    let mut gestures = Gestures::new();
    gestures.down(Uptime(1_000 * MS));
    scroll(&mut gestures, 1_000, 6);
    gestures.up(Uptime(1_100 * MS));
    scroll(&mut gestures, 1_100, 6);
    let first = gestures.down(Uptime(1_200 * MS)).unwrap();
    assert_eq!((first.number, first.frames), (1, 12));
    scroll(&mut gestures, 1_200, 6);
    gestures.up(Uptime(1_300 * MS));
    // Nothing asked whether the second is over; the next scroll finds out.
    let ended = scroll(&mut gestures, 4_000, 3);
    assert_eq!(ended.iter().map(|g| (g.number, g.frames)).collect::<Vec<_>>(), [(2, 6)]);
    assert_eq!(gestures.end().map(|g| (g.number, g.frames)), Some((3, 3)));
}

#[test]
fn a_gesture_has_its_worst_windows() {
    let mut gestures = Gestures::new();
    for frame in common::article() {
        assert_eq!(gestures.frame(&frame, 2), None);
    }
    let gesture = gestures.end().unwrap();
    assert_eq!((gesture.frames, gesture.sum_ns, gesture.longest_us), (83, 1_535 * MS, 98_000));
    assert_eq!((gesture.windows, gesture.hitch_ns), (3, 11 * S60.ns()));
    let worst = gesture.worst.map(|w| (w.first_frame + 1, w.frames, w.duration_us / 1_000));
    assert_eq!(worst, [(26, 3, 127), (7, 3, 100), (17, 5, 114)], "the lowest FPS first");
}

#[test]
fn a_finger_that_holds_still_ends_a_window() {
    let mut gestures = Gestures::new();
    gestures.down(Uptime::ZERO);
    let frame = |time_ms: u64, flags| DisplayFrame {
        time_ns: Uptime(time_ms * MS),
        duration_ns: 50 * MS,
        interval: S60,
        flags,
    };
    gestures.frame(&frame(100, FrameFlags::SCROLLED.with(FrameFlags::BEGINS)), 2);
    gestures.frame(&frame(900, FrameFlags::SCROLLED.with(FrameFlags::BEGINS)), 2);
    let gesture = gestures.end().unwrap();
    assert_eq!(gesture.worst.map(|w| w.frames), [1, 1, 0], "two, and not one of 100 ms");
}
