//! Waiting for another thread: a lock, a latch, a future, or a monitor.

use crate::diagnose::account::account;
use crate::diagnose::cpu_wait::{NO_CPU_TIME, NOT_MEASURED, measured_cpu_wait};
use crate::diagnose::dominant_wait::{called_from, dominant_wait, short, uncovered};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::lock_chain::{chain_share, is_parked, may_explain};
use crate::diagnose::monitor::{monitor_place, unknown_memory};
use crate::diagnose::suspects::{Suspect, suspects};
use crate::diagnose::wait_kind::{NewestStack, WaitKind};
use crate::model::lock_kind::LockKind;
use crate::model::time::{format_ns, percent};
use crate::model::{Analysis, FrameId, LockHolder, LockSource, LockWait, OtherThread};
use std::fmt::Write as _;

const ADVICE: &str = "Find the thread that holds the lock in the system's ANR trace (\"held by thread\"), and what it does \
                      while holding it.";

const HELD_ADVICE: &str =
    "Shorten the time for which the other thread holds the lock, or do not take it on the main thread.";
const CLASS_ADVICE: &str = "A class is initialized once, and all wait for the thread that does it: keep static initializers short, \
                            without I/O and locks, and do not wait for main in them.";
const NOTIFY_ADVICE: &str = "Find the thread that is to notify the object and what it does instead (the other threads' \
                             stacks), and do not wait for it on the main thread.";

const OF_TRACE: &str = "so ART's own trace of the ANR says";
const OF_TRACE_THEN: &str = "so ART's own trace of the ANR says, written a moment after the report";

