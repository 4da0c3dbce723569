//! The hooks together with other libraries, and messages that behave unusually.

use anyhow::{Context, Result};
use lab_reports::{details, details_of, feature, stacks_of};
use loopbox_e2e::scenario::{SHOP, Scenario};
use loopbox_format::model::{
    Component, Detail, End, Feature, Limits, MainState, NamedBy, PendingSource, RecordKind, Token,
};
use loopbox_testbed as testbed;

const MS: u64 = 1_000_000;
/// Runs a scenario of `scenario.Hooks`.
fn run(testbed: &str, options: &[&str], arguments: &[&str]) -> Result<Scenario> {
    Scenario::run("scenario.Hooks", testbed, options, arguments)
}

/// Runs a scenario where the Printer is the hook: on ART 10 and 11, and on the testbeds that
/// `LOOPBOX_TESTBEDS` names.
fn on_each_testbed(scenario: impl Fn(&str) -> Result<()>) -> Result<()> {
    testbed::to_test_on(&["art10", "art11"])
        .into_iter()
        .try_for_each(|testbed| scenario(&testbed).with_context(|| format!("on {testbed}")))
}

#[test]
fn a_printer_that_was_there_before_sees_everything_and_is_put_back() -> Result<()> {
    on_each_testbed(|testbed| {
        let scenario = run(testbed, &[], &["mode=before", "hook=PRINTER"])?;
        assert_eq!(scenario.hook(), "Printer, passes on to com.othersdk.Monitor");
        scenario.shop(1).and(scenario.shop(2))?;
        // Two messages and the one that leaves the loop, which throws and so has no end.
        assert!(scenario.said("other 3 2"), "{:?}", scenario.said);
        assert!(scenario.said("other 5 3"), "{:?}", scenario.said);
        assert!(scenario.said("restored true"));
        Ok(())
    })
}

#[test]
fn a_printer_that_wraps_ours_keeps_us_and_stays_when_we_go() -> Result<()> {
    on_each_testbed(|testbed| {
        let scenario = run(testbed, &[], &["mode=after", "hook=PRINTER"])?;
        scenario.shop(1)?;
        assert!(scenario.said("other 2 1") && scenario.said("other 4 2"), "{:?}", scenario.said);
        assert!(scenario.said("restored true"), "the other library's Printer must stay");
        Ok(())
    })
}

#[test]
fn a_looper_that_prints_other_words_is_followed_by_turns() -> Result<()> {
    on_each_testbed(|testbed| {
        let scenario = run(testbed, &[], &["mode=words", "hook=PRINTER"])?;
        let long: Vec<_> = details(&scenario.report).filter(|d| d.wall_ns >= 60 * MS).collect();
        assert_eq!(long.len(), 2, "{:#?}", scenario.report.history);
        Ok(())
    })
}

#[test]
fn a_printer_that_took_ours_out_is_noticed_and_passed_on_to() -> Result<()> {
    on_each_testbed(|testbed| {
        let scenario = run(testbed, &[], &["mode=displaced", "hook=PRINTER", "printerCheckMs=100"])?;
        assert_eq!(scenario.hook(), "Printer, passes on to com.othersdk.Monitor, armed again 1 time");
        scenario.shop(1).and(scenario.shop(2))?;
        assert!(scenario.said("restored true"), "what was there when we came back is put back");
        Ok(())
    })
}

#[test]
fn a_hook_that_was_taken_out_comes_back_on_a_main_thread_that_is_never_idle() -> Result<()> {
    let displaced = |testbed: &str, arguments: &[&str]| -> Result<Scenario> {
        let scenario = run(testbed, &[], arguments)?;
        assert!(scenario.hook().contains(", passes on to "), "{}", scenario.hook());
        assert!(scenario.hook().ends_with(", armed again 1 time"), "{}", scenario.hook());
        scenario.shop(1).and(scenario.shop(2))?;
        assert!(scenario.said("restored true"), "{:?}", scenario.said);
        let unseen = scenario.report.history.iter().find(|record| record.kind == RecordKind::Unseen);
        assert!(unseen.is_some_and(|record| record.count == 0), "{:#?}", scenario.report.history);
        Ok(scenario)
    };
    on_each_testbed(|testbed| {
        let scenario = displaced(testbed, &["mode=displaced-busy", "hook=PRINTER"])?;
        // One of them is the message that the recorder posts when its hook is back.
        assert!(scenario.said("idle false") && scenario.said("passed on 3"), "{:?}", scenario.said);
        Ok(())
    })?;
    displaced("art10", &["mode=observer-busy"]).map(drop)
}

