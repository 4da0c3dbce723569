//! The terms of display frames: levels, stages, causes, places, flags. Their order is part of the format:
//! records and sums refer to them by position, and new ones are only appended.

#[cfg(doc)]
use super::FrameScene;

/// How many frames a display frame dropped, in five levels. Their limits are those of Matrix's `FrameTracer`,
/// taken as times: 50, 150, 400 and 700 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropLevel {
    /// The dropped frames last less than 3 frames of 60 Hz: 50 ms.
    Best,
    /// From 3 frames of 60 Hz on: 50 ms.
    Normal,
    /// From 9 frames of 60 Hz on: 150 ms.
    Middle,
    /// From 24 frames of 60 Hz on: 400 ms.
    High,
    /// From 42 frames of 60 Hz on: 700 ms.
    Frozen,
}

impl DropLevel {
    /// All levels, in the order of [`FrameScene::level_frames`].
    pub const ALL: [Self; 5] = [Self::Best, Self::Normal, Self::Middle, Self::High, Self::Frozen];

    /// Position in [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A stage of a frame on its way to the display, in order. The sum of all stages is the frame's total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// From the intended vsync until the main thread began: `UNKNOWN_DELAY_DURATION`.
    UnknownDelay,
    /// `INPUT_HANDLING_DURATION`.
    Input,
    /// `ANIMATION_DURATION`.
    Animation,
    /// `LAYOUT_MEASURE_DURATION`.
    LayoutMeasure,
    /// `DRAW_DURATION`.
    Draw,
    /// The main thread has finished its part and waits for the render thread to take the frame. The platform
    /// counts this time in its total, but in none of its stages.
    RenderWait,
    /// `SYNC_DURATION`.
    Sync,
    /// `COMMAND_ISSUE_DURATION`.
    CommandIssue,
    /// `SWAP_BUFFERS_DURATION`.
    SwapBuffers,
    /// The part of the platform's total after its last stage: the GPU's work after the buffers were swapped
    /// (API 31 and newer).
    GpuTail,
}

impl Stage {
    /// All stages, in the order of [`FrameScene::stage_ns`].
    pub const ALL: [Self; 10] = [
        Self::UnknownDelay,
        Self::Input,
        Self::Animation,
        Self::LayoutMeasure,
        Self::Draw,
        Self::RenderWait,
        Self::Sync,
        Self::CommandIssue,
        Self::SwapBuffers,
        Self::GpuTail,
    ];

    /// Position in [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The main cause of a slow frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameCause {
    /// [`Stage::UnknownDelay`]: the main thread was busy with something else.
    UnknownDelay,
    /// [`Stage::Input`].
    Input,
    /// [`Stage::Animation`].
    Animation,
    /// [`Stage::LayoutMeasure`].
    LayoutMeasure,
    /// [`Stage::Draw`].
    Draw,
    /// [`Stage::RenderWait`].
    RenderWait,
    /// [`Stage::Sync`].
    Sync,
    /// [`Stage::CommandIssue`].
    CommandIssue,
    /// [`Stage::SwapBuffers`].
    SwapBuffers,
    /// The render thread or the GPU; on this API level the platform does not report which.
    Unattributed,
    /// The GPU.
    Gpu,
    /// No stage took more than half of the threshold.
    None,
}

impl FrameCause {
    /// All causes, in the order of [`FrameScene::causes`].
    pub const ALL: [Self; 12] = [
        Self::UnknownDelay,
        Self::Input,
        Self::Animation,
        Self::LayoutMeasure,
        Self::Draw,
        Self::RenderWait,
        Self::Sync,
        Self::CommandIssue,
        Self::SwapBuffers,
        Self::Unattributed,
        Self::Gpu,
        Self::None,
    ];

    /// Position in [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Where the time of a jank frame went, as far as the main thread and the stages show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JankPlace {
    /// The frame's own message.
    OwnMessage,
    /// Another message, before the next frame could begin.
    OtherMessage,
    /// The main thread outside of messages: it handled input or a descriptor's callback, or waited for a
    /// processor.
    OutsideOfMessages,
    /// Not the main thread: the render thread, the GPU or the system.
    AfterMain,
}

impl JankPlace {
    /// All places, in the order of their bytes.
    pub const ALL: [Self; 4] =
        [Self::OwnMessage, Self::OtherMessage, Self::OutsideOfMessages, Self::AfterMain];
}

/// Yes-or-no facts of a display frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameFlags(pub u16);

impl FrameFlags {
    /// A view scrolled in the frame.
    pub const SCROLLED: Self = Self(1);
    /// The frame scrolled in a gesture in which a finger has moved for longer than the tap time-out or
    /// further than the touch slop. The finger may have been lifted since.
    pub const FINGER: Self = Self(1 << 1);
    /// The frame scrolled after the finger of its gesture was lifted.
    pub const FLING: Self = Self(1 << 2);
    /// The first frame of a new window, by the platform's report of its stages. It never counts as jank.
    pub const FIRST_DRAW: Self = Self(1 << 3);
    /// `onScrollChanged` was called outside of a frame. So the callback for the next frame was requested
    /// late.
    pub const ASKED_LATE: Self = Self(1 << 4);
    /// The first frame of a session.
    pub const BEGINS: Self = Self(1 << 5);
    /// An animation that the app named was running. A view may have scrolled in the frame as well.
    pub const ANIMATION: Self = Self(1 << 8);

    /// Whether all of `other` hold.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags when `holds`, else none.
    #[must_use]
    pub const fn when(self, holds: bool) -> Self {
        if holds { self } else { Self(0) }
    }

    /// These flags and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Which frames a [`FrameScene`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SceneKind {
    /// The sums of one screen.
    #[default]
    Named,
    /// The sums of all screens for which the table had no room.
    Other,
    /// The sums of the whole process.
    Process,
}

impl SceneKind {
    /// All kinds, in the order of their bytes.
    pub const ALL: [Self; 3] = [Self::Named, Self::Other, Self::Process];
}
