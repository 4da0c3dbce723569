//! Waiting for another thread: a lock, a latch, a future, or a monitor.

use super::super::Finding;
use super::super::facts::{Facts, percent, said, share};
use super::super::waits::Doing;
use super::{called_from, short, subject, waiting};
use crate::frame::FrameKind;
use crate::names::is_platform;
use crate::view::locked_object;
use loopbox_format::model::LockHolder;

const ADVICE: &str = "Find the thread that holds it in the system's ANR trace (\"held by thread\"), and what it does \
                      while holding it.";

/// The recorder asked ART: main waits for a monitor, and this thread holds it.
pub(super) fn find_holder(facts: &Facts<'_>) -> Option<Finding> {
    let locks = &facts.a.locks;
    let first = locks.waits.first()?;
    let slow = facts.running()?;
    let base = facts.blame(slow);
    let object = locked_object(first);
    let main = facts.a.meta.process.pid;
    // In a circle the last one is a thread that was there before, and mostly main.
    let mut holders: Vec<&LockHolder> = Vec::new();
    for holder in locks.waits.iter().filter_map(|wait| wait.holder.as_ref()) {
        if holder.tid != main && holders.iter().all(|known| known.tid != holder.tid) {
            holders.push(holder);
        }
    }
    let title = match holders.first() {
        Some(_) if locks.deadlock => {
            let names: Vec<&str> = holders.iter().map(|h| h.name.as_str()).collect();
            format!(
                "Deadlock: the running message (#{}) waits for {object}, in a circle with {}",
                slow.token,
                names.join(", ")
            )
        }
        Some(holder) => format!(
            "{} waits for the monitor of {object}, held by thread {}{}",
            subject(slow),
            holder.name,
            holder.stack.last().map(|&top| format!(" in {}", short(facts, top))).unwrap_or_default()
        ),
        None => format!("{} waits for {object}, which nobody holds: it waits to be notified", subject(slow)),
    };
    let mut finding = Finding::new("lock", if locks.deadlock { base + 0.12 } else { base + 0.09 }, title);
    for holder in holders {
        finding = finding.because(format!(
            "thread {} ({}) holds it and {}",
            holder.name,
            holder.tid,
            what_it_does(facts, holder)
        ));
    }
    if let Some(cpu) = slow.cpu_share() {
        finding = finding.because(format!("main was on the CPU for {} of the time", percent(cpu)));
        // The chain is of one instant: main may have met the lock only then.
        if cpu >= 0.5 {
            finding.score -= 0.3;
        }
    }
    let mine = facts.profile.as_ref().and_then(|p| p.stuck).map(|(frame, _)| frame);
    Some(
        finding
            .advise("Make the holder let go sooner, or do not take this lock on the main thread.")
            .about(slow.token)
            .blames(mine),
    )
}

/// The part of a holder's stack that says most: its top, and the first frame of the app.
fn what_it_does(facts: &Facts<'_>, holder: &LockHolder) -> String {
    let frame = |&i: &u32| facts.a.frames.get(i as usize);
    let Some(top) = holder.stack.last().and_then(frame) else { return "its stack is not known".into() };
    let own =
        holder.stack.iter().rev().filter_map(frame).find(|f| !f.class.is_empty() && !is_platform(&f.class));
    match own.filter(|own| *own != top) {
        Some(own) => format!("is in {}, called from {}", top.full(), own.full()),
        None => format!("is in {}", top.full()),
    }
}

/// Waits that have a frame of their own: `Object.wait`, `LockSupport.park` under a lock, a latch or a future.
pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = waiting(facts, Doing::Lock)?;
    let title = format!(
        "{} waits for another thread in {}{}",
        subject(w.slow),
        short(facts, w.site.at),
        called_from(facts, w.site)
    );
    Some(
        Finding::new("lock", w.score, title)
            .because_of(w.evidence)
            .advise(ADVICE)
            .about(w.slow.token)
            .blames(w.site.app),
    )
}

/// A `synchronized` that does not get its monitor has no frame of its own: the same place of Java code stays on top
/// of the stack, and main takes no CPU time.
pub(super) fn find_monitor(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.focus()?;
    let profile = facts.profile.as_ref()?;
    let (frame, ns) = profile.stuck?;
    let stuck = share(ns, profile.total_ns);
    let cpu = slow.cpu_share()?;
    let java = facts.a.frames.get(frame as usize).is_some_and(|f| f.kind == FrameKind::Java);
    let waits_otherwise = profile.share(Doing::Running) < 0.8;
    if stuck < 0.9 || cpu > 0.1 || !java || waits_otherwise || profile.total_ns < 300_000_000 {
        return None;
    }
    // A starved machine looks the same from inside: there, the sampler wakes late, too.
    let starved = facts.late_ns >= 300_000_000;
    let score = facts.blame(slow) + if starved { -0.35 } else { 0.02 };
    let title = format!("{} seems to wait for a monitor in {}", subject(slow), short(facts, frame));
    let mut finding = Finding::new("lock", score, title)
        .because(format!("{} of its stacks show the same place in Java code", percent(stuck)))
        .because(format!("main was on the CPU for only {} of {}", percent(cpu), said(slow.wall_ns)));
    if starved {
        finding =
            finding.because("against it: the sampler woke late, too, so the machine may have been starved");
    }
    Some(finding.advise(ADVICE).about(slow.token).blames(Some(frame)))
}
