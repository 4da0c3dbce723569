//! Main was busy outside of messages.

use crate::diagnose::account::Account;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::hot_method::{branches, hot_path, most_of_it_in};
use crate::diagnose::not_idle::wants_no_hook;
use crate::diagnose::slow_message::SlowMessage;
use crate::diagnose::time_out::time_outs;
use crate::model::time::{format_ns, percent, share};
use crate::model::{Frame, FrameId, OutsidePlace, TreePlace};
use loopbox_format::model::Token;

const ADVICE: &str = "Input events, sensor and file-descriptor callbacks and idle handlers run inside MessageQueue.next(), \
                      where no hook sees them: look at touch listeners, addIdleHandler and native code.";

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    at_dump(facts).or_else(|| not_idle(facts)).or_else(|| between_messages(facts))
}

/// The recorder itself found main busy.
fn at_dump(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.running().filter(SlowMessage::is_outside)?;
    let score = facts.score(slow);
    let ended = match slow.token {
        _ if wants_no_hook(facts.analysis) => {
            format!("main was last seen to wait for a message {} before the dump", since(facts, slow))
        }
        first if first.previous() == Token::NONE => "no message had ended before it".into(),
        of => {
            format!("message #{} had ended {} before the dump", of.previous(), since(facts, slow))
        }
    };
    Some(describe(facts, slow, score).with_evidence(ended).with_message(slow.token))
}

/// How long before the dump the last message ended, or main last waited for a message.
fn since(facts: &Facts<'_>, slow: SlowMessage<'_>) -> String {
    let after_ns = facts.analysis.outside().map_or(slow.start_ns, |outside| outside.after_ns);
    format_ns(facts.now_ns.since(after_ns))
}

/// Main was busy though the recorder recorded it as idle: its stacks or its queue show that.
fn not_idle(facts: &Facts<'_>) -> Option<Finding> {
    let found = facts.not_idle.as_ref().filter(|found| found.now)?;
    // Of a trace alone nobody knows whether it was in a message.
    if facts.analysis.is_trace_alone() {
        return None;
    }
    let slow = found.message(facts.analysis, facts.now_ns, facts.idle_for_ns());
    let mut score = facts.score(slow);
    // The queue alone says that main did not come to it, not why.
    if slow.tree.is_none() {
        score = score.min(0.74);
    }
    let finding = describe(facts, slow, score)
        .with_all_evidence(found.evidence.iter().cloned())
        .at_most_medium(facts.unknown_history());
    Some(if slow.tree.is_some() { finding.with_message(slow.token) } else { finding })
}

fn describe<'a>(facts: &Facts<'a>, slow: SlowMessage<'a>, score: f64) -> Finding {
    let examined = facts.of(slow);
    let account = Account::of(&examined, slow);
    let (path, culprit) = hot_path(facts, slow);
    let place = slow.tree.and_then(|tree| facts.analysis.place_of(tree));
    let place_in_words = match place.map(|found| found.place) {
        None => "outside of messages (no stack)".into(),
        Some(OutsidePlace::UnseenMessage) => "in a message that no hook saw".into(),
        Some(OutsidePlace::AfterLoop) => "in a message, after a loop inside of it".into(),
        Some(place) => match place.words() {
            Some(words) => format!("outside of messages, in {words}"),
            None => "outside of messages".to_owned(),
        },
    };
    let most = most_of_it_in(facts, slow, culprit);
    let stood_still = account.stood_still();
    let title = format!("Main was busy {place_in_words}, for {}{stood_still}{most}", slow.length());
    let cpu = slow.cpu_ns.map(|cpu| {
        let of_time = slow.cpu_share().map_or_else(String::new, |cpu| format!(" ({})", percent(cpu)));
        format!("main was on the CPU for {} of that{of_time}", format_ns(cpu))
    });
    Finding::new("outside", score, title)
        .with_all_evidence(entered(facts, place))
        .with_all_evidence(time_outs(facts, slow))
        .with_all_evidence(cpu)
        .with_all_evidence(path)
        .with_all_evidence(branches(&examined))
        .with_all_evidence(slow.before_install(facts.analysis))
        .at_most_medium(account.against_code())
        .with_share(account.not_frozen())
        .with_advice(match place.map(|found| found.place) {
            Some(OutsidePlace::UnseenMessage) if wants_no_hook(facts.analysis) => {
                "The app wants no hook, so messages are not distinguished: the stacks say which one it was, and whether it was one."
            }
            Some(OutsidePlace::UnseenMessage) => {
                "See the hook among the recorder's features: another library may have taken its place."
            }
            Some(OutsidePlace::AfterLoop) => {
                "The message has run Looper.loop() and goes on: its time counts from that loop's last message."
            }
            _ => ADVICE,
        })
        .with_culprit(culprit.map(|method| method.frame))
}

/// The method by which the place was entered.
fn entered(facts: &Facts<'_>, place: Option<TreePlace>) -> Option<String> {
    let full = |frame: FrameId| Frame::full(&facts.analysis.frames[frame]);
    Some(format!("it was called through {}", full(place?.entry?)))
}

/// Main was busy between messages: the idle records of the history have its CPU time.
fn between_messages(facts: &Facts<'_>) -> Option<Finding> {
    let load = facts.load;
    let cpu = share(load.idle_cpu_ns, load.idle_ns);
    if load.idle_ns < 2_000_000_000 || cpu < 0.5 || share(load.idle_ns, load.span_ns) < 0.5 {
        return None;
    }
    let slow_message = facts.running().is_some_and(|r| r.wall_ns >= 2_000_000_000);
    let score = if slow_message { 0.35 } else { 0.66 };
    let title = format!(
        "Main was busy outside of messages: {} of the last {} on the CPU between them",
        format_ns(load.idle_cpu_ns),
        format_ns(load.span_ns)
    );
    let (idle, cpu) = (format_ns(load.idle_ns), percent(cpu));
    Some(
        Finding::new("outside", score, title)
            .with_evidence(format!("no message ran for {idle}, yet main used the CPU for {cpu} of that"))
            .with_advice(ADVICE),
    )
}