/// The recorder knows which monitor, or which lock of `java.util.concurrent`, main waits for, and which
/// thread holds it.
pub(super) fn find_holder(facts: &Facts<'_>) -> Option<Finding> {
    let locks = &facts.analysis.locks;
    let first = locks.waits.first()?;
    // The chain is of the dump, and so is what runs there.
    let slow = facts.primary_message().filter(|slow| slow.running)?;
    // Unlike a deadlock, which lasts, the chain is of one instant: the stacks have to show that main waits.
    if !may_explain(facts, slow) {
        return None;
    }
    let part = chain_share(facts, slow);
    let joins = locks.source == LockSource::Join;
    let parked = is_parked(locks.source);
    let base = facts.score(slow);
    let object = &first.object;
    let main = facts.analysis.meta.process.pid;
    // In a deadlock the last holder is a thread that comes earlier in the chain, usually main.
    let mut holders: Vec<&LockHolder> = Vec::new();
    for holder in locks.waits.iter().filter_map(|wait| wait.holder.as_ref()) {
        if holder.tid != Some(main)
            && holders.iter().all(|known| (known.tid, &known.name) != (holder.tid, &holder.name))
        {
            holders.push(holder);
        }
    }
    let title = match holders.first() {
        Some(_) if locks.deadlock => {
            let names: Vec<String> = holders.iter().map(|holder| named(holder)).collect();
            format!("Deadlock: {} waits for {object}, in a cycle with {}", slow.noun(), names.join(", "))
        }
        _ if joins => joined_title(facts, &slow.subject(), first.holder.as_ref()?),
        Some(_) => {
            let what = if parked { "" } else { "the monitor of " };
            format!("{} waits for {what}{object}{}", slow.subject(), held_by(facts, &locks.waits))
        }
        None if let Some((class, by)) = initialized_by(facts, object) => format!(
            "{} waits for the class {class} to be initialized, by thread {}{}",
            slow.subject(),
            by.name,
            in_top(facts, by.stack.as_deref().unwrap_or(&[]))
        ),
        None => format!("{} waits to be notified on {object}", slow.subject()),
    };
    let more = match holders.first() {
        // As of other waits: what main did otherwise comes first.
        _ if part.is_some_and(|part| part < 0.6) => -0.12,
        Some(_) if locks.deadlock => 0.12,
        // The lock is Android's own: that preferences are written under it explains more than which thread
        // does it.
        Some(_) if waits_for_storage(facts) => 0.05,
        Some(_) => 0.09,
        // What the stacks show of the wait explains more: shared preferences, a latch of the app.
        None => 0.05,
    };
    let is_held = !holders.is_empty();
    let mut finding = Finding::new("lock", base + more, title);
    for holder in holders {
        let tid = holder.tid.filter(|tid| *tid != 0).map_or_else(String::new, |tid| format!(" ({tid})"));
        let (name, does) = (&holder.name, activity(facts, holder));
        finding = finding.with_evidence(if joins && Some(holder) == first.holder.as_ref() {
            format!("main waits for thread {name}{tid}, which {does}")
        } else {
            format!("thread {name}{tid} holds it and {does}")
        });
    }
    // That main waited all the time shows by its CPU time and stacks.
    if !locks.deadlock {
        let confirmed = facts.trace.is_some_and(|traced| traced.confirms(facts, WaitKind::Lock));
        let no_cpu_time = (slow.cpu_ns.is_none() && !confirmed).then(|| NO_CPU_TIME.to_owned());
        let no_stacks = match &facts.profile {
            None => Some("there are no stacks, which would show the wait".to_owned()),
            Some(_) if part.is_none() => {
                Some("the names of the stacks are missing, which would show the wait".to_owned())
            }
            Some(profile) => uncovered(facts, slow, profile),
        };
        finding = finding.at_most_medium(no_cpu_time.into_iter().chain(no_stacks));
    }
    if let Some(part) = part {
        finding = finding.with_share(part * account(facts)?.own_share());
    }
    if locks.source == LockSource::SystemTrace {
        finding =
            finding.with_evidence(if facts.analysis.is_trace_alone() { OF_TRACE } else { OF_TRACE_THEN });
    }
    if let Some(cpu) = slow.cpu_share() {
        finding = finding.with_evidence(format!("main was on the CPU for {} of the time", percent(cpu)));
        // The chain is of one instant: main may have waited for the lock only then.
        if cpu >= 0.5 {
            finding.score -= 0.3;
        }
    }
    let waits_in = facts.profile.as_ref().and_then(|profile| match profile.main_site(WaitKind::Lock) {
        // The top of the stack is where Java parks.
        Some((site, _)) if parked => site.app,
        _ => profile.newest.map(NewestStack::culprit),
    });
    Some(
        finding
            .with_advice(match is_held {
                _ if joins => LockKind::ThreadEnd.advice(),
                true => HELD_ADVICE,
                false if initialized_by(facts, object).is_some() => CLASS_ADVICE,
                false => NOTIFY_ADVICE,
            })
            .with_message(slow.token)
            .with_culprit(waits_in),
    )
}

/// The chain of locks to its end, as an addition to a title: `, held by thread sync, which waits for a
/// java.lang.Object, held by thread db in Db.write`.
fn held_by(facts: &Facts<'_>, waits: &[LockWait]) -> String {
    let mut words = String::new();
    for (nth, wait) in waits.iter().enumerate() {
        if nth > 0 {
            let _ = write!(words, ", which waits for {}", wait.object);
        }
        let Some(holder) = &wait.holder else { break };
        let name = if holder.name.is_empty() { named(holder) } else { format!("thread {}", holder.name) };
        let _ = write!(words, ", held by {name}");
        if nth + 1 == waits.len() {
            words += &in_top(facts, own_stack(facts, holder));
        }
    }
    words
}

/// An addition to the name of a thread, from the top of its stack: ` in Db.write`. Empty without a stack.
fn in_top(facts: &Facts<'_>, stack: &[FrameId]) -> String {
    stack.last().map_or_else(String::new, |&top| format!(" in {}", short(facts, top)))
}

