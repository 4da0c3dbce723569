//! Lists of events, and the actions that follow.

use super::*;
use loopbox_format::model::{Token, Uptime};

const DEADLINE_NS: u64 = 2_000;

fn file() -> ReportFile {
    ReportFile { name: "hang".to_owned(), path: "/x/hang.lbx".into() }
}

fn request() -> Trigger {
    Trigger::Request(Request::new("app".to_owned(), |_| ()))
}

/// Handles an event, and lists the resulting actions instead of performing them.
fn after(life: &mut Lifecycle, event: Event) -> Vec<String> {
    life.handle(event);
    let name = |action: Action| match action {
        Action::NotifyComplete(Trigger::Request(request)) => format!("notify {}", request.reason),
        Action::NotifyComplete(trigger) => format!("notify {trigger:?}"),
        Action::NotifyReclassified { reason, .. } => format!("notify again: {reason}"),
        Action::CheckEvidence { message, ask } => format!("check {message}, ask {ask:?}"),
        Action::AddEvidence { message, .. } => format!("add evidence on {message}"),
        Action::Close { file } => format!("close {}", file.name),
        action => format!("{action:?}"),
    };
    std::iter::from_fn(|| life.next_action()).map(name).collect()
}

fn queue(now_ns: Uptime, threads_answered: bool, message: Token, ask_system: bool) -> Event {
    let follow_up = FollowUp { file: file(), message, ask_system };
    Event::QueueCaptured { now_ns, threads_answered, follow_up }
}

fn tick(now_ns: Uptime) -> Event {
    Event::Tick { now_ns, threads_answered: false, trace_lasts: false }
}

fn checked(message_ended: bool, system: Option<SystemAnswer>) -> Event {
    Event::EvidenceChecked { message_ended, system }
}

/// A report that waits for threads.
fn waiting(trigger: Trigger, updated: bool, message: Token, ask_system: bool) -> Lifecycle {
    let mut life = Lifecycle::default();
    assert_eq!(after(&mut life, Event::Wanted(trigger)), ["WriteFirst"]);
    let first = after(&mut life, Event::FirstWritten { updated });
    assert_eq!(first.iter().any(|action| action == "NotifyFirst"), !updated, "of each file once");
    after(&mut life, Event::ThreadsAsked { deadline_ns: Some(Uptime(DEADLINE_NS)) });
    let again: &[&str] = if updated { &[] } else { &["WriteAgain"] };
    assert_eq!(after(&mut life, queue(Uptime(100), false, message, ask_system)), again);
    assert_eq!(life.deadline_ns(), Some(Uptime(DEADLINE_NS)));
    life
}

/// A hang's report that is complete.
fn followed(message: Token, ask_system: bool) -> Lifecycle {
    let mut life = waiting(Trigger::Hang, false, message, ask_system);
    let done = Event::Tick { now_ns: Uptime(200), threads_answered: true, trace_lasts: false };
    let actions = after(&mut life, done);
    assert_eq!(actions[..2], ["WriteComplete", "notify Hang"]);
    life
}

#[test]
fn the_signal_is_forwarded_after_the_first_file_and_the_threads_and_before_anything_of_the_app() {
    let mut life = Lifecycle::default();
    assert_eq!(after(&mut life, Event::Wanted(Trigger::Signal)), ["WriteFirst"]);
    let actions = after(&mut life, Event::FirstWritten { updated: false });
    assert_eq!(actions, ["AskThreads", "ForwardSignal", "NotifyFirst", "CheckTrace"]);
}

