//! The running message is slow.

use crate::diagnose::account::account;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::hot_method::{branches, hot_path, most_of_it_in};
use crate::diagnose::rules::starved;
use crate::diagnose::time_out::time_outs;
use crate::model::time::{format_ns, percent};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.primary_message().filter(|slow| slow.running && !slow.is_outside())?;
    let account = account(facts)?;
    let score = facts.score(slow);
    let (path, culprit) = hot_path(facts, slow);
    let place = most_of_it_in(facts, slow, culprit);
    let stood_still = account.stood_still();
    let title = format!(
        "The running message (#{}) has taken {}{stood_still}{place}",
        slow.token,
        format_ns(slow.wall_ns)
    );
    let cpu = match slow.cpu_share() {
        Some(cpu) if cpu >= 0.7 => format!("main computed: {} of the time on the CPU", percent(cpu)),
        Some(cpu) if cpu <= 0.2 => format!("main waited: only {} of the time on the CPU", percent(cpu)),
        Some(cpu) => format!("main was on the CPU for {} of the time", percent(cpu)),
        None => "the CPU time is not known".into(),
    };
    Some(
        Finding::new("current-slow", score, title)
            .with_evidence(format!("it is {}", slow.name(facts.analysis)))
            .with_all_evidence(time_outs(facts, slow))
            .with_evidence(cpu)
            .with_all_evidence(path)
            .with_all_evidence(branches(facts))
            .with_all_evidence(slow.before_install(facts.analysis))
            .with_share(account.not_frozen())
            .at_most_medium(starved::may_be(facts, slow))
            .at_most_medium(account.against_code())
            .with_advice(
                "Look at the stack tree: move the named work off the main thread or make it smaller.",
            )
            .with_message(slow.token)
            .with_culprit(culprit.map(|method| method.frame)),
    )
}