/// The class that is being initialized and the thread that initializes it, when main waits for the object of
/// this class.
fn initialized_by<'a>(facts: &Facts<'a>, object: &'a str) -> Option<(&'a str, &'a OtherThread)> {
    let a = facts.analysis;
    let class = object.strip_prefix("the class ")?;
    let initializes = |thread: &&OtherThread| {
        let mut stack = thread.stack.iter().flatten();
        stack.any(|&id| a.frames[id].method == "<clinit>" && a.frames[id].class == class)
    };
    Some((class, a.threads.threads.iter().find(initializes)?))
}

/// The title when main waits in `Thread.join`: `waits for thread sync to end, which is in
/// FileDescriptor.sync`.
fn joined_title(facts: &Facts<'_>, subject: &str, thread: &LockHolder) -> String {
    let does = match own_stack(facts, thread).last() {
        _ if thread.tid == Some(facts.analysis.meta.process.pid) => ", which is itself".into(),
        Some(&top) => format!(", which is in {}", short(facts, top)),
        None => String::new(),
    };
    format!("{subject} waits for thread {} to end{does}", thread.name)
}

/// A thread by its name. If the name was not read, by its thread id.
fn named(holder: &LockHolder) -> String {
    match (holder.name.as_str(), holder.tid) {
        ("", Some(tid)) if tid != 0 => format!("thread {tid}"),
        ("", _) => "a thread that is not known".into(),
        (name, _) => name.to_owned(),
    }
}

/// The stack of a lock's holder without its calls into Loopbox: a thread that requests a report is in such a
/// call. A thread of Loopbox keeps its whole stack.
fn own_stack<'a>(facts: &Facts<'a>, holder: &'a LockHolder) -> &'a [FrameId] {
    if facts.analysis.frames.is_thread_of_loopbox(&holder.name, &holder.stack) {
        return &holder.stack;
    }
    facts.analysis.frames.below_loopbox(&holder.stack)
}

fn waits_for_storage(facts: &Facts<'_>) -> bool {
    let kinds = [WaitKind::Preferences, WaitKind::Database];
    facts.profile.as_ref().is_some_and(|profile| kinds.iter().any(|kind| profile.share(*kind) >= 0.6))
}

/// What a holder of a lock is doing: the top of its stack, and the first frame of the app.
fn activity(facts: &Facts<'_>, holder: &LockHolder) -> String {
    let frames = &facts.analysis.frames;
    let frame = |&id: &FrameId| &frames[id];
    let stack = own_stack(facts, holder);
    let Some(top) = stack.last().map(frame) else { return "its stack is not known".into() };
    let own = frames.first_own(stack.iter().rev(), |id| *id).map(frame);
    match own.filter(|own| *own != top) {
        None if stack.len() < holder.stack.len() => format!("calls Loopbox from {}", top.full()),
        Some(own) if stack.len() < holder.stack.len() => {
            format!("calls Loopbox from {}, called from {}", top.full(), own.full())
        }
        Some(own) => format!("is in {}, called from {}", top.full(), own.full()),
        None => format!("is in {}", top.full()),
    }
}

/// Waits that have a frame: `Object.wait`, or `LockSupport.park` below a latch, a future or a lock whose
/// owner is not known.
pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = dominant_wait(facts, WaitKind::Lock)?;
    let known = [LockSource::Synchronizers, LockSource::Join];
    if w.slow.running && known.contains(&facts.analysis.locks.source) {
        return None;
    }
    let what = w.site.call.unwrap_or(w.site.at);
    let lock = w.site.lock.unwrap_or(LockKind::Park);
    let title = format!(
        "{} waits for {} in {}{}",
        w.slow.subject(),
        lock.noun(),
        short(facts, what),
        called_from(facts, w.site)
    );
    let a = facts.analysis;
    let main = w.slow.tree.and_then(|tree| Some(tree.stack(tree.stack_runs().last()?.top)));
    // The threads were read when the running message waited.
    let main = main.filter(|_| w.slow.running);
    let suspects = main.map_or_else(Vec::new, |main| suspects(a, &main, w.site));
    Some(
        Finding::new("lock", w.score, title)
            .with_all_evidence(w.evidence)
            .with_all_evidence(suspects.iter().map(|suspect| hint(facts, lock, suspect)))
            .with_all_evidence((!suspects.is_empty()).then(|| of_what_was_read(a)).flatten())
            .at_most_medium(w.unknown)
            .with_share(w.share)
            .with_advice(lock.advice())
            .with_message(w.slow.token)
            .with_culprit(w.site.app),
    )
}

