//! Main is starved of CPU time, by the machine or by the app's own threads: this message hardly ran.

use crate::diagnose::account::account;
use crate::diagnose::cpu_takers::{Taken, Takers, taken};
use crate::diagnose::cpu_wait::{MOST, NOT_MEASURED, measured_cpu_wait};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::lock_chain::may_explain;
use crate::diagnose::machine;
use crate::diagnose::slow_message::SlowMessage;
use crate::diagnose::wait_kind::{WaitKind, WaitProfile};
use crate::model::time::{format_ns, percent, share};
use crate::model::{Analysis, OtherThread};
use loopbox_format::model::Uptime;
use std::collections::BTreeMap;

/// Main's wait for a CPU during the message.
enum Waited {
    /// Measured by the kernel, since the recorder's first check of the message.
    Measured { share: f64, evidence: String },
    /// The wait was not measured. It is supposed, because the stacks show running code, and main got little
    /// CPU time.
    Supposed { evidence: String },
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.primary_message()?;
    let locked = may_explain(facts, slow);
    let (own, evidence, unknown, part) = match waited(facts, slow)? {
        Waited::Measured { share, .. } if share < 0.3 => return None,
        // Who waits for a lock needs no CPU, whatever the machine has left. A chain is of one instant, and
        // most of the time was counted otherwise.
        Waited::Measured { share, .. } if locked && share < MOST => return None,
        Waited::Supposed { .. } if locked => return None,
        Waited::Measured { share, evidence } => {
            let own = match share {
                s if s >= MOST => 0.85,
                s if s >= 0.4 => 0.75,
                _ => 0.5,
            };
            // Who waits for a CPU waits for nothing else: the kernel's figure answers for the stacks and the
            // locks.
            let unknown = if share >= MOST { Vec::new() } else { unchecked(facts, slow) };
            (own, evidence, unknown, Some(share))
        }
        // Without other signs this is more likely a wait for a monitor: it does not count by itself.
        Waited::Supposed { evidence } => (0.3, evidence, vec![NOT_MEASURED.to_owned()], None),
    };
    let machine = machine::signs(facts);
    let running = own_running(facts.analysis);
    // It is of the running message.
    let taken = taken(facts.analysis).filter(|_| slow.running);
    let of_app = match taken.as_ref().map(|taken| taken.by) {
        Some(Takers::Own) => Some(OWN_WEIGHT),
        Some(Takers::Both) => Some(OWN_WEIGHT / 2.0),
        Some(Takers::Others) => None,
        // Threads that wanted to run are all that is known.
        None => running.are_many.then_some(OWN_WEIGHT),
    };
    let support: f64 = machine.iter().map(|(weight, _)| *weight).chain(of_app).sum();
    let support = if own < 0.5 && support > 0.0 { support + 0.1 } else { support / 5.0 };
    let named = match taken.as_ref().map(|taken| taken.by) {
        Some(Takers::Own | Takers::Both) => running.words(),
        Some(Takers::Others) => None,
        None => running.words().filter(|_| running.are_many),
    };
    let of_threads = named.is_some().then(|| running.evidence()).flatten();
    let (title, advice) = title(named.as_deref(), taken.as_ref());
    // What the machine had to do at the dump says less of an earlier message the less that one explains.
    let most = if slow.running { 0.93 } else { facts.score(slow) };
    let finding = Finding::new("starved", (own + support).min(most), title)
        .with_evidence(evidence)
        .with_all_evidence(taken.map(|taken| taken.evidence))
        .with_all_evidence(of_threads)
        .with_all_evidence(machine.into_iter().map(|(_, sign)| sign))
        .at_most_medium(unknown)
        .with_advice(advice)
        .with_message(slow.token);
    // The kernel's count is of the time in which the process was not frozen.
    Some(match part {
        Some(part) => finding.with_share(part * account(facts)?.not_frozen()),
        None => finding,
    })
}

const OWN_ADVICE: &str =
    "Let fewer of these threads run at a time, or with a lower priority (Process.setThreadPriority).";
const MACHINE_ADVICE: &str =
    "The code on the stack may not be the cause: see how many devices and which models report this.";
const UNKNOWN_ADVICE: &str = "The code on the stack may not be the cause: see which of the app's threads ran, \
                              and how many devices report this.";

