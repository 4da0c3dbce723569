//! The records of display frames: bounded lists, harmless names.

use super::limits;
use crate::model::sanitize::sanitize;
use loopbox_format::model::{FrameScene, FrameSession};
use loopbox_format::text::BoundedStr;

pub(super) fn read(session: &FrameSession) -> FrameSession {
    let scene = |scene: &FrameScene| FrameScene {
        name: BoundedStr::new(&sanitize(scene.name.as_str(), limits::NAME_CHARS)),
        ..*scene
    };
    FrameSession {
        scenes: session.scenes.iter().take(limits::SCENES).map(scene).collect(),
        gestures: newest(&session.gestures),
        janks: newest(&session.janks),
        recent: newest(&session.recent),
        stages: newest(&session.stages),
    }
}

fn newest<T: Clone>(list: &[T]) -> Vec<T> {
    list[list.len().saturating_sub(limits::DISPLAY_FRAMES)..].to_vec()
}