/// The caveat that other threads, which were not read, may be just as relevant.
fn of_what_was_read(a: &Analysis) -> Option<String> {
    let unread = a.threads.threads.iter().filter(|thread| thread.stack.is_none()).count() as u64;
    let unread = unread.saturating_add(a.threads.left_out.into());
    (unread > 0).then(|| format!("of the threads whose stacks were read: those of {unread} more were not"))
}

/// Why a thread may matter.
fn hint(facts: &Facts<'_>, lock: LockKind, suspect: &Suspect<'_>) -> String {
    let frames = &facts.analysis.frames;
    let Suspect { thread, top, common, asks, waits, crosswise } = suspect;
    let role = match lock {
        LockKind::ThreadEnd => "main may wait for its end",
        // A reader that holds the lock waits for none of it.
        LockKind::ReadLock | LockKind::WriteLock if !waits => "it may be a reader that holds the lock",
        _ => "main may wait for it",
    };
    let place =
        if top == common { String::new() } else { format!(", called from {}", frames[*common].full()) };
    let also = match (waits, crosswise) {
        (_, true) => "; it waits, too, in code that main is in: each may have what the other waits for",
        (true, false) => "; it waits for another thread, too",
        (false, false) => "",
    };
    let does = if *asks { "it called Loopbox from" } else { "it is in" };
    let tid = thread.tid_in_brackets();
    format!("thread {}{tid}: {role}: {does} {}{place}{also}", thread.name, frames[*top].full())
}

/// A wait for a monitor, at the place from [`monitor_place`], as the cause.
pub(super) fn find_monitor(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.primary_message()?;
    let (top, top_share) = monitor_place(facts, slow)?;
    let (profile, frame, cpu) = (facts.profile.as_ref()?, top.frame, slow.cpu_share()?);
    // On a starved machine the stacks are the same, and the sampler wakes up late, too.
    let measured = measured_cpu_wait(facts, slow);
    let starved = match measured {
        Some((part, _)) => part >= 0.3,
        None => facts.wakeup_latency_ns >= Some(300_000_000),
    };
    let score = facts.score(slow) + if starved { -0.35 } else { 0.02 };
    // The monitor may be that of a class of Java's, a `Hashtable`.
    let caller = top.app.filter(|app| *app != frame);
    let caller = caller.map_or_else(String::new, |app| format!(", called from {}", short(facts, app)));
    let title = format!("{} seems to wait for a monitor in {}{caller}", slow.subject(), short(facts, frame));
    let mut finding = Finding::new("lock", score, title)
        .with_evidence(format!("{} of its stacks show the same place in Java code", percent(top_share)))
        .with_evidence(format!(
            "main was on the CPU for only {} of {}",
            percent(cpu),
            format_ns(slow.wall_ns)
        ));
    if starved {
        finding = finding
            .with_evidence("against it: the machine may have been starved, where the stacks are the same");
    }
    let not_measured = measured.is_none().then(|| NOT_MEASURED.to_owned());
    let finding = finding.with_share(top_share * account(facts)?.own_share());
    let finding = finding.at_most_medium(not_measured).at_most_medium(uncovered(facts, slow, profile));
    let finding = finding.at_most_medium(unknown_memory(facts, slow));
    Some(finding.with_advice(ADVICE).with_message(slow.token).with_culprit(Some(top.culprit())))
}
