//! Waiting for another thread: a lock, a latch, a future, or a monitor.

use super::super::Finding;
use super::super::facts::{Facts, percent, said, share};
use super::super::waits::Doing;
use super::{called_from, short, subject, waiting};
use crate::frame::FrameKind;

const ADVICE: &str = "Find the thread that holds it in the system's ANR trace (\"held by thread\"), and what it does \
                      while holding it.";

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
