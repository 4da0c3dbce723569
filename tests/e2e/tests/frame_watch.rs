//! Which display frames count, and of which screen: after an animation that nothing ends, around a pause, and
//! in a window that is shown again.

use anyhow::Result;
use loopbox_e2e::scenario::Scenario;

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
