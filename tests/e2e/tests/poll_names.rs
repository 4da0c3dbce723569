//! What the poll hook, which sees no message, knows of messages without their stacks.

use anyhow::Result;
use lab_reports::details;
use loopbox_e2e::scenario::Scenario;
use loopbox_format::model::{Component, LifecycleStep, MainState, Message, NamedBy};
use loopbox_testbed as testbed;

const FIRST: &str = "scenario.PollNames$First";
const SECOND: &str = "scenario.PollNames$Second";

/// The activity of a message and the steps of its life cycle.
fn lifecycle(message: &Message) -> (&str, Vec<LifecycleStep>) {
    let NamedBy::Lifecycle(steps) = message.named_by else { panic!("{message:?}") };
    // The Handler is not known, and no `what`.
    let nothing_else = (message.callback.as_str(), message.what, message.component);
    assert_eq!(nothing_else, ("", None, Some(Component::ActivityThread)), "{message:?}");
    (&message.target, steps.iter().collect())
}

/// However short they are, without a stack, and the one that runs by what was called so far.
#[test]
fn activities_are_named_by_the_callbacks_of_their_life_cycles() -> Result<()> {
    use LifecycleStep::{Create, Other, Pause, Resume, Start, Stop};
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let played = Scenario::run("scenario.PollNames", &testbed, &[], &["hook=POLL", "sampling=off"])?;
        assert_eq!(played.hook(), "Poll");
        let named: Vec<_> = details(&played.report).filter_map(|detail| detail.message.as_ref()).collect();
        assert_eq!(
            named.iter().map(|message| lifecycle(message)).collect::<Vec<_>>(),
            [
                (FIRST, vec![Create, Start, Resume]),
                // The steps of the second one are between them.
                (FIRST, vec![Other, Stop]),
                (SECOND, vec![Pause, Stop]),
            ],
            "{testbed}"
        );
        let MainState::Running(running) = &played.report.main else { panic!("{:?}", played.report.main) };
        let message = running.message.as_ref().map(lifecycle);
        assert_eq!(message, Some((SECOND, vec![Create])), "{testbed}: it has not returned");
    }
    Ok(())
}

/// The platform of these levels has no callback before `onCreate`.
#[test]
fn nothing_is_claimed_of_an_activity_that_no_callback_was_for() -> Result<()> {
    for testbed in testbed::to_test_on(&["art11-fw28"]) {
        let played = Scenario::run("scenario.PollNames", &testbed, &[], &["hook=POLL", "sampling=off"])?;
        let MainState::Running(running) = &played.report.main else { panic!("{:?}", played.report.main) };
        let message = running.message.as_ref().map(|message| message.named_by);
        assert!(!matches!(message, Some(NamedBy::Lifecycle(_))), "{message:?}");
        assert_eq!(details(&played.report).filter(|detail| detail.message.is_some()).count(), 3);
    }
    Ok(())
}
