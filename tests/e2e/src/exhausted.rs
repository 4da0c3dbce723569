//! Apps whose memory or descriptors are used up in a hang (`scenario.Exhausted`), with the recorder and
//! without.

use anyhow::Result;
use lab_launch::{Ended, Launcher};
use lab_reports::LIMIT;
use std::path::Path;
use std::time::Duration;

/// How an app ended, what it left, and what it printed.
#[derive(Debug)]
pub struct Outcome {
    /// How the process ended.
    pub ended: Ended,
}

impl Outcome {
    /// Whether the app lived to its end.
    pub fn lived(&self) -> bool {
        self.ended.status.success() && self.said().any(|line| line.starts_with("alive"))
    }

    /// The lines that the app printed, without their mark.
    pub fn said(&self) -> impl Iterator<Item = &str> {
        self.ended.lines.iter().filter_map(|line| line.strip_prefix("SCRIPT "))
    }
}

/// Runs one app.
///
/// # Errors
/// When it cannot be started, or does not end.
pub fn run(launcher: &Launcher, folder: &Path, arguments: &[&str]) -> Result<Outcome> {
    let mut app = launcher.app("scenario.Exhausted").argument(format!("dir={}", folder.display()));
    for argument in arguments {
        app = app.argument(*argument);
    }
    let ended = app.start()?.finish(LIMIT + Duration::from_mins(1))?;
    Ok(Outcome { ended })
}
