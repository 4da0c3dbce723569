//! How long the system waits for the component that a message belongs to.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::anr_type::anr_call;
use crate::model::framework::Role;
use crate::model::time::format_ms;
use crate::model::{FrameId, SampledTree};
use loopbox_format::looper::{AnrClass, activity_thread, component_of_stack};
use loopbox_format::model::Component;

/// The time-outs that a slow message is under, in words.
pub(super) fn time_outs(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Vec<String> {
    if let Some(words) = by_system(facts) {
        return vec![words];
    }
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
    let component = slow.message.and_then(|m| m.component).or(found.map(|found| found.component));
    let what = slow.message.and_then(|m| m.what).or(found.and_then(|found| found.what));
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

/// Where the system says itself how long it waits, nothing has to be concluded from what main is in.
fn by_system(facts: &Facts<'_>) -> Option<String> {
    let call = anr_call(facts.analysis)?;
    let time = format_ms(call.timeout_ms? as f64);
    let until = if call.is_warning { "it calls an ANR" } else { "it called this ANR" };
    Some(format!("{} is given {time} by the system before {until}", call.words))
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
