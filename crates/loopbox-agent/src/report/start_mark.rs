//! The file that marks a start. If it still exists at the next start, `StartGuard.java` knows that this start
//! did not last.

use crate::session::Session;
use loopbox_format::model::Uptime;
use std::fs;
use std::path::PathBuf;

/// A start counts as successful this long after the installation. Errors that the recorder causes at a start
/// happen earlier.
const LASTS_NS: u64 = 5_000_000_000;

pub(super) struct StartMark {
    file: Option<PathBuf>,
    lasts_at_ns: Uptime,
}

impl StartMark {
    pub(super) fn new(session: &Session) -> Self {
        let lasts_at_ns = session.installed_ns.plus(LASTS_NS);
        Self { file: session.settings.start_mark.clone(), lasts_at_ns }
    }

    /// When [`Self::check`] wants to be called again.
    pub(super) fn next_check_ns(&self) -> Option<Uptime> {
        self.file.is_some().then_some(self.lasts_at_ns)
    }

    /// Removes the mark of a start that has lasted.
    pub(super) fn check(&mut self, now_ns: Uptime) {
        if now_ns >= self.lasts_at_ns {
            self.remove();
        }
    }

    /// Removes the mark: from now on the recorder has no part in what happens to the process.
    pub(super) fn remove(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = fs::remove_file(file);
        }
    }
}
