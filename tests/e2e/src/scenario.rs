//! A scripted app that runs a scenario and ends with a report.

use anyhow::{Context as _, Result};
use lab_launch::{Ended, wait_for_report};
use lab_reports::{LIMIT, details_of, feature, read};
use loopbox_format::model::{Detail, Feature, Report, Token};
use tempfile::tempdir;

use crate::launcher;

/// The scripted app's Handler for its own messages.
pub const SHOP: &str = "com.example.shop.ShopHandler";

/// The results of an app that has ended.
pub struct Scenario {
    /// The report that the app left.
    pub report: Report,
    /// What the app printed, line by line.
    pub said: Vec<String>,
}

impl Scenario {
    /// Runs a scenario on a testbed, with options of the host program and arguments of the scenario.
    ///
    /// # Errors
    /// When it does not end well, or leaves no intact report.
    pub fn run(scenario: &str, testbed: &str, options: &[&str], arguments: &[&str]) -> Result<Self> {
        let folder = tempdir()?;
        let launcher = launcher(testbed)?;
        let mut app = launcher.app(scenario).argument(format!("dir={}", folder.path().display()));
        for option in options {
            app = app.option(option);
        }
        for argument in arguments {
            app = app.argument(*argument);
        }
        let Ended { lines: said, .. } = app.start()?.finish(LIMIT)?.success()?;
        let report = read(&wait_for_report(folder.path(), LIMIT)?)?;
        Ok(Self { report, said })
    }

    /// Whether the app printed this.
    pub fn said(&self, words: &str) -> bool {
        self.said.iter().any(|line| line.strip_prefix("SCRIPT ").is_some_and(|line| line == words))
    }

    /// The message of the [`SHOP`] with this `what`.
    ///
    /// # Errors
    /// When the history does not keep it by name.
    pub fn shop(&self, what: i32) -> Result<&Detail> {
        let named = |detail: &&Detail| detail.message.as_ref().is_some_and(|m| m.what == Some(what));
        details_of(&self.report, SHOP)
            .find(named)
            .with_context(|| format!("message {what} is not in {:#?}", self.report.history))
    }

    /// Whether [`Scenario::shop`] finds a message with this `what`.
    pub fn has_shop(&self, what: i32) -> bool {
        self.shop(what).is_ok()
    }

    /// How the hook works.
    ///
    /// # Panics
    /// When it is off.
    pub fn hook(&self) -> String {
        let (on, how) = feature(&self.report, Feature::Hook);
        assert!(on, "{how}");
        how.to_owned()
    }

    /// Checks that every message is in exactly one record.
    ///
    /// # Panics
    /// When one is not.
    pub fn assert_whole(&self) {
        let mut next = 1;
        for record in self.report.history.iter().filter(|record| record.count > 0) {
            assert_eq!(record.first_token, Token(next), "{:#?}", self.report.history);
            next += u64::from(record.count);
        }
    }
}
