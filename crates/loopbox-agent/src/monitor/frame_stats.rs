//! The figures of display frames as Java reads them (`FrameStats.java`).

use loopbox_format::model::{FrameCause, FrameGesture, FrameScene, FrameSession, Named};

/// What a line of a gesture begins with; a line of a screen begins with the screen's kind.
const GESTURE: u64 = 3;

/// A line for each screen and for each of the newest gestures: numbers, separated by tabs. A screen's line
/// also has the screen's name, then `CAUSE=FRAMES` for each cause of slow frames.
pub(crate) fn lines(session: &FrameSession) -> String {
    let mut text = String::new();
    for scene in &session.scenes {
        scene_numbers(scene).into_iter().for_each(|number| put(&mut text, number));
        text.push_str(scene.name.as_str());
        for (cause, frames) in FrameCause::ALL.into_iter().zip(scene.causes).filter(|(_, frames)| *frames > 0)
        {
            text.push('\t');
            text.push_str(cause.name());
            text.push('=');
            text.push_str(&frames.to_string());
        }
        text.push('\n');
    }
    for gesture in &session.gestures {
        put(&mut text, GESTURE);
        gesture_numbers(gesture).into_iter().for_each(|number| put(&mut text, number));
        text.push('\n');
    }
    text
}

fn put(text: &mut String, number: u64) {
    text.push_str(&number.to_string());
    text.push('\t');
}

fn scene_numbers(scene: &FrameScene) -> [u64; 16] {
    let ideal = |sum: u64, frames: u32, interval_ns: u32| {
        sum.saturating_add(u64::from(frames).saturating_mul(interval_ns.into()))
    };
    [
        scene.kind as u64,
        scene.frames.into(),
        scene.sum_ns,
        scene.rates.iter().fold(0, |sum, rate| ideal(sum, rate.frames, rate.interval_ns)),
        scene.rates.iter().fold(0, |sum, rate| rate.sum_ns.saturating_add(sum)),
        scene.hitch_ns,
        scene.longest_us.into(),
        scene.level_dropped.into_iter().fold(0, u64::saturating_add),
        scene.slow_cadence.into(),
        scene.frozen_cadence.into(),
        scene.windows_recorded.into(),
        scene.gestures.into(),
        scene.scroll.frames.into(),
        scene.scroll.sum_ns,
        scene.scroll.hitch_ns,
        scene.lost_reports.into(),
    ]
}

/// A gesture as `FrameGesture.java` has it.
pub(crate) fn gesture_numbers(gesture: &FrameGesture) -> [u64; 12] {
    [
        gesture.begin_ns.0,
        gesture.duration_ms.into(),
        gesture.finger_ms.into(),
        gesture.fling_ms.into(),
        gesture.frames.into(),
        gesture.sum_ns,
        gesture.hitch_ns,
        gesture.longest_us.into(),
        gesture.frozen.into(),
        gesture.windows.into(),
        gesture.ordinal.into(),
        gesture.flags.0.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::Uptime;
    use loopbox_format::model::{FrameFlags, RateFrames, SceneKind};
    use loopbox_format::text::BoundedStr;

    #[test]
    fn each_screen_and_each_gesture_has_a_line() {
        let mut scene = FrameScene {
            name: BoundedStr::new("a.Feed"),
            kind: SceneKind::Named,
            frames: 3,
            sum_ns: 60,
            hitch_ns: 20,
            longest_us: 7,
            level_dropped: [1, 2, 0, 0, 4],
            slow_cadence: 2,
            frozen_cadence: 1,
            windows_recorded: 9,
            gestures: 1,
            lost_reports: 11,
            ..FrameScene::default()
        };
        scene.rates[0] = RateFrames { interval_ns: 16, frames: 2, sum_ns: 33 };
        scene.rates[1] = RateFrames { interval_ns: 8, frames: 1, sum_ns: 27 };
        scene.causes[FrameCause::LayoutMeasure.index()] = 5;
        scene.causes[FrameCause::None.index()] = 1;
        let gesture = FrameGesture {
            begin_ns: Uptime(100),
            frames: 4,
            ordinal: 2,
            flags: FrameFlags::FINGER,
            ..FrameGesture::default()
        };
        let process = FrameScene { kind: SceneKind::Process, ..FrameScene::default() };
        let session =
            FrameSession { scenes: vec![process, scene], gestures: vec![gesture], ..FrameSession::default() };
        assert_eq!(
            lines(&session).replace('\t', " "),
            "2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \n\
             0 3 60 40 60 20 7 7 2 1 9 1 0 0 0 11 a.Feed layout_measure=5 none=1\n\
             3 100 0 0 0 4 0 0 0 0 0 2 2 \n"
        );
    }
}
