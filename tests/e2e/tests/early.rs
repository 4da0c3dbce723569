//! What an app calls before it installs the recorder: what the app sets is kept for the recording, and what
//! the app asks for is answered with nothing.

use anyhow::{Context, Result};
use lab_launch::wait_for_report;
use lab_reports::{LIMIT, details_of, feature, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{Feature, Report};
use loopbox_testbed::to_test_on;
use std::path::Path;
use tempfile::tempdir;

const LONG: &str = "scenario.Early$LongMessage";

struct Played {
    report: Report,
    said: Vec<String>,
}

impl Played {
    fn play(testbed: &str, folder: &Path, mode: &str) -> Result<Self> {
        let app = launcher(testbed)?.app("scenario.Early").argument(format!("mode={mode}"));
        let app = app.argument(format!("dir={}", folder.display()));
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let said = ended.lines.iter().filter_map(|line| Some(line.strip_prefix("SCRIPT ")?.to_owned()));
        Ok(Self { report: read(&wait_for_report(&folder.join("reports"), LIMIT)?)?, said: said.collect() })
    }

    fn said(&self, what: &str) -> Result<&str> {
        let line = self.said.iter().find_map(|line| line.strip_prefix(what)?.strip_prefix(' '));
        line.with_context(|| format!("no {what}: {:?}", self.said))
    }

    fn note(&self, name: &str) -> Option<&str> {
        let annotations = &self.report.meta.annotations;
        annotations.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn on_each(mode: &str, check: impl Fn(&Played, &Path) -> Result<()>) -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        check(&Played::play(&testbed, folder.path(), mode)?, folder.path()).context(testbed)?;
    }
    Ok(())
}

#[test]
fn annotations_of_before_the_installation_are_kept_and_more_than_sixteen_are_refused_loudly() -> Result<()> {
    on_each("annotations", |played, _| {
        assert_eq!(played.said("early kept")?, format!("{}n", "y".repeat(16)));
        assert_eq!((played.said("taken out")?, played.said("long")?), ("true", "true"));
        // Fifteen of before and the one of the configuration.
        assert_eq!(played.said("late kept")?, "n".repeat(17));
        for when in ["early", "late"] {
            assert_eq!(played.said(&format!("{when} user"))?, "true");
            for refused in ["foreground", "nothing", "secret"] {
                assert_eq!(played.said(&format!("{when} {refused}"))?, "false", "{when} {refused}");
            }
        }
        let part = played.said("part annotations")?;
        assert_eq!(part, "on (23 not kept, the last one \"null\": no name)");
        assert_eq!(played.note("given"), Some("at install"));
        assert_eq!((played.note("user"), played.note("scene")), (Some("late"), Some("Consent")));
        assert_eq!((played.note("early 2"), played.note("early 3")), (Some("2"), None));
        assert_eq!(played.note("early 16"), Some("x".repeat(200).as_str()), "{:?}", played.said);
        assert_eq!((played.note("card"), played.note("foreground")), (None, None));
        assert_eq!(played.report.meta.annotations.len(), 18, "{:?}", played.report.meta.annotations);
        assert!(played.said.contains(&"redacts early 2".to_owned()), "{:?}", played.said);
        Ok(())
    })
}

#[test]
fn what_another_thread_sets_and_removes_during_the_installation_is_kept() -> Result<()> {
    on_each("meanwhile", |played, _| {
        assert_eq!((played.said("late")?, played.said("gone")?), ("true", "true"));
        assert_eq!(played.note("late"), Some("1"));
        assert_eq!((played.note("gone"), played.note("given")), (None, None));
        assert_eq!(played.note("user"), Some("given"));
        Ok(())
    })
}

#[test]
fn a_newer_value_of_an_annotation_that_is_being_passed_on_is_kept() -> Result<()> {
    on_each("overtaken", |played, _| {
        assert_eq!((played.said("set 64")?, played.said("set 65")?), ("true", "true"));
        assert_eq!(played.note("newer"), Some("65"));
        Ok(())
    })
}

#[test]
fn what_the_app_chose_before_the_installation_holds_from_its_start() -> Result<()> {
    on_each("choices", |played, _| {
        assert_eq!(played.said("part hook")?, "off (paused by the app)");
        assert!(played.said("part sampler")?.starts_with("off"), "{:?}", played.said);
        assert_eq!(feature(&played.report, Feature::Hook), (false, "paused by the app"));
        assert_eq!(details_of(&played.report, LONG).count(), 0, "{:#?}", played.report.history);
        let resumed = played.said("resumed")?;
        assert!(resumed.contains("hook on (") && resumed.contains("sampler on ("), "{resumed}");
        assert_eq!(played.note("scene"), Some("Consent"));
        Ok(())
    })
}

#[test]
fn an_uninstall_before_the_installation_takes_it_all_back() -> Result<()> {
    on_each("forgotten", |played, _| {
        assert!(played.said("part hook")?.starts_with("on ("), "{:?}", played.said);
        assert!(played.said("part sampler")?.starts_with("on ("), "{:?}", played.said);
        assert!(details_of(&played.report, LONG).count() > 0, "{:#?}", played.report.history);
        assert_eq!((played.note("early"), played.note("given")), (None, Some("at install")));
        Ok(())
    })
}

#[test]
fn each_call_before_the_installation_is_answered_and_a_monitor_writes_below_the_reports() -> Result<()> {
    on_each("calls", |played, folder| {
        assert_eq!(played.said("monitor before")?, "false false 0");
        assert_eq!(played.said("status")?, "off: not installed null []");
        assert_eq!(played.said("dumped")?, "null");
        assert_eq!(played.said("monitor after")?, "true");
        assert_eq!(Path::new(played.said("written")?), folder.join("reports/monitor"));
        assert!(played.said("part hook")?.starts_with("on ("), "{:?}", played.said);
        assert!(played.said("part sampler")?.starts_with("on ("), "{:?}", played.said);
        assert!(details_of(&played.report, LONG).count() > 0, "{:#?}", played.report.history);
        Ok(())
    })
}
