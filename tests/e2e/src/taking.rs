//! An app that takes, lists and claims its reports, step by step: `scenario.Taking`.

use crate::launcher;
use anyhow::{Context, Result};
use lab_launch::{App, Running};
use lab_reports::LIMIT;
use lab_reports::live::wait_until;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::{TempDir, tempdir};

/// `scenario.Taking` in a process.
pub struct Taking {
    /// The process.
    pub app: Running,
    /// The folder of its orders.
    pub orders: TempDir,
    /// How many orders were given.
    pub given: usize,
}

impl Taking {
    /// Starts the app on a testbed, with the reports in `folder`. `arguments` as for [`Taking::begin`].
    pub fn start(testbed: &str, folder: &Path, arguments: &[&str]) -> Result<Self> {
        Self::begin(launcher(testbed)?.app("scenario.Taking"), folder, arguments)
    }

    /// Starts the app. `arguments` come after those that all tests have; of two with the same name the last
    /// one counts.
    pub fn begin(app: App, folder: &Path, arguments: &[&str]) -> Result<Self> {
        let orders = tempdir()?;
        let app = app.argument(format!("dir={}", folder.display())).argument("hangMs=1000");
        let app = app.argument(format!("orders={}", orders.path().display()));
        let app = arguments.iter().fold(app, |app, argument| app.argument(*argument));
        Ok(Self { app: app.start()?, orders, given: 0 })
    }

    /// Gives an order and waits until it is done. Returns what was printed in that time.
    pub fn order(&mut self, order: &str) -> Result<Vec<String>> {
        let before = self.app.seen().len();
        self.give(order)?;
        self.app.wait_for(&format!("SCRIPT did {}", self.given), LIMIT)?;
        let said = self.app.seen()[before..].iter();
        Ok(said.filter_map(|line| Some(line.strip_prefix("SCRIPT ")?.to_owned())).collect())
    }

    /// Gives an order without waiting for it.
    pub fn give(&mut self, order: &str) -> Result<()> {
        self.given += 1;
        let written = self.orders.path().join("order");
        fs::write(&written, order)?;
        fs::rename(&written, self.orders.path().join(self.given.to_string())).context("the order")
    }

    /// The reports that the app gets: each as text, and its file.
    pub fn take(&mut self) -> Result<Vec<(String, PathBuf)>> {
        let said = self.order("take")?;
        let took = said.iter().filter_map(|line| line.strip_prefix("took ")?.rsplit_once(' '));
        Ok(took.map(|(words, path)| (words.to_owned(), path.into())).collect())
    }

    /// The reports in the app's list: each by its label, and its file.
    pub fn list(&mut self) -> Result<Vec<(String, PathBuf)>> {
        let said = self.order("list")?;
        let listed = said.iter().filter_map(|line| line.strip_prefix("listed ")?.rsplit_once(' '));
        let label = |words: &str| words.split(['[', ']']).nth(1).unwrap_or_default().to_owned();
        Ok(listed.map(|(words, path)| (label(words), path.into())).collect())
    }

    /// Claims the report that has this label in the last list. Returns whether this process got it, and where
    /// its file is then.
    pub fn claim(&mut self, label: &str) -> Result<(bool, PathBuf)> {
        let said = self.order(&format!("claim {label}"))?;
        let claimed = said.iter().find_map(|line| line.strip_prefix("claimed ")?.split_once(' '));
        let (done, path) = claimed.context("the last list has it not")?;
        Ok((done == "true", path.into()))
    }

    /// Waits until the process can take at least `count` reports, and returns them. A test must not wait for
    /// the listener's call instead: the call may come before the report has the end of the hang.
    pub fn take_all(&mut self, count: usize) -> Result<Vec<(String, PathBuf)>> {
        wait_until("as many reports", || Ok(Some(self.take()?).filter(|taken| taken.len() >= count)))
    }

    /// Waits until the listener has printed a report with these words.
    pub fn expects(&mut self, words: &str) -> Result<()> {
        self.app.wait_for(&format!("SCRIPT report {words}"), LIMIT).map(drop)
    }

    /// Ends the hang that waits for the gate.
    pub fn open_gate(&self) -> Result<()> {
        fs::write(self.orders.path().join("gate"), "").context("cannot open the gate")
    }

    /// Has the app end, which must succeed.
    pub fn end(mut self) -> Result<()> {
        self.give("end")?;
        self.app.finish(LIMIT)?.success().map(drop)
    }
}