#[test]
fn while_another_library_has_our_place_the_hook_is_not_reported_as_on() -> Result<()> {
    on_each_testbed(|testbed| {
        let scenario = run(testbed, &[], &["mode=displaced-twice", "hook=PRINTER"])?;
        assert!(scenario.said("back true"), "{:?}", scenario.said);
        let hooks: Vec<_> =
            scenario.said.iter().filter_map(|line| line.strip_prefix("SCRIPT hook ")).collect();
        let off = "false displaced by another library until the next try; was Printer";
        assert!(hooks[0].starts_with(off) && hooks[1].starts_with("true Printer"), "{hooks:?}");
        assert!(scenario.has_shop(1) && !scenario.has_shop(2));
        let unseen = scenario.report.history.iter().find(|record| record.kind == RecordKind::Unseen);
        let unseen = unseen.with_context(|| format!("{:#?}", scenario.report.history))?;
        assert!(unseen.count == 0 && unseen.work_ns == 0 && unseen.wall_ns >= 300 * MS, "{unseen:?}");
        Ok(())
    })
}

#[test]
fn a_printer_that_was_set_to_null_is_set_again() -> Result<()> {
    on_each_testbed(|testbed| {
        // With the longest pause, too, which comes after the first try.
        for pause in ["printerCheckMs=100", "printerCheckMs=3600000"] {
            let scenario = run(testbed, &[], &["mode=nulled", "hook=PRINTER", pause])?;
            assert_eq!(scenario.hook(), "Printer, armed again 1 time", "{pause}");
            scenario.shop(2)?;
        }
        Ok(())
    })
}

