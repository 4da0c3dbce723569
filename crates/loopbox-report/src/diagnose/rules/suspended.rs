//! The runtime had stopped all threads: main stood still, whatever its stack shows.

use crate::diagnose::account::{TimeUse, account};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::suspender::Suspender;
use crate::model::time::{format_ns, percent};

/// A suspension that is shorter than this is not a cause.
const MIN_NS: u64 = 500_000_000;
/// A suspension that takes less than this share of the message is not a cause.
const MIN_SHARE: f64 = 0.3;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.primary_message()?;
    let account = account(facts)?;
    let suspender = Suspender::of(facts, slow)?;
    let (ns, share) = (account.ns(TimeUse::Suspended), account.share(TimeUse::Suspended));
    if ns < MIN_NS || share < MIN_SHARE {
        return None;
    }
    let what = suspender.words(&facts.analysis.frames);
    let title = format!("{} stood still for {}: {what}", slow.subject(), format_ns(ns));
    let (stops, advice, culprit) = match suspender {
        Suspender::Thread { thread, culprit, .. } => (
            format!(
                "{what}{}, for which the runtime stops every other thread that runs code of Java",
                thread.tid_in_brackets()
            ),
            "The code on main's stack is not the cause. Walk through the heap in another process (a fork), or where no user \
             waits.",
            culprit,
        ),
        Suspender::Debugger => (
            "a debugger was attached: at a break point it stops every thread".into(),
            "The code on main's stack is not the cause. Leave reports out of a process that is debugged.",
            None,
        ),
    };
    Some(
        Finding::new("suspended", facts.score(slow) + 0.08, title)
            .with_evidence(stops)
            .with_evidence(format!(
                "for {} of the time main was on no CPU, and in no known wait",
                percent(share)
            ))
            .with_share(share)
            .with_advice(advice)
            .with_message(slow.token)
            .with_culprit(culprit),
    )
}
