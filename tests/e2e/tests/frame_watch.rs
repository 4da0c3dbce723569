//! Which display frames count, and of which screen: after an animation that nothing ends, around a pause, and
//! in a window that is shown again.

use anyhow::{Context, Result};
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_e2e::scenario::Scenario;
use tempfile::tempdir;

/// The app forgets to end an animation, or pauses the recorder while one runs.
#[test]
fn frames_after_an_animation_that_nothing_ended_are_the_screens() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let scenario = Scenario::run("smooth.Unended", testbed, &[], &[])?;
        // The tenth second ends the first one; the second one has a frame until the pause.
        for line in [
            "too long: 10 frames",
            "after the long one: 8 frames",
            "paused: 1 frames",
            "after the pause: 8 frames",
        ] {
            assert!(scenario.said(line), "{testbed}, {line}: {:#?}", scenario.said);
        }
        assert!(
            scenario.report.frames.scenes.iter().all(|scene| scene.name.as_str() != "in the pause"),
            "{testbed}"
        );
    }
    Ok(())
}

/// The app pauses the recorder in the middle of a scroll, and screens are drawn and touched in the pause.
#[test]
fn what_is_drawn_and_touched_in_a_pause_does_not_count_and_what_comes_after_it_does() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let folder = tempdir()?;
        let app = launcher(testbed)?.app("smooth.Paused");
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        let mut staged = |when: &str| -> Result<u32> {
            let line = app.wait_for(&format!("SCRIPT figures {when} "), LIMIT).context(testbed)?;
            let report = read(line.split_whitespace().nth(3).context("no path")?.as_ref())?;
            Ok(report.frames.scenes.first().context("no figures")?.staged)
        };
        let (before, paused) = (staged("paused")?, staged("resumes")?);
        assert!(before > 0, "{testbed}");
        assert_eq!(before, paused, "{testbed}: frames that were drawn in the pause");
        while staged("after")? <= paused {}
        let seen = |line: &str| app.seen().iter().any(|seen| seen == line);
        assert!(seen("SCRIPT before: of a finger"), "{testbed}: {:?}", app.seen());
        assert!(seen("SCRIPT after: of the app"), "{testbed}, it touched in the pause: {:?}", app.seen());
        app.kill();
    }
    Ok(())
}

/// A Dialog that the app keeps has another root each time.
#[test]
fn a_window_that_is_shown_again_is_watched_again() -> Result<()> {
    for testbed in ["art10", "art11"] {
        let scenario = Scenario::run("smooth.Reshown", testbed, &["-D", "loopbox.sdk=36"], &[])?;
        for time in ["first", "second"] {
            for what in ["1 listeners", "8 frames"] {
                assert!(scenario.said(&format!("{time}: {what}")), "{testbed}, {what}: {:#?}", scenario.said);
            }
        }
        assert!(scenario.said("third: 0 listeners"), "{testbed}: it is forgotten: {:#?}", scenario.said);
        assert!(
            scenario.report.frames.scenes.iter().all(|scene| scene.name.as_str() != "third"),
            "{testbed}"
        );
    }
    Ok(())
}
