//! The running message is slow.

use crate::diagnose::facts::{Facts, SlowMessage};
use crate::diagnose::finding::Finding;
use crate::diagnose::hot_method::{hot_path, most_of_it_in};
use crate::model::time::{format_ms, format_ns, percent};
use loopbox_format::looper::activity_thread;
use loopbox_format::model::Component;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.running()?;
    let score = facts.score(slow);
    let (path, culprit) = hot_path(facts, slow);
    let place = most_of_it_in(facts, culprit);
    let title = format!("The running message (#{}) has taken {}{place}", slow.token, format_ns(slow.wall_ns));
    let cpu = match slow.cpu_share() {
        Some(cpu) if cpu >= 0.7 => format!("main computed: {} of the time on the CPU", percent(cpu)),
        Some(cpu) if cpu <= 0.2 => format!("main waited: only {} of the time on the CPU", percent(cpu)),
        Some(cpu) => format!("main was on the CPU for {} of the time", percent(cpu)),
        None => "the CPU time is not known".into(),
    };
    Some(
        Finding::new("current-slow", score, title)
            .with_evidence(format!("it is {}", slow.name(facts.analysis.api_level())))
            .with_all_evidence(time_out(facts, slow))
            .with_evidence(cpu)
            .with_all_evidence(path)
            .with_advice(
                "Look at the stack tree: move the named work off the main thread or make it smaller.",
            )
            .with_message(slow.token)
            .with_culprit(culprit.map(|method| method.frame)),
    )
}

/// The time-out that the system gives a message of an app component.
fn time_out(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<String> {
    let message = slow.message.filter(|m| m.component == Some(Component::ActivityThread))?;
    let known = activity_thread(message.what?, facts.analysis.api_level())?;
    let time_out = known.anr?.timeout(facts.analysis.api_level())?;
    let (short, long) = (time_out.foreground_ms, time_out.background_ms);
    let both = if short == long {
        String::new()
    } else {
        format!(" ({} in the background)", format_ms(long as f64))
    };
    Some(format!(
        "{} is given {}{both} by the system before it calls an ANR",
        known.name,
        format_ms(short as f64)
    ))
}
