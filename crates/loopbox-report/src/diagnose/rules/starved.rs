//! Main is starved of CPU time, by the machine or by the app's own threads: this message hardly got to run.

use crate::diagnose::cpu_takers::{Taken, Takers, taken};
use crate::diagnose::cpu_wait::{NOT_MEASURED, measured_cpu_wait};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::machine;
use crate::diagnose::slow_message::SlowMessage;
use crate::diagnose::wait_kind::{WaitKind, WaitProfile};
use crate::model::Analysis;
use crate::model::time::{percent, share};
use loopbox_format::model::Uptime;
use std::collections::BTreeMap;

/// How much of the message main waited for a CPU.
enum Waited {
    /// Measured by the kernel, since the recorder's first look at the message.
    Measured { share: f64, evidence: String },
    /// It was not measured, but the stacks run and the CPU time is missing.
    Supposed { evidence: String },
}

/// A message that waited for so much of its time waited for a CPU and hardly for anything else.
const MOST: f64 = 0.6;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.primary_message()?;
    let locked = slow.running && !facts.analysis.locks.waits.is_empty();
    let (own, evidence, unknown) = match waited(facts, slow)? {
        Waited::Measured { share, .. } if share < 0.3 => return None,
        // Who waits for a lock needs no CPU, whatever the machine has left. A chain is of one instant, and most of the
        // time was counted otherwise.
        Waited::Measured { share, .. } if locked && share < MOST => return None,
        Waited::Supposed { .. } if locked => return None,
        Waited::Measured { share, evidence } => {
            let own = match share {
                s if s >= MOST => 0.85,
                s if s >= 0.4 => 0.75,
                _ => 0.5,
            };
            // Who waits for a CPU waits for nothing else: the kernel's figure answers for the stacks and the locks.
            let unknown = if share >= MOST { Vec::new() } else { unlooked(facts, slow) };
            (own, evidence, unknown)
        }
        // Without other signs this is more likely a wait for a monitor: it does not count by itself.
        Waited::Supposed { evidence } => (0.3, evidence, vec![NOT_MEASURED.to_owned()]),
    };
    let machine = machine::signs(facts);
    let pool = running_pool(facts.analysis);
    // It is of the running message.
    let taken = taken(facts.analysis).filter(|_| slow.running);
    let of_app = match taken.as_ref().map(|taken| taken.by) {
        Some(Takers::Own) => Some(OWN_WEIGHT),
        Some(Takers::Both) => Some(OWN_WEIGHT / 2.0),
        Some(Takers::Others) => None,
        // Threads that wanted to run are all that is known.
        None => pool.as_ref().map(|_| OWN_WEIGHT),
    };
    let support: f64 = machine.iter().map(|(weight, _)| *weight).chain(of_app).sum();
    let support = if own < 0.5 && support > 0.0 { support + 0.1 } else { support / 5.0 };
    let (title, advice) = title(pool, taken.as_ref());
    Some(
        Finding::new("starved", (own + support).min(0.93), title)
            .with_evidence(evidence)
            .with_all_evidence(taken.map(|taken| taken.evidence))
            .with_all_evidence(machine.into_iter().map(|(_, sign)| sign))
            .at_most_medium(unknown)
            .with_advice(advice)
            .with_message(slow.token),
    )
}

const OWN_ADVICE: &str =
    "Let fewer of these threads run at a time, or with a lower priority (Process.setThreadPriority).";
const MACHINE_ADVICE: &str =
    "The code on the stack may not be the cause: see how many devices and which models report this.";
const UNKNOWN_ADVICE: &str = "The code on the stack may not be the cause: see which of the app's threads ran, \
                              and how many devices report this.";

/// Who is to blame, and what to do, as far as that is known.
fn title(pool: Option<(String, usize)>, taken: Option<&Taken>) -> (String, &'static str) {
    let pool = pool.map(|(pool, running)| format!("{running} of {pool} were running"));
    match taken.map(|taken| (taken.by, percent(taken.own))) {
        Some((Takers::Own, part)) => {
            let how = pool.unwrap_or_else(|| format!("they used {part} of it"));
            (format!("The app's own threads left main hardly any CPU: {how}"), OWN_ADVICE)
        }
        Some((Takers::Both, part)) => (
            format!(
                "The machine was starved: the app's own threads used {part} of the CPU, and others the rest"
            ),
            OWN_ADVICE,
        ),
        Some((Takers::Others, _)) => {
            ("The machine was starved: this app hardly got to run".to_owned(), MACHINE_ADVICE)
        }
        None => {
            let pool = pool.map_or_else(String::new, |pool| format!(" ({pool})"));
            (format!("Main was starved of CPU time: who took it is not known{pool}"), UNKNOWN_ADVICE)
        }
    }
}

/// What is not known of a wait for something else, which stacks and the locks would show.
fn unlooked(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Vec<String> {
    let stacks = match &facts.profile {
        None => Some("there are no stacks, which would show a wait"),
        Some(profile) if profile.share(WaitKind::Unknown) >= 0.4 => {
            Some("the names of the stacks are missing, which would show a wait")
        }
        Some(_) => None,
    };
    let locks = slow.running && facts.analysis.locks.captured_ns == Uptime::ZERO;
    let locks = locks.then_some("whether main waited for a lock was not looked at");
    stacks.into_iter().chain(locks).map(str::to_owned).collect()
}

/// So many threads of one pool at once are no coincidence, and more than most phones have fast cores for.
const MANY_RUNNING: usize = 4;
/// The app's own threads weigh as much as high CPU pressure does, which they make.
const OWN_WEIGHT: f64 = 0.3;

/// The threads of one pool (`pool-N-thread-N`) that ran or wanted to, when the threads were dumped.
fn running_pool(a: &Analysis) -> Option<(String, usize)> {
    let mut pools: BTreeMap<String, usize> = BTreeMap::new();
    for thread in a.threads.threads.iter().filter(|thread| thread.state == Some(b'R')) {
        *pools.entry(pool_of(&thread.name)).or_default() += 1;
    }
    pools.into_iter().max_by_key(|(_, running)| *running).filter(|(_, running)| *running >= MANY_RUNNING)
}

/// A thread's name with `N` for each number.
fn pool_of(name: &str) -> String {
    let mut pool = String::new();
    for c in name.chars() {
        match c {
            c if !c.is_ascii_digit() => pool.push(c),
            _ if pool.ends_with('N') => {}
            _ => pool.push('N'),
        }
    }
    pool
}

/// That the machine may have been starved while this message seemed to compute, as a reason not to be sure
/// that its code is slow.
pub(super) fn may_be(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<String> {
    let is_primary = facts.primary_message().is_some_and(|primary| primary.token == slow.token);
    let supposed = is_primary && matches!(waited(facts, slow), Some(Waited::Supposed { .. }));
    (supposed && !machine::signs(facts).is_empty()).then(|| NOT_MEASURED.to_owned())
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
