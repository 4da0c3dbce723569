//! Waits while another package manager holds one of apt's locks.
//!
//! apt can wait itself (`DPkg::Lock::Timeout`), but silently, and only for dpkg's two locks. When the lock of
//! the index lists or of the download folder is held, apt fails at once (apt 2.6.1, Debian 12; the tests
//! below hold all of these locks). So every call is repeated as long as it fails because of a lock. A
//! repeated call does no harm: apt takes its locks first, and calls that have already done a part of their
//! work can be made again.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::command::{Outcome, outcome};
use crate::progress::Progress;

/// How long to wait for a lock at most, how often to try, and how often to report the wait.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// The longest wait.
    pub limit: Duration,
    /// The time between two tries.
    pub retry: Duration,
    /// The time between two lines of progress.
    pub remind: Duration,
}

impl Default for Waiting {
    /// Ten minutes: what automatic updates of a fresh machine take.
    fn default() -> Self {
        Self {
            limit: Duration::from_mins(10),
            retry: Duration::from_secs(1),
            remind: Duration::from_secs(30),
        }
    }
}

impl Waiting {
    /// Runs apt or dpkg, again and again while another process holds a lock. Returns its standard output.
    ///
    /// # Errors
    /// When it fails for another reason, or the lock is still held after the limit.
    pub fn run(self, progress: &Progress, make: impl Fn() -> Command) -> Result<String> {
        self.run_with(progress, || outcome(&mut make()))
    }

    /// As [`run`](Self::run), with another way to run the command.
    pub(super) fn run_with(self, progress: &Progress, run: impl Fn() -> Result<Outcome>) -> Result<String> {
        self.outcome(progress, run)?.into_text()
    }

    /// Runs the command until no other process holds a lock. Returns how the last run ended, also when it
    /// failed.
    ///
    /// # Errors
    /// When it cannot be run, or the lock is still held after the limit.
    pub(super) fn outcome(self, progress: &Progress, run: impl Fn() -> Result<Outcome>) -> Result<Outcome> {
        let start = Instant::now();
        let mut reported: Option<Instant> = None;
        loop {
            let outcome = run()?;
            let Some(lock) = held(&outcome.errors) else {
                return Ok(outcome);
            };
            if start.elapsed() >= self.limit {
                bail!("{lock}; waited {} s for it", start.elapsed().as_secs());
            }
            if reported.is_none() {
                progress.say(format!(
                    "wait for another package manager, up to {} s: {lock}",
                    self.limit.as_secs()
                ));
                reported = Some(Instant::now());
            } else if reported.is_some_and(|last| last.elapsed() >= self.remind) {
                progress.say(format!("still waiting, {} s so far: {lock}", start.elapsed().as_secs()));
                reported = Some(Instant::now());
            }
            std::thread::sleep(self.retry);
        }
    }
}

/// The line with which apt and dpkg, in the locale `C`, report that another process holds a lock. A lock file
/// that cannot be opened (no permission) is a different error.
fn held(errors: &str) -> Option<&str> {
    let lines = || errors.lines().map(str::trim);
    let line = lines()
        .find(|line| line.contains("Could not get lock"))
        .or_else(|| lines().find(|line| line.contains("lock was locked by another process")))?;
    Some(line.trim_start_matches("E: "))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::super::test_archive::{Holder, TestArchive};
    use super::*;

    /// Waits without a limit for an event of the test, and reports each wait at once.
    fn patient() -> Waiting {
        Waiting { limit: Duration::from_hours(1), retry: Duration::from_millis(20), remind: Duration::ZERO }
    }

    /// Holds a lock in another process until a line about waiting was printed twice, releases it, and expects
    /// success.
    fn waits_for(lock: &str, arguments: &'static [&'static str]) {
        let archive = TestArchive::new();
        archive.update().unwrap();
        let holder = Holder::of(&archive.path(lock));
        let (send, lines) = channel();
        let progress = Progress::to_channel("test", send);
        let made = thread::scope(|scope| {
            let waiting = scope.spawn(|| patient().run(&progress, || archive.apt_get(arguments)));
            let first = lines.recv().unwrap();
            assert!(first.contains("wait for another package manager") && first.contains(lock), "{first}");
            assert!(first.contains(&format!("process {}", holder.pid())), "{first}");
            assert!(lines.recv().unwrap().contains("still waiting"));
            assert!(!waiting.is_finished());
            holder.release();
            waiting.join().unwrap()
        });
        made.unwrap();
    }

    #[test]
    fn an_update_waits_for_the_lock_of_the_lists() {
        waits_for("lists/lock", &["update"]);
    }

    #[test]
    fn an_installation_waits_for_the_frontend_lock_of_dpkg() {
        waits_for("lock-frontend", &["install", "--yes", "--download-only", "loopbox-test"]);
    }

    #[test]
    fn an_installation_waits_for_the_lock_of_the_downloads() {
        waits_for("cache/archives/lock", &["install", "--yes", "--download-only", "loopbox-test"]);
    }

    #[test]
    fn a_lock_that_stays_held_is_an_error_that_names_its_holder() {
        let archive = TestArchive::new();
        let holder = Holder::of(&archive.path("lists/lock"));
        let waiting = Waiting { limit: Duration::ZERO, ..patient() };
        let error = waiting.run(&Progress::new("test"), || archive.apt_get(&["update"])).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("lists/lock"), "{message}");
        assert!(message.contains(&format!("process {}", holder.pid())), "{message}");
    }

    #[test]
    fn other_failures_are_not_waited_for() {
        let archive = TestArchive::new();
        let error = patient()
            .run(&Progress::new("test"), || archive.apt_get(&["download", "no-such-package"]))
            .unwrap_err();
        assert!(format!("{error:#}").contains("no-such-package"), "{error:#}");
        assert_eq!(
            held("E: Could not open lock file /var/lib/dpkg/lock - open (13: Permission denied)"),
            None
        );
    }
}
