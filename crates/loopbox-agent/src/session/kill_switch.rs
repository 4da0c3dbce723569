//! The app's switch: a file by which any process of the app can switch the recorder off while this process
//! records.

use loopbox_format::model::Uptime;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often a thread that is awake for another reason checks the file, at the most.
const EVERY_NS: u64 = 1_000_000_000;

/// The switch, and what was last read of its file. The recorder counts as switched on until a check finds the
/// file.
#[derive(Debug, Default)]
pub(crate) struct KillSwitch {
    /// The file that exists while the recorder is off; `None` where there is no switch.
    file: Option<PathBuf>,
    checked_ns: AtomicU64,
    is_off: AtomicBool,
}

impl KillSwitch {
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Whether the recorder was found switched off. It stays so.
    pub(crate) fn is_off(&self) -> bool {
        self.is_off.load(Ordering::SeqCst)
    }

    /// Reads the file when the last check was a second ago or longer. Waits for the disk. Returns whether
    /// this check was the first that found the recorder switched off.
    pub(crate) fn check(&self, now_ns: Uptime) -> bool {
        let due = now_ns.since(Uptime(self.checked_ns.load(Ordering::SeqCst))) >= EVERY_NS;
        due && self.check_now(now_ns)
    }

    /// Reads the file at once. Returns whether this check was the first that found the recorder switched off.
    /// When the file cannot be checked, nothing changes.
    pub(crate) fn check_now(&self, now_ns: Uptime) -> bool {
        self.checked_ns.store(now_ns.0, Ordering::SeqCst);
        let is_there = self.file.as_ref().is_some_and(|file| fs::symlink_metadata(file).is_ok());
        is_there && !self.is_off.swap(true, Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_off_from_the_first_check_that_finds_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("off");
        let switch = KillSwitch::new(Some(file.clone()));
        assert!(!switch.check(Uptime(EVERY_NS)) && !switch.is_off());
        fs::write(&file, "").unwrap();
        assert!(!switch.check(Uptime(2 * EVERY_NS - 1)), "not twice within a second");
        assert!(switch.check(Uptime(2 * EVERY_NS)) && switch.is_off());
        assert!(!switch.check(Uptime(9 * EVERY_NS)) && !switch.check_now(Uptime(10)), "once");
        fs::remove_file(&file).unwrap();
        assert!(!switch.check(Uptime(99 * EVERY_NS)) && switch.is_off(), "until the next launch");
    }

    #[test]
    fn is_on_where_there_is_no_file_to_check() {
        assert!(!KillSwitch::new(None).check_now(Uptime(5)));
        let nowhere = KillSwitch::new(Some("/proc/nowhere/off".into()));
        assert!(!nowhere.check_now(Uptime(5)) && !nowhere.is_off());
    }
}