/// The title, which names who is to blame if that is known, and the advice.
fn title(running: Option<&str>, taken: Option<&Taken>) -> (String, &'static str) {
    match taken.map(|taken| (taken.by, percent(taken.own))) {
        Some((Takers::Own, part)) => {
            let how = running.map_or_else(|| format!("they used {part} of it"), str::to_owned);
            (format!("The app's own threads left main hardly any CPU: {how}"), OWN_ADVICE)
        }
        Some((Takers::Both, part)) => {
            let which = running.map_or_else(String::new, |running| format!(" ({running})"));
            let own = format!("the app's own threads used {part} of the CPU{which}, and others the rest");
            (format!("The machine was starved: {own}"), OWN_ADVICE)
        }
        Some((Takers::Others, _)) => {
            ("The machine was starved: this app hardly got to run".to_owned(), MACHINE_ADVICE)
        }
        None => {
            let which = running.map_or_else(String::new, |running| format!(" ({running})"));
            (format!("Main was starved of CPU time: who took it is not known{which}"), UNKNOWN_ADVICE)
        }
    }
}

/// The stacks and locks that are missing. They would show whether main waited for something else.
fn unchecked(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Vec<String> {
    let stacks = match &facts.profile {
        None => Some("there are no stacks, which would show a wait"),
        Some(profile) if profile.share(WaitKind::Unknown) >= 0.4 => {
            Some("the names of the stacks are missing, which would show a wait")
        }
        Some(_) => None,
    };
    let locks = slow.running && facts.analysis.locks.captured_ns == Uptime::ZERO;
    let locks = locks.then_some("whether main waited for a lock was not checked");
    stacks.into_iter().chain(locks).map(str::to_owned).collect()
}

/// This many running threads are no coincidence: most phones have fewer fast cores. Where main may run on
/// fewer processors, fewer threads are enough.
const MANY_RUNNING: usize = 4;
/// How many threads are named.
const MAX_NAMED: usize = 3;
/// The weight of the evidence that the app's own threads took the processors. It is equal to the weight of
/// high CPU pressure, because threads that take all processors cause high CPU pressure.
const OWN_WEIGHT: f64 = 0.3;

/// The app's own threads that ran or wanted to when the threads were dumped.
struct OwnRunning<'a> {
    /// The threads with the most CPU time first.
    threads: Vec<&'a OtherThread>,
    /// Whether the threads are enough to take all processors.
    are_many: bool,
}

fn own_running(a: &Analysis) -> OwnRunning<'_> {
    let is_own = |thread: &&OtherThread| {
        let stack = thread.stack.as_deref().unwrap_or(&[]);
        thread.state == Some(b'R') && !a.frames.is_thread_of_loopbox(&thread.name, stack)
    };
    let mut threads: Vec<&OtherThread> = a.threads.threads.iter().filter(is_own).collect();
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.cpu_ns));
    let processors = a.cpu_use.and_then(|used| used.processors).map(|processors| processors as usize);
    let enough = processors.map_or(MANY_RUNNING, |processors| processors.clamp(1, MANY_RUNNING));
    let are_many = threads.len() >= enough;
    OwnRunning { threads, are_many }
}

impl OwnRunning<'_> {
    /// `7 of pool-N-thread-N were running`, or the threads' names where they are in no pool; `None` when
    /// there are no such threads.
    fn words(&self) -> Option<String> {
        let mut pools: BTreeMap<String, usize> = BTreeMap::new();
        for thread in &self.threads {
            *pools.entry(pool_of(&thread.name)).or_default() += 1;
        }
        let pool = pools.into_iter().max_by_key(|(_, running)| *running);
        if let Some((pool, running)) = pool.filter(|(_, running)| *running >= MANY_RUNNING) {
            return Some(format!("{running} of {pool} were running"));
        }
        let names: Vec<&str> =
            self.threads.iter().take(MAX_NAMED).map(|thread| thread.name.as_str()).collect();
        let more = match self.threads.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let verb = if self.threads.len() == 1 { "was" } else { "were" };
        (!names.is_empty()).then(|| format!("{}{more} {verb} running", names.join(", ")))
    }

    /// The threads that have used most CPU time, with that time.
    fn evidence(&self) -> Option<String> {
        let used = self.threads.iter().take(MAX_NAMED).filter_map(|thread| {
            Some(format!("{}{} {}", thread.name, thread.tid_in_brackets(), format_ns(thread.cpu_ns?)))
        });
        let used: Vec<String> = used.collect();
        (!used.is_empty())
            .then(|| format!("CPU time of running threads since they began: {}", used.join(", ")))
    }
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

/// The reason to lower the confidence when the machine may have been starved while this message seemed to
/// compute; else `None`.
pub(super) fn may_be(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<String> {
    let supposed = facts.is_focus(slow) && matches!(waited(facts, slow), Some(Waited::Supposed { .. }));
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
