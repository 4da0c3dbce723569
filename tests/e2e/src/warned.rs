//! `scenario.Warned`: an app on the framework of Android 17, with the system's side in the same process.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use lab_launch::Running;
use lab_reports::LIMIT;
use lab_reports::live::wait_for_ring;
use loopbox_format::model::{MainState, Report};
use tempfile::{TempDir, tempdir};

use crate::launcher;

/// `scenario.Warned` in a process.
#[derive(Debug)]
pub struct Warned {
    /// The process.
    pub app: Running,
    orders: TempDir,
    given: usize,
    /// How many lines had come before the last order.
    before: usize,
}

impl Warned {
    /// Starts the app and waits until it is registered for warnings, unless the arguments exclude that.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(folder: &Path, arguments: &[&str]) -> Result<Self> {
        let orders = tempdir()?;
        let app = launcher("art11-fw37")?.app("scenario.Warned");
        let app = app.argument(format!("dir={}", folder.display()));
        let app = app.argument(format!("orders={}", orders.path().display()));
        let app = arguments.iter().fold(app, |app, argument| app.argument(*argument));
        let mut app = app.start()?;
        app.wait_for("SCRIPT registered", LIMIT)?;
        Ok(Self { app, orders, given: 0, before: 0 })
    }

    /// Gives an order.
    ///
    /// # Errors
    /// When its file cannot be written.
    pub fn give(&mut self, order: &str) -> Result<()> {
        self.given += 1;
        self.before = self.app.seen().len();
        let written = self.orders.path().join("order");
        fs::write(&written, order)?;
        fs::rename(&written, self.orders.path().join(self.given.to_string())).context("the order")
    }

    /// Gives an order and waits until it is done.
    ///
    /// # Errors
    /// When the app does not print in time that it is done.
    pub fn order(&mut self, order: &str) -> Result<()> {
        self.give(order)?;
        self.expects(&format!("did {}", self.given)).map(drop)
    }

    /// Waits for a line with these words that was printed since the last order was given. The lines of
    /// several threads may come in any sequence.
    ///
    /// # Errors
    /// When the line does not come in time.
    pub fn expects(&mut self, words: &str) -> Result<String> {
        let words = format!("SCRIPT {words}");
        let known = self.app.seen()[self.before..].iter().find(|line| line.starts_with(&words));
        match known {
            Some(line) => Ok(line.clone()),
            None => self.app.wait_for(&words, LIMIT),
        }
    }

    /// Makes main run a message that does not end before [`Warned::open`].
    ///
    /// # Errors
    /// When the message does not begin in time.
    pub fn hang(&mut self, gate: &str) -> Result<()> {
        let gate = self.orders.path().join(gate);
        self.order(&format!("hang {}", gate.display()))?;
        self.expects("begins").map(drop)
    }

    /// Lets the message of [`Warned::hang`] end.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn open(&mut self, gate: &str) -> Result<()> {
        fs::write(self.orders.path().join(gate), "")?;
        self.expects("went on").map(drop)
    }

    /// How many lines so far contain these words.
    pub fn seen(&self, words: &str) -> usize {
        self.app.seen().iter().filter(|line| line.contains(words)).count()
    }

    /// Ends the app.
    ///
    /// # Errors
    /// When it fails.
    pub fn end(mut self) -> Result<()> {
        self.give("end")?;
        self.app.finish(LIMIT)?.success().map(drop)
    }
}

/// Waits until main has been in its message for a second.
///
/// # Errors
/// When the ring does not show that in time.
pub fn wait_until_late(app: &Warned, folder: &Path) -> Result<()> {
    let late = |report: &Report| matches!(&report.main, MainState::Running(running) if running.age_ns() >= 1_000_000_000);
    wait_for_ring("a late main", folder, app.app.pid(), late).map(drop)
}