#[test]
fn the_queue_waits_for_arts_trace_for_two_seconds_at_most() {
    let begun = Uptime(50);
    let trace = |now_ns, lasts| Event::TraceChecked { now_ns, lasts };
    let tick = |now_ns, trace_lasts| Event::Tick { now_ns, threads_answered: false, trace_lasts };
    let waiting = || {
        let mut life = Lifecycle::default();
        after(&mut life, Event::Wanted(Trigger::Signal));
        after(&mut life, Event::FirstWritten { updated: false });
        after(&mut life, Event::ThreadsAsked { deadline_ns: Some(Uptime(DEADLINE_NS)) });
        assert!(!life.waits_for_trace());
        assert!(after(&mut life, trace(begun, true)).is_empty() && life.waits_for_trace());
        // Also when the threads' time is over.
        assert!(after(&mut life, tick(Uptime(DEADLINE_NS), true)).is_empty() && life.waits_for_trace());
        life
    };
    let mut none = Lifecycle::default();
    after(&mut none, Event::Wanted(Trigger::Hang));
    after(&mut none, Event::FirstWritten { updated: false });
    assert_eq!(after(&mut none, trace(begun, false)), ["CaptureQueue"]);

    let mut over = waiting();
    assert_eq!(after(&mut over, tick(begun.plus(TRACE_NS / 2), false)), ["CaptureQueue"]);
    assert!(!over.waits_for_trace());

    let mut late = waiting();
    assert!(after(&mut late, tick(begun.plus(TRACE_NS - 1), true)).is_empty());
    assert_eq!(after(&mut late, tick(begun.plus(TRACE_NS), true)), ["CaptureQueue"]);

    let mut next = waiting();
    let actions = after(&mut next, Event::Wanted(Trigger::Signal));
    assert_eq!(actions, ["WriteComplete", "notify Signal", "WriteFirst"], "without the queue");
}

#[test]
fn the_system_is_not_asked_while_a_report_waits_for_arts_trace() {
    let mut life = followed(Token(7), true);
    after(&mut life, Event::Wanted(Trigger::Signal));
    after(&mut life, Event::FirstWritten { updated: true });
    after(&mut life, Event::TraceChecked { now_ns: Uptime(300), lasts: true });
    let tick = |trace_lasts| Event::Tick { now_ns: Uptime(310), threads_answered: false, trace_lasts };
    assert!(after(&mut life, tick(true)).is_empty());
    assert_eq!(after(&mut life, tick(false)), ["CaptureQueue"]);
}

#[test]
fn the_signal_is_forwarded_when_the_disk_is_full_and_nothing_follows() {
    let mut life = Lifecycle::default();
    after(&mut life, Event::Wanted(Trigger::Signal));
    assert_eq!(after(&mut life, Event::FirstFailed), ["ForwardSignal"]);
    assert!(after(&mut life, tick(Uptime(1))).is_empty() && life.followed_file().is_none());
    after(&mut life, Event::Wanted(request()));
    assert!(after(&mut life, Event::FirstFailed).is_empty(), "only a signal is forwarded");
}

#[test]
fn without_threads_to_ask_a_report_is_complete_with_its_queue() {
    let mut life = Lifecycle::default();
    after(&mut life, Event::Wanted(request()));
    after(&mut life, Event::FirstWritten { updated: false });
    after(&mut life, Event::ThreadsAsked { deadline_ns: None });
    assert_eq!(after(&mut life, queue(Uptime(5), false, Token(7), true)), ["WriteComplete", "notify app"]);
    assert!(life.followed_file().is_none(), "only signals and hangs are followed");
}

#[test]
fn threads_that_answered_while_the_queue_was_captured_are_not_waited_for() {
    for (now_ns, answered) in [(100, true), (DEADLINE_NS, false)] {
        let mut life = Lifecycle::default();
        after(&mut life, Event::Wanted(Trigger::Hang));
        after(&mut life, Event::FirstWritten { updated: false });
        after(&mut life, Event::ThreadsAsked { deadline_ns: Some(Uptime(DEADLINE_NS)) });
        let actions = after(&mut life, queue(Uptime(now_ns), answered, Token(7), false));
        assert_eq!(actions, ["WriteComplete", "notify Hang"]);
    }
}

