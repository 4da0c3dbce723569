//! Where the wall time of a message went. This is computed before a cause is named, because no cause may
//! claim more time than its part of the message took.
//!
//! Each part of the time is counted once, the surest first: the process did not run, main was on a CPU, main
//! waited for a CPU, the stacks or the kernel show what main waited for, the runtime had stopped main. Time
//! that none of them explains is called unexplained. Time that was not measured is called unmeasured.

use super::collections::blocking_ns;
use super::cpu_wait::{NO_CPU_TIME, measured_ns};
use super::facts::Facts;
use super::machine;
use super::monitor::monitor_wait_ns;
use super::slow_message::SlowMessage;
use super::suspender::Suspender;
use super::wait_kind::{WaitKind, WaitProfile};
use crate::model::time::{format_ns, ms, percent, share};
use crate::model::token;
use crate::model::{FrameKind, MainWaitKind};
use loopbox_format::model::Token;
use schemars::JsonSchema;
use serde::Serialize;

/// What a part of the time went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeUse {
    /// Main ran on a CPU.
    OnCpu,
    /// Main could have run and got no CPU, by the kernel's count.
    CpuWait,
    /// Main waited for something that its stacks or the kernel name.
    KnownWait,
    /// The whole process did not run: it was frozen by the system, or stopped.
    Frozen,
    /// The runtime had stopped main, for example for a heap dump, a collection or a debugger.
    Suspended,
    /// Measured, but main did none of the above.
    Unexplained,
    /// The data that would explain the time were not measured.
    Unmeasured,
}

impl TimeUse {
    /// The use of the time in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::OnCpu => "on the CPU",
            Self::CpuWait => "waiting for a CPU",
            Self::KnownWait => "in known waits",
            Self::Frozen => "frozen or stopped",
            Self::Suspended => "stopped by the runtime",
            Self::Unexplained => "unexplained",
            Self::Unmeasured => "not measured",
        }
    }

    /// The name of the use in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnCpu => "on_cpu",
            Self::CpuWait => "cpu_wait",
            Self::KnownWait => "known_wait",
            Self::Frozen => "frozen",
            Self::Suspended => "suspended",
            Self::Unexplained => "unexplained",
            Self::Unmeasured => "unmeasured",
        }
    }
}

/// A part of the time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "account_part")]
pub struct AccountPart {
    /// How the time was used.
    #[serde(rename = "use")]
    pub time_use: TimeUse,
    /// The length of the part, in milliseconds.
    pub ms: f64,
    /// The part's share of the message's wall time, 0 to 1.
    pub share: f64,
    /// Details: the waits with their times, who stopped main, or what was not measured; else empty.
    pub detail: String,
    #[serde(skip)]
    ns: u64,
}

impl AccountPart {
    /// The part in words: `12 % in known waits (a sleep 0.66 s)`.
    pub fn words(&self) -> String {
        let detail = if self.detail.is_empty() { String::new() } else { format!(" ({})", self.detail) };
        format!("{} {}{detail}", percent(self.share), self.time_use.words())
    }
}

