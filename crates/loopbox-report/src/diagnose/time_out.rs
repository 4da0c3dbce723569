//! How long the system waits for the component that a message belongs to.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::anr_type::anr_call;
use crate::model::framework::Role;
use crate::model::time::format_ms;
use crate::model::{FrameId, SampledTree};
use loopbox_format::looper::{AnrClass, activity_thread, component_of_stack};
use loopbox_format::model::{Component, NamedBy};

/// The time-outs that apply to a slow message, in words.
pub(super) fn time_outs(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Vec<String> {
    let said = by_system(facts);
    match anr_call(facts.analysis) {
        // Nothing has to be concluded from what main is in.
        Some(call) if !call.is_warning && call.timeout_ms.is_some() => said,
        _ => said.into_iter().chain(of_level(facts, slow)).collect(),
    }
}

/// The time-out that the system itself reports.
fn by_system(facts: &Facts<'_>) -> Vec<String> {
    let Some(call) = anr_call(facts.analysis) else { return Vec::new() };
    let Some(ms) = call.timeout_ms else { return Vec::new() };
    let until = if call.is_warning { "it calls an ANR" } else { "it called this ANR" };
    vec![format!("{} is given {} by the system before {until}", call.words, format_ms(ms as f64))]
}

/// The usual time-out, on this API level, for what main does.
fn of_level(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Vec<String> {
    let level = facts.analysis.api_level();
    // They differ from one to the other.
    if level == 0 {
        return Vec::new();
    }
    let stack = slow.tree.and_then(last_stack);
    let frames = || stack.iter().flatten().map(|&id| &facts.analysis.frames[id]);
    let names: Vec<(&str, &str)> =
        frames().map(|frame| (frame.class.as_str(), frame.method.as_str())).collect();
    let found = component_of_stack(names.iter().copied(), level);
    // The head of the queue may have been another message.
    let named = slow.message.filter(|message| message.named_by != NamedBy::Peek);
    let component = named.and_then(|m| m.component).or(found.map(|found| found.component));
    let what = named.and_then(|m| m.what).or(found.and_then(|found| found.what));
    let (name, class) = match component {
        Some(Component::ActivityThread) => {
            let Some(known) = what.and_then(|what| activity_thread(what, level)) else { return Vec::new() };
            (known.name, known.anr)
        }
        Some(Component::Receiver) => ("a broadcast receiver", Some(AnrClass::Broadcast)),
        Some(Component::Job) => ("a job's operation", Some(AnrClass::Job)),
        Some(Component::Input) => ("an input event", Some(AnrClass::Input)),
        _ if slow.is_outside() => ("input that waits meanwhile", Some(AnrClass::Input)),
        _ => return Vec::new(),
    };
    let mut words: Vec<String> = class.and_then(|class| given(name, class, level)).into_iter().collect();
    if frames().any(|frame| frame.role() == Some(Role::Providers)) {
        words.extend(given("publishing the content providers, which it is at,", AnrClass::Provider, level));
    }
    if matches!(what, Some(114 | 115))
        && let Some(time) = AnrClass::ForegroundStart.timeout(level)
    {
        let time = format_ms(time.foreground_ms as f64);
        words.push(format!("a service that was started as one in the foreground must say so within {time}"));
    }
    words
}

fn given(name: &str, class: AnrClass, level: u32) -> Option<String> {
    let time_out = class.timeout(level)?;
    let (short, long) = (time_out.foreground_ms, time_out.background_ms);
    let both = if short == long {
        String::new()
    } else {
        format!(" ({} in the background)", format_ms(long as f64))
    };
    let short = format_ms(short as f64);
    Some(format!("{name} is given {short}{both} by the system before it calls an ANR"))
}

fn last_stack(tree: &SampledTree) -> Option<Vec<FrameId>> {
    Some(tree.stack(tree.stack_runs().last()?.top))
}

#[cfg(test)]
mod tests {
    use super::super::diagnosis::Confidence;
    use super::super::tests::{calm, evidence, expect};
    use loopbox_format::model::{AnrInfo, AnrWarning, MainState, NamedBy, Report, Uptime};

    fn said(change: impl Fn(&mut Report)) -> String {
        let report = calm()
            .running(99, 11_000)
            .doing("android.app.ActivityThread$H", "", 10_500)
            .with(|report| {
                if let MainState::Running(running) = &mut report.main {
                    running.message.as_mut().unwrap().what = Some(113);
                }
                change(report);
            })
            .looper_tree(99, &[("com.shop.BootReceiver.onReceive", 1_000)]);
        evidence(&expect(report, "current-slow", Confidence::High))
    }

    #[test]
    fn time_out_of_an_anr_replaces_that_of_the_level_and_one_of_a_warning_joins_it() {
        const OF_LEVEL: &str = "RECEIVER is given 10.00 s (60.00 s in the background) by the system";
        let warning = AnrWarning { at_ns: Uptime(1), id: 7, kind: 1, consumed_ms: 2_500, timeout_ms: 5_000 };
        let warned = said(|report| report.anr_warnings = vec![warning]);
        let words = "input that found no focused window is given 5.00 s by the system before it calls an ANR";
        assert!(warned.contains(words) && warned.contains(OF_LEVEL), "{warned}");
        let called = said(|report| {
            report.anr_warnings = vec![warning];
            report.anr_info = Some(AnrInfo { id: 9, kind: 3, timeout_ms: 60_000, user_perceptible: false });
        });
        let words = "a broadcast receiver is given 60.00 s by the system before it called this ANR";
        assert!(called.contains(words) && !called.contains(OF_LEVEL), "{called}");
        assert!(said(|_| ()).contains(OF_LEVEL));
    }

    #[test]
    fn time_out_of_the_level_does_not_rest_on_the_head_of_the_queue() {
        let peeked = said(|report| {
            if let MainState::Running(running) = &mut report.main {
                running.message.as_mut().unwrap().named_by = NamedBy::Peek;
            }
        });
        assert!(!peeked.contains("RECEIVER is given"), "{peeked}");
        assert!(peeked.contains("(by peek)"), "{peeked}");
    }
}
