//! The running message is slow: the first thing that the article looks at.

use super::super::Finding;
use super::super::facts::{Facts, Slow, percent, said, share};
use super::short;
use crate::Merged;
use crate::clock::duration;
use crate::names::is_platform;
use loopbox_format::looper::activity_thread;
use loopbox_format::model::Component;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.running()?;
    let score = facts.blame(slow);
    let (path, culprit) = hot_path(facts, slow);
    let place = most_of_it_in(facts, culprit);
    let title = format!("The running message (#{}) has taken {}{place}", slow.token, said(slow.wall_ns));
    let cpu = match slow.cpu_share() {
        Some(cpu) if cpu >= 0.7 => format!("main computed: {} of the time on the CPU", percent(cpu)),
        Some(cpu) if cpu <= 0.2 => format!("main waited: only {} of the time on the CPU", percent(cpu)),
        Some(cpu) => format!("main was on the CPU for {} of the time", percent(cpu)),
        None => "the CPU time is not known".into(),
    };
    Some(
        Finding::new("current-slow", score, title)
            .because(format!("it is {}", slow.name(facts.api_level())))
            .because_of(time_out(facts, slow))
            .because(cpu)
            .because_of(path)
            .advise("Look at the stack tree: move the named work off the main thread or make it smaller.")
            .about(slow.token)
            .blames(culprit.map(|(frame, _)| frame)),
    )
}

/// Which of the system's clocks a component message is under.
fn time_out(facts: &Facts<'_>, slow: Slow<'_>) -> Option<String> {
    let message = slow.message.filter(|m| m.component == Some(Component::ActivityThread))?;
    let known = activity_thread(message.what, facts.api_level())?;
    let time_out = known.anr?.timeout(facts.api_level())?;
    let (short, long) = (time_out.foreground_ms, time_out.background_ms);
    let both =
        if short == long { String::new() } else { format!(" ({} in the background)", duration(long as f64)) };
    Some(format!(
        "{} is given {}{both} by the system before it calls an ANR",
        known.name,
        duration(short as f64)
    ))
}

/// `, most of it in Cart.total`; empty when no method is known.
pub(super) fn most_of_it_in(facts: &Facts<'_>, culprit: Option<(u32, f64)>) -> String {
    match culprit {
        Some((frame, share)) if share >= 0.5 => format!(", most of it in {}", short(facts, frame)),
        Some((frame, share)) => format!(", {} of it in {}", percent(share), short(facts, frame)),
        None => String::new(),
    }
}

/// The hot path of a message's tree in words, and the method on it to look at first with its share of the time: the
/// deepest of the app's own.
pub(super) fn hot_path(facts: &Facts<'_>, slow: Slow<'_>) -> (Vec<String>, Option<(u32, f64)>) {
    let frames = &facts.a.frames;
    let Some(tree) = slow.tree.filter(|tree| tree.samples() > 0) else {
        return (vec!["no stack of it was sampled, so where it spent its time is not known".into()], None);
    };
    let merged = Merged::new([tree], frames);
    let path = merged.hot_path();
    let own = path.iter().rev().find(|node| !is_platform(&frames[node.frame as usize].class));
    let culprit = own.or(path.last());
    let total = tree.total_ns();
    let mut words: Vec<String> = culprit
        .into_iter()
        .chain(path.last().filter(|last| culprit.is_some_and(|c| c.frame != last.frame)))
        .map(|node| {
            let own = match share(node.self_ns, node.total_ns) {
                s if s >= 0.01 => format!(", {} in its own code", said(node.self_ns)),
                _ => String::new(),
            };
            let name = frames[node.frame as usize].full();
            format!("{} of {} sampled in {name}{own}", said(node.total_ns), said(total))
        })
        .collect();
    if share(total, slow.wall_ns) < 0.5 {
        words.push(format!("the stacks cover only {} of {}", said(total), said(slow.wall_ns)));
    }
    (words, culprit.map(|node| (node.frame, share(node.total_ns, total))))
}
