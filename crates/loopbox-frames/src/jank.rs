//! Jank frames: which ones get a record, and where their time was spent.

use crate::display_frame::DisplayFrame;
use loopbox_format::model::{FrameCause, JankPlace};

/// Whether a frame gets a record: it was shown for three refreshes or more, or longer than `jank_ns`.
pub fn is_jank(frame: &DisplayFrame, jank_ns: u64) -> bool {
    frame.dropped() >= 2 || frame.duration_ns > jank_ns
}

/// What is known about the main thread while a frame was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MainThreadTime {
    /// Time in the frame's own message.
    pub own_ns: Option<u64>,
    /// Time in the slowest other message.
    pub other_ns: Option<u64>,
}

/// Where a late frame lost its time: the first of these places that applies.
///
/// * Another message, when it took longer than the frame's own message and at least half of the delay (the
///   frame's duration beyond one interval).
/// * After main's part, when `cause` is the wait for the render thread, the work of that thread after the
///   sync, or the GPU. The frame's own message may then be long only because it waits for the render thread.
/// * The frame's own message, when it took at least half of the delay.
/// * Main outside of messages: it was in `nativePollOnce`, for input and other descriptors, or had no
///   processor.
///
/// `None` when none of the first three applies and the time of no message is known.
pub fn place(frame: &DisplayFrame, main: MainThreadTime, cause: Option<FrameCause>) -> Option<JankPlace> {
    let explains = |ns: Option<u64>| ns.is_some_and(|ns| ns.saturating_mul(2) >= frame.hitch_exact_ns());
    let behind_main = cause.is_some_and(|cause| {
        matches!(
            cause,
            FrameCause::RenderWait
                | FrameCause::CommandIssue
                | FrameCause::SwapBuffers
                | FrameCause::Unattributed
                | FrameCause::Gpu
        )
    });
    if explains(main.other_ns) && main.other_ns > main.own_ns {
        Some(JankPlace::OtherMessage)
    } else if behind_main {
        Some(JankPlace::AfterMain)
    } else if explains(main.own_ns) {
        Some(JankPlace::OwnMessage)
    } else if main == MainThreadTime::default() {
        None
    } else {
        Some(JankPlace::OutsideOfMessages)
    }
}