/// How the wall time of a message was spent. The account is of the message that a diagnosis is about, or of
/// what ran outside of messages.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "account")]
pub struct Account {
    /// The token of the message. For what ran outside of messages it is a text such as `after-45`: it ran
    /// after the message with the token 45.
    #[serde(serialize_with = "serialize_token")]
    #[schemars(with = "token::Key")]
    pub token: Token,
    /// The wall time of the message: how long it took, or how long it has certainly been running.
    pub wall_ms: f64,
    /// The parts that took any time; together they are the wall time.
    pub parts: Vec<AccountPart>,
    #[serde(skip)]
    wall_ns: u64,
    /// Whether main's waits for a CPU were measured and the machine showed no sign of a shortage. If so, main
    /// waited for a CPU no longer than the account says.
    #[serde(skip)]
    had_cpu: bool,
    /// The share of the stacks that are in known waits.
    #[serde(skip)]
    seen_waits: f64,
    /// The share of the stacks that are in waits which take CPU time.
    #[serde(skip)]
    seen_busy_waits: f64,
    /// The part of the time that stacks cover.
    #[serde(skip)]
    covered: f64,
    #[serde(skip)]
    seen_wait_words: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn serialize_token<S: serde::Serializer>(token: &Token, to: S) -> Result<S::Ok, S::Error> {
    token::Key(*token).serialize(to)
}

/// When more than this share of the time is unexplained, no cause that blames code is sure.
const MUCH_UNEXPLAINED: f64 = 0.4;
/// When at least this share of a message is in waits, the message counts as one that waits.
const MOSTLY_WAITS: f64 = 0.5;

impl Account {
    /// The account of a message.
    pub(super) fn of(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Self {
        let wall_ns = slow.certain_ns.min(slow.wall_ns);
        let mut ledger = Ledger { wall_ns, left_ns: wall_ns, parts: Vec::new() };
        let profile = facts.profile.as_ref();
        ledger.take(TimeUse::Frozen, facts.unseen.frozen_ns, "");
        ledger.take(TimeUse::OnCpu, slow.cpu_ns.into_iter().sum(), "");
        let cpu_wait = measured_ns(facts, slow);
        // Where the machine is short of something, main may have waited for a CPU in the half second before
        // the count.
        let is_calm = machine::signs(facts).is_empty();
        ledger.take(TimeUse::CpuWait, cpu_wait.iter().map(|(waited_ns, _)| waited_ns).sum(), "");
        let (waits_ns, waits) = known_waits(facts, slow);
        ledger.take(TimeUse::KnownWait, waits_ns, &waits);
        if kernel_says_stopped(facts, slow) {
            // Main was not stopped yet when its stacks were taken.
            let seen_ns: u64 = profile.iter().map(|profile| profile.total_ns).sum();
            let most_ns = ledger.left_ns.min(wall_ns.saturating_sub(seen_ns));
            ledger.take(TimeUse::Frozen, most_ns, "the kernel says so of the moment of the report");
        }
        let ran_seen_ns: u64 = profile.iter().map(|profile| profile.ns(WaitKind::Running)).sum();
        ledger.take(TimeUse::Suspended, blocking_ns(facts, slow).into_iter().sum(), "collections");
        match Suspender::of(facts, slow) {
            Some(suspender) => {
                let most_ns = ran_seen_ns.saturating_add(facts.unseen.unsampled_ns());
                ledger.take(TimeUse::Suspended, most_ns, &suspender.words(&facts.analysis.frames));
            }
            // Nobody was starved, and yet no stack could be taken.
            None if cpu_wait.is_some() && is_calm => {
                ledger.take(
                    TimeUse::Suspended,
                    facts.unseen.unsampled_ns(),
                    "no stack could be taken meanwhile",
                );
            }
            None => {}
        }
        match (slow.cpu_ns, profile) {
            (None, _) => ledger.take(TimeUse::Unmeasured, ledger.left_ns, NO_CPU_TIME),
            (Some(_), None) => ledger.take(TimeUse::Unmeasured, ledger.left_ns, "there are no stacks of it"),
            (Some(_), Some(profile)) => {
                let seen_ns = profile.stacks_ns.saturating_add(facts.unseen.all_ns());
                ledger.take(
                    TimeUse::Unmeasured,
                    wall_ns.saturating_sub(seen_ns),
                    "there are no stacks of it",
                );
                let nameless_ns = profile.ns(WaitKind::Unknown);
                ledger.take(TimeUse::Unmeasured, nameless_ns, "the names of the stacks are missing");
            }
        }
        ledger.take(TimeUse::Unexplained, ledger.left_ns, "");
        Self {
            token: slow.token,
            wall_ms: ms(wall_ns),
            parts: ledger.parts,
            wall_ns,
            had_cpu: cpu_wait.is_some() && is_calm,
            seen_waits: profile.iter().map(|profile| share(waits_ns, profile.total_ns)).sum(),
            covered: profile.iter().map(|profile| share(profile.stacks_ns, wall_ns)).sum(),
            seen_busy_waits: profile.iter().map(|profile| busy_waits_share(profile)).sum(),
            seen_wait_words: waits,
        }
    }

    /// The parts worth showing: half a percent at least.
    pub fn shown_parts(&self) -> impl Iterator<Item = &AccountPart> {
        self.parts.iter().filter(|part| part.share >= 0.005)
    }

    /// How long a part was.
    pub(super) fn ns(&self, time_use: TimeUse) -> u64 {
        let parts = self.parts.iter().filter(|part| part.time_use == time_use);
        parts.fold(0, |sum: u64, part| sum.saturating_add(part.ns))
    }

    /// The share of the wall time that went to this use.
    pub(super) fn share(&self, time_use: TimeUse) -> f64 {
        share(self.ns(time_use), self.wall_ns)
    }

    /// The part of the wall time in which main's own code may have run or waited.
    pub(super) fn own_share(&self) -> f64 {
        1.0 - self.share(TimeUse::Frozen) - self.share(TimeUse::Suspended)
    }

    /// What to add to a sentence about the message, such as `, 4.40 s of it frozen or stopped`: how long the
    /// process was frozen, and how long the runtime had stopped main. Each of the two is left out below a
    /// tenth of the time.
    pub(super) fn stood_still(&self) -> String {
        let much = [TimeUse::Frozen, TimeUse::Suspended].into_iter().filter(|part| self.share(*part) >= 0.1);
        let parts = much.map(|part| format!(", {} of it {}", format_ns(self.ns(part)), part.words()));
        parts.collect()
    }

    /// The share of the time in which the process was not frozen.
    pub(super) fn not_frozen(&self) -> f64 {
        1.0 - self.share(TimeUse::Frozen)
    }

    /// A sentence which says that main made no progress for much of the time, and that nothing explains why.
    /// It is a reason to doubt that the code on the stacks is the cause.
    fn unexplained(&self) -> Option<String> {
        let part = self.share(TimeUse::Unexplained) + self.share(TimeUse::Suspended);
        let no_cpu = if self.had_cpu { "" } else { ", or got no CPU" };
        (part > MUCH_UNEXPLAINED).then(|| {
            format!(
                "for {} of the time main was neither on a CPU nor in a known wait: it was stopped or suspended{no_cpu}",
                percent(part)
            )
        })
    }

    /// The reasons to be less sure of a finding which says that the code on the stacks is the cause.
    pub(super) fn against_code(&self) -> impl Iterator<Item = String> {
        let found = [self.unexplained(), self.unmeasured(), self.starved(), self.waits()];
        found.into_iter().flatten()
    }

    /// A sentence which says that main waited for a CPU for much of the time.
    fn starved(&self) -> Option<String> {
        let part = self.share(TimeUse::CpuWait);
        (part > MUCH_UNEXPLAINED).then(|| format!("main waited for a CPU for {} of the time", percent(part)))
    }

    /// A sentence which says that at least half of the message's stacks are in waits, and names the longest
    /// waits. `None` when fewer stacks are in waits.
    ///
    /// Also `None` when main was on a CPU for at least half of the time, because main did not wait then.
    /// There is one exception. Some waits also use the CPU, for example for files or for loading code
    /// (`WaitKind::takes_cpu`). Such waits can explain the CPU time. They do so if at least half of the
    /// stacks are in them, and the stacks cover less than half of the time.
    fn waits(&self) -> Option<String> {
        let (part, words) = (self.seen_waits, &self.seen_wait_words);
        let computes = self.share(TimeUse::OnCpu) >= MOSTLY_WAITS;
        // Waits that take CPU time explain it, and where stacks cover little nothing else is known to.
        let busy_waits = self.covered < MOSTLY_WAITS && self.seen_busy_waits >= MOSTLY_WAITS;
        let waits = part >= MOSTLY_WAITS && (!computes || busy_waits);
        waits.then(|| format!("{} of its stacks wait ({words})", percent(part)))
    }

    /// A reason for less confidence: much of the time was not measured.
    fn unmeasured(&self) -> Option<String> {
        let part = self.share(TimeUse::Unmeasured);
        let what = self.parts.iter().find(|part| part.time_use == TimeUse::Unmeasured)?;
        (part > MUCH_UNEXPLAINED).then(|| {
            format!("what main did for {} of the time was not measured ({})", percent(part), what.detail)
        })
    }
}

/// The account of the message in focus.
pub(super) fn account(facts: &Facts<'_>) -> Option<Account> {
    Some(Account::of(facts, facts.primary_message()?))
}

/// The time that is not assigned to a part yet.
struct Ledger {
    wall_ns: u64,
    left_ns: u64,
    parts: Vec<AccountPart>,
}

impl Ledger {
    fn take(&mut self, time_use: TimeUse, ns: u64, detail: &str) {
        let ns = ns.min(self.left_ns);
        if ns == 0 {
            return;
        }
        self.left_ns -= ns;
        let share = (share(ns, self.wall_ns) * 1e3).round() / 1e3;
        self.parts.push(AccountPart { time_use, ms: ms(ns), share, detail: detail.to_owned(), ns });
    }
}

/// How long main was in waits that have a name, and the longest of them in words.
fn known_waits(facts: &Facts<'_>, slow: SlowMessage<'_>) -> (u64, String) {
    let Some(profile) = &facts.profile else { return (0, String::new()) };
    let mut waits: Vec<(u64, &str)> = profile.waits().map(|(kind, ns)| (ns, kind.noun())).collect();
    if let Some(ns) = native_wait_ns(facts, slow, profile) {
        waits.push((ns, "native code"));
    }
    if let Some(ns) = monitor_wait_ns(facts, slow) {
        waits.push((ns, "a monitor"));
    }
    waits.sort_unstable_by_key(|&(ns, noun)| (std::cmp::Reverse(ns), noun));
    let all_ns = waits.iter().fold(0, |sum: u64, (ns, _)| sum.saturating_add(*ns));
    let words = waits.iter().take(3).map(|(ns, noun)| format!("{noun} {}", format_ns(*ns)));
    (all_ns, words.collect::<Vec<_>>().join(", "))
}

fn busy_waits_share(profile: &WaitProfile) -> f64 {
    let busy = profile.waits().filter(|(kind, _)| kind.takes_cpu());
    share(busy.fold(0, |sum: u64, (_, ns)| sum.saturating_add(ns)), profile.total_ns)
}

/// How long main waited in a native method that is no known kind of wait, in nanoseconds. The method is on
/// top of main's newest stack. `None` unless the kernel reports something specific that main waits for at the
/// dump.
fn native_wait_ns(facts: &Facts<'_>, slow: SlowMessage<'_>, profile: &WaitProfile) -> Option<u64> {
    let wait = facts.analysis.main_wait().filter(|_| slow.running)?;
    profile.newest?.nameless_ns(FrameKind::Native).filter(|_| wait.kind.is_specific())
}

fn kernel_says_stopped(facts: &Facts<'_>, slow: SlowMessage<'_>) -> bool {
    slow.running && facts.analysis.main_wait().is_some_and(|wait| wait.kind == MainWaitKind::Stopped)
}
