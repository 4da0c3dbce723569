//! The screens of a process: a table of fixed size.

use crate::display_frame::DisplayFrame;
use crate::interval::RefreshInterval;
use crate::scene::SceneStats;
use crate::stages::StageReport;
use loopbox_format::model::{FrameCause, FrameGesture, FrameScene, SceneKind};

/// The position of the sums of the whole process.
const PROCESS: usize = 0;
/// The entry that counts the frames of all screens for which the table has no room.
const OTHER: usize = 1;

/// A screen in a [`Scenes`], given by its position in [`Scenes::records`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SceneId(u16);

impl SceneId {
    /// The number by which records refer to it.
    pub const fn index(self) -> u16 {
        self.0
    }
}

/// The sums of each screen, of all other screens, and of the process. A screen allocates memory when its
/// first frame comes, and never after that.
#[derive(Debug, Clone)]
pub struct Scenes {
    table: Vec<SceneStats>,
    limit: usize,
}

impl Scenes {
    /// How many screens have separate sums, unless it is set otherwise.
    pub const DEFAULT_LIMIT: usize = 16;

    /// Creates entries for at most `limit` screens.
    pub fn new(limit: usize) -> Self {
        let mut table = Vec::with_capacity(OTHER + 1);
        table.push(SceneStats::new(SceneKind::Process, ""));
        table.push(SceneStats::new(SceneKind::Other, ""));
        Self { table, limit: limit + 2 }
    }

    /// How many screens have separate sums.
    pub fn limit(&self) -> usize {
        self.limit.saturating_sub(OTHER + 1)
    }

    /// The screen with this name, or the entry of other screens when the table is full.
    pub fn scene(&mut self, name: &str) -> SceneId {
        // A name is cut as it is kept, so that a long one is found again.
        let wanted = SceneStats::new(SceneKind::Named, name);
        let known = self.table.iter().skip(OTHER + 1).position(|scene| scene.name() == wanted.name());
        let index = match known {
            Some(at) => at + OTHER + 1,
            None if self.table.len() < self.limit => {
                // A table that doubles would be half empty where an app has few screens.
                self.table.reserve_exact(1);
                self.table.push(wanted);
                self.table.len() - 1
            }
            None => OTHER,
        };
        SceneId(index as u16)
    }

    /// The sums of the screen with this name, if it has a separate entry.
    pub fn named(&self, name: &str) -> Option<&FrameScene> {
        let wanted = SceneStats::new(SceneKind::Named, name);
        self.records().skip(OTHER + 1).find(|scene| scene.name == wanted.sums().name)
    }

    /// The entry for frames of screens without a separate entry.
    pub const fn others(&self) -> SceneId {
        SceneId(OTHER as u16)
    }

    /// Counts a frame of a screen.
    pub fn frame(&mut self, scene: SceneId, frame: &DisplayFrame) {
        self.both(scene, |sums| sums.frame(frame));
    }

    /// Counts the main thread's part of a frame.
    pub fn main_part(&mut self, scene: SceneId, main_ns: u64, interval: RefreshInterval) {
        self.both(scene, |sums| sums.main_part(main_ns, interval));
    }

    /// Counts the stages of a frame; returns its main cause when it was slow.
    pub fn stages(
        &mut self,
        scene: SceneId,
        report: &StageReport,
        interval: RefreshInterval,
    ) -> Option<FrameCause> {
        let mut cause = None;
        self.both(scene, |sums| cause = sums.stages(report, interval));
        cause
    }

    /// Counts a gesture, and gives it a number on its screen.
    pub fn gesture(&mut self, gesture: &mut FrameGesture) {
        let mut on_screen = *gesture;
        self.both(SceneId(gesture.scene), |sums| sums.gesture(&mut on_screen));
        *gesture = on_screen;
    }

    /// Changes the sums of a screen and of the process.
    pub fn both(&mut self, scene: SceneId, mut change: impl FnMut(&mut SceneStats)) {
        if let Some(process) = self.table.get_mut(PROCESS) {
            change(process);
        }
        if let Some(sums) =
            self.table.get_mut(usize::from(scene.0)).filter(|_| usize::from(scene.0) != PROCESS)
        {
            change(sums);
        }
    }

    /// Ends the session on all screens: no jank window continues in the next one.
    pub fn end_session(&mut self) {
        self.table.iter_mut().for_each(SceneStats::end_session);
    }

    /// The sums: first the process's, then those of all screens without a separate entry, then each screen's
    /// in the order in which the screens appeared.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &FrameScene> {
        self.table.iter().map(SceneStats::sums)
    }
}
