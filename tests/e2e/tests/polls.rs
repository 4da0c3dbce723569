//! The poll hook: it sees each poll of main's queue, and what lies between two polls is a message.

use anyhow::{Context, Result};
use lab_launch::run_tests;
use lab_reports::details_of;
use loopbox_e2e::scenario::{SHOP, Scenario};
use loopbox_format::model::{End, MainState, NamedBy, RecordKind, Token};
use loopbox_testbed::{self as testbed, Arch};

/// Runs `scenario.Polls`. Returns what it left, and how many messages began according to another library's
/// Observer.
fn play(testbed: &str, arguments: &[&str]) -> Result<(Scenario, u64)> {
    let all = [&["hook=POLL"], arguments].concat();
    let played = Scenario::run("scenario.Polls", testbed, &[], &all)?;
    let begun = played.said.iter().find_map(|line| line.strip_prefix("SCRIPT begun "));
    let begun = begun.with_context(|| format!("{:?}", played.said))?.parse()?;
    println!("{testbed}: {begun} begun, {:?}, {}", played.said.first(), played.hook());
    Ok((played, begun))
}

/// Checks that each message is counted once, and nothing else is.
fn assert_counts(testbed: &str, arguments: &[&str]) -> Result<()> {
    let (played, begun) = play(testbed, arguments)?;
    assert_eq!(played.hook(), "Poll");
    let MainState::Running(running) = &played.report.main else { panic!("{:?}", played.report.main) };
    assert_eq!((running.token, running.depth), (Token(begun), 1), "on {testbed}");
    // Nothing is missing or counted twice: numbers run on from record to record.
    let mut next = None;
    for record in played.report.history.iter().filter(|record| record.count > 0) {
        assert_eq!(record.first_token, next.unwrap_or(record.first_token), "{:#?}", played.report.history);
        next = Some(Token(record.first_token.0 + u64::from(record.count)));
    }
    assert!(played.report.history.iter().all(|record| record.kind != RecordKind::Unseen));
    Ok(())
}

#[test]
fn a_flood_of_messages_is_counted_exactly() -> Result<()> {
    testbed::to_test_on(&["art10", "art11"]).iter().try_for_each(|testbed| assert_counts(testbed, &[]))
}

#[test]
fn messages_between_idle_handlers_and_wake_ups_are_counted_exactly() -> Result<()> {
    let calm = ["calm=1", "messages=10000"];
    testbed::to_test_on(&["art10", "art11"]).iter().try_for_each(|testbed| assert_counts(testbed, &calm))
}

/// Each processor architecture has its own trampolines.
#[test]
fn messages_on_other_machines_are_counted_exactly() -> Result<()> {
    let few = ["calm=1", "messages=1000"];
    let all = testbed::to_test_on(&["art11-arm64", "art11-x86", "art11-arm"]);
    all.iter().try_for_each(|testbed| assert_counts(testbed, &few))
}

/// A trampoline passes its arguments on to the function that it calls, and the C library's unwinder can
/// unwind through the trampoline.
#[test]
fn the_trampolines_of_each_machine_pass_their_own_tests() -> Result<()> {
    for name in testbed::to_test_on(&["art11-arm64", "art11-x86", "art11-arm"]) {
        let testbed = testbed::ensure(&name)?;
        if testbed.arch()? != Arch::X86_64 {
            run_tests(&testbed, "loopbox-poll").with_context(|| name)?;
        }
    }
    Ok(())
}

#[test]
fn a_long_message_that_has_ended_is_named_by_its_stacks() -> Result<()> {
    for testbed in testbed::to_test_on(&["art10", "art11", "art11-x86"]) {
        let (played, _) = play(&testbed, &["shopMs=600"])?;
        let shop = details_of(&played.report, SHOP).next();
        let shop = shop.with_context(|| format!("{testbed}: {:#?}", played.report.history))?;
        let message = shop.message.as_ref().context("it is named")?;
        assert_eq!((message.named_by, message.what), (NamedBy::Stack, None));
        assert!(shop.wall_ns >= 600_000_000 && shop.end == End::Returned, "{shop:?}");
        assert!(played.said("begun 2"), "{:?}", played.said);
    }
    Ok(())
}

/// With the other hooks, all time outside of messages counts as idle.
#[test]
fn what_main_does_outside_of_messages_without_a_rest_is_work() -> Result<()> {
    const MS: u64 = 1_000_000;
    for testbed in testbed::to_test_on(&["art10", "art11"]) {
        let (played, _) = play(&testbed, &["outsideMs=400"])?;
        let history = &played.report.history;
        let kinds: Vec<_> =
            history.iter().map(|record| record.kind).filter(|kind| *kind != RecordKind::Group).collect();
        assert_eq!(
            kinds,
            [RecordKind::Outside, RecordKind::Outside, RecordKind::Idle],
            "{testbed}: {history:#?}"
        );
        for record in history.iter().filter(|record| record.kind == RecordKind::Outside) {
            assert!(record.wall_ns >= 400 * MS && record.work_ns == record.wall_ns, "{record:?}");
        }
    }
    Ok(())
}

/// `MessageQueue.next` is compiled while it runs: the poll's frame moves on the stack.
#[test]
fn a_queue_that_is_compiled_meanwhile_is_counted_exactly() -> Result<()> {
    testbed::to_test_on(&["art11-jit"]).iter().try_for_each(|testbed| assert_counts(testbed, &[]))
}
