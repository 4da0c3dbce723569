//! The recorder is installed when Activities may have existed already, as after a screen that asks for
//! consent.

use anyhow::{Context, Result};
use lab_launch::App;
use lab_reports::live::tree_of;
use lab_reports::{LIMIT, details_of, read};
use loopbox_e2e::launcher;
use loopbox_format::model::Report;
use loopbox_testbed::to_test_on;
use std::path::Path;
use tempfile::tempdir;

const SHOP: &str = "scenario.Late$Shop";
const LONG: &str = "scenario.Late$LongMessage";

/// `IMPORTANCE_BACKGROUND` before API 26, `IMPORTANCE_CACHED` after.
const BACKGROUND: &str = "importance=400";
/// `IMPORTANCE_TOP_SLEEPING`: the screen is dark.
const SLEEPS: &str = "importance=325";
/// `REASON_SERVICE_IN_USE`: in the foreground because of a client that has bound its service.
const BOUND: &str = "reason=2";

struct Played {
    said: Vec<String>,
}

impl Played {
    fn play(testbed: &str, folder: &Path, arguments: &[&str]) -> Result<Self> {
        let app: App = launcher(testbed)?.app("scenario.Late").argument(format!("dir={}", folder.display()));
        let app = arguments.iter().fold(app, |app, argument| app.argument(*argument));
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let said = ended.lines.iter().filter_map(|line| Some(line.strip_prefix("SCRIPT ")?.to_owned()));
        Ok(Self { said: said.collect() })
    }

    fn said(&self, what: &str) -> Result<&str> {
        let line = self.said.iter().find_map(|line| line.strip_prefix(what)?.strip_prefix(' '));
        line.with_context(|| format!("no {what}: {:?}", self.said))
    }

    fn report(&self, when: &str) -> Result<Report> {
        read(Path::new(self.said(&format!("{when} file"))?))
    }

    /// The report's annotations `foreground` (whether the user sees the app) and `scene` (which Activity) at
    /// that moment, and whether there is a hook.
    fn known(&self, when: &str) -> Result<(Option<String>, Option<String>, bool)> {
        let report = self.report(when)?;
        let note = |name: &str| {
            let found = report.meta.annotations.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let hook = self.said(&format!("{when} hook"))?;
        let paused = hook == "hook off (paused in the background)";
        assert!(paused || hook.starts_with("hook on ("), "{when}: {hook}");
        Ok((note("foreground"), note("scene"), !paused))
    }

    fn assert_known(&self, when: &str, foreground: &str, scene: &str, hooked: bool) -> Result<()> {
        let (is, shows, hook) = self.known(when)?;
        let known = (is.as_deref().unwrap_or("unknown"), shows.as_deref().unwrap_or("unknown"), hook);
        assert_eq!(known, (foreground, scene, hooked), "{when}: {:?}", self.said);
        Ok(())
    }

    /// How far apart the stacks of the long message were.
    fn interval_ms(&self) -> Result<u64> {
        let report = self.report("worked")?;
        let message = details_of(&report, LONG).next().context("no message")?;
        let tree = tree_of(&report, message.token).context("no stacks")?;
        Ok(tree.phases.iter().map(|phase| phase.interval_ns).min().context("no phase")? / 1_000_000)
    }
}

fn on_each(arguments: &[&str], check: impl Fn(&Played) -> Result<()>) -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let at = format!("{arguments:?} on {testbed}");
        check(&Played::play(&testbed, folder.path(), arguments).context(at.clone())?).context(at)?;
    }
    Ok(())
}

/// Checks what is known once another Activity has replaced the one in front. The recorder has seen only the
/// other Activity.
fn assert_seen_from_the_next_on(played: &Played) -> Result<()> {
    played.assert_known("next", "yes", SHOP, true)?;
    played.assert_known("behind", "no", SHOP, false)?;
    played.assert_known("back", "yes", SHOP, true)
}

#[test]
fn an_app_in_front_is_in_the_foreground_as_soon_as_the_system_has_said_so() -> Result<()> {
    on_each(&["mode=front", "pauseInBackground=on"], |played| {
        played.assert_known("at once", "unknown", "unknown", true)?;
        played.assert_known("asked", "yes", "unknown", true)?;
        assert_seen_from_the_next_on(played)
    })
}

#[test]
fn what_the_system_does_not_say_stays_unknown_until_an_activity_is_seen() -> Result<()> {
    for answer in [BOUND, "says=dead"] {
        on_each(&["mode=unknown", "pauseInBackground=on", answer], |played| {
            played.assert_known("at once", "unknown", "unknown", true)?;
            played.assert_known("asked", "unknown", "unknown", true)?;
            assert_seen_from_the_next_on(played)
        })?;
    }
    Ok(())
}

#[test]
fn an_app_in_the_background_is_paused_or_sampled_gently_from_the_answer_on() -> Result<()> {
    on_each(&["mode=behind", "pauseInBackground=on", BACKGROUND], |played| {
        played.assert_known("at once", "unknown", "unknown", true)?;
        played.assert_known("asked", "no", "unknown", false)
    })?;
    on_each(&["mode=behind", SLEEPS], |played| {
        played.assert_known("asked", "no", "unknown", true)?;
        // Four times as wide as the 10 ms of an app that is seen.
        assert!(played.interval_ms()? >= 40, "{} ms", played.interval_ms()?);
        Ok(())
    })
}

#[test]
fn a_process_that_starts_is_neither_in_the_foreground_nor_paused() -> Result<()> {
    // It is not asked for: the system would say that it is in front, where an Activity is to be launched.
    on_each(&["mode=start", "pauseInBackground=on"], |played| {
        played.assert_known("asked", "no", "unknown", true)?;
        assert!(played.interval_ms()? < 40, "{} ms", played.interval_ms()?);
        Ok(())
    })
}

/// The recorder finds the Application only in a later message. The Activity comes before that message.
#[test]
fn an_activity_that_comes_before_the_application_is_known_is_in_the_foreground() -> Result<()> {
    on_each(&["mode=base", "pauseInBackground=on"], |played| {
        played.assert_known("asked", "yes", "unknown", true)?;
        assert_seen_from_the_next_on(played)
    })
}

/// From the second recording on, the system gives no answer. What is known comes from the first recording.
#[test]
fn what_an_earlier_recording_knew_of_activities_holds_for_the_next() -> Result<()> {
    on_each(&["mode=again", "pauseInBackground=on"], |played| {
        played.assert_known("asked", "yes", SHOP, true)?;
        played.assert_known("behind", "no", "unknown", false)
    })
}
