//! Jank frames: how long, where the time went, and which code.

use super::gestures::longest_first;
use crate::model::name::Name;
use crate::model::plural::listed;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, MergedTree, token};
use loopbox_format::model::{FrameCause, JankFrame, JankPlace, Named, Token};
use loopbox_frames::RefreshInterval;
use schemars::JsonSchema;
use serde::Serialize;

/// How many of the longest jank frames are kept.
const LONGEST: usize = 50;
/// The names of the bits of `JankData` (API 36 and later).
const JANK_TYPES: [(u32, &str); 3] = [(1, "composer"), (2, "application"), (4, "other")];

/// A frame that stood too long.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct JankView {
    /// The file of the report.
    pub path: String,
    /// The name of the frame's screen.
    pub scene: String,
    /// When the frame began, relative to the dump.
    pub at_ms: f64,
    /// How long the frame was shown.
    pub duration_ms: f64,
    /// The number of refreshes for which the frame was shown. `None` when the recorded refresh interval is
    /// impossible for a display.
    pub refreshes: Option<u64>,
    /// The number of the frame's gesture in the process; `None` outside of gestures.
    pub gesture: Option<u32>,
    /// Where the time went.
    pub place: Option<Name<JankPlace>>,
    /// The main cause by the frame's stages.
    pub cause: Option<Name<FrameCause>>,
    /// What SurfaceFlinger reports about the frame; `None` when it was not asked.
    #[serde(rename = "judged")]
    pub jank_type: Option<String>,
    /// The duration of the message that drew the frame.
    pub own_ms: Option<f64>,
    /// The duration of the slowest other message. Other messages are those that ran before the next frame and
    /// did not draw this one.
    pub other_ms: Option<f64>,
    /// The message whose stacks `method` and `stack` come from: `message #46`, or `outside of messages, after
    /// #45`. `None` without stacks.
    pub tree: Option<String>,
    /// The method to inspect first, from the hot path of the stacks, as a line of a Java stack trace.
    pub method: Option<String>,
    /// The hot path of the stacks from the outside in, as lines of a Java stack trace.
    pub stack: Vec<String>,
}

impl JankView {
    pub(crate) fn new(a: &Analysis, jank: &JankFrame, scene: String, path: &str) -> Self {
        let interval = RefreshInterval::from_ns(jank.interval_ns.into());
        let tree_token = tree_token(a, jank);
        let (method, stack) = tree_token.map_or((None, Vec::new()), |token| hot_path(a, token));
        Self {
            path: path.into(),
            scene,
            at_ms: ms_between(jank.frame_time_ns, a.dump_ns),
            duration_ms: ms(jank.duration_ns),
            refreshes: interval.map(|interval| interval.refreshes(jank.duration_ns)),
            gesture: jank.gesture,
            place: jank.place.map(Name),
            cause: jank.cause.map(Name),
            jank_type: jank.jank_type.map(jank_type),
            own_ms: jank.own_ns.map(ms),
            other_ms: jank.other_ns.map(ms),
            tree: tree_token.map(token::title),
            method,
            stack,
        }
    }

    /// Where the frame's time went, in words: `own message 91 ms, layout_measure, ImageCell.bind`.
    pub(crate) fn in_words(&self) -> String {
        let time = |what: &str, ms: Option<f64>| match ms {
            Some(ms) => format!("{what} {}", crate::model::format_ms(ms)),
            None => what.to_string(),
        };
        let place = match self.place.map(|place| place.0) {
            Some(JankPlace::OwnMessage) => time("own message", self.own_ms),
            Some(JankPlace::OtherMessage) => time("another message", self.other_ms),
            Some(JankPlace::OutsideOfMessages) => "main outside of messages".into(),
            Some(JankPlace::AfterMain) => "after main".into(),
            None => "not known where".into(),
        };
        let cause =
            self.cause.filter(|cause| cause.0 != FrameCause::None).map(|cause| cause.0.name().to_owned());
        let jank_type = self.jank_type.as_ref().map(|who| format!("jank type {who}"));
        let parts = [Some(place), cause, jank_type, self.method.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The message that delayed the frame; `None` when no message delayed it, or when the message is not known.
pub(crate) fn message_token(jank: &JankFrame) -> Option<Token> {
    match jank.place {
        Some(JankPlace::OwnMessage) => jank.own_token,
        Some(JankPlace::OtherMessage) => jank.other_token,
        _ => None,
    }
}

/// The token of the stack tree that shows why the frame was on the display for too long. The tree is the one
/// that the recorder chose, or else that of the message that delayed the frame. `None` when there is no such
/// tree, or the report does not have it.
pub(crate) fn tree_token(a: &Analysis, jank: &JankFrame) -> Option<Token> {
    jank.tree_token.or_else(|| message_token(jank)).filter(|token| a.tree(*token).is_some())
}

fn jank_type(mask: u32) -> String {
    let known = JANK_TYPES.iter().filter(|(bit, _)| mask & bit != 0);
    let mut names: Vec<String> = known.map(|(_, name)| (*name).to_owned()).collect();
    let newer = JANK_TYPES.iter().fold(mask, |left, (bit, _)| left & !bit);
    if newer != 0 {
        names.push(format!("type {newer}"));
    }
    if names.is_empty() { "in time".into() } else { listed(&names) }
}

fn hot_path(a: &Analysis, token: Token) -> (Option<String>, Vec<String>) {
    let Some(tree) = a.tree(token).filter(|tree| tree.samples() > 0) else { return (None, Vec::new()) };
    let merged = MergedTree::folded([tree], &a.frames);
    let path = merged.hot_path();
    let own = a.frames.first_own(path.iter().rev(), |node| node.frame).or(path.last());
    let method = own.map(|node| a.frames[node.frame].full());
    (method, path.iter().map(|node| a.frames[node.frame].full()).collect())
}

/// Sorts the jank frames by duration and keeps the longest. The order does not depend on the threads that
/// read the reports.
pub(super) fn keep_longest(janks: &mut Vec<JankView>) {
    longest_first(janks, LONGEST, |jank| {
        let us = (jank.duration_ms * 1e3) as u64;
        (us, format!("{} {:020.3}", jank.path, -jank.at_ms))
    });
}

/// When more jank frames than this are collected, only the longest are kept.
pub(super) const MANY: usize = 4 * LONGEST;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_jank_type_is_a_number_and_not_in_time() {
        assert_eq!(
            (jank_type(0), jank_type(2), jank_type(3)),
            ("in time".into(), "application".into(), "composer and application".into())
        );
        assert_eq!((jank_type(8), jank_type(26)), ("type 8".into(), "application and type 24".into()));
    }
}
