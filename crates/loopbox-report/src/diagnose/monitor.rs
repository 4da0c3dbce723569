//! Waits for monitors. Such a wait has no frame on the stack.

use super::cpu_wait::{MOST, measured_cpu_wait};
use super::facts::Facts;
use super::lock_chain::is_parked;
use super::slow_message::SlowMessage;
use super::suspender::Suspender;
use super::traced_main::TracedMain;
use super::wait_kind::{TopFrame, WaitKind};
use crate::model::time::share;
use crate::model::{ByteLimit, FrameKind, MainWaitKind};

/// The place in Java code at which a message seems to wait for a monitor, and its share of the stacks. The
/// place stays on top of the stack, and main uses no CPU time. A wait for a monitor (`synchronized`) has no
/// frame.
pub(super) fn monitor_place(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<(TopFrame, f64)> {
    if slow.running && facts.trace.is_some_and(TracedMain::refutes_monitor) {
        return None;
    }
    let profile = facts.profile.as_ref()?;
    let top = profile.top?;
    let top_share = share(top.ns, profile.total_ns);
    let cpu = slow.cpu_share()?;
    let frame = &facts.analysis.frames[top.frame];
    // What a compiler made to get to a member of another class has no monitor: main only happens to stand
    // there, without a CPU.
    let java = frame.kind == FrameKind::Java && !frame.synthetic;
    let waits_otherwise = profile.share(WaitKind::Running) < 0.8;
    if top_share < 0.9 || cpu > 0.1 || !java || waits_otherwise || profile.total_ns < 300_000_000 {
        return None;
    }
    // A thread that waits for a monitor can be sampled, and the kernel finds it in a futex.
    let unseen = &facts.unseen;
    let stood_still = unseen.unsampled_ns() >= slow.wall_ns / 3
        || unseen.often_missed
        || Suspender::of(facts, slow).is_some();
    // Who waits for a CPU waits for no monitor meanwhile.
    let starved = measured_cpu_wait(facts, slow).is_some_and(|(part, _)| part >= MOST);
    let refuted = starved || kernel_refutes_monitor(facts, slow) || memory_explains(facts, slow);
    (!stood_still && !refuted).then_some((top, top_share))
}

/// How long main waited for a monitor. It is known if a lock chain shows the monitor, or if the stacks seem
/// to show one and main is known not to have waited for a CPU.
pub(super) fn monitor_wait_ns(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<u64> {
    let profile = facts.profile.as_ref()?;
    let locks = &facts.analysis.locks;
    if slow.running && !locks.waits.is_empty() && !is_parked(locks.source) {
        return profile.newest?.nameless_ns(FrameKind::Java);
    }
    let (top, _) = monitor_place(facts, slow)?;
    measured_cpu_wait(facts, slow).is_some_and(|(part, _)| part < 0.3).then_some(top.ns)
}

/// Whether a wait for memory explains what seems to be a wait for a monitor. Neither kind of wait has a
/// frame. It is a wait for memory when the app lately met its memory limit, and waits for memory took at
/// least half of the time.
fn memory_explains(facts: &Facts<'_>, slow: SlowMessage<'_>) -> bool {
    let limit = facts.analysis.memory_limit().filter(|_| slow.running);
    let lately = limit.and_then(|limit| limit.lately);
    lately.is_some_and(|(over_ms, events)| {
        let most = |stalled_us| share(stalled_us, over_ms.saturating_mul(1_000)) >= 0.5;
        events.limit_times() > Some(0) && events.stalled_us.is_some_and(most)
    })
}

/// The reason to lower the confidence when the app has a memory limit, and it is not known how long the app
/// waited for memory; else `None`.
pub(super) fn unknown_memory(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<String> {
    let limit = facts.analysis.memory_limit().filter(|_| slow.running)?;
    limit.high.and_then(ByteLimit::bytes)?;
    let known = limit.lately.filter(|(_, events)| {
        events.high_times.is_some() && (events.stalled_us.is_some() || events.limit_times() == Some(0))
    });
    known
        .is_none()
        .then(|| "how long the app waited for memory, which the kernel limits, is not known".into())
}

/// Whether the kernel saw main do something else than wait for a monitor.
fn kernel_refutes_monitor(facts: &Facts<'_>, slow: SlowMessage<'_>) -> bool {
    use MainWaitKind::{Cpu, Futex, Kernel, OtherCall, Runs, Unknown};
    let wait = facts.analysis.main_wait().filter(|_| slow.running);
    wait.is_some_and(|wait| match wait.kind {
        Futex | Kernel | OtherCall | Unknown => false,
        // That it ran may be of the moment in which the signal came.
        Runs | Cpu => facts.analysis.main_thread.as_ref().is_some_and(|main| main.native.is_none()),
        _ => true,
    })
}
