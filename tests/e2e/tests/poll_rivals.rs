//! The poll hook together with another library that replaces the same method, while the recorder is installed
//! and removed.

use anyhow::{Context, Result};
use lab_launch::{App, reports};
use lab_reports::{LIMIT, details, feature, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, End, Feature, MainState, Report, Token};
use loopbox_testbed as testbed;
use tempfile::tempdir;

/// The results of one run.
struct Played {
    said: Vec<String>,
    reports: Vec<Report>,
}

impl Played {
    fn play(testbed: &str, mode: &str, arguments: &[&str]) -> Result<Self> {
        let folder = tempdir()?;
        let app = launcher(testbed)?.app("scenario.PollRivals");
        let app = app.argument(format!("dir={}", folder.path().display()));
        let app = app.argument(format!("mode={mode}")).argument("hook=POLL").argument("hangMs=60000");
        let said =
            arguments.iter().copied().fold(app, App::argument).start()?.finish(LIMIT)?.success()?.lines;
        let reports = reports(folder.path())?.iter().map(|file| read(file)).collect::<Result<_>>()?;
        Ok(Self { said, reports })
    }

    fn said(&self, words: &str) -> Option<&str> {
        self.said.iter().find_map(|line| line.strip_prefix("SCRIPT ")?.strip_prefix(words))
    }

    fn report(&self, name: &str) -> Result<&Report> {
        let is = |report: &&Report| report.meta.reason == DumpReason::Requested(name.to_owned());
        self.reports.iter().find(is).with_context(|| format!("no report {name}: {:?}", self.said))
    }

    /// What the report `name` says about the hook; it begins with `off: ` when the hook is off.
    fn hook(&self, name: &str) -> Result<String> {
        let (on, how) = feature(self.report(name)?, Feature::Hook);
        Ok(if on { how.to_owned() } else { format!("off: {how}") })
    }

    /// How many messages had begun when the report `name` was requested: the recorder's count, and the count
    /// of the other library's Observer.
    fn begun(&self, name: &str) -> Result<(u64, u64)> {
        let MainState::Running(running) = &self.report(name)?.main else {
            anyhow::bail!("{name}: main is {:?}", self.report(name)?.main)
        };
        let begun = self.said.iter().find_map(|line| {
            line.strip_prefix("SCRIPT begun ")?.strip_suffix(name)?.strip_suffix(" at ")?.parse().ok()
        });
        Ok((running.token.0, begun.with_context(|| format!("{name}: {:?}", self.said))?))
    }

    /// Checks that the recorder has seen each message since it was installed.
    fn assert_counts_all(&self, name: &str) -> Result<()> {
        let (recorded, begun) = self.begun(name)?;
        assert_eq!(recorded, begun, "{name}: {:?}", self.said);
        Ok(())
    }
}

fn on_each(play: impl Fn(&str) -> Result<()>) -> Result<()> {
    testbed::to_test_on(&["art10", "art11"])
        .iter()
        .try_for_each(|testbed| play(testbed).with_context(|| format!("on {testbed}")))
}

#[test]
fn a_library_that_came_first_is_called_and_stays() -> Result<()> {
    on_each(|testbed| {
        let played = Played::play(testbed, "before", &[])?;
        assert_eq!(played.hook("at the end")?, "Poll");
        played.assert_counts_all("at the end")?;
        assert_eq!(played.said("wrapper "), Some("true"), "it is there again: {:?}", played.said);
        assert_eq!(played.said("first "), Some("true"), "{:?}", played.said);
        let calls: u64 = played.said("calls ").context("no calls")?.parse()?;
        assert!(calls >= played.begun("at the end")?.1, "{:?}", played.said);
        Ok(())
    })
}

/// The library has saved the recorder's function. After the recorder is removed, the saved function only
/// calls the function that was there before the recorder. When the library restores the saved function, it
/// records again.
#[test]
fn a_library_that_wraps_the_hook_is_no_loss_and_neither_is_what_it_restores() -> Result<()> {
    on_each(|testbed| {
        let played = Played::play(testbed, "after", &[])?;
        for name in ["wrapped", "wrapped twice"] {
            assert_eq!(played.hook(name)?, "Poll", "{name}");
            played.assert_counts_all(name)?;
        }
        assert_counts_all_again(&played)
    })
}

/// The recorder saw neither the end of the message in which the hook was removed, nor what ran after that
/// message.
#[test]
fn a_hook_that_was_taken_out_is_put_back() -> Result<()> {
    on_each(|testbed| {
        let played = Played::play(testbed, "taken", &[])?;
        let at_the_end = played.report("at the end")?;
        let last = details(at_the_end).find(|detail| detail.token == Token(500)).context("no message 500")?;
        assert!(last.end == End::Missed && last.wall_ns >= 400_000_000, "{last:?}");
        assert_counts_all_again(&played)
    })
}

/// Checks that each message since the hook was put back was counted.
fn assert_counts_all_again(played: &Played) -> Result<()> {
    assert!(played.hook("at the end")?.starts_with("Poll, armed again"), "{}", played.hook("at the end")?);
    let (recorded, begun) = (played.begun("armed again")?, played.begun("at the end")?);
    assert_eq!(begun.0 - recorded.0, begun.1 - recorded.1, "{:?}", played.said);
    Ok(())
}

/// Code in memory without a file may belong to a translated library. Our library cannot call such code.
#[test]
fn a_poll_in_memory_of_no_file_is_refused_for_another_hook() -> Result<()> {
    let why = "no poll hook: its function is in no library of this processor's kind";
    for (testbed, hook) in [("art10", "Observer"), ("art11", "Printer")] {
        let played = Played::play(testbed, "jump", &[])?;
        let how = played.hook("at the end")?;
        assert!(how.starts_with(hook) && how.contains(why), "{testbed}: {how}");
        played.assert_counts_all("at the end")?;
    }
    Ok(())
}

#[test]
fn a_recorder_that_comes_and_goes_while_loops_poll_disturbs_none() -> Result<()> {
    on_each(|testbed| {
        let played = Played::play(testbed, "churn", &["rounds=150"])?;
        assert_eq!(played.hook("at the end")?, "Poll");
        played.assert_counts_all("at the end")?;
        assert_eq!((played.said("rounds "), played.said("first ")), (Some("150"), Some("true")));
        Ok(())
    })
}