#[test]
fn a_report_is_complete_when_the_threads_answer_or_at_the_deadline() {
    for (now_ns, threads_answered) in [(200, true), (DEADLINE_NS, false)] {
        let mut life = waiting(request(), false, Token(7), false);
        assert!(after(&mut life, tick(Uptime(150))).is_empty());
        let actions =
            after(&mut life, Event::Tick { now_ns: Uptime(now_ns), threads_answered, trace_lasts: false });
        assert_eq!(actions, ["WriteComplete", "notify app"]);
        assert_eq!(life.deadline_ns(), None);
        assert!(after(&mut life, tick(Uptime(9_000))).is_empty(), "once");
    }
}

#[test]
fn the_next_report_completes_the_one_that_waits() {
    let mut life = waiting(request(), false, Token(7), false);
    let actions = after(&mut life, Event::Wanted(Trigger::Signal));
    assert_eq!(actions, ["WriteComplete", "notify app", "WriteFirst"]);
    assert!(matches!(life.trigger(), Some(Trigger::Signal)));
}

#[test]
fn a_second_signal_of_a_hang_keeps_its_complete_file_until_it_is_complete_itself() {
    let mut life = waiting(Trigger::Signal, true, Token(7), false);
    let actions =
        after(&mut life, Event::Tick { now_ns: Uptime(200), threads_answered: true, trace_lasts: false });
    assert_eq!(actions, ["WriteComplete", "notify Signal", "check 7, ask No"]);
}

#[test]
fn a_hang_is_followed_to_its_end_and_the_systems_answer() {
    let mut life = followed(Token(7), true);
    assert_eq!(after(&mut life, checked(false, None)), [""; 0]);
    assert_eq!(after(&mut life, tick(Uptime(200 + ASK_AGAIN_NS))), ["check 7, ask Yes"]);
    let answer = checked(false, Some(SystemAnswer::NotResponding));
    assert_eq!(after(&mut life, answer), ["add evidence on 7"]);
    assert_eq!(after(&mut life, Event::EvidenceAdded { written: true }), ["notify again: anr"]);
    assert_eq!(after(&mut life, tick(Uptime(500))), ["check 7, ask No"], "the system has answered");
    assert_eq!(after(&mut life, checked(true, None)), ["add evidence on 7"]);
    assert_eq!(after(&mut life, Event::EvidenceAdded { written: true }), ["notify again: ended"]);
    assert!(after(&mut life, tick(Uptime(600))).is_empty(), "nothing more can come");
}

/// Asking waits for another process, and the worker of a sampled hang wakes for every eight stacks.
#[test]
fn the_system_is_asked_twice_a_second_however_often_the_worker_wakes() {
    for message in [Token(7), Token::NONE] {
        let mut life = waiting(Trigger::Hang, false, message, true);
        let mut asked = Vec::new();
        for now_ms in (80..=2_000).step_by(80) {
            let actions = after(&mut life, tick(Uptime(now_ms * 1_000_000)));
            let check = actions.last().expect("the message is checked at every turn");
            assert!(check.starts_with(&format!("check {message}, ")), "{actions:?}");
            asked.extend(check.ends_with("ask Yes").then_some(now_ms));
            assert!(after(&mut life, checked(false, None)).is_empty());
        }
        assert_eq!(asked, [80, 640, 1_200, 1_760], "{message}");
        // The next report of the same hang begins no new count.
        after(&mut life, Event::Wanted(Trigger::Signal));
        after(&mut life, Event::FirstWritten { updated: true });
        after(&mut life, Event::ThreadsAsked { deadline_ns: None });
        after(&mut life, queue(Uptime(2_010_000_000), true, message, true));
        let actions = after(&mut life, tick(Uptime(2_020_000_000)));
        assert_eq!(actions, [format!("check {message}, ask No")]);
        assert!(life.followed_file().is_some(), "it is asked again");
    }
}

