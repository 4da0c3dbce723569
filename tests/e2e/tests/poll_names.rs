//! The names of messages under the poll hook, which does not see the messages. It names them without stacks:
//! by the callbacks of life cycles, and by the head of the queue.

use anyhow::{Context, Result};
use lab_reports::details;
use loopbox_e2e::scenario::Scenario;
use loopbox_format::model::{Component, LifecycleStep, MainState, Message, NamedBy};
use loopbox_testbed as testbed;
use std::collections::HashMap;

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

/// The messages are named without a stack, however short they are. The running message is named by the
/// callbacks that it has made so far.
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

/// What each message really was, from another library's Observer: `what`, target, callback.
fn truth(played: &Scenario) -> Result<HashMap<u64, String>> {
    let lines = played.said.iter().filter_map(|line| line.strip_prefix("SCRIPT truth "));
    let split = |line: &str| {
        let (number, name) = line.split_once(' ').context("number and name")?;
        Ok((number.parse()?, name.to_owned()))
    };
    lines.map(split).collect()
}

/// A name in the other library's form.
fn as_truth(message: &Message) -> String {
    let callback = if message.callback.is_empty() { "-" } else { &message.callback };
    format!("{} {} {callback}", message.what.unwrap_or(i32::MIN), message.target)
}

/// Runs `scenario.PollPeek`. Returns how many messages have the right name, and which do not.
fn compare(testbed: &str, arguments: &[&str]) -> Result<(usize, Vec<String>)> {
    // Short messages are kept by name here, in many records.
    let kept = ["detailMs=1", "groupMs=10", "slots=500", "sampling=off", "hook=POLL", "peek=on"];
    let played = Scenario::run("scenario.PollPeek", testbed, &[], &[&kept, arguments].concat())?;
    assert_eq!(played.hook(), "Poll, with peek");
    let truth = truth(&played)?;
    let (mut right, mut wrong) = (0, Vec::new());
    for detail in details(&played.report).filter(|detail| detail.wall_ns >= 2_000_000) {
        let Some(message) = &detail.message else { continue };
        assert_eq!(message.named_by, NamedBy::Peek, "{message:?}");
        let peeked = as_truth(message);
        let real = truth.get(&detail.token.0).with_context(|| format!("no {}", detail.token))?;
        if *real == peeked {
            right += 1;
        } else {
            wrong.push(format!("{}: {real}, not {peeked}", detail.token));
        }
    }
    println!("{testbed} {arguments:?}: {right} right, {} wrong of {}", wrong.len(), truth.len());
    Ok((right, wrong))
}

/// The messages are Runnables and messages of Handlers: some at the front, delayed, behind a barrier, or
/// after an idle handler. The running message is compared, too.
#[test]
fn the_head_of_the_queue_is_the_next_message() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let (right, wrong) = compare(&testbed, &[])?;
        assert_eq!(wrong, [""; 0], "{testbed}");
        assert!(right >= 250, "{right} on {testbed}");
    }
    Ok(())
}

/// It depends on the machine how many messages get the name of another one. Each name has the queue's head as
/// its source.
#[test]
fn the_head_of_the_queue_may_be_another_message_while_others_post() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let (right, wrong) = compare(&testbed, &["racing=1"])?;
        assert!(right > wrong.len(), "{right} on {testbed}: {wrong:#?}");
    }
    Ok(())
}

#[test]
fn the_running_message_has_its_what_by_the_head_of_the_queue() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        for sampling in ["sampling=on", "sampling=off"] {
            let arguments = ["hook=POLL", "peek=on", "messages=20", sampling];
            let played = Scenario::run("scenario.PollPeek", &testbed, &[], &arguments)?;
            let MainState::Running(running) = &played.report.main else { panic!("{:?}", played.report.main) };
            let message = running.message.as_ref().context("it is named")?;
            assert_eq!(as_truth(message), "99 scenario.PollPeek -", "{testbed}, {sampling}");
            assert_eq!(message.named_by, NamedBy::Peek, "the stack says the same, and no what");
        }
    }
    Ok(())
}

/// A stack certainly belongs to the running message. The head of the queue may have been another message.
#[test]
fn a_stack_that_says_another_class_than_the_head_of_the_queue_is_believed() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let arguments = ["hook=POLL", "peek=on", "shopMs=400"];
        let played = Scenario::run("scenario.PollPeek", &testbed, &[], &arguments)?;
        let long = details(&played.report).filter(|detail| detail.wall_ns >= 400_000_000);
        let named: Vec<_> = long.map(|detail| (detail.message.clone(), detail.wait_ns.is_some())).collect();
        let [(Some(shop), waited), (Some(heir), heir_waited)] = &named[..] else { panic!("{named:?}") };
        assert_eq!((shop.what, shop.named_by, waited), (Some(7), NamedBy::Peek, &true), "{shop:?}");
        // The method on the stack is of the class that it inherits from.
        assert_eq!((heir.what, heir.named_by, heir_waited), (None, NamedBy::Stack, &false), "{heir:?}");
    }
    Ok(())
}

#[test]
fn the_head_of_a_queue_without_a_list_is_not_read() -> Result<()> {
    const WHY: &str = "Poll, no peek: java.lang.NoSuchFieldException: mMessages is null in a queue with a message: \
                       it is no linked list";
    let cases = [
        ("art11-fw21", "Poll, with peek"),
        ("art11-fw28", "Poll, with peek"),
        ("art11-fw35", "Poll, with peek"),
        ("art11-fw36-concurrent", WHY),
        ("art11-fw37", WHY),
        ("art11-fw37-legacy", "Poll, with peek"),
    ];
    for (testbed, hook) in cases {
        let arguments = ["hook=POLL", "peek=on", "messages=60", "truth=no", "barriers=no", "sampling=off"];
        let played = Scenario::run("scenario.PollPeek", testbed, &[], &arguments)?;
        assert_eq!(played.hook(), hook, "{testbed}");
        let MainState::Running(running) = &played.report.main else { panic!("{:?}", played.report.main) };
        let peeked = running.message.as_ref().filter(|message| message.named_by == NamedBy::Peek);
        assert_eq!(
            peeked.map(as_truth),
            hook.ends_with("with peek").then(|| "99 scenario.PollPeek -".into())
        );
    }
    Ok(())
}
