//! The app's switch: a file that any process of the app makes, while this one records.

use loopbox_format::model::Uptime;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often a thread that is awake for another reason looks, at the most.
const EVERY_NS: u64 = 1_000_000_000;

/// It was read at the installation, and the recorder was on.
#[derive(Debug, Default)]
pub(crate) struct KillSwitch {
    /// Is there while the recorder is off; none where there is no switch.
    file: Option<PathBuf>,
    looked_ns: AtomicU64,
    is_off: AtomicBool,
}

impl KillSwitch {
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Whether it was found to be off. It stays so.
    pub(crate) fn is_off(&self) -> bool {
        self.is_off.load(Ordering::SeqCst)
    }

    /// Looks when the last look was a second ago. Waits for the disk. Returns whether this look found it off
    /// first.
    pub(crate) fn look(&self, now_ns: Uptime) -> bool {
        let due = now_ns.since(Uptime(self.looked_ns.load(Ordering::SeqCst))) >= EVERY_NS;
        due && self.look_now(now_ns)
    }

    /// Looks at once. A file that cannot be looked at leaves the answer as it was.
    pub(crate) fn look_now(&self, now_ns: Uptime) -> bool {
        self.looked_ns.store(now_ns.0, Ordering::SeqCst);
        let is_there = self.file.as_ref().is_some_and(|file| fs::symlink_metadata(file).is_ok());
        is_there && !self.is_off.swap(true, Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_off_from_the_first_look_that_finds_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("off");
        let switch = KillSwitch::new(Some(file.clone()));
        assert!(!switch.look(Uptime(EVERY_NS)) && !switch.is_off());
        fs::write(&file, "").unwrap();
        assert!(!switch.look(Uptime(2 * EVERY_NS - 1)), "not twice within a second");
        assert!(switch.look(Uptime(2 * EVERY_NS)) && switch.is_off());
        assert!(!switch.look(Uptime(9 * EVERY_NS)) && !switch.look_now(Uptime(10)), "once");
        fs::remove_file(&file).unwrap();
        assert!(!switch.look(Uptime(99 * EVERY_NS)) && switch.is_off(), "until the next launch");
    }

    #[test]
    fn is_on_where_there_is_no_file_to_look_at() {
        assert!(!KillSwitch::new(None).look_now(Uptime(5)));
        let nowhere = KillSwitch::new(Some("/proc/nowhere/off".into()));
        assert!(!nowhere.look_now(Uptime(5)) && !nowhere.is_off());
    }
}