#[test]
fn the_system_is_asked_until_its_time_is_over() {
    let mut life = followed(Token(7), true);
    after(&mut life, checked(true, None));
    after(&mut life, Event::EvidenceAdded { written: true });
    assert_eq!(after(&mut life, tick(Uptime(99 + ASK_SYSTEM_NS))), ["check 0, ask Yes"]);
    assert!(after(&mut life, checked(false, None)).is_empty());
    assert_eq!(after(&mut life, tick(Uptime(100 + ASK_SYSTEM_NS))), ["check 0, ask LastTime"]);
    let answer = checked(false, Some(SystemAnswer::Nothing));
    assert_eq!(after(&mut life, answer), ["add evidence on 0"]);
    assert_eq!(after(&mut life, Event::EvidenceAdded { written: true }), ["notify again: cause decided"]);
    assert!(life.followed_file().is_none());
}

#[test]
fn a_system_that_cannot_be_asked_is_given_up_in_silence() {
    let mut life = followed(Token::NONE, true);
    after(&mut life, tick(Uptime(100 + ASK_SYSTEM_NS)));
    assert_eq!(after(&mut life, checked(false, None)), ["close hang"]);
    assert!(life.followed_file().is_none());
}

#[test]
fn a_file_is_open_until_its_message_has_ended_and_the_system_has_answered() {
    let mut life = followed(Token(7), true);
    assert_eq!(life.state_of(&file()), FileState::Open);
    assert_eq!(life.state_of(&ReportFile { name: "other".to_owned(), ..file() }), FileState::Closed);
    assert_eq!(after(&mut life, checked(true, None)), ["add evidence on 7"]);
    assert_eq!(life.state_of(&file()), FileState::Open);
    after(&mut life, Event::EvidenceAdded { written: true });
    after(&mut life, tick(Uptime(400)));
    after(&mut life, checked(false, Some(SystemAnswer::NotResponding)));
    assert_eq!(life.state_of(&file()), FileState::Closed, "what is written now says so");
    assert_eq!(followed(Token::NONE, false).state_of(&file()), FileState::Closed);
    assert_eq!(followed(Token(7), false).state_of(&file()), FileState::Open);
}

#[test]
fn the_next_hang_closes_the_file_of_the_last() {
    let mut life = followed(Token(7), true);
    after(&mut life, checked(false, None));
    after(&mut life, Event::Wanted(Trigger::Signal));
    after(&mut life, Event::FirstWritten { updated: false });
    after(&mut life, Event::ThreadsAsked { deadline_ns: None });
    let file = ReportFile { name: "next".to_owned(), path: "/x/next.lbx".into() };
    let follow_up = FollowUp { file: file.clone(), message: Token(9), ask_system: false };
    let captured = Event::QueueCaptured { now_ns: Uptime(300), threads_answered: true, follow_up };
    assert_eq!(after(&mut life, captured), ["close hang", "WriteComplete", "notify Signal"]);
    assert_eq!(life.followed_file(), Some(&file));
}

#[test]
fn evidence_completes_the_report_that_it_belongs_to_first() {
    let mut life = waiting(Trigger::Hang, false, Token(7), true);
    assert_eq!(after(&mut life, tick(Uptime(300))), ["check 7, ask Yes"]);
    let actions = after(&mut life, checked(true, None));
    assert_eq!(actions, ["WriteComplete", "notify Hang", "add evidence on 7"]);
}

#[test]
fn a_report_that_the_app_has_taken_is_not_followed_any_more() {
    let mut life = followed(Token(7), true);
    after(&mut life, checked(true, None));
    assert!(after(&mut life, Event::EvidenceAdded { written: false }).is_empty());
    assert!(life.followed_file().is_none());
}

#[test]
fn a_requested_report_does_not_end_what_a_hang_is_followed_for() {
    let mut life = followed(Token(7), false);
    after(&mut life, Event::Wanted(request()));
    after(&mut life, Event::FirstWritten { updated: false });
    after(&mut life, Event::ThreadsAsked { deadline_ns: None });
    after(&mut life, queue(Uptime(5), false, Token(8), true));
    assert_eq!(life.followed_file(), Some(&file()));
    assert_eq!(after(&mut life, tick(Uptime(300))), ["check 7, ask No"]);
}