#[test]
fn a_stubborn_other_library_is_answered_ever_more_seldom() -> Result<()> {
    on_each_testbed(|testbed| {
        let scenario = run(testbed, &[], &["mode=fight", "hook=PRINTER", "printerCheckMs=100"])?;
        // 40 rounds of at least 60 ms; the pause doubles from 100 ms on: 100 + 200 + 400 + 800 + 1600 + 3200
        // ...
        let (_, how) = feature(&scenario.report, Feature::Hook);
        let armed =
            how.split("armed again ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
        let armed = armed.with_context(|| format!("{how:?}"))?;
        assert!((1..=8).contains(&armed), "armed again {armed} times");
        Ok(())
    })
}

#[test]
fn an_observer_that_was_there_before_gets_its_own_tokens_back() -> Result<()> {
    let scenario = run("art10", &[], &["mode=observer-before"])?;
    assert!(
        scenario.hook().starts_with("Observer by reflection, Proxy, passes on to "),
        "{}",
        scenario.hook()
    );
    scenario.shop(1).and(scenario.shop(2))?;
    // Two messages and the throwing one, which an observer is notified of; then one and one more.
    assert!(scenario.said("stats 5 5 0"), "{:?}", scenario.said);
    assert!(scenario.said("restored true"));
    // The observer is one for all Loopers; only the main one is recorded.
    assert!(!scenario.has_shop(77));
    Ok(())
}

#[test]
fn an_observer_that_wraps_ours_keeps_us_and_stays_when_we_go() -> Result<()> {
    let scenario = run("art10", &[], &["mode=observer-after"])?;
    assert_eq!(scenario.hook(), "Observer by reflection, class");
    scenario.shop(1)?;
    assert!(scenario.said("stats 4 4 0"), "{:?}", scenario.said);
    assert!(scenario.said("restored true"), "the other library's observer must stay");
    Ok(())
}

#[test]
fn an_observer_that_was_taken_out_is_set_again() -> Result<()> {
    let scenario = run("art10", &[], &["mode=observer-nulled", "printerCheckMs=100"])?;
    assert_eq!(scenario.hook(), "Observer by reflection, class, armed again 1 time");
    scenario.shop(1).and(scenario.shop(2))?;
    assert!(scenario.said("left null"), "{:?}", scenario.said);

    let scenario = run("art10", &[], &["mode=observer-displaced", "printerCheckMs=100"])?;
    let hook = scenario.hook();
    assert!(hook.contains("Proxy, passes on to ") && hook.ends_with(", armed again 1 time"), "{hook}");
    scenario.shop(1).and(scenario.shop(2))?;
    assert!(scenario.said("stats 4 4 0") && scenario.said("restored true"), "{:?}", scenario.said);
    Ok(())
}

#[test]
fn a_hook_that_fails_in_a_message_does_not_leave_it_running() -> Result<()> {
    let app = run("art10", &[], &["mode=observer-null", "hangMs=500"])?;
    let (on, how) = feature(&app.report, Feature::Hook);
    assert!(!on && how.starts_with("failed: java.lang.NullPointerException"), "{how}");
    app.shop(1)?;
    assert!(!matches!(app.report.main, MainState::Running(_)), "{:?}", app.report.main);
    assert!(!app.said.iter().any(|line| line.ends_with(" hang")), "{:?}", app.said);
    Ok(())
}

#[test]
fn observers_that_pass_on_in_a_circle_do_not_count_a_message_twice() -> Result<()> {
    let scenario = run("art10", &[], &["mode=observer-circle", "printerCheckMs=100"])?;
    assert!(scenario.hook().ends_with(", armed again 1 time"), "{}", scenario.hook());
    for what in [1, 2] {
        let of_it = |d: &&Detail| d.message.as_ref().is_some_and(|message| message.what == Some(what));
        let ends: Vec<_> = details_of(&scenario.report, SHOP).filter(of_it).map(|d| d.end).collect();
        assert_eq!(ends, [End::Returned], "{:#?}", scenario.report.history);
    }
    assert!(details(&scenario.report).all(|d| d.end != End::Missed), "{:#?}", scenario.report.history);
    Ok(())
}

#[test]
fn uninstalling_in_a_message_and_installing_again_works() -> Result<()> {
    for hook in ["hook=AUTO", "hook=PRINTER"] {
        let scenario = run("art10", &[], &["mode=again", hook])?;
        assert!(
            scenario.said("dump without recorder null") && scenario.said("twice false"),
            "{:?}",
            scenario.said
        );
        assert!(!scenario.has_shop(1) && scenario.has_shop(2));
        scenario.assert_whole();
        assert_eq!(scenario.report.history[0].first_token, Token(1), "a new recording counts from 1");
    }
    Ok(())
}

/// On ART 10 alone. The ends of messages in nested loops are recognized by the depth of the native stack, and
/// the switch interpreter on the testbeds of ART 11 and 14 does not use that stack for Java calls.
#[test]
fn nested_loops_are_distinguished_from_lost_ends() -> Result<()> {
    for (hook, end) in [("hook=AUTO", End::Threw), ("hook=PRINTER", End::Missed)] {
        let scenario = run("art10", &[], &["mode=nested", hook])?;
        scenario.assert_whole();
        let dialog = details_of(&scenario.report, "scenario.OddMessages$ModalDialog").next();
        let dialog = dialog.with_context(|| format!("{:#?}", scenario.report.history))?;
        assert_eq!(dialog.end, End::Returned);
        for (what, ms) in [(21, 60), (11, 70), (12, 80)] {
            let inner = scenario.shop(what)?;
            assert!(inner.wall_ns >= ms * MS && inner.end == End::Returned, "{inner:?}");
            assert!(inner.start_ns > dialog.start_ns && inner.token > dialog.token);
            assert!(inner.start_ns + inner.wall_ns <= dialog.start_ns + dialog.wall_ns);
        }
        // The message that left the inner loop by an exception; the Printer learns of it by the outer one's
        // end.
        let mut stopped = details(&scenario.report).filter(|d| d.end == end && d.token > dialog.token);
        let first = stopped.next().with_context(|| format!("{:#?}", scenario.report.history))?;
        assert!(first.message.is_some(), "{first:?} has no name");
    }
    Ok(())
}

#[test]
fn exceptions_and_errors_do_not_upset_what_follows() -> Result<()> {
    for (mode, class) in [
        ("throws", "com.example.shop.BrokenCoupon"),
        ("quit", "scenario.OddMessages$Quitter"),
        ("error", "scenario.OddMessages$Bottomless"),
    ] {
        for hook in ["AUTO", "PRINTER"] {
            let scenario = run("art10", &[], &[&format!("mode={mode}"), &format!("hook={hook}")])?;
            scenario.assert_whole();
            assert_eq!(scenario.shop(21)?.end, End::Returned);
            assert!(
                mode != "quit" || scenario.said("caught Main thread not allowed to quit."),
                "{:?}",
                scenario.said
            );
            let odd = details_of(&scenario.report, class).next();
            match (mode, hook) {
                ("throws" | "quit", "AUTO") => assert_eq!(odd.context("not named")?.end, End::Threw),
                // An Error is not reported: the observer cannot name it, the start line can.
                ("error", "AUTO") => assert!(details(&scenario.report).any(|d| d.end == End::Missed)),
                _ => assert_eq!(odd.context("not named")?.end, End::Missed),
            }
        }
    }
    Ok(())
}

#[test]
fn callbacks_that_print_themselves_oddly_are_recorded_sanely() -> Result<()> {
    on_each_testbed(|testbed| {
        let scenario = run(testbed, &[], &["mode=strings", "hook=PRINTER"])?;
        scenario.assert_whole();
        assert!(scenario.said("caught no words"));
        let long = details(&scenario.report).filter(|d| d.wall_ns >= 60 * MS && d.end == End::Returned);
        let names: Vec<_> = long.filter_map(|d| d.message.as_ref()).collect();
        assert_eq!(names.len(), 4, "{:#?}", scenario.report.history);
        for name in names {
            assert_eq!(name.named_by, NamedBy::Printer);
            assert!(name.callback.len() < 100 && !name.callback.contains(['\n', ' ']), "{name:?}");
        }
        scenario.shop(21)?;
        Ok(())
    })
}

#[test]
fn pending_messages_keep_their_objects_to_themselves() -> Result<()> {
    let scenario = run("art10", &[], &["mode=pending"])?;
    let pending = &scenario.report.pending;
    assert_eq!(pending.source, PendingSource::MessagesField);
    assert!(!pending.lines.iter().any(|line| line.contains("4929")), "{:#?}", pending.lines);
    let queue = loopbox_format::looper::parse_queue(pending);
    assert_eq!((queue.messages.len(), queue.total), (2, Some(2)), "{queue:#?}");
    assert_eq!(queue.unread, [""; 0], "{queue:#?}");
    let hour = 3_600_000 * MS as i64;
    assert!((hour / 2..=hour).contains(&queue.messages[0].due_in_ns), "{queue:#?}");
    let scenario = run("art10", &[], &["mode=pending", "keepObjects=on"])?;
    assert!(
        scenario.report.pending.lines.iter().any(|line| line.contains("4929")),
        "{:#?}",
        scenario.report.pending
    );
    Ok(())
}

#[test]
fn without_a_hook_the_looper_is_left_alone_and_long_stretches_keep_their_stacks() -> Result<()> {
    let scenario = run("art10", &[], &["mode=none", "hook=NONE"])?;
    assert!(scenario.said("printer null, observer null"), "{:?}", scenario.said);
    assert!(scenario.said("hook false paused by the app"), "{:?}", scenario.said);
    let report = &scenario.report;
    assert_eq!(feature(report, Feature::Hook), (false, "none, as the app wants it"));
    assert!(report.history.is_empty(), "{:#?}", report.history);
    assert_eq!(report.pending.source, PendingSource::MessagesField);
    let mut methods = Vec::new();
    for tree in &report.trees {
        let stacks = stacks_of(report, tree)?;
        methods.extend(stacks.into_iter().flat_map(|(stack, _)| stack).map(|frame| frame.short()));
    }
    assert!(methods.iter().any(|method| method == "ShopHandler.handleMessage"), "{methods:?}");
    Ok(())
}

#[test]
fn time_in_which_the_app_has_paused_the_recorder_is_unseen() -> Result<()> {
    let unseen = |scenario: &Scenario| {
        let history = &scenario.report.history;
        let unseen = history.iter().filter(|record| record.kind == RecordKind::Unseen);
        let ms: Vec<u64> = unseen.map(|record| record.wall_ns / MS).collect();
        // As long as what ran in it: no other record has time of the pause.
        assert!(ms.len() == 1 && ms[0] >= 400, "{history:#?}");
    };
    let mut hooks: Vec<_> =
        testbed::to_test_on(&["art10", "art11"]).into_iter().map(|testbed| (testbed, "PRINTER")).collect();
    hooks.extend(["OBSERVER", "POLL"].map(|hook| ("art10".to_owned(), hook)));
    for (testbed, hook) in hooks {
        // The poll hook does not see which message it is.
        let knows_what = hook != "POLL";
        let hook = format!("hook={hook}");
        let paused = run(&testbed, &[], &["mode=paused", &hook])?;
        unseen(&paused);
        assert_eq!(paused.report.main, MainState::Unknown, "{hook} on {testbed}");
        let resumed = run(&testbed, &[], &["mode=paused", "resume=on", &hook])?;
        unseen(&resumed);
        if knows_what {
            assert!(!resumed.has_shop(2), "{:#?}", resumed.report.history);
            resumed.shop(1).and(resumed.shop(3))?;
        }
    }
    Ok(())
}

#[test]
fn a_pause_ends_the_wait_for_the_next_try_to_put_the_hook_back() -> Result<()> {
    on_each_testbed(|testbed| {
        let arguments = ["mode=paused-displaced", "hook=PRINTER", "printerCheckMs=3600000"];
        let scenario = run(testbed, &[], &arguments)?;
        let hooks: Vec<_> =
            scenario.said.iter().filter_map(|line| line.strip_prefix("SCRIPT hook ")).collect();
        let [displaced, paused, resumed] = hooks[..] else { anyhow::bail!("{hooks:?}") };
        assert!(displaced.starts_with("false displaced by another library until the next try"), "{hooks:?}");
        assert_eq!(paused, "false paused by the app");
        assert!(resumed.starts_with("true Printer"), "{hooks:?}");
        scenario.shop(2)?;
        Ok(())
    })
}

#[test]
fn a_configuration_that_cannot_be_is_refused_with_a_reason() -> Result<()> {
    let scenario = run("art10", &[], &["mode=config"])?;
    for refusal in [
        "refused: detailMs 300 is not less than groupMs 300",
        "refused: the Observer hook is hidden API, which hiddenApi NONE forbids",
        "refused: watchInput makes messages of input, which hook NONE does without",
        "refused: directory is null",
        "refused: slots is 5, must be 10 to 500",
        "refused: number of levelsMs is 0, must be 1 to 8",
        "refused: levelsMs is 19, must be 20 to 60000",
        "refused: levelsMs is 100, must be 101 to 60000",
        "refused: blockMs is 49, must be 50 to 60000",
        "installed true",
        "installed nowhere true",
    ] {
        assert!(scenario.said(refusal), "{refusal} is not among {:#?}", scenario.said);
    }
    let report = &scenario.report;
    assert_eq!(report.meta.limits, Limits::default(), "the builder's defaults are the recorder's");
    assert_eq!(report.meta.process.app_version, "5.2.1 (50201)");
    let annotations =
        [("user", "u-17"), ("track", "beta")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(report.meta.annotations, annotations);
    // Names of the app's own messages are not kept, those of components are.
    let names: Vec<_> = details(report).filter_map(|d| d.message.as_ref()).collect();
    assert_eq!(names.len(), 1, "{names:#?}");
    assert_eq!(names[0].component, Some(Component::ActivityThread));
    assert!(details(report).any(|d| d.message.is_none() && d.wall_ns >= 60 * MS));
    Ok(())
}
