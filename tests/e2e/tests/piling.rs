//! Hooks and idle handlers, which the recorder adds at each resumption and installation, do not pile up, not
//! even when a library wraps the hook again whenever its own hook is not on top.

use anyhow::{Context, Result};
use lab_reports::{details_of, feature};
use loopbox_e2e::scenario::{self, SHOP};
use loopbox_format::model::{Detail, Feature};
use loopbox_testbed as testbed;

/// Runs the app. Returns what it printed: how many hooks the library has made, how many of their calls one
/// message causes, and how many idle handlers the queue had before and after.
fn play(testbed: &str, arguments: &[&str]) -> Result<([u32; 2], [u32; 2])> {
    let played = scenario::Scenario::run("scenario.Piling", testbed, &[], arguments)?;
    let numbers = |name: &str| -> Result<[u32; 2]> {
        let line = played.said.iter().find_map(|line| line.strip_prefix(&format!("SCRIPT {name} ")));
        let line = line.with_context(|| format!("no {name} in {:?}", played.said))?;
        let numbers: Vec<u32> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        <[u32; 2]>::try_from(numbers).ok().with_context(|| line.to_owned())
    };
    let (on, how) = feature(&played.report, Feature::Hook);
    assert!(on && !how.contains("armed again"), "{how}: {:?}", played.said);
    let last = |d: &&Detail| d.message.as_ref().is_some_and(|message| message.what == Some(2));
    assert_eq!(details_of(&played.report, SHOP).filter(last).count(), 1, "{:#?}", played.report.history);
    Ok((numbers("made")?, numbers("idle")?))
}

fn on_each(arguments: &[&str]) -> Result<()> {
    let printers = testbed::to_test_on(&["art10", "art11"]);
    let mut hooks: Vec<_> = printers.iter().map(|testbed| (testbed.as_str(), "Printer")).collect();
    hooks.push(("art10", "Observer"));
    for (testbed, other) in hooks {
        let (hook, other) = (format!("hook={}", other.to_uppercase()), format!("other={other}"));
        let mut all = vec![hook.as_str(), other.as_str()];
        all.extend_from_slice(arguments);
        let context = || format!("{all:?} on {testbed}");
        let ([made, calls], [idle_before, idle_after]) = play(testbed, &all).with_context(context)?;
        assert_eq!((made, calls), (1, 2), "{}", context());
        // One more waits for the end of the message that the last installation was in.
        assert!(idle_after <= idle_before + 1, "{idle_before}, {idle_after}: {}", context());
    }
    Ok(())
}

#[test]
fn pauses_leave_one_hook_whatever_wraps_it() -> Result<()> {
    on_each(&["mode=pause"])?;
    on_each(&["mode=pause", "apart=on"])
}

#[test]
fn installations_leave_one_hook_whatever_wraps_it() -> Result<()> {
    on_each(&["mode=install", "rounds=12"])?;
    on_each(&["mode=install", "rounds=12", "apart=on"])
}
