//! The machine is starved: this message hardly got to run.

use crate::diagnose::cpu_wait::measured_cpu_wait;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::machine;
use crate::diagnose::slow_message::SlowMessage;
use crate::diagnose::wait_kind::{WaitKind, WaitProfile};
use crate::model::time::{percent, share};

/// How much of the message main waited for a CPU.
enum Waited {
    /// Measured by the kernel, since the recorder suspected a hang.
    Measured { share: f64, evidence: String },
    /// It was not measured, but the stacks run and the CPU time is missing.
    Supposed { evidence: String },
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.primary_message()?;
    // Who waits for a lock needs no CPU, whatever the machine has left.
    if slow.running && !facts.analysis.locks.waits.is_empty() {
        return None;
    }
    let (own, evidence) = match waited(facts, slow)? {
        Waited::Measured { share, .. } if share < 0.3 => return None,
        Waited::Measured { share, evidence } => {
            let own = match share {
                s if s >= 0.6 => 0.85,
                s if s >= 0.4 => 0.75,
                _ => 0.5,
            };
            (own, evidence)
        }
        // Without other signs this is more likely a wait for a monitor: it does not count by itself.
        Waited::Supposed { evidence } => (0.3, evidence),
    };
    let machine = machine::signs(facts);
    let support: f64 = machine.iter().map(|(weight, _)| weight).sum();
    let support = if own < 0.5 && !machine.is_empty() { support + 0.1 } else { support / 5.0 };
    Some(
        Finding::new(
            "starved",
            (own + support).min(0.93),
            "The machine was starved: this app hardly got to run".into(),
        )
        .with_evidence(evidence)
        .with_all_evidence(machine.into_iter().map(|(_, sign)| sign))
        .with_advice(
            "The code on the stack may not be the cause: see how many devices and which models report this.",
        )
        .with_message(slow.token),
    )
}

fn waited(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<Waited> {
    if let Some(profile) = &facts.profile
        && profile.waiting_share() >= 0.4
    {
        return None;
    }
    if let Some((share, evidence)) = measured_cpu_wait(facts, slow) {
        return Some(Waited::Measured { share, evidence });
    }
    let (profile, cpu) = (facts.profile.as_ref()?, slow.cpu_share()?);
    if slow.wall_ns < 1_000_000_000
        || cpu >= 0.5
        || profile.share(WaitKind::Running) < 0.6
        || in_native(profile)
    {
        return None;
    }
    let evidence = format!("main seemed to compute, but got the CPU for only {} of the time", percent(cpu));
    Some(Waited::Supposed { evidence })
}

/// Whether the stacks end in native code, which may wait for anything.
fn in_native(profile: &WaitProfile) -> bool {
    share(profile.native_top_ns, profile.total_ns) >= 0.4
}
